"""Tokens as vectors: pictures carry the captured numbers, and say how much of them a plane shows."""

import numpy as np
import pytest

from model.capture import trace_of
from model.contexts import contexts, shared
from model.stream import tokens
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from model.vectors import Neighbour, unit
from viz import tokens as drawn
from viz.payload import unpack
from viz.theme import LIGHT

SIDES = pytest.mark.parametrize("side", ["encoder", "decoder"])
ENDS = {"encoder": "encoder.memory_tap", "decoder": "decoder.output_tap"}


@SIDES
def test_the_embeddings_are_those_of_the_tap_before_positions(trace: Trace, side: str) -> None:
    header, arrays = unpack(drawn.embeddings(trace, side, 3, theme=LIGHT))
    np.testing.assert_array_equal(arrays["values"], trace.tensors[f"{side}.input.embeddings_tap"])
    assert header["rows"] == [token.text for token in tokens(trace, side)]
    assert header["columns"][0] == "1"
    assert header["pinned"] == [2, None]
    assert header["limit"] == drawn.LIMIT


def test_it_is_said_that_the_root_of_the_width_is_in_the_numbers() -> None:
    assert "times √256 = 16" in drawn.how_to_read(256)


@SIDES
def test_both_sets_lie_in_one_plane_and_the_shares_are_theirs(trace: Trace, side: str) -> None:
    message, said, groups = drawn.joint_map(trace, side, 2, theme=LIGHT)
    _, arrays = unpack(message)
    before, after = unit(trace.tensors[f"{side}.input.embeddings_tap"]), unit(trace.tensors[ENDS[side]])
    both = np.concatenate([before, after])
    points = np.concatenate([group.points for group in groups])
    np.testing.assert_allclose(arrays["points"], points, atol=1e-6)
    centred = both - both.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(points), np.abs(centred @ directions[:2].T), atol=1e-9)
    for vectors in (before, after):
        own = vectors - vectors.mean(axis=0)
        share = ((own @ directions[:2].T) ** 2).sum() / (own**2).sum()
        assert f"{share:.0%}" in said


@SIDES
def test_each_set_may_have_a_plane_of_its_own(trace: Trace, side: str) -> None:
    pictures, said, groups = drawn.own_maps(trace, side, 2, theme=LIGHT)
    assert len(pictures) == 2
    assert "must not be compared" in said
    for picture, group in zip(pictures, groups, strict=True):
        header, arrays = unpack(picture)
        np.testing.assert_allclose(arrays["points"], group.points, atol=1e-6)
        assert [point["label"] for point in header["points"]] == [token.text for token in tokens(trace, side)]


def test_a_point_says_which_other_token_is_most_like_it(trace: Trace) -> None:
    _, _, groups = drawn.joint_map(trace, "encoder", 1, theme=LIGHT)
    memory = unit(trace.tensors["encoder.memory_tap"])
    alike = memory @ memory.T - 2 * np.eye(len(memory))
    for said, label, row in zip(groups[1].says, groups[1].labels, alike, strict=True):
        assert said.startswith(f"‘{label}’ after the encoder")
        assert f"‘{groups[1].labels[int(row.argmax())]}’ (cosine {row.max():.2f})" in said


def test_neighbours_are_named() -> None:
    made = drawn.neighbours([Neighbour(2, 0.75), Neighbour(0, 0.5)], ["a", "b", "c"])
    assert made.to_dict("list") == {"piece": ["c", "a"], "cosine": [0.75, 0.5], "number": [2, 0]}


def test_one_piece_in_two_sentences_is_drawn_place_by_place(
    trace: Trace, model: Transformer, tokenizer: Tokenizer
) -> None:
    second = trace_of(model, tokenizer, tokenizer.encode("Two trees hear."), tokenizer.encode("Haus"))
    (row, column), *_ = shared(trace, second, "encoder").items()
    found = contexts(trace, second, "encoder", row, column)
    lines = drawn.context_lines(found, "trees", "encoder")
    header, arrays = unpack(drawn.context_picture(found, lines, theme=LIGHT))
    np.testing.assert_array_equal(arrays["y0"], found.cosines.astype(np.float32))
    np.testing.assert_array_equal(arrays["y1"], found.others.astype(np.float32))
    assert [text for _, text in header["labels"]] == list(found.places)
    said = drawn.context_said(found, "trees")
    for number in (found.cosines[0], found.cosines[-1], found.others[-1]):
        assert f"{number:.2f}".replace("-", "−") in said
