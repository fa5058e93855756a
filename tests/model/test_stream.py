"""The residual stream: what is found and what is added make what is left, with LayerNorm before or after it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from torch import nn

from model.capture import trace_of
from model.config import ModelConfig
from model.edits import NoResidual, SkipSublayer
from model.stream import (
    ADDITIONS,
    NORMS,
    QUANTITIES,
    STATES,
    Stream,
    between_tokens,
    cosines,
    lengths,
    mean_between,
    measured,
    shares,
    stream,
)
from model.tokenizer import Tokenizer
from model.trace import LabelError, Trace
from model.transformer import Transformer

D = 20
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
NAMES = {
    "encoder": ["encoder", "encoder_feed_forward"] * 3,
    "decoder": ["masked", "cross", "decoder_feed_forward"] * 2,
}
SOURCE, TARGET = list(range(70, 79)), list(range(140, 146))


@dataclass(frozen=True)
class Run:
    model: Transformer
    trace: Trace

    def norm(self, found: Stream, index: int) -> nn.LayerNorm:
        sublayer = found.sublayers[index]
        kind = {"masked": "self_attention", "encoder": "self_attention", "cross": "cross_attention"}
        tail = kind.get(sublayer.name, "feed_forward")
        made = self.model.get_submodule(f"{found.side}.layers.{sublayer.layer}.{tail}_residual.norm")
        assert isinstance(made, nn.LayerNorm)
        return made


@pytest.fixture(scope="module", params=["post", "pre"])
def run(request: pytest.FixtureRequest, build: Callable[..., Transformer], tokenizer: Tokenizer) -> Run:
    config = ModelConfig(347, d_model=D, n_heads=5, d_ff=37, encoder_layers=3, decoder_layers=2, norm=request.param)
    model = build(config)
    return Run(model, trace_of(model, tokenizer, SOURCE, TARGET))


@pytest.mark.parametrize("side", NAMES)
def test_sub_layers_come_in_the_order_of_flow(run: Run, side: str) -> None:
    found = stream(run.trace, side)
    assert [sublayer.name for sublayer in found.sublayers] == NAMES[side]
    per_layer = len(NAMES[side]) // (3 if side == "encoder" else 2)
    assert [s.layer for s in found.sublayers] == [1 + n // per_layer for n in range(len(NAMES[side]))]
    T = {"encoder": 10, "decoder": 7}[side]
    assert found.states.shape == (7, T, D)
    assert len(found.tokens) == T
    assert found.pre_norm == (run.model.config.norm == "pre")


@pytest.mark.parametrize("side", NAMES)
def test_what_is_found_and_what_is_added_make_the_sum_and_the_next_finds_what_is_left(run: Run, side: str) -> None:
    found = stream(run.trace, side)
    np.testing.assert_array_equal(found.start, run.trace.tensors[f"{side}.input.sum_tap"])
    before = found.start
    for sublayer in found.sublayers:
        np.testing.assert_array_equal(sublayer.found, before)
        np.testing.assert_allclose(sublayer.found + sublayer.added, sublayer.total, **CLOSE)
        np.testing.assert_allclose(sublayer.carried, sublayer.found, **CLOSE)
        before = sublayer.left
    end = run.trace.tensors["encoder.memory_tap" if side == "encoder" else "decoder.output_tap"]
    final = run.model.get_submodule(side).get_submodule("final_norm")
    if isinstance(final, nn.LayerNorm):
        before = normalised(final, before)
    np.testing.assert_allclose(before, end, **CLOSE)


def normalised(norm: nn.LayerNorm, x: np.ndarray) -> np.ndarray:
    gain, bias = (p.detach().double().numpy() for p in (norm.weight, norm.bias))
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + bias


@pytest.mark.parametrize("side", NAMES)
def test_out_of_each_layer_norm_comes_what_its_gain_and_bias_make_of_what_went_in(run: Run, side: str) -> None:
    found = stream(run.trace, side)
    for index, sublayer in enumerate(found.sublayers):
        expected = normalised(run.norm(found, index), sublayer.norm_in)
        np.testing.assert_allclose(sublayer.norm_out, expected, **CLOSE)
    for what in ("mean", "variance"):
        before, after = (measured(found, f"{what}_{where}") for where in ("before", "after"))
        for index, sublayer in enumerate(found.sublayers):
            for told, vectors in ((before, sublayer.norm_in), (after, sublayer.norm_out)):
                mean = vectors.sum(axis=1) / D
                expected = mean if what == "mean" else ((vectors - mean[:, None]) ** 2).sum(axis=1) / D
                np.testing.assert_allclose(told[index], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("side", NAMES)
def test_every_quantity_has_a_value_for_each_token_at_each_place(run: Run, side: str) -> None:
    found = stream(run.trace, side)
    for quantity in QUANTITIES:
        places = 7 if quantity in STATES else 6
        assert measured(found, quantity).shape == (places, len(found.tokens))
    assert {*STATES, *ADDITIONS, *NORMS} == set(QUANTITIES)
    with pytest.raises(ValueError, match="choose length, previous"):
        measured(found, "size")


def test_states_are_compared_with_the_one_before_the_first_and_the_last(run: Run) -> None:
    found = stream(run.trace, "decoder")
    states = found.states

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / (a @ a) ** 0.5 / (b @ b) ** 0.5)

    for place, token in np.ndindex(7, 7):
        here = states[place, token]
        assert measured(found, "length")[place, token] == pytest.approx((here @ here) ** 0.5)
        assert measured(found, "start")[place, token] == pytest.approx(cosine(here, states[0, token]))
        assert measured(found, "end")[place, token] == pytest.approx(cosine(here, states[6, token]))
        if place:
            assert measured(found, "previous")[place, token] == pytest.approx(cosine(here, states[place - 1, token]))
        else:
            assert np.isnan(measured(found, "previous")[place, token])
    for index, sublayer in enumerate(found.sublayers):
        for token in range(7):
            agrees = cosine(sublayer.added[token], states[index, token])
            assert measured(found, "agrees")[index, token] == pytest.approx(agrees)


@pytest.mark.parametrize("side", NAMES)
def test_the_shares_of_what_came_along_and_what_is_added_sum_to_one(run: Run, side: str) -> None:
    found = stream(run.trace, side)
    for index, sublayer in enumerate(found.sublayers):
        share = measured(found, "share")[index]
        np.testing.assert_allclose(share + shares(sublayer.carried, sublayer.total), 1, rtol=1e-9)
        along = (sublayer.added * sublayer.total).sum(axis=1) / lengths(sublayer.total)
        np.testing.assert_allclose(share * lengths(sublayer.total), along)


@pytest.mark.parametrize(("side", "name", "index"), [("encoder", "encoder", 2), ("decoder", "cross", 4)])
def test_without_its_residual_path_a_sub_layer_s_share_is_all(
    run: Run, tokenizer: Tokenizer, side: str, name: str, index: int
) -> None:
    edited = stream(trace_of(run.model, tokenizer, SOURCE, TARGET, edits=(NoResidual(name, 2),)), side)
    as_it_is = stream(run.trace, side)
    sublayer = edited.sublayers[index]
    assert (sublayer.name, sublayer.layer) == (name, 2)
    np.testing.assert_array_equal(sublayer.carried, 0)
    np.testing.assert_array_equal(measured(edited, "share")[index], 1)
    np.testing.assert_array_equal(edited.states[: index + 1], as_it_is.states[: index + 1])
    assert edited.pre_norm == as_it_is.pre_norm


def test_what_adds_nothing_has_no_direction(run: Run, tokenizer: Tokenizer) -> None:
    skipped = trace_of(run.model, tokenizer, SOURCE, TARGET, edits=(SkipSublayer("encoder", 1),))
    found = stream(skipped, "encoder")
    np.testing.assert_array_equal(measured(found, "added")[0], 0)
    np.testing.assert_array_equal(measured(found, "share")[0], 0)
    assert np.isnan(measured(found, "agrees")[0]).all()


def test_cosines_between_tokens_are_one_with_oneself_and_the_same_both_ways() -> None:
    vectors = np.array([[1.0, 0, 0], [0, 2, 0], [3, 3, 0], [-1, 0, 0]])
    found = between_tokens(vectors)
    half = 0.5**0.5
    expected = [[1, 0, half, -1], [0, 1, half, 0], [half, half, 1, -half], [-1, 0, -half, 1]]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert mean_between(vectors) == pytest.approx((0 + half - 1 + half + 0 - half) / 6)
    assert np.isnan(mean_between(vectors[:1]))
    assert np.isnan(cosines(vectors[0], np.zeros(3)))


def test_what_is_not_there_is_said(run: Run) -> None:
    with pytest.raises(LabelError, match="choose encoder or decoder"):
        stream(run.trace, "middle")
    fewer = {name: array for name, array in run.trace.tensors.items() if "residual_tap" not in name}
    with pytest.raises(LabelError, match="capture with every tap open"):
        stream(replace(run.trace, tensors=fewer), "encoder")
