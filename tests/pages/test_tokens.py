"""The page about tokens: pieces, vectors, neighbours and the second sentence are what the model has."""

from typing import Any

import numpy as np
import pytest

from model.capture import capture
from model.contexts import contexts, most_parted, shared
from model.stream import tokens
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer
from model.vectors import neighbours
from pages.parts.second import BANK
from tests.pages.visitor import SENTENCE, Visitor, texts

Loaded = tuple[Transformer, Tokenizer]
OTHER = "Two green trees hear the old man."


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def told(visitor: Visitor) -> str:
    return "\n".join(str(text.value) for text in visitor.app.text)


def chips(header: dict[str, Any], side: int) -> list[int]:
    words = header["sides"][side]["words"]
    return [piece["id"] for word in words for character in word["characters"] for piece in character["pieces"]]


def test_both_sides_stand_there_piece_by_piece(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("tokens", side="decoder", position="2")
    header, _ = visitor.canvas("pieces")
    assert chips(header, 0) == [token.id for token in trace.source]
    assert chips(header, 1) == [token.id for token in trace.read]
    assert header["marked"] == [1, 1]


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_vectors_are_the_rows_of_the_matrix_times_the_root_of_the_width(
    visitor: Visitor, loaded: Loaded, trace: Trace, side: str
) -> None:
    visitor.follow("tokens", side=side, position="2")
    header, arrays = visitor.canvas("field")
    shown = tokens(trace, side)
    matrix = loaded[0].embedding.weight.numpy()
    ids = [token.id for token in shown]
    np.testing.assert_allclose(arrays["values"], matrix[ids] * 20**0.5, rtol=1e-6)
    assert header["rows"] == texts(shown)
    assert header["pinned"] == [1, None]


def test_neighbours_are_those_of_the_chosen_piece_in_the_whole_matrix(
    visitor: Visitor, loaded: Loaded, trace: Trace
) -> None:
    visitor.follow("tokens", position="4")
    matrix: Array = loaded[0].embedding.weight.numpy()
    expected = neighbours(matrix, int(trace.source[3].id or 0), 12)
    frame = visitor.app.dataframe[0].value
    assert list(frame["number"]) == [one.row for one in expected]
    np.testing.assert_allclose(frame["cosine"], [one.cosine for one in expected])


def test_the_maps_hold_every_token_before_and_after(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("tokens", position="2")
    header, _ = visitor.canvas("plane")
    assert [point["label"] for point in header["points"]] == texts(trace.source) * 2
    assert header["marked"] == 2
    visitor.choose("map", "own")
    planes = [header for header, _ in visitor.canvases() if "points" in header]
    assert [[point["label"] for point in header["points"]] for header in planes] == [texts(trace.source)] * 2
    assert visitor.address == {"sentence": SENTENCE, "position": "2", "map": "own"}


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_the_token_proposed_is_the_one_that_parts_most(
    visitor: Visitor, loaded: Loaded, trace: Trace, side: str
) -> None:
    second = capture(*loaded, OTHER)
    visitor.follow("tokens", other=OTHER, side=side)
    parted = most_parted(trace, second, side)
    assert parted is not None
    assert visitor.state("position") == parted + 1
    expected = contexts(trace, second, side, parted, shared(trace, second, side)[parted])
    _, arrays = visitor.canvas("curves")
    np.testing.assert_allclose(arrays["y0"], expected.cosines, atol=1e-6)
    np.testing.assert_allclose(arrays["y1"], expected.others, atol=1e-6)
    assert f"Second sentence: {OTHER}" in told(visitor)
    assert second.target_text in told(visitor)
    assert "position" not in visitor.address


def test_without_a_second_sentence_one_is_asked_for_and_bank_can_be_tried(visitor: Visitor) -> None:
    visitor.follow("tokens")
    assert "Type a second sentence" in told(visitor)
    assert [h for h, _ in visitor.canvases() if "series" in h] == []
    visitor.app.button(key="try_bank").click().run()
    assert visitor.address == {"sentence": BANK[0], "other": BANK[1]}
    assert f"Second sentence: {BANK[1]}" in told(visitor)
    visitor.type("", key="other")
    assert f"Second sentence: {BANK[1]}" in told(visitor), "an example has a partner of its own"


def test_a_piece_that_only_one_sentence_has_is_said(visitor: Visitor, loaded: Loaded, trace: Trace) -> None:
    visitor.follow("tokens", other="My sister draws.", position="1")
    both = shared(trace, capture(*loaded, "My sister draws."), "encoder")
    assert 0 not in both
    names = ", ".join(f"{place + 1} ‘{trace.source[place].text}’" for place in both)
    assert f"‘{trace.source[0].text}’ does not stand in the second sentence. Tokens that do: {names}." in told(visitor)
    visitor.follow("tokens", other=" \n ", position="1")
    assert "The second sentence is empty" in told(visitor)


def test_tables_stand_behind_the_pictures(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("tokens", other=OTHER)
    visitor.choose("as_table", True)
    frames = [frame.value for frame in visitor.app.dataframe]
    assert list(frames[0]["number"]) == [token.id for token in trace.source]
    assert any("1st direction" in frame for frame in frames)
    assert any("different pieces, mean" in frame for frame in frames)
    values = trace.tensors["encoder.input.embeddings_tap"]
    assert [frame for frame in frames if frame.shape == values.shape]


@pytest.mark.parametrize("page", ["tokens", "positions"])
def test_another_sentence_lets_go_of_the_token_and_keeps_the_side(visitor: Visitor, page: str) -> None:
    visitor.follow(page, side="decoder", position="3")
    assert visitor.state("position") == 3
    visitor.type("My sister draws 25 keys.")
    assert visitor.address == {"sentence": "My sister draws 25 keys.", "side": "decoder"}


@pytest.mark.parametrize("page", ["tokens", "positions"])
def test_a_token_that_counts_too_far_is_said(visitor: Visitor, page: str) -> None:
    visitor.follow(page, position="98")
    assert [note for note in visitor.notes if note.startswith("There is no position 98 here: it counts from 1 to ")]
    assert visitor.address == {"sentence": SENTENCE}
