"""The logit lens: what the decoder would write if it stopped after each layer. No torch.

The output matrix is put on the stream after every layer (nostalgebraist 2020). In a post-norm network each layer ends
in a LayerNorm, so it fits directly; in a pre-norm one the final norm goes first. Layers before the last were never
trained to be read this way: what they hold may be there and yet not legible (Belrose et al. 2023).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.trace import Array, Trace

if TYPE_CHECKING:
    from model.transformer import Transformer

EPSILON = 1e-5  # of LayerNorm


@dataclass(frozen=True)
class ReadOut:
    """How a vector of the decoder becomes logits."""

    matrix: Array  # (V, D) the embedding, which is the output matrix as well
    norm: tuple[Array, Array] | None  # (D,) scale and shift of the final LayerNorm, in a pre-norm network


@dataclass(frozen=True)
class Lens:
    """What is read after each layer, at each step; the first row is the decoder's input, before any layer."""

    top: Array  # (1 + L, T) id of the likeliest piece
    top_probability: Array  # (1 + L, T)
    rank: Array  # (1 + L, T) of the written piece, from 1
    probability: Array  # (1 + L, T) of the written piece

    def since(self) -> list[int | None]:
        """For each step, the layer from which on the written piece stays the likeliest; None if it is not at the end.

        0 is the decoder's input.
        """
        first: list[int | None] = []
        for ranks in self.rank.T:
            others = np.flatnonzero(ranks != 1)
            after = int(others[-1]) + 1 if len(others) else 0
            first.append(after if after < len(ranks) else None)
        return first

    def at(self, steps: Sequence[int]) -> "Lens":
        """The same at these steps only, from 0."""
        kept = list(steps)
        return Lens(*(told[:, kept] for told in (self.top, self.top_probability, self.rank, self.probability)))


def read_out(model: "Transformer") -> ReadOut:
    """The output matrix of a model, and the norm before it."""
    norm = None
    if model.config.norm == "pre":
        scale, shift = (parameter.detach().numpy().copy() for parameter in model.decoder.final_norm.parameters())
        norm = scale, shift
    return ReadOut(model.embedding.weight.detach().numpy(), norm)


def depths(trace: Trace) -> list[str]:
    """The taps whose vectors are read: the decoder's input, then each layer's end."""
    layers = range(1, trace.layers("cross") + 1)
    return ["decoder.input.sum_tap", *(f"decoder.layers.{layer}.feed_forward_residual" for layer in layers)]


def logits(trace: Trace, reader: ReadOut, depth: int) -> Array:
    """(T, V) read after `depth` layers; 0 is the decoder's input."""
    name = depths(trace)[depth]
    if reader.norm is None:
        vectors = trace.tensors[f"{name}.norm_tap" if depth else name]
    else:
        vectors = _normed(trace.tensors[f"{name}.residual_tap" if depth else name], *reader.norm)
    return np.asarray(vectors @ reader.matrix.T)


def lens(trace: Trace, reader: ReadOut) -> Lens:
    """Read every layer at every step."""
    written = np.array([token.id for token in trace.predicted], dtype=np.intp)[:, None]
    rows = [_read(logits(trace, reader, depth).astype(np.float64), written) for depth in range(len(depths(trace)))]
    top, top_probability, rank, probability = (np.stack(column) for column in zip(*rows, strict=True))
    return Lens(top, top_probability, rank, probability)


def _read(found: Array, written: Array) -> tuple[Array, Array, Array, Array]:
    """Of logits (T, V) and the written ids (T, 1): likeliest, its probability; rank and probability of the written."""
    largest, own = found.max(axis=1), np.take_along_axis(found, written, axis=1)
    total = np.exp(found - largest[:, None]).sum(axis=1)
    return (
        found.argmax(axis=1),
        1 / total,
        (found > own).sum(axis=1) + 1,
        np.exp(own[:, 0] - largest) / total,
    )


def _normed(vectors: Array, scale: Array, shift: Array) -> Array:
    centred = vectors - vectors.mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON) * scale + shift)
