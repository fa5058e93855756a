"""How far edits move each step: nothing without edits, never below 0, and only where the edit reaches."""

import numpy as np
import pytest

from model.capture import trace_of
from model.editlist import parsed
from model.shift import shift
from model.tokenizer import Tokenizer
from model.trace import LabelError, Trace
from model.transformer import Transformer

SOURCE, TARGET = list(range(70, 82)), list(range(150, 157))


@pytest.fixture(scope="module")
def before(model: Transformer, tokenizer: Tokenizer) -> Trace:
    return trace_of(model, tokenizer, SOURCE, TARGET)


def test_without_edits_nothing_moves(before: Trace) -> None:
    found = shift(before, before)
    np.testing.assert_array_equal(found.moved, np.zeros(8))
    np.testing.assert_array_equal(found.before, found.after)
    assert found.totals[0] == pytest.approx(before.target_log_probabilities().sum())


def test_each_step_is_moved_by_the_divergence_of_its_two_distributions(
    model: Transformer, tokenizer: Tokenizer, before: Trace
) -> None:
    after = trace_of(model, tokenizer, SOURCE, TARGET, edits=parsed("silence-cross-1.2,uniform-encoder-2.3"))
    found = shift(before, after)
    for step in range(8):
        p, q = (np.exp(trace.log_probabilities()[step]) for trace in (before, after))
        assert found.moved[step] == pytest.approx(sum(a * np.log2(a / b) for a, b in zip(p, q, strict=True)))
        assert found.moved[step] > 0
        assert found.likeliest[step] == after.logits[step].argmax()
    assert found.totals == (pytest.approx(found.before.sum()), pytest.approx(after.target_log_probabilities().sum()))


def test_an_edit_of_one_row_of_masked_attention_moves_no_earlier_step(
    model: Transformer, tokenizer: Tokenizer, before: Trace
) -> None:
    after = trace_of(model, tokenizer, SOURCE, TARGET, edits=parsed("row-masked-1.2-5.1"))
    moved = shift(before, after).moved
    assert (moved[:4] == 0).all()
    assert (moved[4:] > 0).all()


def test_runs_over_other_translations_are_refused(model: Transformer, tokenizer: Tokenizer, before: Trace) -> None:
    with pytest.raises(LabelError, match="read different tokens"):
        shift(before, trace_of(model, tokenizer, SOURCE, TARGET[:-1]))
