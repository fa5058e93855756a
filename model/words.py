"""Maps over words: weight to a split word is summed over its pieces, from it averaged (Clark et al. 2019, 4.1)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from model.trace import Array, AttentionMap, Token, Trace


def groups_of(joined: Sequence[bool]) -> list[list[int]]:
    """Positions of each word, in order; every position is in exactly one word."""
    groups: list[list[int]] = []
    for index, joins in enumerate(joined):
        if joins and groups:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def word_groups(tokens: Sequence[Token]) -> list[list[int]]:
    """Positions of the pieces of each word; a special token is a word."""
    return groups_of([token.continues for token in tokens])


def words(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """One Token for each word."""
    return tuple(Token(tokens[g[0]].word, tokens[g[0]].word, special=tokens[g[0]].special) for g in word_groups(tokens))


def words_after(read: Sequence[Token], predicted: Sequence[Token]) -> tuple[Token, ...]:
    """For each word that is read, the word that its last piece predicts the beginning of."""
    last = [predicted[group[-1]] for group in word_groups(read)]
    return tuple(Token(token.word, token.word, special=token.special) for token in last)


def merge(cells: Array, rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]) -> Array:
    """Sum over the pieces of a column's word, mean over those of a row's. (…, T, S) -> (…, row words, column words)

    Rows that summed to 1 still do.
    """
    summed = np.add.reduceat(cells, [group[0] for group in columns], axis=-1)
    means = np.add.reduceat(summed, [group[0] for group in rows], axis=-2)
    return means / np.array([len(group) for group in rows], dtype=cells.dtype)[:, None]


def by_words(pieces: AttentionMap) -> AttentionMap:
    """The same head over words. Decoder rows are grouped by the word they read, and predict what comes after it.

    A score of words is the mean over the allowed cells: to be shown, not to be put through a softmax again.
    """
    rows, columns = word_groups(pieces.rows), word_groups(pieces.columns)
    share = merge(pieces.allowed.astype(np.float64), rows, columns)
    total = merge(np.where(pieces.allowed, pieces.scores, 0).astype(np.float64), rows, columns)
    return replace(
        pieces,
        weights=merge(pieces.weights, rows, columns),
        scores=np.divide(total, share, out=np.zeros_like(total), where=share > 0).astype(np.float32),
        allowed=share > 0,
        rows=words(pieces.rows),
        columns=words(pieces.columns),
        predicts=None if pieces.predicts is None else words_after(pieces.rows, pieces.predicts),
    )


def word_log_probabilities(trace: Trace) -> Array:
    """(words,) ln P of each word of the target and of </s>: the sum over its pieces."""
    chances = trace.target_log_probabilities()
    return np.array([chances[group].sum() for group in word_groups(trace.predicted)])


def least_sure(trace: Trace, *, words: bool) -> int:
    """The step (from 1; a piece or a whole word) that the model held least probable of all it wrote."""
    chances = word_log_probabilities(trace) if words else trace.target_log_probabilities()
    return int(np.argmin(chances)) + 1
