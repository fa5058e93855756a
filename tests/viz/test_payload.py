"""What a canvas gets: packed without loss, aligned, and with the labels of the trace."""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from model.alignment import Link
from model.labels import candidates
from model.ranking import all_maps
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, AttentionMap, Token, Trace
from model.words import words
from tests.thumbnails import decoded, painted, wanted
from viz import phrases
from viz.payload import grid, head, pack, translation, unpack
from viz.theme import DARK, LIGHT, for_canvas
from viz.thumbnails import rice_code, shades

TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
NAMES = TEXTS.filter(lambda name: name != "arrays")  # which describes what follows
HEADERS = st.dictionaries(NAMES, TEXTS | st.none() | st.integers() | st.booleans())
ARRAYS = st.dictionaries(
    TEXTS,
    st.sampled_from([np.uint8, np.uint16, np.float32]).flatmap(
        lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=5))
    ),
)
FIXED = settings(max_examples=100, deadline=None, derandomize=True, database=None)


def texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def a_grid(maps: Sequence[AttentionMap], **changes: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    options = {"opened": 0, "pinned": None, "linear": False, "per_row": 5, "captions": [str(m.head) for m in maps]}
    return unpack(grid(maps, theme=LIGHT, **(options | changes)))


@FIXED
@given(header=HEADERS, given_arrays=ARRAYS)
def test_what_is_packed_comes_out_again(header: Mapping[str, Any], given_arrays: Mapping[str, Array]) -> None:
    found, found_arrays = unpack(pack(header, given_arrays))
    assert found == header
    assert list(found_arrays) == list(given_arrays)
    for name, array in given_arrays.items():
        assert found_arrays[name].dtype == array.dtype
        assert found_arrays[name].shape == array.shape
        assert found_arrays[name].tobytes() == array.tobytes()


@FIXED
@given(header=HEADERS, given_arrays=ARRAYS)
def test_every_array_begins_where_it_may(header: Mapping[str, Any], given_arrays: Mapping[str, Array]) -> None:
    message = pack(header, given_arrays)
    (length,) = struct.unpack_from("<I", message)
    described = json.loads(message[4 : 4 + length])["arrays"]
    assert (4 + length) % 4 == 0
    for name, array in given_arrays.items():
        assert described[name]["offset"] % 4 == 0
        assert 4 + length + described[name]["offset"] + array.nbytes <= len(message)


def test_an_array_that_is_not_contiguous_is_packed_as_it_reads() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4).T
    np.testing.assert_array_equal(unpack(pack({}, {"a": array}))[1]["a"], array)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int32, np.int64, np.float16, np.float64, object])
def test_a_type_that_a_canvas_does_not_read_is_refused_by_name(dtype: type) -> None:
    with pytest.raises(TypeError, match=r"array weights is .*; a canvas reads uint8, uint16 or float32"):
        pack({}, {"weights": np.zeros(3, dtype=dtype)})


def test_a_number_that_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        pack({"probability": float("nan")}, {})


def test_half_a_character_does_not_break_the_message() -> None:
    header, found = unpack(pack({"text": "a\ud800b"}, {"a": np.ones(3, dtype=np.float32)}))
    assert header == {"text": "a?b"}
    np.testing.assert_array_equal(found["a"], 1)


@FIXED
@given(arrays.arrays(np.float32, (4, 7), elements=st.floats(0, 1, width=32)), st.booleans())
def test_a_thumbnail_has_the_very_shades_that_exact_weights_give(weights: Array, linear: bool) -> None:
    names = [[str(n) for n in range(size)] for size in weights.shape]
    shown = AttentionMap.of(weights, *names, predicts=names[0], kind="cross")
    np.testing.assert_array_equal(painted(*a_grid([shown], linear=linear), 0), wanted(shown, linear=linear))


@pytest.mark.parametrize("linear", [False, True])
def test_a_thumbnail_keeps_nothing_everything_and_the_order_in_between(linear: bool) -> None:
    shown = shades(np.linspace(0, 1, 100_000, dtype=np.float32), linear=linear)
    assert sorted(set(shown.tolist())) == list(range(256))
    assert (np.diff(shown.astype(int)) >= 0).all()
    assert shades(np.float32([-1e-7, 1 + 1e-6]), linear=linear).tolist() == [0, 255]


@pytest.mark.parametrize("low", range(8))
def test_every_shade_comes_back_out_of_its_code(low: int) -> None:
    shown = np.random.default_rng(low).permutation(np.arange(256, dtype=np.uint8))
    assert decoded(rice_code(shown, low), low, 256) == shown.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_word", [False, True])
@pytest.mark.parametrize("linear", [False, True])
def test_the_grid_paints_every_head_and_where_it_may_not_look(
    trace: Trace, kind: str, by_word: bool, linear: bool
) -> None:
    maps = all_maps(trace, kind, words=by_word)
    header, found = a_grid(maps, linear=linear)
    assert [(m["kind"], m["layer"], m["head"]) for m in header["heads"]] == [(m.kind, m.layer, m.head) for m in maps]
    for index, shown in enumerate(maps):
        np.testing.assert_array_equal(painted(header, found, index), wanted(shown, linear=linear))
        assert found[f"shades{index}"].nbytes <= shown.allowed.sum() * 9 / 8 + 1  # none for cells behind the mask
    assert [name for name in found if name.startswith("mask")] == (["mask0"] if kind == "masked" else [])
    assert header["order"] == list(range(len(maps)))


def test_the_grid_takes_heads_of_unlike_kinds_and_sizes(trace: Trace) -> None:
    maps = [trace.map(kind, 2, 3) for kind in KINDS]
    header, found = a_grid(maps, opened=None, order=[2, 0, 1], pinned=(1, 2), linear=True, row_labels=["L1"], size=220)
    assert [tuple(said["cells"]) for said in header["heads"]] == [m.weights.shape for m in maps]
    assert len({m.weights.shape for m in maps}) == 3
    assert (header["opened"], header["order"], header["pinned"]) == (None, [2, 0, 1], [1, 2])
    assert (header["rowLabels"], header["size"], header["perRow"]) == (["L1"], 220, 5)
    for index, shown in enumerate(maps):
        np.testing.assert_array_equal(painted(header, found, index), wanted(shown, linear=True))


def test_heads_that_differ_in_what_they_may_see_have_masks_of_their_own(trace: Trace) -> None:
    one, last = trace.map("masked", 1, 2), trace.map("masked", 2, 3)
    words = all_maps(trace, "masked", words=True)[0]
    shut = np.ones_like(one.allowed)
    shut[3, 2] = False
    other = replace(one, weights=np.where(shut, one.weights, 0), allowed=shut)
    header, found = a_grid([one, other, trace.map("cross", 1, 1), words, last], captions=list("abcde"))
    assert [said["mask"] for said in header["heads"]] == [0, 1, None, 2, 0]
    for index, shown in enumerate((one, other, trace.map("cross", 1, 1), words, last)):
        np.testing.assert_array_equal(painted(header, found, index), wanted(shown))


def test_the_grid_wants_one_caption_for_each_head(trace: Trace) -> None:
    with pytest.raises(ValueError, match="zip"):
        a_grid(all_maps(trace, "cross", words=False), captions=["1", "2"])


@pytest.mark.parametrize("kind", KINDS)
def test_an_opened_head_carries_its_weights_to_the_last_bit(trace: Trace, kind: str) -> None:
    shown = trace.map(kind, 2, 4)
    header, found = unpack(head(shown, theme=DARK, pinned=(3, 5), linear=False, lines=True))
    assert found["weights"].dtype == np.float32
    assert found["weights"].tobytes() == shown.weights.tobytes()
    np.testing.assert_array_equal(found["allowed"], shown.allowed)
    assert (header["pinned"], header["lines"], header["linear"]) == ([3, 5], True, False)
    assert header["theme"]["name"] == "dark"


@pytest.mark.parametrize("kind", KINDS)
def test_an_opened_head_is_labelled_as_the_trace_is(trace: Trace, kind: str) -> None:
    shown = unpack(head(trace.map(kind, 1, 5), theme=LIGHT, pinned=None, linear=False, lines=False))[0]["map"]
    rows, columns, predicts = trace.labels(kind)
    assert (shown["kind"], shown["layer"], shown["head"]) == (kind, 1, "head 5")
    assert (shown["rows"], shown["columns"]) == (texts(rows), texts(columns))
    assert shown["predicts"] == (None if predicts is None else texts(predicts))
    assert shown["special"] == [token.special for token in columns]
    assert (shown["sentence"], shown["forbidden"]) == (phrases.SENTENCES[kind], phrases.FORBIDDEN)


def test_the_translation_says_each_piece_its_chance_its_word_and_its_rivals(trace: Trace, tokenizer: Tokenizer) -> None:
    links, considered = [Link(3, 0, 0.5), Link(0, 1, 0.25)], candidates(tokenizer, trace, 4)
    header, found = unpack(translation(trace, links, considered, theme=LIGHT, step=2))
    pieces, chances = header["pieces"], np.exp(trace.target_log_probabilities())
    assert found == {}
    assert [piece["read"] for piece in pieces] == texts(trace.read)
    assert [piece["text"] for piece in pieces] == texts(trace.predicted)
    np.testing.assert_allclose([piece["probability"] for piece in pieces], chances, rtol=1e-12)
    np.testing.assert_allclose([piece["entropy"] for piece in pieces], trace.entropy(), rtol=1e-12)
    assert header["source"] == [token.word for token in words(trace.source)]
    spoken = words(trace.predicted)
    assert [spoken[piece["word"]].text for piece in pieces] == [token.word for token in trace.predicted]
    assert [(link["source"], link["target"], link["strength"]) for link in header["links"]] == [
        (link.source, link.target, link.strength) for link in links
    ]
    for piece, row in zip(pieces, considered, strict=True):
        assert piece["considered"] == [[c.text, c.probability, c.written] for c in row]
        assert [text for text, _, written in piece["considered"] if written] != []


def test_markup_in_a_token_travels_as_it_is(trace: Trace) -> None:
    """The canvas writes text with fillText and textContent: nothing is to be escaped, nothing to be lost."""
    shown = trace.map("encoder", 1, 1)
    nasty = "</script><img src=x onerror=alert(1)> **b** $x$ \u2028 \u202e 🐴"
    named = replace(shown, rows=(Token(nasty, nasty), *shown.rows[1:]))
    assert unpack(head(named, theme=LIGHT, pinned=None, linear=False, lines=False))[0]["map"]["rows"][0] == nasty


def test_the_same_input_gives_the_same_bytes(trace: Trace) -> None:
    shown = trace.map("masked", 2, 5)
    first, second = (head(shown, theme=LIGHT, pinned=None, linear=False, lines=False) for _ in range(2))
    assert first == second


def test_a_canvas_gets_every_colour_it_draws_with(trace: Trace) -> None:
    said = unpack(head(trace.map("cross", 1, 1), theme=DARK, pinned=None, linear=False, lines=False))[0]["theme"]
    assert said == {**for_canvas(DARK), "ticks": list(for_canvas(DARK)["ticks"])}
