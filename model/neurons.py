"""The hidden layer of a feed-forward (3.3): which neurons fire, what each of them adds, what drives it. Without torch.

output = Σ over neurons of activation · (its column of W_out) + b_out
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import erf
from typing import TYPE_CHECKING

import numpy as np

from model.stream import layers, telling, tokens
from model.trace import Array, LabelError, Token, Trace

if TYPE_CHECKING:
    from model.transformer import Transformer


@dataclass(frozen=True)
class Weights:
    """The two linear maps of one feed-forward, float64."""

    hidden: Array  # (F, D); a row is what a neuron listens for
    hidden_bias: Array  # (F,)
    output: Array  # (F, D); a row is what a neuron adds when it fires with 1
    output_bias: Array  # (D,)


def weights(model: "Transformer", side: str, layer: int) -> Weights:
    """The feed-forward of this layer (from 1) of the encoder or the decoder."""
    found = model.get_submodule(f"{side}.layers.{layer}.feed_forward").named_parameters()
    arrays = {name: tensor.detach().numpy().astype(np.float64) for name, tensor in found}
    output = np.ascontiguousarray(arrays["output.weight"].T)
    return Weights(arrays["hidden.weight"], arrays["hidden.bias"], output, arrays["output.bias"])


def embeddings(model: "Transformer") -> Array:
    """(V, D) float32: the matrix that reads pieces out of the decoder's last vector."""
    return np.asarray(model.embedding.weight.detach().numpy())


def hidden(trace: Trace, side: str, layer: int, what: str) -> Array:
    """(T, F) float32, `what` is hidden (before the activation) or active (after it). LabelError if it is not there."""
    name = f"{side}.layers.{layer}.feed_forward.{what}_tap"
    if name not in trace.tensors:
        raise LabelError(f"this trace does not hold {name}; {side} layers count from 1 to {layers(trace, side)}")
    return trace.tensors[name]


def firing(trace: Trace, side: str) -> Array:
    """(L, T) share of neurons whose activation is not 0, for each layer and position."""
    return np.stack(
        [(hidden(trace, side, layer, "active") != 0).mean(axis=-1) for layer in range(1, layers(trace, side) + 1)]
    )


def liveliest(trace: Trace, side: str, layer: int) -> int:
    """The telling token, from 1, at which most neurons of this layer fire."""
    shares = firing(trace, side)[layer - 1]
    return int(np.where(telling(tokens(trace, side)), shares, -1).argmax()) + 1


def added(active: Array, found: Weights) -> Array:
    """(F,) length of what each neuron adds at one position; active (F,)."""
    return np.abs(active.astype(np.float64)) * np.linalg.norm(found.output, axis=1)


def strongest(active: Array, found: Weights, count: int) -> list[int]:
    """The neurons (from 1) that add most at one position, the strongest first; those that add nothing are left out."""
    lengths = added(active, found)
    return [int(index) + 1 for index in np.argsort(-lengths, kind="stable")[:count] if lengths[index] > 0]


def pushes(neuron: int, found: Weights, matrix: Array) -> Array:
    """(V,) what a decoder neuron (from 1) adds to the score of each piece when it fires with 1 and nothing comes after.

    Its column of W_out times the output matrix (V, D). What does come after, one LayerNorm in the last layer and whole
    layers before that, is left out.
    """
    return matrix @ found.output[neuron - 1].astype(matrix.dtype)


@dataclass(frozen=True)
class LastNorm:
    """The LayerNorm after which the output matrix reads: the last one of the decoder. Arrays (D,), float64."""

    gain: Array
    bias: Array


def last_norm(model: "Transformer") -> LastNorm:
    """Post-norm: that of the last feed-forward. Pre-norm: the one after all layers."""
    path = f"layers.{model.config.decoder_layers}.feed_forward_residual.norm"
    found = model.decoder.get_submodule("final_norm" if model.config.norm == "pre" else path)
    return LastNorm(*(found.get_parameter(name).detach().numpy().astype(np.float64) for name in ("weight", "bias")))


def landed(part: Array, total: Array, norm: LastNorm, matrix: Array) -> Array:
    """(V,) what one part (D,) of the decoder's last sum (D,) adds to the scores, through the LayerNorm that follows.

    The spread of the sum divides every part alike, so what all parts land, and the norm's bias beside them, are the
    scores.
    """
    spread = np.sqrt(total.var() + 1e-5)
    return matrix @ (norm.gain * (part - part.mean()) / spread)


def extremes(values: Array, count: int) -> tuple[list[int], list[int]]:
    """Indices of the largest and of the smallest values, outermost first."""
    order = np.argsort(values, kind="stable")
    return [int(i) for i in order[::-1][:count]], [int(i) for i in order[:count]]


def relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def gelu(x: Array) -> Array:
    """x times the share of a standard normal distribution that lies below x (Hendrycks & Gimpel 2016)."""
    return x * 0.5 * (1 + np.vectorize(erf, otypes=[float])(x / np.sqrt(2)))


@dataclass(frozen=True)
class Place:
    """One token of one sentence of a set."""

    sentence: int  # from 0
    position: int  # from 0


@dataclass(frozen=True)
class Recorded:
    """All neurons over a set of sentences: N tokens of one side, one after the other."""

    sentences: tuple[tuple[Token, ...], ...]
    active: Mapping[int, Array]  # layer (from 1) -> (N, F) float32

    def __post_init__(self) -> None:
        count = sum(map(len, self.sentences))
        for layer, values in self.active.items():
            if len(values) != count:
                raise LabelError(f"layer {layer} was recorded at {len(values)} tokens, but there are {count} labels")

    def places(self) -> list[Place]:
        return [Place(s, p) for s, sentence in enumerate(self.sentences) for p in range(len(sentence))]


def drivers(found: Recorded, layer: int, neuron: int, count: int) -> list[tuple[Place, float]]:
    """Where a neuron (from 1) of this layer fires most, the strongest first; places where it is 0 are left out."""
    values, places = found.active[layer][:, neuron - 1], found.places()
    order = np.argsort(-values, kind="stable")[:count]
    return [(places[index], float(values[index])) for index in order if values[index] > 0]
