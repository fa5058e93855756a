"""Snapshots are listed by step with the shipped model last, and those that are shipped are models like it."""

from pathlib import Path

import pytest

from model import checkpoint
from model.checkpoint import CheckpointError
from model.snapshots import HISTORY, TABLE, Snapshot, read_table, snapshots

HEADER = "step,tokens,seconds,rate,loss,dev_loss,dev_bleu"
LARGEST = 45e6  # bytes, of all that is shipped beside the model


def test_snapshots_come_by_step_with_the_shipped_model_last(tmp_path: Path) -> None:
    for name in ("step-00000250", "step-00000000", "step-00012000", "other", "step-1", ".step-00000001.part"):
        (tmp_path / name).mkdir()
    (tmp_path / TABLE).write_text(f"{HEADER}\n0,,,,,9,0\n12500,9,,1e-3,3.5,,\n")
    final = tmp_path / "final"
    expected = [Snapshot(step, tmp_path / f"step-{step:08d}") for step in (0, 250, 12000)]
    assert snapshots(tmp_path, final=final) == [*expected, Snapshot(12500, final)]


def test_a_folder_without_snapshots_or_table_is_said(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no snapshot; they are folders with names such as step-00001000"):
        snapshots(tmp_path)
    (tmp_path / "step-00000250").mkdir()
    with pytest.raises(CheckpointError, match=r"no table of the training .*history\.csv"):
        snapshots(tmp_path)


@pytest.mark.parametrize("text", ["", f"{HEADER}\n", "a,b\n1,2\n", f"{HEADER}\n1,2\n", f"{HEADER}\n,,,,x,,\n"])
def test_what_is_no_table_is_refused_with_the_columns_that_it_needs(tmp_path: Path, text: str) -> None:
    (tmp_path / TABLE).write_text(text)
    with pytest.raises(CheckpointError, match="its columns must be step, tokens, seconds, rate"):
        read_table(tmp_path / TABLE)


def test_the_shipped_snapshots_are_six_to_eight_models_like_the_shipped_one() -> None:
    model, tokenizer = checkpoint.load()
    found = snapshots()
    assert 6 <= len(found) <= 8
    assert found[0].step == 0
    assert [s.step for s in found] == sorted({s.step for s in found})
    for snapshot in found:
        earlier, vocabulary = checkpoint.load(snapshot.folder)
        assert earlier.config == model.config
        assert vocabulary.serialized == tokenizer.serialized


def test_the_shipped_history_is_small_and_knows_each_snapshot_on_dev() -> None:
    assert sum(path.stat().st_size for path in HISTORY.rglob("*")) <= LARGEST
    rows = {row["step"]: row for row in read_table(HISTORY / TABLE)}
    assert all({"dev_loss", "dev_bleu"} <= set(rows[snapshot.step]) for snapshot in snapshots())
