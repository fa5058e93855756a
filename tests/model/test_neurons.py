"""Neurons: what each adds sums to the sub-layer's output, and what drives one is where it was heard to fire."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model.capture import trace_of
from model.config import ModelConfig
from model.neurons import (
    Place,
    Recorded,
    added,
    drivers,
    embeddings,
    extremes,
    firing,
    gelu,
    hidden,
    landed,
    last_norm,
    pushes,
    relu,
    strongest,
    weights,
)
from model.tokenizer import Tokenizer
from model.trace import LabelError, Token, Trace
from model.transformer import Transformer

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
PLACES = [("encoder", 1), ("encoder", 3), ("decoder", 1), ("decoder", 2)]


@dataclass(frozen=True)
class Run:
    model: Transformer
    trace: Trace


@pytest.fixture(scope="module", params=["post", "pre", "gelu"])
def run(request: pytest.FixtureRequest, build: Callable[..., Transformer], tokenizer: Tokenizer) -> Run:
    change = {"activation": "gelu"} if request.param == "gelu" else {"norm": request.param}
    model = build(ModelConfig(347, d_model=20, n_heads=5, d_ff=37, encoder_layers=3, decoder_layers=2, **change))
    return Run(model, trace_of(model, tokenizer, list(range(70, 79)), list(range(140, 146))))


def at(run: Run, name: str) -> np.ndarray:
    return run.trace.tensors[name].astype(np.float64)


@pytest.mark.parametrize(("side", "layer"), PLACES)
def test_what_goes_in_makes_the_hidden_layer_and_what_fires_makes_the_output(run: Run, side: str, layer: int) -> None:
    found = weights(run.model, side, layer)
    assert (found.hidden.shape, found.output.shape) == ((37, 20), (37, 20))
    before, active = (hidden(run.trace, side, layer, what).astype(np.float64) for what in ("hidden", "active"))
    path = f"{side}.layers.{layer}"
    attention = "self" if side == "encoder" else "cross"
    read = "feed_forward" if run.model.config.norm == "pre" else f"{attention}_attention"
    came = at(run, f"{path}.{read}_residual.norm_tap")
    np.testing.assert_allclose(came @ found.hidden.T + found.hidden_bias, before, **CLOSE)
    function = gelu if run.model.config.activation == "gelu" else relu
    np.testing.assert_allclose(function(before), active, **CLOSE)
    output = at(run, f"{path}.feed_forward_residual.output_tap")
    np.testing.assert_allclose(active @ found.output + found.output_bias, output, **CLOSE)
    for position in range(len(active)):
        single = [np.abs(active[position, n]) * math.hypot(*found.output[n]) for n in range(37)]
        np.testing.assert_allclose(added(active[position], found), single)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_the_share_that_fires_is_counted_for_each_layer_and_position(run: Run, side: str) -> None:
    found = firing(run.trace, side)
    assert found.shape == {"encoder": (3, 10), "decoder": (2, 7)}[side]
    for layer, position in np.ndindex(found.shape):
        before = hidden(run.trace, side, layer + 1, "hidden")[position]
        fire = sum(x > 0 for x in before) if run.model.config.activation == "relu" else 37
        assert found[layer, position] == pytest.approx(fire / 37)


def test_the_strongest_add_most_and_the_silent_are_left_out(run: Run) -> None:
    found = weights(run.model, "decoder", 2)
    active = hidden(run.trace, "decoder", 2, "active")[4]
    order, lengths = strongest(active, found, 37), added(active, found)
    assert sorted(order) == [n + 1 for n in range(37) if lengths[n] > 0]
    assert [lengths[n - 1] for n in order] == sorted((length for length in lengths if length > 0), reverse=True)
    assert strongest(active, found, 3) == order[:3]


def test_a_decoder_neuron_pushes_scores_as_the_output_matrix_reads_its_column(run: Run) -> None:
    """Adding it to the decoder's last vector changes the logits by just this."""
    neuron = 23
    push = pushes(neuron, weights(run.model, "decoder", 2), embeddings(run.model))
    last = torch.tensor(run.trace.tensors["decoder.output_tap"])
    feed_forward = run.model.decoder.layers["2"].get_submodule("feed_forward")
    column = feed_forward.get_submodule("output").get_parameter("weight")[:, neuron - 1]
    moved = F.linear(last + 1.5 * column, run.model.embedding.weight) - torch.tensor(run.trace.logits)
    np.testing.assert_allclose(moved.numpy(), np.tile(1.5 * push, (7, 1)), rtol=1e-4, atol=1e-4)
    most, least = extremes(push, 4)
    assert [push[i] for i in most] == sorted(push, reverse=True)[:4]
    assert [push[i] for i in least] == sorted(push)[:4]


def test_through_the_last_norm_all_neurons_and_the_rest_land_the_scores(run: Run) -> None:
    found, norm = weights(run.model, "decoder", 2), last_norm(run.model)
    matrix = embeddings(run.model).astype(np.float64)
    path = "decoder.layers.2.feed_forward_residual"
    for position in (0, 3, 6):
        total, output = (at(run, f"{path}.{tap}_tap")[position] for tap in ("residual", "output"))
        active = hidden(run.trace, "decoder", 2, "active")[position].astype(np.float64)
        parts = [total - output, found.output_bias, *(active[n] * found.output[n] for n in range(37))]
        scores = sum(landed(part, total, norm, matrix) for part in parts) + matrix @ norm.bias
        np.testing.assert_allclose(scores, run.trace.logits[position], rtol=1e-4, atol=1e-4)


def test_the_two_functions_are_those_of_the_library() -> None:
    x = np.linspace(-6, 6, 241)
    np.testing.assert_allclose(gelu(x), F.gelu(torch.tensor(x)).numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(relu(x), F.relu(torch.tensor(x)).numpy())


def test_drivers_are_the_places_where_a_neuron_fires_most() -> None:
    token = Token("a", "a")
    values = np.random.default_rng(5).normal(size=(9, 4)).clip(0).astype(np.float32)
    found = Recorded(((token,) * 4, (token,) * 2, (token,) * 3), {2: values})
    told = drivers(found, 2, 3, 100)
    assert [value for _, value in told] == sorted((v for v in values[:, 2] if v > 0), reverse=True)
    first = {0: 0, 1: 4, 2: 6}  # row of each sentence's first token
    assert [values[first[place.sentence] + place.position, 2] for place, _ in told] == [value for _, value in told]
    assert drivers(found, 2, 3, 2) == told[:2]


def test_labels_and_numbers_that_do_not_fit_are_refused(run: Run) -> None:
    token = Token("a", "a")
    with pytest.raises(LabelError, match="recorded at 2 tokens, but there are 3"):
        Recorded(((token, token), (token,)), {1: np.zeros((2, 37))})
    assert Recorded(((token, token), (token,)), {}).places() == [Place(0, 0), Place(0, 1), Place(1, 0)]
    with pytest.raises(LabelError, match="decoder layers count from 1 to 2"):
        hidden(run.trace, "decoder", 3, "active")
    silent = {name: np.zeros_like(a) if name.endswith("active_tap") else a for name, a in run.trace.tensors.items()}
    assert not firing(replace(run.trace, tensors=silent), "encoder").any()
