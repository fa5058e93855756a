"""The loss of each token is the one that training sums up: torch's cross-entropy with label smoothing."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model import loss
from model.criterion import token_loss
from model.trace import Trace

SMOOTHINGS = pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.37, 0.9])


def ids(trace: Trace) -> torch.Tensor:
    return torch.tensor([token.id for token in trace.predicted])


@SMOOTHINGS
def test_each_token_has_torchs_loss_and_their_sum_is_the_trainers(trace: Trace, smoothing: float) -> None:
    logits, predicted = torch.from_numpy(trace.logits), ids(trace)
    expected = F.cross_entropy(logits.double(), predicted, label_smoothing=smoothing, reduction="none")
    found = loss.losses(trace).at(smoothing)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12)
    total = float(token_loss(logits[None], predicted[None], smoothing=smoothing))
    assert float(found.sum()) == pytest.approx(total, rel=1e-5)


def test_without_smoothing_it_is_minus_the_log_probability(trace: Trace) -> None:
    np.testing.assert_array_equal(loss.losses(trace).at(0.0), -trace.target_log_probabilities())


@SMOOTHINGS
def test_it_is_the_cross_entropy_of_the_target_that_is_drawn(trace: Trace, smoothing: float) -> None:
    log_probabilities = trace.log_probabilities()
    V = log_probabilities.shape[1]
    for step, token in enumerate(trace.predicted):
        target = loss.target(token.id or 0, V, smoothing)
        assert target.sum() == pytest.approx(1)
        assert -(target @ log_probabilities[step]) == pytest.approx(loss.losses(trace).at(smoothing)[step])
    assert target[token.id or 0] == pytest.approx(1 - smoothing + smoothing / V)
    assert np.delete(target, token.id or 0) == pytest.approx(smoothing / V)


@SMOOTHINGS
def test_no_model_comes_below_the_least_loss_and_the_target_itself_reaches_it(trace: Trace, smoothing: float) -> None:
    V = trace.logits.shape[1]
    least = loss.least(V, smoothing)
    assert (loss.losses(trace).at(smoothing) >= least).all()
    target = loss.target(7, V, smoothing)
    positive = target > 0
    assert -(target[positive] @ np.log(target[positive])) == pytest.approx(least)
    assert (least == 0) == (smoothing == 0)
