"""Two models are as far apart as their weights are, cell by cell, where they may look."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from model import checkpoint
from model.capture import trace_of
from model.command import InputError
from model.config import ModelConfig
from model.data import Pair
from model.drift import drift, main
from model.tokenizer import Tokenizer, train_tokenizer
from model.trace import KINDS
from model.transformer import Transformer

SENTENCES = [Pair("Tom sees the house.", "Tom sieht."), Pair("Mary draws 25 keys today.", "Maria zeichnet das Haus.")]


@pytest.fixture
def other(build: Callable[..., Transformer], tiny: ModelConfig) -> Transformer:
    return build(tiny, seed=9)


def test_a_model_is_not_apart_from_itself(model: Transformer, tokenizer: Tokenizer) -> None:
    found = drift(model, model, tokenizer, SENTENCES)
    assert found.pop("n") == 2
    assert all(set(row.values()) == {0.0} for row in found.values())


@pytest.mark.parametrize("kind", KINDS)
def test_differences_are_those_of_the_weights(
    model: Transformer, other: Transformer, tokenizer: Tokenizer, kind: str
) -> None:
    apart, cells, moved, elsewhere = [], 0, [], []
    for pair in SENTENCES:
        ids = tokenizer.encode(pair.source), tokenizer.encode(pair.target)
        ours, theirs = (trace_of(m, tokenizer, *ids).weights(kind) for m in (model, other))
        difference = np.abs(ours - theirs)
        L, H, T, S = difference.shape
        apart.append(difference)
        cells += L * H * (T * (T + 1) // 2 if kind == "masked" else T * S)
        moved.append(difference.sum(axis=-1).ravel() / 2)
        elsewhere.append((ours.argmax(axis=-1) != theirs.argmax(axis=-1)).ravel())
    found = drift(model, other, tokenizer, SENTENCES)[kind]
    assert found["largest"] == pytest.approx(max(d.max() for d in apart), abs=1e-5)
    assert found["mean"] == pytest.approx(sum(d.sum() for d in apart) / cells, abs=1e-5)
    assert found["moved"] == pytest.approx(np.concatenate(moved).mean(), abs=1e-5)
    assert found["other_maximum"] == pytest.approx(np.concatenate(elsewhere).mean(), abs=1e-5)
    assert 0 < found["moved"] < 1


def test_sentences_beyond_the_limit_are_left_out(model: Transformer, other: Transformer, tokenizer: Tokenizer) -> None:
    long = Pair("q" * 300, "z")
    assert drift(model, other, tokenizer, [*SENTENCES, long]) == drift(model, other, tokenizer, SENTENCES)
    with pytest.raises(InputError, match="beyond 256 pieces"):
        drift(model, other, tokenizer, [long])


def run(weights: Path, against: Path, tmp_path: Path, *more: str) -> int:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in SENTENCES), encoding="utf-8")
    return main([str(path), "--weights", str(weights), "--against", str(against), *more])


def test_the_command_says_what_int8_does_to_the_maps(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checkpoint.main([str(weights), "--out", str(tmp_path / "small"), "--int8"]) == 0
    capsys.readouterr()
    assert run(tmp_path / "small", weights, tmp_path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["n", *KINDS]
    assert all(0 < found[kind]["mean"] < found[kind]["largest"] < 0.1 for kind in KINDS)
    assert run(tmp_path / "small", weights, tmp_path) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["kind", *KINDS]


def test_models_of_unlike_vocabularies_are_not_compared(
    weights: Path, trained: Transformer, pairs: Sequence[Pair], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vocabulary = train_tokenizer((pair.target for pair in pairs[:200]), vocab_size=347)
    checkpoint.save(tmp_path / "other", trained.config, trained.state_dict(), vocabulary)
    assert run(weights, tmp_path / "other", tmp_path) == 2
    assert "differ in configuration or vocabulary" in capsys.readouterr().err
