"""What a map can show instead of raw weights: weights times what they move, or rollout over the layers. No torch."""

from dataclasses import replace

import numpy as np

from model import rollout
from model.inside import OutputProjection
from model.trace import Array, AttentionMap, Trace


def value_weighted(trace: Trace, projection: OutputProjection, kind: str, layer: int, head: int | None) -> AttentionMap:
    """Weight times ‖f(x)‖ of one head, each row rescaled to sum to 1 (Kobayashi et al. 2020, section 3).

    Without a head, the norm of the sum of all heads' vectors: heads that pull apart cancel out. layer, head from 1.
    """
    shown = trace.mean(kind, layer) if head is None else trace.map(kind, layer, head)
    weights, values = (trace.attention(kind, layer, what).astype(np.float64) for what in ("weights", "values"))
    moved = values @ projection.slices  # (H, S, D): f(x) of every head
    if head is None:
        norms = _norm_of_sum(weights, moved)
    else:
        norms = weights[head - 1] * np.linalg.norm(moved[head - 1], axis=-1)
    return replace(shown, weights=norms / norms.sum(axis=-1, keepdims=True), measure="value")


def _norm_of_sum(weights: Array, moved: Array) -> Array:
    """weights (H, T, S), moved (H, S, D) -> (T, S), row by row: all of it at once would not fit for long texts."""
    rows = [np.linalg.norm(np.einsum("hs,hsd->sd", weights[:, row], moved), axis=-1) for row in range(weights.shape[1])]
    return np.stack(rows)


def rolled_out(trace: Trace, kind: str, layer: int) -> AttentionMap:
    """Rollout up to this layer (from 1), all heads together. Of cross: from target to source."""
    return replace(trace.mean(kind, layer), weights=rollout.of_trace(trace, kind)[layer - 1], measure="rollout")
