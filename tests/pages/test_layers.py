"""The pages Layers and Feed-forward show what is computed apart from them, and every click has a widget as its twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import checkpoint, neurons
from model.capture import capture, trace_of
from model.config import ModelConfig
from model.edits import NoResidual, SkipSublayer
from model.examples import record, sentences
from model.stream import QUANTITIES, between_tokens, most_turned, stream, tokens
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer
from pages.parts import session
from tests.pages.visitor import PATIENCE, ROOT, SENTENCE, Visitor, texts
from viz import neurons as drawn_neurons
from viz import stream as drawn
from viz.inside import signed
from viz.payload import unpack

Loaded = tuple[Transformer, Tokenizer]
HERE = {"side": "decoder", "position": "3", "sublayer": "5"}


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def pictures(visitor: Visitor, name: str) -> list[tuple[dict[str, Any], dict[str, Array]]]:
    """Header and arrays of each canvas of this kind, in order."""
    found = [c.proto for c in visitor.app.get("bidi_component") if c.proto.component_name == f"headlight_{name}"]
    return [unpack(proto.bytes) for proto in found]


def said(visitor: Visitor) -> str:
    return "\n".join(text.value for text in visitor.app.text)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_at_first_the_token_that_is_turned_most_is_chosen(visitor: Visitor, trace: Trace, side: str) -> None:
    visitor.follow("layers", side=side)
    found = stream(trace, side)
    assert (visitor.state("position"), visitor.state("sublayer")) == most_turned(found)
    (header, arrays), (_, alike) = pictures(visitor, "field")
    assert header["rows"] == texts(tokens(trace, side))
    np.testing.assert_array_equal(arrays["values"], drawn.values(found, "length").astype(np.float32))
    state = found.states[visitor.state("sublayer")]
    np.testing.assert_array_equal(alike["values"], between_tokens(state).astype(np.float32))
    assert visitor.address == {"sentence": SENTENCE} | ({} if side == "encoder" else {"side": side})


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_heatmap_and_the_line_are_the_chosen_quantity(visitor: Visitor, trace: Trace, quantity: str) -> None:
    visitor.follow("layers", quantity=quantity, **HERE)
    found = stream(trace, "decoder")
    header, arrays = pictures(visitor, "field")[0]
    shown = np.where(arrays.get("allowed", np.ones_like(arrays["values"])) == 1, arrays["values"], np.nan)
    np.testing.assert_array_equal(shown, drawn.values(found, quantity).astype(np.float32))
    assert header["pinned"] == [2, 5]
    lines = drawn.lines(found, quantity, 3, {})
    header, arrays = pictures(visitor, "curves")[0]
    assert [line["name"] for line in header["series"]] == [line.name for line in lines]
    for index, line in enumerate(lines):
        np.testing.assert_array_equal(arrays[f"y{index}"], line.y.astype(np.float32))
    assert drawn.account(found.sublayers[4], 3, pre_norm=False) in said(visitor)


def test_widgets_choose_the_token_the_sub_layer_and_the_quantity(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("layers")
    visitor.choose("side", "decoder")
    visitor.choose("position", 2)
    visitor.choose("sublayer", 4)
    visitor.choose("quantity", "share")
    here = {"side": "decoder", "position": "2", "sublayer": "4", "quantity": "share"}
    assert visitor.address == {"sentence": SENTENCE} | here
    assert pictures(visitor, "field")[0][0]["pinned"] == [1, 4]
    assert pictures(visitor, "curves")[0][0]["marked"] == 4
    visitor.type("Tom sees the house.")
    assert "position" not in visitor.address
    assert visitor.address["sublayer"] == "4"


@pytest.mark.parametrize(
    ("choice", "edits"),
    [
        ("off", [NoResidual("cross", 2)]),
        ("skipped", [SkipSublayer("cross", 2)]),
        ("everywhere", [NoResidual(n, m) for m in (1, 2) for n in ("masked", "cross", "decoder_feed_forward")]),
    ],
)
def test_what_is_left_without_a_residual_path_is_what_the_edited_run_computes(
    visitor: Visitor, loaded: Loaded, trace: Trace, choice: str, edits: list[Any]
) -> None:
    ids = [t.id for t in trace.source[:-1]], [t.id for t in trace.read[1:]]
    other = trace_of(*loaded, *ids, edits=edits)
    visitor.follow("layers", residual=choice, **HERE)
    kept = drawn.left_of(stream(trace, "decoder"), stream(other, "decoder"), 3)
    lines = pictures(visitor, "curves")
    assert len(lines) == 3
    for index, line in enumerate(kept):
        np.testing.assert_array_equal(lines[1][1][f"y{index}"], line.y.astype(np.float32))
    after = float(other.target_log_probabilities().sum())
    assert f"to {signed(after)}; at" in said(visitor)
    visitor.choose("residual", "on")
    assert len(pictures(visitor, "curves")) == 2


def test_the_pictures_can_be_had_as_tables(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("layers", quantity="share", **HERE)
    visitor.choose("as_table", True)
    found = drawn.values(stream(trace, "decoder"), "share")
    np.testing.assert_array_equal(visitor.app.dataframe[0].value.to_numpy(), found)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_the_hidden_layer_is_that_of_the_token(visitor: Visitor, trace: Trace, side: str) -> None:
    visitor.follow("feed_forward", side=side, layer="2", position="3", neuron="12")
    before, after = (neurons.hidden(trace, side, 2, what) for what in ("hidden", "active"))
    (header, square), (_, shares) = pictures(visitor, "field")
    np.testing.assert_array_equal(square["values"].ravel()[:37], after[2])
    assert header["pinned"] == [1, 4]
    np.testing.assert_array_equal(shares["values"], neurons.firing(trace, side).T.astype(np.float32))
    along, functions, histogram = (arrays for _, arrays in pictures(visitor, "curves"))
    np.testing.assert_array_equal(along["y0"], after[:, 11])
    assert histogram["y0"].sum() == 37
    assert f"neuron 12: {signed(float(before[2, 11]))}" in str(pictures(visitor, "curves")[1][0]["notes"])
    fire = int((after[2] != 0).sum())
    assert f"{fire} of 37 neurons fire" in said(visitor)
    assert functions["x0"][0] == -6


def test_the_strongest_is_proposed_and_a_button_chooses_another(visitor: Visitor, loaded: Loaded, trace: Trace) -> None:
    visitor.follow("feed_forward", side="decoder", position="4")
    active = neurons.hidden(trace, "decoder", 2, "active")[3]
    order = neurons.strongest(active, neurons.weights(loaded[0], "decoder", 2), 10)
    assert (visitor.state("layer"), visitor.state("neuron")) == (2, order[0])
    assert visitor.address == {"sentence": SENTENCE, "side": "decoder", "position": "4"}
    assert visitor.app.dataframe[0].value["neuron"].tolist() == order
    visitor.app.button(key=f"strongest_{order[2]}").click().run()
    assert visitor.address["neuron"] == str(order[2])
    visitor.choose("neuron", order[1])
    assert pictures(visitor, "field")[0][0]["pinned"] == list(divmod(order[1] - 1, 7))


@pytest.mark.parametrize(
    ("page", "name", "most"),
    [
        ("layers", "position", 12),
        ("layers", "sublayer", 6),
        ("feed_forward", "layer", 3),
        ("feed_forward", "neuron", 37),
    ],
)
def test_what_counts_further_than_there_is_is_let_go_and_said(
    visitor: Visitor, trace: Trace, page: str, name: str, most: int
) -> None:
    most = len(trace.source) if name == "position" else most
    visitor.follow(page, **{name: str(most + 1)})
    assert visitor.notes == [f"There is no {name} {most + 1} here: it counts from 1 to {most}."]
    assert visitor.address == {"sentence": SENTENCE}


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_what_drives_a_neuron_in_the_built_in_sentences(visitor: Visitor, loaded: Loaded, side: str) -> None:
    found = record(*loaded, sentences())[side]
    told = next(n for n in range(1, 38) if len(neurons.drivers(found, 1, n, 12)) == 12)
    visitor.follow("feed_forward", side=side, layer="1", neuron=str(told))
    expected = drawn_neurons.driving(neurons.drivers(found, 1, told, 12), found)
    assert visitor.app.dataframe[1].value.to_numpy().tolist() == expected.to_numpy().tolist()


def test_a_decoder_neuron_pushes_pieces_and_an_encoder_neuron_is_said_not_to(
    visitor: Visitor, loaded: Loaded, trace: Trace
) -> None:
    model, matrix = loaded[0], neurons.embeddings(loaded[0])
    active = neurons.hidden(trace, "decoder", 2, "active")[2]
    fires = neurons.strongest(active, neurons.weights(model, "decoder", 2), 1)[0]
    for layer in (1, 2):
        visitor.follow("feed_forward", side="decoder", layer=str(layer), position="3", neuron=str(fires))
        push = neurons.pushes(fires, neurons.weights(model, "decoder", layer), matrix)
        up, down = (frame.value for frame in visitor.app.dataframe[-2:])
        np.testing.assert_allclose(up["push"], sorted(push, reverse=True)[:12], rtol=1e-6)
        np.testing.assert_allclose(down["push"], sorted(push)[:12], rtol=1e-6)
        assert ("adds to its score here" in up) == (layer == 2)
    total = trace.tensors["decoder.layers.2.feed_forward_residual.residual_tap"][2].astype(float)
    part = active[fires - 1] * neurons.weights(model, "decoder", 2).output[fires - 1]
    here = neurons.landed(part, total, neurons.last_norm(model), matrix)
    np.testing.assert_allclose(up["adds to its score here"], here[np.argsort(-push)[:12]], rtol=1e-5, atol=1e-7)
    visitor.follow("feed_forward", side="encoder", layer="1", neuron="5")
    assert any("no direct path to the vocabulary" in caption for caption in visitor.captions)
    assert not any("push" in frame.value for frame in visitor.app.dataframe)


def test_all_neurons_can_be_had_as_a_table(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("feed_forward", side="encoder", layer="1", position="2", neuron="5")
    visitor.choose("as_table", True)
    table = visitor.app.dataframe[-2].value
    np.testing.assert_array_equal(table["after"], neurons.hidden(trace, "encoder", 1, "active")[1].astype(float))
    assert table["neuron"].tolist() == list(range(1, 38))


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_another_kind_of_network_is_shown_by_its_own_order(
    build: Callable[..., Transformer], tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    """LayerNorm before the sub-layers, and GELU, which lets a little of what is below 0 through."""
    shape = {"d_model": 20, "n_heads": 5, "d_ff": 37, "encoder_layers": 1, "decoder_layers": 2}
    config = ModelConfig(len(tokenizer), norm="pre", activation="gelu", **shape)
    folder = tmp_path / "other"
    checkpoint.save(folder, config, build(config).state_dict(), tokenizer)
    monkeypatch.setattr(session, "WEIGHTS", folder)
    found = stream(capture(*checkpoint.load(folder), SENTENCE), side)
    other = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    other.follow("layers", side=side, residual="off", position="2", sublayer="2")
    assert not other.app.exception
    np.testing.assert_allclose(pictures(other, "field")[0][1]["values"], drawn.values(found, "length"), rtol=1e-6)
    assert "LayerNorm, before the sub-layer: " in said(other)
    other.follow("feed_forward", side=side)
    assert not other.app.exception
    assert pictures(other, "field")[0][0]["hue"] == "signed"
    assert "before GELU" in pictures(other, "field")[0][0]["names"][0]
