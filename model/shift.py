"""How far edits move what the model expects at each step of one translation. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.trace import Array, LabelError, Trace


@dataclass(frozen=True)
class Shift:
    """Step by step over the same translation, (T,) each."""

    before: Array  # ln P of the token that is written, in the first run
    after: Array  # the same in the second run
    moved: Array  # bits: Kullback-Leibler divergence of the second run's distribution from the first one's
    likeliest: Array  # id of the piece that the second run holds likeliest

    @property
    def totals(self) -> tuple[float, float]:
        """ln P of the whole translation, before and after."""
        return float(self.before.sum()), float(self.after.sum())

    def at(self, steps: Sequence[int]) -> "Shift":
        """The same at these steps only, from 0."""
        kept = list(steps)
        return Shift(*(told[kept] for told in (self.before, self.after, self.moved, self.likeliest)))


def shift(before: Trace, after: Trace) -> Shift:
    """Two runs over one translation. Raises LabelError if they are not over the same tokens."""
    if before.predicted != after.predicted or before.source != after.source:
        raise LabelError("the two runs read different tokens, so their steps cannot be compared one by one")
    expected, found = before.log_probabilities(), after.log_probabilities()  # (T, V)
    moved = (np.exp(expected) * (expected - found)).sum(axis=-1) / np.log(2)
    return Shift(
        before=before.target_log_probabilities(),
        after=after.target_log_probabilities(),
        moved=np.maximum(moved, 0.0),  # rounding leaves -1e-16 where nothing has moved
        likeliest=found.argmax(axis=-1),
    )
