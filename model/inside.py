"""The arithmetic of one cell of one head, recomputed in float64 from what was captured. No torch.

Attention (Vaswani et al. 2017, eq. 1), and what the head moves: f(x) = (x W_V + b_V) W_O of that head, without b_O;
its share of the output is the norm of weight times f(x) (Kobayashi et al. 2020, section 3).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.trace import Array, AttentionMap, LabelError, Trace

if TYPE_CHECKING:
    from model.transformer import Transformer


@dataclass(frozen=True)
class OutputProjection:
    """W^O of one attention, cut into the slices that belong to its heads."""

    slices: Array  # (H, K, D); head h adds head_outputs[h] @ slices[h]
    bias: Array  # (D,), added once, not by any head


def output_projection(model: "Transformer", kind: str, layer: int) -> OutputProjection:
    """The slices of W^O in encoder, masked or cross-attention of this layer (from 1)."""
    attention = model.attention(kind, layer)
    weight, bias = (array.detach().numpy().astype(np.float64) for array in attention.output.parameters())
    D, H = len(bias), attention.n_heads
    return OutputProjection(weight.T.reshape(H, D // H, D), bias)  # rows of weight.T are the heads side by side


@dataclass(frozen=True)
class Row:
    """One row of one head, whole: from scores to what is moved. All arrays float64; S columns."""

    scores: Array  # (S,) divided by sqrt(K), before the mask
    allowed: Array  # (S,) bool
    exponentials: Array  # (S,) exp(score - largest allowed score), 0 where the mask forbids
    weights: Array  # (S,) exponentials over their sum
    moved: Array  # (S, D) f(x) of each column
    norms: Array  # (S,) length of f(x)
    moved_norms: Array  # (S,) length of weight times f(x)

    @property
    def largest(self) -> float:
        """The largest score that may be looked at; it is taken off before the exponential."""
        return float(self.scores[self.allowed].max())

    @property
    def total(self) -> float:
        """What the exponentials are divided by."""
        return float(self.exponentials.sum())


@dataclass(frozen=True)
class Cell:
    """One cell: query times key, and the row that its weight is a share of."""

    query: Array  # (K,)
    key: Array  # (K,)
    row: Row
    column: int  # from 0
    head_norms: Array  # (H,) length of what each head of this attention adds at this row
    output: Array  # (D,) all heads and b_O together: what the sub-layer adds

    @property
    def products(self) -> Array:
        """(K,) whose sum is query · key."""
        return self.query * self.key

    @property
    def dot(self) -> float:
        return float(self.products.sum())

    @property
    def width(self) -> int:
        """K, the numbers in a query or key: the paper's d_k."""
        return len(self.query)


def cell(trace: Trace, projection: OutputProjection, kind: str, layer: int, head: int, row: int, column: int) -> Cell:
    """The arithmetic of the cell (row, column), counted from 0, of a head; layer and head count from 1."""
    shown = trace.map(kind, layer, head)
    rows, columns = shown.weights.shape
    if not (0 <= row < rows and 0 <= column < columns):
        raise LabelError(f"there is no cell in row {row + 1}, column {column + 1}; the map has {rows} × {columns}")
    queries, keys, values = (_head(trace, kind, layer, head, what) for what in ("queries", "keys", "values"))
    outputs = trace.attention(kind, layer, "head_outputs").astype(np.float64)[:, row]  # (H, K)
    added = np.einsum("hk,hkd->hd", outputs, projection.slices)
    return Cell(
        query=queries[row],
        key=keys[column],
        row=_row(queries[row], keys, values, shown.allowed[row], projection.slices[head - 1]),
        column=column,
        head_norms=np.linalg.norm(added, axis=1),
        output=added.sum(axis=0) + projection.bias,
    )


def most_telling_cell(shown: AttentionMap) -> tuple[int, int]:
    """The cell (from 0) of largest weight off special tokens and, in a square map, off the diagonal."""
    counts = np.outer([not token.special for token in shown.rows], [not token.special for token in shown.columns])
    if shown.kind != "cross":
        counts &= ~np.eye(*counts.shape, dtype=bool)
    row, column = np.unravel_index(int(np.where(counts, shown.weights, 0.0).argmax()), counts.shape)
    return int(row), int(column)


def _row(query: Array, keys: Array, values: Array, allowed: Array, output: Array) -> Row:
    scores = keys @ query / np.sqrt(len(query))
    weights, exponentials = softmax(scores, allowed)
    moved = values @ output  # (S, D)
    norms = np.linalg.norm(moved, axis=1)
    return Row(scores, allowed, exponentials, weights, moved, norms, weights * norms)


def _head(trace: Trace, kind: str, layer: int, head: int, what: str) -> Array:
    return trace.attention(kind, layer, what)[head - 1].astype(np.float64)


def softmax(scores: Array, allowed: Array) -> tuple[Array, Array]:
    """Weights and exponentials of one row, (S,) each; the largest allowed score is taken off first."""
    shifted = np.where(allowed, scores - scores[allowed].max(), -np.inf)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(), exponentials


def entropy_bits(weights: Array) -> float:
    """Entropy of one row, in bits: 0 looks at one column, log2 S at all alike."""
    positive = weights[weights > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0


def softmax_gradient(weights: Array) -> float:
    """Frobenius norm of the softmax's Jacobian, diag(w) - w wᵀ: near 0, nothing is learned from this row."""
    return float(np.linalg.norm(np.diag(weights) - np.outer(weights, weights)))


@dataclass(frozen=True)
class Unscaled:
    """A row as it is, and as it would be with the division by sqrt(K) left out."""

    entropy: float  # bits
    entropy_unscaled: float
    gradient: float  # norm of the softmax's Jacobian
    gradient_unscaled: float


def without_scaling(row: Row, width: int) -> Unscaled:
    """What dividing by sqrt(width) does to this row (3.2.1: without it, the softmax saturates)."""
    sharp, _ = softmax(row.scores * np.sqrt(width), row.allowed)
    return Unscaled(
        entropy_bits(row.weights), entropy_bits(sharp), softmax_gradient(row.weights), softmax_gradient(sharp)
    )
