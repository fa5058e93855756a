"""Two runs side by side: which tokens belong together, and how far a head's maps are apart. No torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from model.ranking import all_maps
from model.trace import Array, AttentionMap, LabelError, Token, Trace


@dataclass(frozen=True)
class Match:
    """A place in two sequences of tokens: in both, or in one of them only."""

    one: int | None  # index from 0; None: not in the first
    other: int | None
    same: bool  # the two tokens read alike

    @property
    def is_shared(self) -> bool:
        return self.one is not None and self.other is not None


@dataclass(frozen=True)
class Difference:
    """One head in two runs, cell by cell, over all tokens of both."""

    values: Array  # (R, C): weight in the other run minus weight in the first; 0 where there is no such cell
    shared: Array  # (R, C) bool: the cell exists, and may be looked at, in both runs
    rows: tuple[Match, ...]
    columns: tuple[Match, ...]


def match(one: Sequence[Token], other: Sequence[Token]) -> tuple[Match, ...]:
    """Both sequences merged into one, in order: the longest runs of equal tokens belong together (difflib).

    What stands between the same neighbours, equally many tokens on both sides, belongs together as well, as changed.
    """
    keys = [[(token.text, token.special) for token in tokens] for tokens in (one, other)]
    merged: list[Match] = []
    for tag, a, b, c, d in SequenceMatcher(a=keys[0], b=keys[1], autojunk=False).get_opcodes():
        if tag == "equal" or b - a == d - c:
            merged += [Match(a + at, c + at, tag == "equal") for at in range(b - a)]
        else:
            merged += [Match(at, None, False) for at in range(a, b)]
            merged += [Match(None, at, False) for at in range(c, d)]
    return tuple(merged)


def difference(one: AttentionMap, other: AttentionMap) -> Difference:
    """Where a head's weights differ. Raises LabelError for maps of two kinds."""
    _same_kind(one, other)
    rows, columns = match(one.rows, other.rows), match(one.columns, other.columns)
    values = np.zeros((len(rows), len(columns)))
    shared = np.zeros(values.shape, dtype=bool)
    down, across = _shared(rows), _shared(columns)
    if len(down[0]) and len(across[0]):
        here = np.ix_(down[0], across[0])
        first, second = np.ix_(down[1], across[1]), np.ix_(down[2], across[2])
        values[here] = other.weights[second].astype(np.float64) - one.weights[first]
        shared[here] = one.allowed[first] & other.allowed[second]
    return Difference(values, shared, rows, columns)


def row_distances(one: AttentionMap, other: AttentionMap) -> Array:
    """For each row that both runs have, from 0 (the same weights) to 1 (nothing in common): total variation distance.

    Half the sum over all columns of |weight here - weight there|, where a column that only one run has counts with its
    whole weight. (n,), in the order of the first run's rows.
    """
    _same_kind(one, other)
    _, down, down_other = _shared(match(one.rows, other.rows))
    _, across, across_other = _shared(match(one.columns, other.columns))
    first, second = one.weights[down].astype(np.float64), other.weights[down_other].astype(np.float64)
    both = np.abs(first[:, across] - second[:, across_other]).sum(axis=1)
    # Summed by themselves: a difference of sums may fall below 0 by a rounding error.
    alone = np.delete(first, across, axis=1).sum(axis=1) + np.delete(second, across_other, axis=1).sum(axis=1)
    return (both + alone) / 2


def distances(one: Trace, other: Trace, kind: str, *, words: bool = False, row: int | None = None) -> Array:
    """How far each head's maps are apart in two runs, (L, H): the mean over shared rows, or one of them (from 0).

    0 everywhere if the two runs share no row.
    """
    layers, heads = _depth(one, other, kind)
    return apart(*(all_maps(trace, kind, words=words) for trace in (one, other)), row=row).reshape(layers, heads)


def apart(one: Sequence[AttentionMap], other: Sequence[AttentionMap], *, row: int | None = None) -> Array:
    """(n,) how far each map is from its counterpart: the mean over shared rows, or one of them (from 0).

    0 where the two share no row.
    """
    found = [row_distances(*maps) for maps in zip(one, other, strict=True)]
    return np.array([(rows.mean() if row is None else rows[row]) if len(rows) else 0.0 for rows in found])


def furthest(found: Mapping[str, Array]) -> tuple[str, int, int]:
    """The head that is furthest apart, given by kind (L, H): its kind, layer and head, from 1."""
    kind = max(found, key=lambda k: float(found[k].max()))
    layer, head = np.unravel_index(int(found[kind].argmax()), found[kind].shape)
    return kind, int(layer) + 1, int(head) + 1


def _shared(matches: Sequence[Match]) -> tuple[Array, Array, Array]:
    """Where in the merged sequence, in the one and in the other the shared tokens stand; each (n,)."""
    at = [index for index, m in enumerate(matches) if m.is_shared]
    ones, others = [matches[i].one for i in at], [matches[i].other for i in at]
    return np.array(at, dtype=np.intp), np.array(ones, dtype=np.intp), np.array(others, dtype=np.intp)


def _depth(one: Trace, other: Trace, kind: str) -> tuple[int, int]:
    depths = [(trace.layers(kind), trace.heads(kind)) for trace in (one, other)]
    if depths[0] != depths[1]:
        raise LabelError(f"the runs have {depths[0]} and {depths[1]} layers and heads; compare runs of one model")
    return depths[0]


def _same_kind(one: AttentionMap, other: AttentionMap) -> None:
    if one.kind != other.kind:
        raise LabelError(f"a map of kind {one.kind} and one of kind {other.kind} cannot be compared")
