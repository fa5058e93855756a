"""The command that measures why attention came: its rows fit one another, and its mistakes are said in a line."""

import json
from pathlib import Path

import pytest
import torch

from model import checkpoint, claims, pace
from model.architectures import build
from model.claims import PIECES, RADII, SENTENCES, examples_of, main, untrained
from model.config import ModelConfig
from model.recurrent import ARCHITECTURES, RecurrentConfig
from model.tokenizer import Tokenizer

TINY = {name: RecurrentConfig(name, 347, d_model=40, layers=1) for name in ARCHITECTURES}


@pytest.fixture
def folder(tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tiny models in place of the shipped ones, and of those whose pace is measured."""
    torch.manual_seed(5)
    for name, config in TINY.items():
        checkpoint.save(tmp_path / name, config, build(config).state_dict(), tokenizer)
    transformer = ModelConfig(347, d_model=40, n_heads=5, d_ff=37, encoder_layers=3, decoder_layers=2)
    checkpoint.save(tmp_path / "transformer", transformer, build(transformer).state_dict(), tokenizer)
    monkeypatch.setattr(claims, "EQUALLY_LARGE", {**TINY, "transformer": transformer})
    monkeypatch.setattr(claims, "LENGTHS", (2, 5))
    monkeypatch.setattr(claims, "batch_of", lambda n, vocab_size: pace.batch_of(n, vocab_size=vocab_size, positions=30))
    return tmp_path


def given(folder: Path) -> list[str]:
    return ["--recurrent", str(folder), "--weights", str(folder / "transformer")]


def test_every_model_is_measured_trained_and_new_on_every_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*given(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = [*ARCHITECTURES, "transformer"]
    ways = [
        (name, trained, kind) for name in names for trained in (True, False) for kind in ("encoder", "masked", "cross")
    ]
    assert [(row["model"], row["trained"], row["kind"]) for row in found["reach"]] == ways
    assert {(row["kind"], row["nearest"], len(row["gain"])) for row in found["reach"]} == {
        ("encoder", 0, PIECES + 1),
        ("masked", 0, PIECES + 1),
        ("cross", 1, PIECES + 1),
    }
    assert all(gain > 0 for row in found["reach"] for gain in row["gain"])
    assert [row["radius"] for row in found["exploding"]] == list(RADII)
    assert [row["model"] for row in found["pace"]["models"]] == names
    assert all(len(row["seconds_per_token"]) == 2 for row in found["pace"]["models"])
    far = [row["gain"][-1] for row in found["exploding"]]
    assert far == sorted(far)


def test_the_tables_print_the_same_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*given(folder), "--json"])
    gain = json.loads(capsys.readouterr().out)["reach"][0]["gain"]
    assert main(given(folder)) == 0
    first = capsys.readouterr().out.splitlines()[1]
    assert first.split() == ["rnn", "trained", "encoder", *(f"{gain[d]:.1e}" for d in (1, 2, 4, 8, 16, 32))]


def test_a_new_model_is_the_same_each_time_and_not_the_trained_one() -> None:
    trained = build(TINY["lstm"])
    one, other = untrained(trained), untrained(trained)
    assert torch.equal(one.embedding.weight, other.embedding.weight)
    assert not torch.equal(one.embedding.weight, trained.embedding.weight)
    assert not one.training


def test_our_sentences_are_long_enough(tokenizer: Tokenizer) -> None:
    examples = examples_of(SENTENCES, tokenizer)
    assert {len(side) for example in examples for side in example} == {PIECES}


def test_a_short_sentence_is_said_with_its_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "short.tsv"
    file.write_text(SENTENCES.read_text(encoding="utf-8") + "Yes.\tJa.\n", encoding="utf-8")
    assert main([str(file), *given(folder)]) == 2
    assert "short.tsv, line 7: a side has" in capsys.readouterr().err


def test_a_missing_model_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--recurrent", str(tmp_path)]) == 2
    assert "there is no weights folder" in capsys.readouterr().err
