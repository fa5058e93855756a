"""The drawing of the network shows the shapes that this sentence's tensors have, and every parameter once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model.capture import trace_of
from model.config import ModelConfig
from model.parameters import count
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from viz import network
from viz.payload import texts, unpack
from viz.theme import DARK, MARKS

Drawn = tuple[Trace, Transformer, dict[str, Any]]
VARIANTS: dict[str, dict[str, Any]] = {
    "as shared": {},
    "a deep decoder": {"encoder_layers": 1, "decoder_layers": 4},
    "pre-norm, learned positions, GELU": {"norm": "pre", "positions": "learned", "activation": "gelu"},
}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS)
def drawn(
    request: pytest.FixtureRequest, build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer
) -> Drawn:
    model = build(replace(tiny, **request.param))
    source = tokenizer.encode("My sister looks for a white horse in the garden!")
    trace = trace_of(model, tokenizer, source, tokenizer.encode("Meine Schwester sucht, oder?"))
    packed = network.payload(
        trace, count(model), model.config, theme=DARK, flow="decoder", doors={"cross": "cross heads"}
    )
    return trace, model, unpack(packed)[0]


def by(*axes: int) -> str:
    return " × ".join(f"{axis:,}" for axis in axes)


def box(header: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in header["boxes"] if one["name"] == name]
    return dict(found)


def test_every_arrow_has_the_shape_of_the_tensor_that_it_stands_for(drawn: Drawn) -> None:
    trace, _, header = drawn
    taps = {
        "encoder_embedding": "encoder.input.embeddings_tap",
        "encoder_positions": "encoder.input.sum_tap",
        "encoder": "encoder.layers.1.self_attention_residual.output_tap",
        "encoder_norm_1": "encoder.layers.1.self_attention_residual.norm_tap",
        "encoder_feed_forward": "encoder.layers.1.feed_forward_residual.output_tap",
        "encoder_norm_2": "encoder.memory_tap",
        "decoder_embedding": "decoder.input.embeddings_tap",
        "decoder_positions": "decoder.input.sum_tap",
        "masked": "decoder.layers.1.self_attention_residual.output_tap",
        "decoder_norm_1": "decoder.layers.1.self_attention_residual.norm_tap",
        "cross": "decoder.layers.1.cross_attention_residual.output_tap",
        "decoder_norm_2": "decoder.layers.1.cross_attention_residual.norm_tap",
        "decoder_feed_forward": "decoder.layers.1.feed_forward_residual.output_tap",
        "decoder_norm_3": "decoder.output_tap",
        "linear": "logits_tap",
        "softmax": "logits_tap",
    }
    for name, tap in taps.items():
        assert box(header, name)["out"] == by(*trace.tensors[tap].shape), name
    inside = {
        "encoder": "encoder.layers.1.self_attention.weights_tap",
        "masked": "decoder.layers.1.self_attention.weights_tap",
        "cross": "decoder.layers.1.cross_attention.weights_tap",
        "encoder_feed_forward": "encoder.layers.1.feed_forward.hidden_tap",
        "decoder_feed_forward": "decoder.layers.1.feed_forward.hidden_tap",
    }
    for name, tap in inside.items():
        assert box(header, name)["shape"] == by(*trace.tensors[tap].shape), name
    named = {*taps, "encoder_tokens", "decoder_tokens", "written"}
    assert {one["name"] for one in header["boxes"]} == named
    assert box(header, "encoder_tokens")["out"] == f"{len(trace.source)} ids"
    assert box(header, "decoder_tokens")["out"] == f"{len(trace.read)} ids"


def test_sizes_layers_and_tokens_are_those_of_the_run(drawn: Drawn) -> None:
    trace, model, header = drawn
    config = model.config
    assert header["sizes"] == {
        "S": len(trace.source),
        "T": len(trace.read),
        "D": config.d_model,
        "H": config.n_heads,
        "K": config.head_width,
        "F": config.d_ff,
        "V": config.vocab_size,
    }
    assert header["layers"] == {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    tokens = {"encoder_tokens": trace.source, "decoder_tokens": trace.read, "written": trace.predicted}
    assert header["tokens"] == {name: texts(shown) for name, shown in tokens.items()}


def test_parameters_sum_to_the_model_in_the_drawing_and_in_the_table(drawn: Drawn) -> None:
    _, model, header = drawn
    total = sum(parameter.numel() for parameter in model.parameters())
    assert sum(part["count"] for part in header["parts"]) == header["total"] == total
    table = network.table(count(model))
    assert table["parameters"].iloc[:-1].sum() == table["parameters"].iloc[-1] == total
    assert table["share"].iloc[:-1].sum() == pytest.approx(1)
    assert {part["kind"] for part in header["parts"]} == {"", *MARKS}
    attention = sum(parameter.numel() for parameter in model.attention("cross", 1).parameters())
    layers = model.config.decoder_layers
    assert box(header, "cross")["parameters"] == f"{attention * layers:,} parameters in {layers} layers"


def test_every_box_says_what_it_does_and_only_a_door_leads_somewhere(drawn: Drawn) -> None:
    _, model, header = drawn
    for one in header["boxes"]:
        assert one["does"].endswith(".")
        assert len(one["does"]) < 120
        assert one["flow"] in network.FLOW
        assert one["door"] == ("cross heads" if one["name"] == "cross" else "")
    assert network.ACTIVATIONS[model.config.activation] in box(header, "decoder_feed_forward")["does"]
    assert ("norm" in box(header, "decoder_norm_1")["title"]) == (model.config.norm == "post")


def test_each_step_says_what_happens_in_numbers_of_this_sentence(drawn: Drawn) -> None:
    trace, model, header = drawn
    said = network.said(trace)
    assert set(said) == set(network.FLOW)
    assert header["said"] == said["decoder"]
    T, S = len(trace.read), len(trace.source)
    assert f"{T * (T - 1) // 2} of them forbidden" in said["decoder"]
    assert by(T, S) in said["decoder"]
    assert f"{model.config.encoder_layers} layer" in said["encoder"]
    assert by(S, model.config.d_model) in said["encoder"]
    total = f"{trace.target_log_probabilities().sum():.2f}".replace("-", "−")
    assert total in said["output"]
    assert trace.predicted[0].text in said["output"]


def test_what_somebody_typed_stays_as_it_was_typed(drawn: Drawn, tokenizer: Tokenizer) -> None:
    _, model, _ = drawn
    trace = trace_of(model, tokenizer, tokenizer.encode("A-b-c"), tokenizer.encode("-1 <b>"))
    text = trace.predicted[0].text
    assert f"‘{text}’" in network.said(trace)["output"]


def test_the_table_has_a_line_for_each_box(drawn: Drawn) -> None:
    trace, model, header = drawn
    table = network.shapes(trace, model.config)
    assert table["leaves it"].tolist() == [one["out"] for one in header["boxes"]]
    assert np.isin(table["side"], ["encoder", "decoder"]).all()
