"""The tables hold the numbers of the pictures, and equal tokens stay apart in them."""

import numpy as np
import pytest

from model.labels import candidates
from model.tokenizer import Tokenizer
from model.trace import KINDS, AttentionMap, Token, Trace
from model.words import by_words
from viz import tables


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_word", [False, True])
def test_a_table_of_cells_is_the_map(trace: Trace, kind: str, by_word: bool) -> None:
    shown = trace.map(kind, 2, 5)
    shown = by_words(shown) if by_word else shown
    table = tables.cells(shown)
    values = table.to_numpy()
    np.testing.assert_array_equal(values[shown.allowed], shown.weights[shown.allowed])
    np.testing.assert_array_equal(np.isnan(values), ~shown.allowed)
    assert list(table.columns) == [f"{n} {token.text}" for n, token in enumerate(shown.columns, start=1)]
    assert all(label.startswith(f"{n} ") for n, label in enumerate(table.index, start=1))


def test_equal_tokens_keep_names_of_their_own() -> None:
    rows, columns = (tuple(Token("the", "the") for _ in range(n)) for n in (2, 3))
    weights = np.full((2, 3), 1 / 3)
    table = tables.cells(AttentionMap("cross", 1, 1, weights, weights, weights > 0, rows, columns, rows))
    assert list(table.columns) == ["1 the", "2 the", "3 the"]
    assert list(table.index) == ["1 the → the", "2 the → the"]


def test_the_table_of_steps_says_what_was_read_written_and_considered(trace: Trace, tokenizer: Tokenizer) -> None:
    considered = candidates(tokenizer, trace, 3)
    table = tables.steps(trace, considered)
    assert list(table["step"]) == list(range(1, len(trace.read) + 1))
    assert list(table["read"]) == [token.text for token in trace.read]
    assert list(table["predicts"]) == [token.text for token in trace.predicted]
    np.testing.assert_array_equal(table["log-probability"], trace.target_log_probabilities())
    np.testing.assert_allclose(np.log(table["probability"]), table["log-probability"])
    for said, row in zip(table["likeliest"], considered, strict=True):
        assert said.startswith(f"{row[0].text} {row[0].probability:.3f}")
        assert said.count("  ") == len(row) - 1
