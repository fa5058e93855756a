"""What edits do to each step: tokens beside their own numbers; and losses as heads are removed, from none on."""

import numpy as np
import pytest

from model.capture import trace_of
from model.editlist import parsed
from model.importance import Importance, Removal
from model.shift import Shift, shift
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from viz import effect
from viz.payload import unpack
from viz.theme import DARK

HEADS = (("encoder", 1, 2), ("cross", 2, 1), ("masked", 1, 3))
ALONE = Importance(HEADS, np.array([3.0, -0.5, 1.0]))
REMOVED = Removal((HEADS[1], HEADS[2], HEADS[0]), np.array([-0.5, 0.8, 9.0]))


@pytest.fixture(scope="module")
def found(model: Transformer, tokenizer: Tokenizer, trace: Trace) -> Shift:
    ids = [token.id or 0 for token in trace.source[:-1]], [token.id or 0 for token in trace.read[1:]]
    return shift(trace, trace_of(model, tokenizer, *ids, edits=parsed("silence-cross-1.2")))


def test_each_step_has_its_own_numbers(trace: Trace, found: Shift) -> None:
    names = [f"piece {piece}" for piece in found.likeliest]
    header, _ = unpack(effect.steps(trace, found, names, theme=DARK))
    assert [step["text"] for step in header["steps"]] == [token.text for token in trace.predicted]
    np.testing.assert_array_equal([step["moved"] for step in header["steps"]], found.moved)
    np.testing.assert_array_equal([step["before"] for step in header["steps"]], np.exp(found.before))
    np.testing.assert_array_equal([step["after"] for step in header["steps"]], np.exp(found.after))
    assert header["limit"] == effect.FULL  # one scale for all edits
    for step, token, piece in zip(header["steps"], trace.predicted, found.likeliest, strict=True):
        assert step["now"] == (None if token.id == piece else f"piece {piece}")
    third = header["steps"][2]["said"]
    assert third.startswith(f"having read ‘{trace.read[2].text}’: P(‘{trace.predicted[2].text}’) ")
    assert third.endswith(" bits")


def test_the_verdict_says_the_log_probability_before_and_after() -> None:
    steps = np.zeros(2)
    told = effect.verdict(Shift(np.array([-1.0, -2.0]), np.array([-3.5, -4.0]), np.array([0.5, 1.0]), steps))
    assert told.startswith("log-probability of the unedited translation: −3.00 → −7.50 ·")
    assert "0.750 bits" in told


def test_removal_begins_with_nothing_removed() -> None:
    together, summed = effect.removal(REMOVED, ALONE)
    np.testing.assert_array_equal(together.x, [0, 1, 2, 3])
    np.testing.assert_array_equal(together.y, [0, -0.5, 0.8, 9])
    np.testing.assert_array_equal(summed.y, [0, -0.5, 0.5, 3.5])


def test_the_tables_say_the_same(trace: Trace, found: Shift) -> None:
    table = effect.removal_table(REMOVED, ALONE)
    assert [tuple(line) for line in table[["kind", "layer", "head"]].to_numpy()] == list(REMOVED.heads)
    assert [*table["loss alone"]] == [-0.5, 1.0, 3.0]
    assert [*table["removed together"]] == [-0.5, 0.8, 9.0]
    steps = effect.steps_table(trace, found, ["x"] * len(trace.read))
    np.testing.assert_array_equal(steps["KL divergence in bits"], found.moved)
