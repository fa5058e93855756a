"""The map that a reader asks for: one head or the mean of a layer, over pieces or words, with or without specials."""

from dataclasses import replace

import numpy as np

from model.trace import Array, AttentionMap, Trace
from model.words import by_words, word_groups

SPECIAL = ("shown", "hidden", "renormalised")  # what happens to the columns of <s> and </s>


def select(trace: Trace, kind: str, layer: int, head: int | None, *, words: bool, special: str) -> AttentionMap:
    """One head (from 1), or with None the mean of the layer's heads, as `words` and `special` ask."""
    chosen = trace.mean(kind, layer) if head is None else trace.map(kind, layer, head)
    return shaped(chosen, words=words, special=special)


def shaped(chosen: AttentionMap, *, words: bool, special: str) -> AttentionMap:
    """A map over pieces, as `words` and `special` ask."""
    if words:
        chosen = by_words(chosen)
    return chosen if special == "shown" else without_special(chosen, renormalise=special == "renormalised")


def without_special(shown: AttentionMap, *, renormalise: bool) -> AttentionMap:
    """The map without the columns of special tokens. Rows stay.

    Weights then sum to less than 1, or with `renormalise` to 1 again; a row that looked at specials only stays all 0.
    """
    kept = [index for index, token in enumerate(shown.columns) if not token.special]
    weights = shown.weights[:, kept]
    return replace(
        shown,
        weights=rescaled(weights) if renormalise else weights,
        scores=shown.scores[:, kept],
        allowed=shown.allowed[:, kept],
        columns=tuple(shown.columns[index] for index in kept),
    )


def piece_cell(
    trace: Trace, kind: str, layer: int, head: int, row: int, column: int, *, words: bool, special: str
) -> tuple[int, int]:
    """The cell over pieces behind a cell that was drawn (all from 0): of several, the one of largest weight."""
    rows, columns, _ = trace.labels(kind)
    looks = word_groups(rows)[row] if words else [row]
    groups = word_groups(columns) if words else [[index] for index in range(len(columns))]
    looked = [group for group in groups if special == "shown" or not columns[group[0]].special][column]
    weights = trace.map(kind, layer, head).weights[np.ix_(looks, looked)]
    down, across = np.unravel_index(int(weights.argmax()), weights.shape)
    return looks[int(down)], looked[int(across)]


def entropy_bits(shown: AttentionMap) -> Array:
    """(rows,) entropy of each row, in bits: of the columns that are there, rescaled to sum to 1."""
    shares = rescaled(shown.weights)  # the weights themselves, unless columns are hidden
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=1) + 0.0  # or a row without choice would have -0.0


def rescaled(weights: Array) -> Array:
    """Rows that sum to 1; a row of nothing but 0 stays as it is."""
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def share_on_marks(shown: AttentionMap) -> Array:
    """(rows,) weight on <s>, </s> and punctuation."""
    marks = [token.special or token.is_punctuation for token in shown.columns]
    return shown.weights[:, marks].sum(axis=1)
