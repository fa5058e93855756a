"""What stands on an axis of tokens: every piece or whole words, with <s> and </s> or without them. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.trace import Array, Token, Trace
from model.words import word_groups
from model.words import words as whole_words


@dataclass(frozen=True)
class Axis:
    """Tokens in order, and the pieces behind each of them."""

    tokens: tuple[Token, ...]
    groups: tuple[tuple[int, ...], ...]  # positions from 0

    def mean(self, values: Array) -> Array:
        """(pieces, …) -> (tokens, …): as in maps, what looks is averaged over the pieces of a word."""
        return np.stack([values[list(group)].mean(axis=0, dtype=np.float64) for group in self.groups])

    def place(self, position: int) -> int | None:
        """Where the piece at this position stands, both from 1; None if it is hidden."""
        return next((n for n, group in enumerate(self.groups, start=1) if position - 1 in group), None)

    def position(self, place: int) -> int:
        """The position of the first piece of what stands here, both from 1."""
        return self.groups[place - 1][0] + 1


def axis(tokens: Sequence[Token], *, words: bool, special: str) -> Axis:
    """The axis of these pieces. Specials stay where nothing else would be left; `renormalised` hides them, too."""
    groups = word_groups(tokens) if words else [[index] for index in range(len(tokens))]
    labels = whole_words(tokens) if words else tuple(tokens)
    kept = [n for n, token in enumerate(labels) if special == "shown" or not token.special] or range(len(labels))
    return Axis(tuple(labels[n] for n in kept), tuple(tuple(groups[n]) for n in kept))


def vectors(trace: Trace, *, words: bool, special: str) -> Trace:
    """The run as these axes show it: each vector of a word is the mean of its pieces' vectors.

    For what is told of vectors, in tensors (tokens, D). Attentions stay over pieces; model/selection.py shapes them.
    """
    if not words and special == "shown":
        return trace
    source, read = (axis(side, words=words, special=special) for side in (trace.source, trace.read))
    after = tuple(trace.predicted[group[-1]] for group in read.groups)
    return replace(
        trace,
        source=source.tokens,
        read=read.tokens,
        predicted=after,
        tensors={
            name: (source if name.startswith("encoder.") else read).mean(tensor)
            if tensor.ndim == 2 and name.startswith(("encoder.", "decoder."))
            else tensor
            for name, tensor in trace.tensors.items()
        },
    )


def shown_steps(trace: Trace, *, special: str) -> list[int]:
    """The steps (from 0) of the translation, without that which ends it if specials are hidden and others are left."""
    every = list(range(len(trace.predicted)))
    return [n for n in every if special == "shown" or not trace.predicted[n].special] or every


def steps(trace: Trace, *, special: str) -> Trace:
    """The run as seen by what it writes: its labels and logits at those steps, and the source's without specials."""
    kept = shown_steps(trace, special=special)
    read, predicted = (tuple(side[n] for n in kept) for side in (trace.read, trace.predicted))
    source = axis(trace.source, words=False, special=special).tokens
    logits = {"logits_tap": trace.logits[kept]}
    return replace(trace, source=source, read=read, predicted=predicted, tensors={**trace.tensors, **logits})
