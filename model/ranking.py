"""Heads in order: which to open first, and who links a row to a column most. No torch."""

from collections.abc import Sequence

import numpy as np

from model.trace import Array, AttentionMap, Token, Trace
from model.words import by_words


def most_telling(weights: Array, rows: Sequence[Token], columns: Sequence[Token], *, square: bool) -> tuple[int, int]:
    """The head with the largest weight off special tokens and, in a square map, off the diagonal.

    weights (L, H, T, S) -> (layer, head), counted from 1; (1, 1) if no cell is left
    """
    L, H, T, S = weights.shape
    counts = np.outer([not token.special for token in rows], [not token.special for token in columns])
    if square:
        counts &= ~np.eye(T, S, dtype=bool)
    layer, head = np.unravel_index(int(np.where(counts, weights, 0.0).max(axis=(2, 3)).argmax()), (L, H))
    return int(layer) + 1, int(head) + 1


def ranked(maps: Sequence[AttentionMap], row: int, column: int) -> list[int]:
    """Indices of the heads by their weight from `row` to `column` (from 0), largest first."""
    return sorted(range(len(maps)), key=lambda index: -float(maps[index].weights[row, column]))


def all_maps(trace: Trace, kind: str, *, words: bool) -> list[AttentionMap]:
    """All heads of one kind, layer by layer; over words instead of pieces if asked."""
    layers, heads = range(1, trace.layers(kind) + 1), range(1, trace.heads(kind) + 1)
    maps = [trace.map(kind, layer, head) for layer in layers for head in heads]
    return [by_words(m) for m in maps] if words else maps
