"""Dropout: how often, how much, and nothing outside training."""

import pytest
import torch

from model.dropout import Dropout


def dropped(p: float, *shape: int, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    return Dropout(p).train()(torch.ones(*shape))


@pytest.mark.parametrize("p", [0.1, 0.3, 0.9])
def test_elements_are_dropped_as_often_as_asked_and_the_rest_keeps_the_mean(p: float) -> None:
    out = dropped(p, 301, 1003)
    assert (out == 0).double().mean().item() == pytest.approx(p, abs=4 * (p * (1 - p) / out.numel()) ** 0.5)
    assert out[out != 0].unique().tolist() == pytest.approx([1 / (1 - p)], rel=1e-3)


def test_each_of_the_four_lanes_of_a_draw_is_dropped_as_often() -> None:
    zeros = (dropped(0.25, 400_000) == 0).view(-1, 4).double().mean(dim=0)
    assert zeros.tolist() == pytest.approx([0.25] * 4, abs=0.006)  # four standard errors: 0.0055


def test_neighbours_are_dropped_independently() -> None:
    zero = (dropped(0.5, 400_000) == 0).double()
    for distance in (1, 2, 3, 4, 5):
        both = (zero[distance:] * zero[:-distance]).mean().item()
        assert both == pytest.approx(0.25, abs=0.003), f"elements {distance} apart"


def test_the_gradient_goes_where_the_values_went() -> None:
    torch.manual_seed(2)
    x = torch.ones(3, 5, 7, requires_grad=True)
    out = Dropout(0.4).train()(x)
    out.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, out.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_shape_and_type_stay(dtype: torch.dtype) -> None:
    x = torch.randn(2, 3, 5).to(dtype).transpose(0, 2)
    out = Dropout(0.5).train()(x)
    assert (out.shape, out.dtype) == (x.shape, dtype)
    kept = out != 0
    torch.testing.assert_close(out[kept], (x * 2)[kept])


def test_nothing_happens_outside_training_or_without_dropout() -> None:
    x = torch.randn(4, 6)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


def test_the_same_seed_drops_the_same() -> None:
    torch.testing.assert_close(dropped(0.3, 9, 11, seed=5), dropped(0.3, 9, 11, seed=5))
    assert not torch.equal(dropped(0.3, 9, 11, seed=5), dropped(0.3, 9, 11, seed=6))


@pytest.mark.parametrize("p", [-0.1, 0.999999, 1.0, float("nan")])
def test_an_impossible_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        Dropout(p)
