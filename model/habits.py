"""Where a head looks, on average over a corpus: numbers that tell positional heads, sinks and alignment heads apart.

Beside each stands the same number with rows shuffled: what is left of it once it is lost whose row is which.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from model.trace import KINDS, Array, Token, Trace

SEED = 1  # of the shuffling
NUMBERS = (
    "entropy_bits",
    "entropy_of_uniform",  # entropy over that of a row that looks everywhere alike
    "distance",  # in pieces; like the three after it, only where rows and columns are the same tokens
    "previous",  # share of rows whose largest weight is one to the left, of the words that have a word there
    "same",
    "next",
    "confidence",  # largest weight on a word, mean over words
    "largest",  # largest weight, special tokens not left out
    "special",  # share of all weight that is on <s> and </s>
    "marks",  # on punctuation
)
NEIGHBOURS = {"previous": -1, "same": 0, "next": 1}

Order = Callable[[str, int], Array]  # (kind, number of rows) -> for each row, whose weights it shows


def in_order(kind: str, rows: int) -> Array:
    """Each row shows its own weights."""
    return np.arange(rows)


def shuffling(rng: np.random.Generator) -> Order:
    """Each row shows the weights of another one. Columns that are looked at from everywhere keep what they get.

    In masked attention a later row looks where an earlier one may not. There each row shows that of a row drawn from
    those up to itself, all as likely: the mask holds, and every row is one that the head has made.
    """

    def order(kind: str, rows: int) -> Array:
        return rng.integers(0, np.arange(rows) + 1) if kind == "masked" else rng.permutation(rows)

    return order


def row_numbers(trace: Trace, kind: str, order: Array) -> dict[str, Array]:
    """Each number for every row, (L, H, T); NaN where a row has no say in it.

    Row t shows the weights of row order[t] and counts as what that one is, a word or a special token; its place is t.
    """
    rows, columns, _ = trace.labels(kind)
    weights = trace.weights(kind).astype(np.float64)[..., order, :]  # (L, H, T, S)
    may_look = np.broadcast_to(trace.attention(kind, 1, "may_look")[0], (len(rows), len(columns)))
    numbers = _shape(weights, may_look.sum(axis=-1)[order], _words(rows)[order], columns)
    return numbers if kind == "cross" else numbers | _place(weights, may_look, _words(rows))


def _words(tokens: Sequence[Token]) -> Array:
    return np.array([not token.special for token in tokens])


def _shape(weights: Array, possible: Array, words: Array, columns: Sequence[Token]) -> dict[str, Array]:
    """What does not depend on where a row stands. possible (T,): how many columns it may look at."""
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -(weights * logs).sum(axis=-1)  # (L, H, T)
    uniform = np.where(possible > 1, np.log2(possible), np.nan)  # with one column to look at there is no choice
    marks = np.array([token.is_punctuation for token in columns])
    return {
        "entropy_bits": entropy,
        "entropy_of_uniform": entropy / uniform,
        "confidence": np.where(words, np.where(_words(columns), weights, 0.0).max(axis=-1), np.nan),
        "largest": weights.max(axis=-1),
        "special": weights[..., ~_words(columns)].sum(axis=-1),
        "marks": weights[..., marks].sum(axis=-1),
    }


def _place(weights: Array, may_look: Array, words: Array) -> dict[str, Array]:
    """How far a row looks, and whether its largest weight is on a word beside it, if there is one that it may see."""
    places = np.arange(len(words))
    found = {"distance": (weights * np.abs(places - places[:, None])).sum(axis=-1)}
    best = weights.argmax(axis=-1)  # (L, H, T)
    for name, offset in NEIGHBOURS.items():
        there = places + offset
        inside = (there >= 0) & (there < len(words))
        beside = np.clip(there, 0, len(words) - 1)
        asked = inside & words & words[beside] & may_look[places, beside]
        found[name] = np.where(asked, best == there, np.nan)
    return found


class Means:
    """Means over all rows of a corpus for the heads of one kind."""

    def __init__(self) -> None:
        self._sums: dict[str, Array] = {}  # (L, H) each
        self._rows: dict[str, Array] = {}  # (L, H): how many rows had a say

    def add(self, numbers: dict[str, Array]) -> None:
        for name, values in numbers.items():
            self._sums[name] = self._sums.get(name, 0.0) + np.nansum(values, axis=-1)
            self._rows[name] = self._rows.get(name, 0) + (~np.isnan(values)).sum(axis=-1)

    def of(self, layer: int, head: int) -> dict[str, float | None]:
        """Each number of one head (from 1); None where no row has a say in it."""
        at = (layer - 1, head - 1)
        counted = {name: int(self._rows[name][at]) if name in self._rows else 0 for name in NUMBERS}
        return {name: float(self._sums[name][at]) / rows if rows else None for name, rows in counted.items()}

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and heads."""
        layers, heads = next(iter(self._sums.values())).shape
        return layers, heads


Head = tuple[str, int, int]  # kind, layer, head


def habits(traces: Iterable[Trace]) -> dict[Head, dict[str, dict[str, float | None]]]:
    """For every head its `own` numbers and, beside them, the `shuffled` ones. Raises ValueError if there is no trace.

    confidence is that of Voita et al. 2019 (section 4), who define it for encoders: special tokens neither look nor are
    looked at. For masked and cross-attention, where they define none, a row counts as the token that it reads.
    """
    orders: dict[str, Order] = {"own": in_order, "shuffled": shuffling(np.random.default_rng(SEED))}
    means = {kind: {name: Means() for name in orders} for kind in KINDS}
    traced = 0
    for trace in traces:
        traced += 1
        for kind in KINDS:
            for name, order in orders.items():
                means[kind][name].add(row_numbers(trace, kind, order(kind, len(trace.labels(kind)[0]))))
    if not traced:
        raise ValueError("there is no trace to count over")
    return {
        (kind, layer + 1, head + 1): {name: mean.of(layer + 1, head + 1) for name, mean in means[kind].items()}
        for kind in KINDS
        for layer, head in np.ndindex(means[kind]["own"].shape)
    }
