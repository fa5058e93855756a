"""The page about positions: the formula's numbers, what this sentence got of them, and two orders of its words."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.capture import capture
from model.orders import backwards, in_two_orders
from model.positions import encoding, similarity, sizes
from model.report import digest
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer
from pages.parts import encodings, session
from tests.pages.visitor import SENTENCE, Visitor, texts

Loaded = tuple[Transformer, Tokenizer]


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def curves(visitor: Visitor, title: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """The one picture of lines with this axis."""
    (found,) = [(h, a) for h, a in visitor.canvases() if h.get("yTitle") == title]
    return found


def field(visitor: Visitor, title: str) -> tuple[dict[str, Any], dict[str, Array]]:
    (found,) = [(h, a) for h, a in visitor.canvases() if str(h.get("title")).startswith(title) and "values" in a]
    return found


def told(visitor: Visitor) -> str:
    return "\n".join(str(text.value) for text in visitor.app.text)


def test_at_first_d_is_the_model_s_own(visitor: Visitor) -> None:
    visitor.follow("positions")
    header, arrays = field(visitor, "PE")
    np.testing.assert_array_equal(arrays["values"], encoding(64, 20).astype(np.float32))
    assert visitor.address == {"sentence": SENTENCE}


def test_d_length_and_frequency_can_be_chosen_and_stand_in_the_address(visitor: Visitor) -> None:
    visitor.follow("positions", width="8", length="11", frequency="3")
    header, arrays = field(visitor, "PE")
    np.testing.assert_array_equal(arrays["values"], encoding(11, 8).astype(np.float32))
    assert header["columns"][header["pinned"][1]] == "sin 3"
    waves, lines = curves(visitor, "value")
    assert waves["series"][-1]["name"] == "sin 3"
    last = len(waves["series"]) - 1
    np.testing.assert_allclose(lines[f"y{last}"], encoding(11, 8)[:, 4], atol=1e-6)
    _, alike = curves(visitor, "cosine")
    np.testing.assert_allclose(alike["y0"], similarity(np.arange(11), 8) / 4, atol=1e-6)
    np.testing.assert_allclose(alike["y1"], similarity(np.arange(11), 20) / 10, atol=1e-6)
    visitor.choose("length", 13)
    assert visitor.address["length"] == "13"
    assert visitor.address["width"] == "8"


def test_an_odd_width_becomes_even_and_one_in_the_address_is_said(visitor: Visitor) -> None:
    visitor.follow("positions")
    visitor.choose("width", 7)
    assert visitor.address["width"] == "8"
    visitor.follow("positions", width="7")
    assert [note for note in visitor.notes if "width='7'" in note and "even" in note]


def test_a_frequency_that_the_width_does_not_have_is_let_go_of(visitor: Visitor) -> None:
    visitor.follow("positions", width="8", frequency="5")
    assert [note for note in visitor.notes if "no frequency 5" in note]
    assert visitor.state("frequency") in range(1, 5)


def test_the_small_table_and_the_rotation_stand_there_as_numbers(visitor: Visitor) -> None:
    visitor.follow("positions", width="8", frequency="2", shift="3", position="4")
    small, rotation = (frame.value for frame in visitor.app.dataframe)
    np.testing.assert_allclose(small.to_numpy(), encoding(4, 4))
    row = rotation["2"]
    np.testing.assert_allclose([row["sin at 6"], row["cos at 6"]], encoding(7, 8)[6, 2:4], atol=1e-12)
    assert "Largest error of M · PE(pos) = PE(pos + 3)" in told(visitor)
    assert "is the formula at d = 20" in told(visitor)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_what_is_added_is_what_the_taps_heard(visitor: Visitor, trace: Trace, side: str) -> None:
    visitor.follow("positions", side=side, position="2")
    header, arrays = curves(visitor, "length of the vector")
    parts = [trace.tensors[f"{side}.input.{what}_tap"] for what in ("embeddings", "positions", "sum")]
    found = sizes(*parts)
    for n, lengths in enumerate((found.embeddings, found.positions, found.sums)):
        np.testing.assert_allclose(arrays[f"y{n}"], lengths, rtol=1e-6)
    assert [text for _, text in header["labels"]] == texts(trace.source if side == "encoder" else trace.read)
    assert header["marked"] == 2.0


def test_two_orders_are_those_of_the_model(visitor: Visitor, loaded: Loaded, trace: Trace) -> None:
    visitor.follow("positions")
    order, ids = backwards(trace.source), [int(token.id or 0) for token in trace.source[:-1]]
    _, arrays = curves(visitor, "cosine between a token's vectors in both orders")
    for n, positions in enumerate((False, True)):
        expected = in_two_orders(loaded[0], ids, order, positions=positions)
        np.testing.assert_allclose(arrays[f"y{n}"], expected.cosines, atol=1e-5)
    np.testing.assert_allclose(arrays["y0"], 1.0, atol=1e-5)
    assert "Backwards: today trees green two hear doesn't man old The ." in told(visitor)
    visitor.type("Trees")
    assert "One word has one order only" in told(visitor)


def test_clicks_on_pictures_choose_frequency_step_and_token(monkeypatch: pytest.MonkeyPatch, trace: Trace) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(encodings.st, "session_state", state)
    for column, frequency in ((1, 1), (2, 1), (3, 2), (8, 4)):
        encodings.column(None, column)
        assert state["frequency"] == frequency
    encodings.two_positions(7, 2)
    assert state["shift"] == 5
    encodings.two_positions(4, 4)
    encodings.two_positions(4, None)
    encodings.distance(None)
    assert state["shift"] == 5
    encodings.on_circle(trace.source, 2)(4)
    assert state["position"] == 4
    encodings.on_circle(trace.source, 12)(1)
    assert state["position"] == 7
    encodings.on_circle(trace.source, 27)(12)
    assert state["position"] == len(trace.source)


def test_that_nothing_was_measured_is_said(visitor: Visitor) -> None:
    visitor.follow("positions")
    assert "Nobody has measured these weights past the training length yet" in told(visitor)


@pytest.fixture
def measured(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights with a report beside them that was made up."""
    folder = Path(shutil.copytree(weights, tmp_path / "weights"))
    head = {"kind": "encoder", "layer": 1, "head": 1, "previous": 0.5, "same": 0.1, "next": 0.2, "entropy": 0.4}
    length: dict[str, Any] = {
        "joined": 1,
        "n": 9,
        "pieces": 8.0,
        "words": 6.0,
        "bleu": 31.25,
        "apart": 31.25,
        "ratio": 1.0,
    }
    length["heads"] = [head]
    longer = length | {"joined": 5, "pieces": 80.0, "words": 60.0, "bleu": 3.5}
    report = {"weights": digest(folder), "file": "pairs.tsv", "sentences": 9, "trained_words": 30}
    report |= {"lengths": [length, longer], "starts": [{"start": 1, "bleu": 31.25}, {"start": 41, "bleu": 4.75}]}
    (folder / "length.json").write_text(json.dumps(report))
    monkeypatch.setattr(session, "WEIGHTS", folder)
    return folder


def test_what_was_measured_past_the_training_length_is_drawn(visitor: Visitor, measured: Path) -> None:
    visitor.follow("positions")
    pictures = [(h, a) for h, a in visitor.canvases() if h.get("yTitle") == "BLEU"]
    np.testing.assert_array_equal(pictures[0][1]["y0"], [31.25, 3.5])
    np.testing.assert_array_equal(pictures[1][1]["y0"], [31.25, 4.75])
    assert "9 sentences of pairs.tsv" in told(visitor)
    _, sideways = curves(visitor, "share of rows that look there most")
    np.testing.assert_array_equal(sideways["y0"], [0.5, 0.5])


def test_a_report_of_other_weights_is_not_drawn(visitor: Visitor, measured: Path) -> None:
    path = measured / "length.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"weights": "0"}))
    visitor.follow("positions")
    assert "measured on other weights" in told(visitor)
    assert not [h for h, _ in visitor.canvases() if h.get("yTitle") == "BLEU"]
