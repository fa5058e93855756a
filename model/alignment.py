"""Which source word each target word leans on, read off cross-attention. No torch.

A row of cross-attention stands for the target token that it reads or for the one that it predicts; a link is strong
by the weight, or by the norm of weight times f(x) (Kobayashi et al. 2020). `</s>` takes part on neither side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.inside import OutputProjection
from model.trace import Array, Token, Trace
from model.words import word_groups

BY = ("weight", "norm")
ROWS = ("read", "predicted")

Links = frozenset[tuple[int, int]]  # (source word, target word), from 0


@dataclass(frozen=True)
class Reading:
    """One way of reading an alignment off cross-attention."""

    layer: int
    head: int | None  # None: all heads of the layer together
    by: str  # "weight", or "norm" of weight times f(x)
    rows: str  # "read" or "predicted": which token of the target stands for a row


@dataclass(frozen=True)
class Link:
    """Target word `target` leans on source word `source`; both count words from 0, `</s>` left out."""

    source: int
    target: int
    strength: float  # a weight from 0 to 1, or the length of what is moved


def aer(found: Links, sure: Links, possible: Links = frozenset()) -> tuple[int, int]:
    """Both counts of the alignment error rate; summed over a corpus, AER = 1 - first / second (Och & Ney 2003).

    Finding a sure link counts twice, a possible one once; missing a possible one costs nothing.
    """
    return len(found & sure) + len(found & (sure | possible)), len(found) + len(sure)


def head_strengths(trace: Trace, projection: OutputProjection, layer: int, by: str, source: list[list[int]]) -> Array:
    """(H + 1, T, source words): how strongly each row holds to each word, given its pieces; last, all heads together.

    Weights and vectors are summed over a word's pieces and over heads, vectors before their norm is taken.
    """
    weights = trace.attention("cross", layer, "weights").astype(np.float64)  # (H, T, S)
    if by == "weight":
        each = np.stack([weights[..., group].sum(axis=-1) for group in source], axis=-1)
        return np.concatenate([each, each.sum(axis=0, keepdims=True)])
    values = trace.attention("cross", layer, "values").astype(np.float64)  # (H, S, K)
    moved = values @ projection.slices  # (H, S, D)
    found = []
    for group in source:  # one at a time: all vectors of a long sentence would fill the memory
        vectors = weights[..., group] @ moved[:, group]  # (H, T, D)
        together = vectors.sum(axis=0, keepdims=True)
        found.append(np.linalg.norm(np.concatenate([vectors, together]), axis=-1))
    return np.stack(found, axis=-1)


def of_pieces(strength: Array, rows: str) -> Array:
    """(…, target pieces, words) of (…, T, words): the rows that read the pieces, or those that predict them."""
    return strength[..., 1:, :] if rows == "read" else strength[..., :-1, :]


def strengths(trace: Trace, projection: OutputProjection, reading: Reading, source: list[list[int]]) -> Array:
    """(target pieces, source words): how strongly each target piece holds to each source word, as `reading` has it."""
    heads = head_strengths(trace, projection, reading.layer, reading.by, source)
    return of_pieces(heads[-1 if reading.head is None else reading.head - 1], reading.rows)


def links_of_heads(strength: Array, source: list[list[int]], target: list[list[int]]) -> list[Links]:
    """For each head, each target word to its strongest source word. strength (heads, target pieces, source words)

    Pieces of a target word are averaged. Words without a piece take part on neither side.
    """
    real = [word for word, group in enumerate(source) if group]
    targets = [word for word, group in enumerate(target) if group]
    if not (real and targets):
        return [frozenset() for _ in strength]
    means = np.stack([strength[:, target[word]].mean(axis=1) for word in targets], axis=1)[..., real]
    return [frozenset((real[s], t) for s, t in zip(best, targets, strict=True)) for best in means.argmax(axis=-1)]


def links(strength: Array, source: list[list[int]], target: list[list[int]]) -> Links:
    """The same for one head. strength (target pieces, source words)"""
    return links_of_heads(strength[None], source, target)[0]


def real_words(tokens: Sequence[Token]) -> list[list[int]]:
    """Positions of the pieces of each word, special tokens left out: of the source, or of what is predicted."""
    return [group for group in word_groups(tokens) if not tokens[group[0]].special]


def words_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Those words, as readers see them."""
    return tuple(tokens[group[0]].word for group in real_words(tokens))


def word_strengths(trace: Trace, projection: OutputProjection, reading: Reading) -> Array:
    """(target words, source words): the mean over a target word's pieces, `</s>` left out on both sides.

    By weight, all heads together are their mean and not their sum: a weight stays between 0 and 1.
    """
    return strengths_between(trace, projection, reading, real_words(trace.source), real_words(trace.predicted))


def strengths_between(
    trace: Trace,
    projection: OutputProjection,
    reading: Reading,
    source: Sequence[Sequence[int]],
    target: Sequence[Sequence[int]],
) -> Array:
    """(target groups, source groups): the same for any groups of pieces; of the target, of those before `</s>`."""
    by_piece = strengths(trace, projection, reading, [list(group) for group in source])
    if reading.head is None and reading.by == "weight":
        by_piece = by_piece / trace.heads("cross")
    return np.array([by_piece[list(group)].mean(axis=0) for group in target]).reshape(len(target), len(source))


def strongest(strength: Array) -> list[Link]:
    """Each target word to its strongest source word. strength (target words, source words)."""
    if not strength.size:
        return []
    return [Link(int(row.argmax()), word, float(row.max())) for word, row in enumerate(strength)]


def align(trace: Trace, projection: OutputProjection, reading: Reading) -> list[Link]:
    """A link for each word of the target, as `reading` has it."""
    return strongest(word_strengths(trace, projection, reading))


def last_layer(trace: Trace) -> Reading:
    """What is read where a weights folder names nothing: the last layer, all heads together, by weight.

    Rows predicted, as later layers align better so (Kobayashi et al. 2020).
    """
    return Reading(trace.layers("cross"), None, "weight", "predicted")


def diagonal(source: int, target: int) -> Links:
    """Each target word to the source word at the same share of the sentence: a baseline that reads no word."""
    last = max(target - 1, 1)
    return frozenset((round(word * (source - 1) / last), word) for word in range(target))


def one_each(target: int, sure: Links, possible: Links) -> Links:
    """The best that one link for each target word can do: a sure one where there is one, or else a possible one.

    Where a word stands alone its link leads to a word that is not there (-1): it is wrong in any case.
    """
    best = dict.fromkeys(range(target), -1)
    for links in (possible, sure):
        best |= {word: source for source, word in links}
    return frozenset((source, word) for word, source in best.items())
