"""The loss of training against torch's own, in value and in gradient."""

import pytest
import torch
import torch.nn.functional as F

from model.config import PAD
from model.criterion import token_loss

B, T, V = 3, 5, 11


def example(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(3)
    predicted = torch.randint(1, V, (B, T))
    predicted[1, 3:], predicted[2, 1:] = PAD, PAD  # unequal lengths
    return torch.randn(B, T, V).mul(3).to(dtype).requires_grad_(), predicted


def by_torch(logits: torch.Tensor, predicted: torch.Tensor, smoothing: float) -> torch.Tensor:
    return F.cross_entropy(
        logits.flatten(0, 1).float(), predicted.flatten(), ignore_index=PAD, label_smoothing=smoothing, reduction="sum"
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_value_and_gradient_are_those_of_torch(dtype: torch.dtype, smoothing: float) -> None:
    logits, predicted = example(dtype)
    wanted = by_torch(logits, predicted, smoothing)
    (wanted_gradient,) = torch.autograd.grad(wanted / 7, logits)
    got = token_loss(logits, predicted, smoothing=smoothing)
    (gradient,) = torch.autograd.grad(got / 7, logits)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(gradient, wanted_gradient)
    assert gradient.dtype == dtype


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    logits, predicted = example(torch.float64)
    (gradient,) = torch.autograd.grad(token_loss(logits, predicted, smoothing=0.2), logits)
    direction, step = torch.randn(B, T, V, dtype=torch.float64), 1e-5
    above, below = (token_loss(logits.detach() + sign * step * direction, predicted, smoothing=0.2) for sign in (1, -1))
    assert float((gradient * direction).sum()) == pytest.approx(float(above - below) / (2 * step), rel=1e-7)


def test_padding_neither_counts_nor_learns() -> None:
    logits, predicted = example()
    token_loss(logits, predicted, smoothing=0.1).backward()
    assert logits.grad is not None
    assert (logits.grad.abs().sum(dim=-1) == 0).equal(predicted == PAD)
    with torch.no_grad():
        changed = torch.where((predicted == PAD)[..., None], torch.full_like(logits, 50), logits)
    torch.testing.assert_close(
        token_loss(changed, predicted, smoothing=0.1), token_loss(logits, predicted, smoothing=0.1)
    )


def test_a_second_backward_is_refused_instead_of_wrong() -> None:
    logits, predicted = example()
    total = token_loss(logits, predicted, smoothing=0.1)
    total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="inplace"):
        total.backward()
