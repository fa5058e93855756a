"""Words or pieces, and what becomes of <s> and </s>: on every page that has an axis of tokens, and recomputed here."""

from typing import Any

import numpy as np
import pytest

from model.alignment import head_strengths, last_layer, of_pieces, real_words
from model.capture import capture
from model.compare import row_distances
from model.inside import output_projection
from model.measures import rolled_out, value_weighted
from model.ranking import most_telling
from model.selection import select, shaped
from model.stream import stream, tokens
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, AttentionMap, Trace
from model.transformer import Transformer
from model.words import word_groups
from tests.pages.visitor import SENTENCE, Visitor, texts
from tests.thumbnails import painted, wanted
from viz import captions
from viz.payload import unpack

Loaded = tuple[Transformer, Tokenizer]
WAYS = pytest.mark.parametrize(
    ("units", "special"), [("words", "shown"), ("pieces", "hidden"), ("words", "hidden"), ("words", "renormalised")]
)
OTHER = "My sister doesn't hear the house."


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    found = capture(*loaded, SENTENCE)
    assert any(token.continues for token in found.source)
    assert any(token.continues for token in found.read)
    assert len(found.source) != len(found.read)
    return found


def canvases(visitor: Visitor, name: str) -> list[tuple[dict[str, Any], dict[str, Array]]]:
    found = [c.proto for c in visitor.app.get("bidi_component") if c.proto.component_name == f"headlight_{name}"]
    return [unpack(proto.bytes) for proto in found]


def asked(shown: AttentionMap, units: str, special: str) -> AttentionMap:
    return shaped(shown, words=units == "words", special=special)


def places(trace: Trace, side: str, units: str, special: str) -> list[list[int]]:
    """Positions from 0 behind each place of an axis of vectors."""
    pieces = tokens(trace, side)
    groups = word_groups(pieces) if units == "words" else [[n] for n in range(len(pieces))]
    return [group for group in groups if special == "shown" or not pieces[group[0]].special]


def names(trace: Trace, side: str, units: str, special: str) -> list[str]:
    pieces = tokens(trace, side)
    first = [pieces[group[0]] for group in places(trace, side, units, special)]
    return [token.word if units == "words" else token.text for token in first]


def mean(trace: Trace, side: str, units: str, special: str, tensor: Array) -> Array:
    return np.array([tensor[g].astype(float).mean(axis=0) for g in places(trace, side, units, special)])


@WAYS
def test_all_maps_follow(visitor: Visitor, trace: Trace, units: str, special: str) -> None:
    way = {"units": units, "special": special}
    visitor.follow("heads", kind="masked", layer="2", head="3", **way)
    header, arrays = visitor.canvas("grid")
    for index, place in enumerate(header["heads"]):
        expected = select(trace, "masked", place["layer"], place["head"], words=units == "words", special=special)
        np.testing.assert_allclose(painted(header, arrays, index), wanted(expected), atol=1)
    assert visitor.canvas("head")[0]["map"]["columns"] == texts(expected.columns)
    visitor.follow("translate", **way)
    header, arrays = visitor.canvas("grid")
    for index, kind in enumerate(KINDS):
        rows, columns, _ = trace.labels(kind)
        best = trace.map(kind, *most_telling(trace.weights(kind), rows, columns, square=kind != "cross"))
        np.testing.assert_allclose(painted(header, arrays, index), wanted(asked(best, units, special)), atol=1)
    assert len(visitor.canvas("translation")[0]["pieces"]) == len(trace.predicted) - (special != "shown")
    assert ("</s>" in visitor.canvas("translation")[0]["source"]) == (special == "shown")
    visitor.follow("surgery", kind="encoder", layer="3", head="2", tool="silence", **way)
    expected = asked(trace.map("encoder", 3, 2), units, special)
    np.testing.assert_allclose(visitor.canvas("head")[1]["weights"], expected.weights, atol=1e-6)
    assert len(visitor.canvas("shift")[0]["steps"]) == len(trace.predicted) - (special != "shown")


@WAYS
def test_vectors_of_tokens_follow(visitor: Visitor, trace: Trace, units: str, special: str) -> None:
    way = {"units": units, "special": special, "position": "3"}
    for side in ("encoder", "decoder"):
        here = names(trace, side, units, special)
        at = next(n for n, group in enumerate(places(trace, side, units, special)) if 2 in group)
        visitor.follow("tokens", side=side, **way)
        header, arrays = canvases(visitor, "field")[0]
        assert header["rows"] == here
        assert header["pinned"] == [at, None]
        raw = trace.tensors[f"{side}.input.embeddings_tap"]
        np.testing.assert_allclose(arrays["values"], mean(trace, side, units, special, raw), rtol=1e-5, atol=1e-6)
        visitor.follow("layers", side=side, **way)
        header, arrays = canvases(visitor, "field")[0]
        assert (header["rows"], header["pinned"][0]) == (here, at)
        states = [mean(trace, side, units, special, state) for state in stream(trace, side).states]
        np.testing.assert_allclose(arrays["values"], np.linalg.norm(states, axis=-1).T, rtol=1e-5)
        visitor.follow("positions", side=side, **way)
        (_, arrays), *_ = [c for c in canvases(visitor, "curves") if c[0]["yTitle"] == "length of the vector"]
        sums = mean(trace, side, units, special, trace.tensors[f"{side}.input.sum_tap"])
        np.testing.assert_allclose(arrays["y2"], np.linalg.norm(sums, axis=-1), rtol=1e-5)
        visitor.follow("feed_forward", side=side, layer="2", **way)
        header, _ = canvases(visitor, "field")[1]
        assert header["rows"] == names(trace, side, "pieces", special)
        assert (captions.NEURONS_ARE_OF_PIECES in " ".join(visitor.captions)) == (units == "words")


@WAYS
def test_steps_stay_pieces_and_say_so(visitor: Visitor, trace: Trace, units: str, special: str) -> None:
    visitor.follow("output", units=units, special=special)
    kept = len(trace.predicted) - (special != "shown")
    assert visitor.canvas("lens")[0]["written"] == texts(trace.predicted[:kept])
    assert visitor.canvas("lens")[1]["probability"].shape[1] == kept
    assert [step["text"] for step in visitor.canvas("loss")[0]["steps"]] == texts(trace.predicted[:kept])
    assert len(visitor.canvas("distribution")[1]["gaps"]) == kept
    assert (captions.STEPS_ARE_PIECES in " ".join(visitor.captions)) == (units == "words")
    visitor.follow("masked_vs_cross", units=units, special=special)
    assert (captions.STEPS_ARE_WORDS in " ".join(visitor.captions)) == (units == "words")


@WAYS
@pytest.mark.parametrize("by", ["weight", "norm"])
def test_the_matrix_of_an_alignment_follows(
    visitor: Visitor, loaded: Loaded, trace: Trace, by: str, units: str, special: str
) -> None:
    visitor.follow("alignment", units=units, special=special, by=by, german="2", cross_heads="one", cross_head="3")
    layer = last_layer(trace).layer
    looked = places(trace, "encoder", units, special)
    each = head_strengths(trace, output_projection(loaded[0], "cross", layer), layer, by, looked)
    rows = of_pieces(each[2], "predicted")
    target = real_words(trace.predicted) if units == "words" else [[n] for n in range(len(trace.predicted) - 1)]
    expected = np.array([rows[group].mean(axis=0) for group in target])
    if special == "renormalised":
        expected /= expected.sum(axis=1, keepdims=True)
    header, arrays = canvases(visitor, "field")[0]
    np.testing.assert_allclose(arrays["values"], expected, rtol=1e-5, atol=1e-7)
    assert header["columns"] == names(trace, "encoder", units, special)
    first = real_words(trace.predicted)[1][0]
    assert header["pinned"] == [next(n for n, group in enumerate(target) if first in group), None]
    assert len(visitor.canvas("alignment")[0]["target"]) == len(real_words(trace.predicted))


@WAYS
@pytest.mark.parametrize("measure", ["raw", "value", "rollout"])
def test_two_runs_are_compared_as_they_are_shown(
    visitor: Visitor, loaded: Loaded, trace: Trace, measure: str, units: str, special: str
) -> None:
    other = capture(*loaded, OTHER)

    def made(run: Trace, kind: str, layer: int, head: int | None) -> AttentionMap:
        if measure == "rollout":
            return asked(rolled_out(run, kind, layer), units, special)
        if measure == "raw" and head is not None:
            return asked(run.map(kind, layer, head), units, special)
        return asked(value_weighted(run, output_projection(loaded[0], kind, layer), kind, layer, head), units, special)

    visitor.follow(
        "compare", other=OTHER, kind="cross", layer="2", head="4", measure=measure, units=units, special=special
    )
    (moved, apart), (_, drawn) = canvases(visitor, "field")
    heads = (None,) if measure == "rollout" else range(1, 6)
    expected = [
        [row_distances(made(trace, kind, layer, head), made(other, kind, layer, head)).mean() for head in heads]
        for kind in KINDS
        for layer in range(1, trace.layers(kind) + 1)
    ]
    np.testing.assert_allclose(apart["values"], expected, atol=1e-6)
    assert moved["columns"] == (["all"] if measure == "rollout" else ["1", "2", "3", "4", "5"])
    opened = None if measure == "rollout" else 4
    for (_, arrays), run in zip(canvases(visitor, "head"), (trace, other), strict=True):
        np.testing.assert_allclose(arrays["weights"], made(run, "cross", 2, opened).weights, atol=1e-6)
    assert drawn["values"].any()
    assert captions.MEASURES[measure] in " ".join(visitor.captions)
    assert visitor.address["head"] == "4"


@WAYS
def test_inside_a_head_stands_the_heaviest_cell_of_pieces(
    visitor: Visitor, trace: Trace, units: str, special: str
) -> None:
    seen = select(trace, "masked", 2, 3, words=units == "words", special=special)
    row, column = len(seen.rows) - 1, len(seen.columns) - 2
    place = {"kind": "masked", "layer": "2", "head": "3", "query": str(row + 1), "key": str(column + 1)}
    visitor.follow("inside_a_head", units=units, special=special, **place)
    whole = trace.map("masked", 2, 3)
    down = places(trace, "decoder", units, "shown")[row]
    across = places(trace, "decoder", units, special)[column]
    expected = max(((i, j) for i in down for j in across), key=lambda cell: whole.weights[cell])
    header, arrays = visitor.canvas("inside")
    kept = [n for n, token in enumerate(trace.read) if special == "shown" or not token.special]
    assert header["columns"] == texts([trace.read[n] for n in kept])
    assert kept[header["column"]] == expected[1]
    np.testing.assert_allclose(arrays["weights"], whole.weights[expected[0]][kept], atol=1e-6)
    np.testing.assert_allclose(arrays["query"], trace.attention("masked", 2, "queries")[2, expected[0]], rtol=1e-6)
    assert visitor.address.items() >= place.items()
    visitor.menu("heads")
    assert visitor.address.items() >= (place | {"special": special} if special != "shown" else place).items()


def test_what_is_chosen_on_one_page_is_shown_on_the_next(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("tokens")
    visitor.choose("units", "words")
    visitor.choose("special", "hidden")
    visitor.menu("layers")
    assert canvases(visitor, "field")[0][0]["rows"] == names(trace, "encoder", "words", "hidden")
    visitor.menu("heads")
    assert visitor.canvas("head")[0]["map"]["columns"] == names(trace, "encoder", "words", "hidden")
    assert visitor.address == {"sentence": SENTENCE, "units": "words", "special": "hidden"}


def test_a_token_that_is_hidden_is_let_go_and_a_piece_becomes_its_word(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("layers", side="decoder", position="1", special="hidden")
    assert visitor.state("position") != 1
    assert "position" not in visitor.address
    piece = next(n for n, token in enumerate(trace.source) if token.continues)
    visitor.follow("layers", position=str(piece + 1), units="words")
    group = next(g for g in places(trace, "encoder", "words", "shown") if piece in g)
    assert visitor.state("position") == group[0] + 1
