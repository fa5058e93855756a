"""Over words, rows still sum to one, the staircase stays, and a row reads one word and predicts the next."""

import numpy as np
import pytest

from model.trace import KINDS, AttentionMap, Token, Trace
from model.words import (
    by_words,
    least_sure,
    merge,
    word_groups,
    word_log_probabilities,
    words,
    words_after,
)


def some_tokens(*texts: str) -> tuple[Token, ...]:
    """Tokens of words written as their pieces: "Kat|ze" are two. "<s>" and "</s>" are special."""
    tokens = []
    for text in texts:
        pieces = text.split("|")
        for index, piece in enumerate(pieces):
            tokens.append(Token(piece, "".join(pieces), continues=index > 0, special=text in ("<s>", "</s>")))
    return tuple(tokens)


READ = some_tokens("<s>", "Kat|ze", "schläft")
PREDICTED = some_tokens("Kat|ze", "schläft", "</s>")
SOURCE = some_tokens("The", "c|a|t", "sleeps", "</s>")
CROSS = AttentionMap(
    "cross",
    layer=1,
    head=1,
    weights=np.array(
        [
            [0.1, 0.2, 0.1, 0.1, 0.4, 0.1],
            [0.3, 0.1, 0.1, 0.2, 0.2, 0.1],
            [0.1, 0.0, 0.4, 0.4, 0.1, 0.0],
            [0.0, 0.2, 0.0, 0.0, 0.2, 0.6],
        ]
    ),
    scores=np.arange(24.0).reshape(4, 6),
    allowed=np.ones((4, 6), dtype=bool),
    rows=READ,
    columns=SOURCE,
    predicts=PREDICTED,
)


def test_words_are_groups_of_pieces_and_special_tokens_stand_alone() -> None:
    assert word_groups(READ) == [[0], [1, 2], [3]]
    assert [(w.text, w.special) for w in words(SOURCE)] == [
        ("The", False),
        ("cat", False),
        ("sleeps", False),
        ("</s>", True),
    ]


def test_weight_to_a_word_is_summed_and_weight_from_it_averaged_as_by_hand() -> None:
    expected = [[0.1, 0.4, 0.4, 0.1], [0.2, 0.6, 0.15, 0.05], [0.0, 0.2, 0.2, 0.6]]
    np.testing.assert_allclose(by_words(CROSS).weights, expected, atol=1e-12)


def test_a_score_of_words_is_the_mean_of_its_cells_as_by_hand() -> None:
    """Row 2 is the mean over pieces 1 and 2, column 2 over pieces 1 to 3: the mean of 7, 8, 9, 13, 14, 15 is 11."""
    expected = [[0, 2, 4, 5], [9, 11, 13, 14], [18, 20, 22, 23]]
    np.testing.assert_allclose(by_words(CROSS).scores, expected, atol=1e-6)


def test_a_row_predicts_the_word_that_follows_the_last_piece_it_reads() -> None:
    merged = by_words(CROSS)
    assert merged.predicts is not None
    assert [(r.text, p.text) for r, p in zip(merged.rows, merged.predicts, strict=True)] == [
        ("<s>", "Katze"),
        ("Katze", "schläft"),
        ("schläft", "</s>"),
    ]
    assert words_after(READ, PREDICTED) == merged.predicts


def test_a_masked_score_is_the_mean_of_the_allowed_cells_only() -> None:
    staircase = np.tril(np.ones((4, 4), dtype=bool))
    weights = staircase / staircase.sum(axis=1, keepdims=True)
    scores = np.where(staircase, np.arange(16.0).reshape(4, 4), 1e9)
    merged = by_words(AttentionMap("masked", 1, 1, weights, scores, staircase, READ, READ, PREDICTED))
    np.testing.assert_allclose(
        merged.scores, [[0.0, 0.0, 0.0], [6.0, (5 + 9 + 10) / 3, 0.0], [12.0, 13.5, 15.0]], atol=1e-6
    )
    assert merged.allowed.tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_over_words_sum_to_one_and_the_staircase_stays(trace: Trace, kind: str) -> None:
    for layer in range(1, trace.layers(kind) + 1):
        for head in range(1, trace.heads(kind) + 1):
            merged = by_words(trace.map(kind, layer, head))
            assert len(merged.rows) < len(trace.map(kind, layer, head).rows)
            np.testing.assert_allclose(merged.weights.sum(axis=1), 1, atol=1e-6)
            assert (merged.weights[~merged.allowed] == 0).all()
            expected = np.ones(merged.allowed.shape, dtype=bool)
            assert np.array_equal(merged.allowed, np.tril(expected) if kind == "masked" else expected)


def test_merging_leaves_the_axes_in_front_alone() -> None:
    cells = np.random.default_rng(1).random((2, 5, 4, 6))
    found = merge(cells, word_groups(READ), word_groups(SOURCE))
    assert found.shape == (2, 5, 3, 4)
    np.testing.assert_allclose(found[1, 3], merge(cells[1, 3], word_groups(READ), word_groups(SOURCE)))


def test_words_probabilities_multiply_to_the_sentences(trace: Trace) -> None:
    found = word_log_probabilities(trace)
    assert len(found) == len(words(trace.predicted)) < len(trace.predicted)
    assert found.sum() == pytest.approx(trace.target_log_probabilities().sum())


def test_the_least_sure_step_is_the_lowest_probability_counted_from_one(trace: Trace) -> None:
    for by_word, chances in ((False, trace.target_log_probabilities()), (True, word_log_probabilities(trace))):
        assert chances[least_sure(trace, words=by_word) - 1] == min(chances)
