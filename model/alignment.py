"""Which source word each target word leans on, read off cross-attention."""

from dataclasses import dataclass

import numpy as np

from model.trace import Trace
from model.words import merge, word_groups


@dataclass(frozen=True)
class Link:
    """Target word `target` leans on source word `source`; both count words from 0, `</s>` left out."""

    source: int
    target: int
    weight: float  # the mean over the target word's pieces of the weight on the source word


def align(trace: Trace, layer: int, head: int | None = None) -> list[Link]:
    """Link each target word to the source word of largest weight in one cross head, or in the mean of its layer.

    Row = the token that is predicted ("alignment with output"). `</s>` takes part on neither side.
    """
    weights = trace.attention("cross", layer, "weights")  # (H, T, S)
    chosen = weights.mean(axis=0) if head is None else trace.map("cross", layer, head).weights
    rows, columns = word_groups(trace.predicted), word_groups(trace.source)
    by_word = merge(chosen, rows, columns)
    real = [i for i, group in enumerate(columns) if not trace.source[group[0]].special]
    links = []
    for target, group in enumerate(rows):
        if not trace.predicted[group[0]].special and real:
            best = real[int(np.argmax(by_word[target, real]))]
            links.append(Link(best, target, float(by_word[target, best])))
    return links


def default_layer(trace: Trace) -> int:
    """The last: with rows predicted, later layers align better (Kobayashi et al. 2020), as `model.align` shows here."""
    return trace.layers("cross")
