"""What training minimises: cross-entropy with label smoothing (Vaswani et al. 2017, 5.4; Szegedy et al. 2016, 7).

The vocabulary is the widest axis of a small model, and torch's own function passes over it more often than needed:
its backward pass takes twice as long as this one, a twentieth of a step of training.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from model.config import PAD


def token_loss(logits: Tensor, predicted: Tensor, *, smoothing: float) -> Tensor:
    """Summed cross-entropy in nats. logits (B, T, V), predicted ids (B, T), where <pad> does not count."""
    total: Tensor = _SmoothedLoss.apply(logits.flatten(0, 1), predicted.flatten(), smoothing)
    return total


class _SmoothedLoss(torch.autograd.Function):
    """Against the distribution that gives smoothing / V to every piece and the rest to the right one.

    Backward consumes what forward has kept, so that a second backward is an error of torch's.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, predicted: Tensor, smoothing: float) -> Tensor:
        wide = torch.float64 if logits.dtype == torch.float64 else torch.float32
        log_p = F.log_softmax(logits, dim=-1, dtype=wide)  # (N, V)
        real = predicted != PAD
        ctx.save_for_backward(log_p, predicted, real)
        ctx.smoothing, ctx.dtype = smoothing, logits.dtype
        right = log_p.gather(1, predicted[:, None])[:, 0]
        return -((1 - smoothing) * right + smoothing * log_p.mean(dim=-1))[real].sum()

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, None, None]:
        log_p, predicted, real = ctx.saved_tensors
        gradient = log_p.exp_().sub_(ctx.smoothing / log_p.shape[-1])
        gradient.scatter_add_(1, predicted[:, None], gradient.new_full((len(predicted), 1), ctx.smoothing - 1))
        return gradient.mul_((outer[0] * real)[:, None]).to(ctx.dtype), None, None
