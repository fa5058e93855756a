"""Which heads matter: each row of the batch is one question, and the answers belong to the right heads."""

import numpy as np
import pytest

from model.capture import trace_of
from model.edits import Silence
from model.importance import Importance, Removal, all_heads, each_alone, losses, one_after_the_other
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from model.what_if import log_probabilities, means_of

SOURCE, TARGET = list(range(70, 82)), list(range(150, 157))
HEADS = (("encoder", 1, 2), ("cross", 2, 1), ("masked", 1, 3))


def test_every_head_of_every_layer_is_there_once(trace: Trace) -> None:
    heads = all_heads(trace)
    assert len(heads) == len(set(heads)) == (3 + 2 + 2) * 5
    assert (heads[0], heads[14], heads[15], heads[-1]) == (
        ("encoder", 1, 1),
        ("encoder", 3, 5),
        ("masked", 1, 1),
        ("cross", 2, 5),
    )


@pytest.mark.parametrize("by", ["zero", "mean"])
def test_each_loss_is_that_of_its_own_head(model: Transformer, tokenizer: Tokenizer, trace: Trace, by: str) -> None:
    heads, means = all_heads(trace), means_of(model, SOURCE, TARGET)
    found = losses(log_probabilities(model, SOURCE, TARGET, each_alone(heads, by), means=means))
    assert found.shape == (35,)
    total = trace_of(model, tokenizer, SOURCE, TARGET).target_log_probabilities().sum()
    for index in (0, 7, 14, 16, 22, 25, 34):
        run = trace_of(model, tokenizer, SOURCE, TARGET, edits=(Silence(*heads[index], by),), means=means)
        assert found[index] == pytest.approx(total - run.target_log_probabilities().sum(), abs=1e-4)
    assert len(set(found.round(3))) > 30


def test_heads_are_removed_in_order_and_all_before_them_stay_removed() -> None:
    first, second, third = one_after_the_other(HEADS, "mean")
    assert first == (Silence("encoder", 1, 2, "mean"),)
    assert second == (*first, Silence("cross", 2, 1, "mean"))
    assert third == (*second, Silence("masked", 1, 3, "mean"))


def test_a_loss_is_above_0_where_the_translation_becomes_less_probable() -> None:
    found = losses(np.array([[-1.0, -2.0], [-2.0, -4.0], [-0.5, -2.0]]))
    np.testing.assert_array_equal(found, [3.0, -0.5])
    alone = Importance(HEADS[:2], found)
    assert alone.ordered("least") == [1, 0]
    assert alone.ordered("most") == [0, 1]


def test_heads_of_equal_loss_keep_their_order() -> None:
    alone = Importance(HEADS, np.zeros(3))
    assert alone.ordered("most") == alone.ordered("least") == [0, 1, 2]


def test_single_losses_add_up_in_the_order_of_removal() -> None:
    alone = Importance(HEADS, np.array([3.0, -0.5, 1.0]))
    removed = Removal((HEADS[1], HEADS[2], HEADS[0]), np.array([-0.5, 0.8, 9.0]))
    np.testing.assert_array_equal(removed.summed(alone), [-0.5, 0.5, 3.5])
    assert alone.of(HEADS[2]) == 1.0


def test_the_first_head_removed_costs_the_same_alone_and_in_a_row(model: Transformer, trace: Trace) -> None:
    heads = all_heads(trace)[3:9]
    alone = Importance(tuple(heads), losses(log_probabilities(model, SOURCE, TARGET, each_alone(heads, "zero"))))
    removed = [heads[index] for index in alone.ordered("most")]
    together = losses(log_probabilities(model, SOURCE, TARGET, one_after_the_other(removed, "zero")))
    assert together[0] == pytest.approx(alone.losses.max(), abs=1e-4)
