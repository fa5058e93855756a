"""Attention rollout: from which input tokens a position's vector is made up, layer after layer. No torch.

Abnar & Zuidema (2020, section 3): a layer mixes what it gets, half by attention, as the mean of its heads, and half by
the residual path; the mixtures of all layers multiply. That is a sketch of the flow: values, W_O, feed-forward and
LayerNorm are left out. From target to source, cross-attention mixes in the encoder's rollout in the same way.
"""

import numpy as np

from model.trace import KINDS, Array, Trace

RESIDUAL = 0.5  # share of the residual path in what a sub-layer passes on


def mixed(weights: Array) -> Array:
    """One sub-layer: attention (T, T) and the residual path, in equal shares."""
    return (1 - RESIDUAL) * weights + RESIDUAL * np.eye(len(weights))


def rollout(weights: Array) -> Array:
    """Self-attention of all layers (L, T, T), heads already averaged -> (L, T, T): after each layer, from where.

    Rows sum to 1.
    """
    found = [mixed(weights[0])]
    for layer in weights[1:]:
        found.append(mixed(layer) @ found[-1])
    return np.stack(found)


def to_source(masked: Array, cross: Array, memory: Array) -> tuple[Array, Array]:
    """After each decoder layer, from which target tokens (L, T, T) and which source tokens (L, T, S) a row is made up.

    masked (L, T, T) and cross (L, T, S) with heads averaged; memory (S, S), the encoder's rollout after its last layer.
    A row of both together sums to 1.
    """
    own, source = np.eye(masked.shape[1]), np.zeros(cross.shape[1:])
    found_own, found_source = [], []
    for looks_back, looks_across in zip(masked, cross, strict=True):
        own, source = mixed(looks_back) @ own, mixed(looks_back) @ source
        own, source = RESIDUAL * own, RESIDUAL * source + (1 - RESIDUAL) * looks_across @ memory
        found_own.append(own)
        found_source.append(source)
    return np.stack(found_own), np.stack(found_source)


def of_trace(trace: Trace, kind: str) -> Array:
    """After each layer (L, rows, columns): encoder, masked (masked attention by itself), or cross, target to source.

    Rows sum to 1; those of cross are rescaled to, and leave out the part that comes from target tokens.
    """
    encoder, masked, cross = (trace.weights(k).astype(np.float64).mean(axis=1) for k in KINDS)
    if kind != "cross":
        return rollout(encoder if kind == "encoder" else masked)
    _, source = to_source(masked, cross, rollout(encoder)[-1])
    return source / source.sum(axis=-1, keepdims=True)
