"""The table of a training holds what its saves and logs say, of the steps that led to its last save and no others."""

import json
from pathlib import Path
from typing import Any

import pytest

from model import checkpoint
from model.data import Pair
from model.history import as_text, going_on, main, measured, rows_of
from model.snapshots import COLUMNS, read_table
from model.tokenizer import Tokenizer
from model.transformer import Transformer

DEV = [Pair("Tom sees the house.", "Tom sieht das Haus."), Pair("Mary draws 25 keys.", "Maria zeichnet 25 Schlüssel.")]


def row(step: int, **more: float) -> dict[str, Any]:
    return {"step": step, "tokens": step * 100, "seconds": step // 2, "rate": 1e-3, "loss": 6.5, **more}


def save(run: Path, *rows: dict[str, Any]) -> Path:
    """What of a saved step tells its history."""
    folder = run / f"step-{rows[-1]['step']:08d}"
    folder.mkdir(parents=True)
    state = {"step": rows[-1]["step"], "epoch": 0, "batch": 7, "tokens": 1, "history": rows}
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")
    return run


def log(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_saves_and_logs_of_one_step_become_one_row(tmp_path: Path) -> None:
    run = save(tmp_path / "run", row(100, dev_loss=5.5, dev_bleu=1.25), row(200, dev_loss=4.5, dev_bleu=3.0))
    logged = log(
        tmp_path / "log",
        "203 of 212 pairs, 7.07 M parameters",
        "step 50 epoch 0 loss 8.125 tokens 5001 55 s",
        "    A sentence. -> step 70 epoch 0 loss 1 tokens 2 3 s",
        "step 100 epoch 0 loss 7.250 tokens 10000 72 s",
        "saved step 100 tokens 10000",
        "step 250 epoch 1 loss 2.000 tokens 25000 99 s",
    )
    found = rows_of([run], [logged])
    assert [r["step"] for r in found] == [50, 100, 200]  # what came after the last save led to no weights that are left
    assert found[0] == {"step": 50, "loss": 8.125, "tokens": 5001}
    assert found[1] == {**row(100, dev_loss=5.5, dev_bleu=1.25), "loss": 7.25}
    assert found[2] == row(200, dev_loss=4.5, dev_bleu=3.0)
    assert [r["loss"] for r in rows_of([run], [])] == [6.5, 6.5]


def test_where_training_went_on_from_an_earlier_save_what_it_left_is_dropped(tmp_path: Path) -> None:
    first = save(tmp_path / "one", row(100, loss=5.0), row(200, loss=4.0), row(300, loss=1.0))
    second = save(tmp_path / "two", row(100, loss=5.0), row(200, loss=4.0), row(250, loss=3.0))
    logs = [
        log(tmp_path / "log1", *(f"step {s} epoch 0 loss {s / 100} tokens {s} 1 s" for s in (50, 150, 140, 290))),
        log(tmp_path / "log2", "step 210 epoch 0 loss 9.5 tokens 210 1 s"),
    ]
    found = rows_of([first, second], logs)
    assert [(r["step"], r["loss"]) for r in found] == [(50, 0.5), (100, 5), (140, 1.4), (200, 4), (210, 9.5), (250, 3)]


def test_rows_that_fall_back_replace_those_from_there_on() -> None:
    rows = [{"step": s} for s in (1, 2, 3, 4, 3, 4, 5, 2, 6)]
    assert going_on(rows) == [{"step": s} for s in (1, 2, 6)]
    assert going_on([]) == []


def test_the_table_reads_as_it_was_written(tmp_path: Path) -> None:
    rows = [{"step": 0, "dev_loss": 9.123456789}, row(12_345_678, rate=8.66025e-08, dev_bleu=26.9441416), {"step": 9}]
    (tmp_path / "history.csv").write_text(as_text([{n: float(v) for n, v in r.items()} for r in rows]))
    found = read_table(tmp_path / "history.csv")
    assert found[1]["step"] == 12_345_678  # whole, not rounded to six digits
    for ours, theirs in zip(rows, found, strict=True):
        assert theirs == {name: pytest.approx(value, rel=1e-5) for name, value in ours.items()}
    assert (tmp_path / "history.csv").read_text().splitlines()[0] == ",".join(COLUMNS)


def test_snapshots_that_were_not_measured_when_saved_are_measured(
    trained: Transformer, tokenizer: Tokenizer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = save(tmp_path / "run", row(250, dev_loss=5.5, dev_bleu=1.25))
    for step in (0, 250, 500):
        checkpoint.save(run / f"snapshot-{step:08d}", trained.config, trained.state_dict(), tokenizer)
    dev = log(tmp_path / "dev.tsv", *(f"{pair.source}\t{pair.target}" for pair in (*DEV, DEV[0])))
    arguments = [str(run), "--dev", str(dev), "--dev-limit", "2", "--out", str(tmp_path / "history.csv")]
    assert main(arguments) == 0
    found = read_table(tmp_path / "history.csv")
    assert [r["step"] for r in found] == [0, 250]
    expected = measured(run / "snapshot-00000000", DEV)
    assert found[0] == {"step": 0} | {name: pytest.approx(value, rel=1e-5) for name, value in expected.items()}
    assert found[1]["dev_bleu"] == 1.25
    assert "2 rows, to step 250" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["run", "log", "folder of --out"])
def test_the_command_refuses_what_is_not_there_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    run = save(tmp_path / "run", row(100))
    out = tmp_path / ("new" if missing == "folder of --out" else ".") / "history.csv"
    logs = ["--logs", str(tmp_path / "none")] if missing == "log" else []
    assert main([str(tmp_path / "none" if missing == "run" else run), *logs, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1
    assert not out.exists()
