"""Which heads matter for one translation: what it costs to silence each, alone and one after the other. No torch.

The runs themselves are model.what_if.log_probabilities, all in one batch; here are what to ask of it and what the
answers mean. (Michel et al. 2019 and Voita et al. 2019 ask the same of corpora.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.edits import Silence
from model.trace import KINDS, Array, Trace

Head = tuple[str, int, int]  # kind, layer, head, counted from 1


def all_heads(trace: Trace) -> list[Head]:
    """Every head of a run, kind by kind and layer by layer."""
    return [
        (kind, layer, head)
        for kind in KINDS
        for layer in range(1, trace.layers(kind) + 1)
        for head in range(1, trace.heads(kind) + 1)
    ]


def each_alone(heads: Sequence[Head], by: str) -> list[tuple[Silence, ...]]:
    """One list of edits a head, which silences it."""
    return [(Silence(*head, by),) for head in heads]


def one_after_the_other(heads: Sequence[Head], by: str) -> list[tuple[Silence, ...]]:
    """One list of edits a head, which silences it and all before it."""
    return [tuple(Silence(*head, by) for head in heads[: count + 1]) for count in range(len(heads))]


def losses(log_probabilities: Array) -> Array:
    """How much ln P of the translation falls under each list of edits: above 0 the heads were needed.

    log_probabilities (1 + N, T), row 0 unedited -> (N,)
    """
    totals = log_probabilities.sum(axis=1)
    return totals[0] - totals[1:]


@dataclass(frozen=True)
class Importance:
    """What it costs one translation to silence each of its heads alone."""

    heads: tuple[Head, ...]
    losses: Array  # (N,) of ln P, natural logarithm

    def ordered(self, order: str) -> list[int]:
        """Indices of the heads: the least needed first, or the most. Equal ones keep their order."""
        return [int(index) for index in np.argsort(self.losses if order == "least" else -self.losses, kind="stable")]

    def of(self, head: Head) -> float:
        return float(self.losses[self.heads.index(head)])


@dataclass(frozen=True)
class Removal:
    """What it costs to silence one head after the other."""

    heads: tuple[Head, ...]  # in the order of their removal
    losses: Array  # (N,) of ln P: of the first head, of the first two, …

    def summed(self, alone: Importance) -> Array:
        """(N,) what the losses would be if no head could stand in for another: the sums of the losses alone."""
        return np.cumsum([alone.of(head) for head in self.heads])
