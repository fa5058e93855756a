"""Raw, value-weighted, rollout: one switch wherever maps are shown, and what is shown is what the model computes."""

import numpy as np
import pytest

from model.capture import capture
from model.inside import cell, output_projection
from model.measures import rolled_out, value_weighted
from model.selection import shaped
from model.tokenizer import Tokenizer
from model.trace import KINDS, AttentionMap, Trace
from model.transformer import Transformer
from model.words import by_words
from tests.pages.visitor import SENTENCE, Visitor
from tests.thumbnails import painted, wanted
from viz import captions, heatmap, inside

Loaded = tuple[Transformer, Tokenizer]


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def weighted(loaded: Loaded, trace: Trace, kind: str, layer: int, head: int | None) -> AttentionMap:
    return value_weighted(trace, output_projection(loaded[0], kind, layer), kind, layer, head)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("units", ["pieces", "words"])
def test_value_weighted_heads_are_those_that_the_model_computes(
    visitor: Visitor, loaded: Loaded, trace: Trace, kind: str, units: str
) -> None:
    visitor.follow("heads", kind=kind, units=units, layer="2", head="3", measure="value")
    header, arrays = visitor.canvas("grid")
    assert len(header["heads"]) == trace.layers(kind) * 5
    for index, place in enumerate(header["heads"]):
        expected = weighted(loaded, trace, kind, place["layer"], place["head"])
        expected = by_words(expected) if units == "words" else expected
        np.testing.assert_allclose(painted(header, arrays, index), wanted(expected), atol=1)
        if (place["layer"], place["head"]) == (2, 3):
            assert header["opened"] == index
            np.testing.assert_allclose(visitor.canvas("head")[1]["weights"], expected.weights, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_by_rollout_there_is_one_map_for_each_layer(visitor: Visitor, trace: Trace, kind: str) -> None:
    visitor.follow("heads", kind=kind, layer="2", head="3", measure="rollout", query="2", key="1")
    header, arrays = visitor.canvas("grid")
    layers = range(1, trace.layers(kind) + 1)
    assert [(m["layer"], m["head"], m["name"]) for m in header["heads"]] == [
        (layer, None, "rollout from layer 1") for layer in layers
    ]
    assert header["opened"] == 1
    for layer in layers:
        np.testing.assert_allclose(painted(header, arrays, layer - 1), wanted(rolled_out(trace, kind, layer)), atol=1)
    opened = rolled_out(trace, kind, 2)
    np.testing.assert_allclose(visitor.canvas("head")[1]["weights"], opened.weights, atol=1e-6)
    visitor.choose("view", "table")
    assert heatmap.sentence(opened, 1, 0) in [text.value for text in visitor.app.text]
    assert not [box for box in visitor.app.selectbox if box.label == "Head"]
    assert visitor.address["head"] == "3"


@pytest.mark.parametrize("measure", ["value", "rollout"])
@pytest.mark.parametrize("heads", ["one", "mean"])
def test_both_sides_are_drawn_by_the_chosen_measure(
    visitor: Visitor, loaded: Loaded, trace: Trace, measure: str, heads: str
) -> None:
    chosen = {"layer": "2", "head": "5", "cross_layer": "1", "cross_head": "3"}
    visitor.follow("masked_vs_cross", measure=measure, heads=heads, special="renormalised", stage="scores", **chosen)
    header, arrays = visitor.canvas("pair")
    for kind, layer, head in (("masked", 2, 5), ("cross", 1, 3)):
        one = head if heads == "one" else None
        expected = rolled_out(trace, kind, layer) if measure == "rollout" else weighted(loaded, trace, kind, layer, one)
        expected = shaped(expected, words=False, special="renormalised")
        np.testing.assert_allclose(arrays[f"{kind}_weights"], expected.weights, atol=1e-6)
        assert header[kind]["stage"]["name"] == "softmax"
        assert header[kind]["head"] == {
            ("value", "one"): f"head {head}",
            ("value", "mean"): "all heads together",
        }.get((measure, heads), "rollout from layer 1")


@pytest.mark.parametrize("measure", ["value", "rollout"])
def test_the_open_head_of_surgery_is_drawn_by_the_chosen_measure(
    visitor: Visitor, loaded: Loaded, trace: Trace, measure: str
) -> None:
    visitor.follow("surgery", kind="cross", layer="2", head="3", measure=measure, tool="silence")
    expected = rolled_out(trace, "cross", 2) if measure == "rollout" else weighted(loaded, trace, "cross", 2, 3)
    np.testing.assert_allclose(visitor.canvas("head")[1]["weights"], expected.weights, atol=1e-6)


@pytest.mark.parametrize("measure", ["raw", "value", "rollout"])
def test_inside_a_head_the_cell_is_said_by_the_chosen_measure_as_well(
    visitor: Visitor, loaded: Loaded, trace: Trace, measure: str
) -> None:
    visitor.follow("inside_a_head", kind="cross", layer="2", head="3", query="4", key="2", measure=measure)
    said = [text.value for text in visitor.app.text]
    assert heatmap.sentence(trace.map("cross", 2, 3), 3, 1) in said
    if measure == "rollout":
        assert heatmap.sentence(rolled_out(trace, "cross", 2), 3, 1) in said
    if measure == "value":
        found = cell(trace, output_projection(loaded[0], "cross", 2), "cross", 2, 3, 3, 1)
        share = found.row.moved_norms[1] / found.row.moved_norms.sum()
        by_value = weighted(loaded, trace, "cross", 2, 3)
        assert by_value.weights[3, 1] == pytest.approx(share, rel=1e-5)
        assert f"{heatmap.sentence(by_value, 3, 1)}: {inside.share(found)}" in said


@pytest.mark.parametrize("page", ["heads", "masked_vs_cross", "inside_a_head", "compare", "surgery"])
def test_the_switch_says_what_the_numbers_are(visitor: Visitor, page: str) -> None:
    visitor.follow(page, tool="silence")
    for measure, note in captions.MEASURES.items():
        visitor.choose("measure", measure)
        assert visitor.address.get("measure", "raw") == measure
        if note:
            assert any(note in caption for caption in visitor.captions)
