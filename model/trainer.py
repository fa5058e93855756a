"""One step of training: a batch, its loss, its gradient, and Adam. Several processes may share a batch."""

import math
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from model import data
from model.criterion import token_loss
from model.data import Augmentation, Encoded
from model.encoder_decoder import EncoderDecoder
from model.schedule import Schedule
from model.tokenizer import Tokenizer

LARGEST_GRADIENT = 1.0  # norm; a longer gradient is shortened to it (Pascanu et al. 2013, 3.2)


class DivergedError(RuntimeError):
    """Training has left the numbers that can be computed with. Nothing of that step is kept."""


@dataclass(frozen=True)
class Recipe:
    """What happens at each step, apart from the data."""

    schedule: Schedule
    positions: int  # in one batch, both sides and padding counted
    dropout: float = 0.1
    smoothing: float = 0.1  # label smoothing (Vaswani et al. 2017, 5.4)
    seed: int = 1
    precision: str = "float32"  # or "bfloat16": matrix products only, weights stay float32
    augmentation: Augmentation = Augmentation()
    clip: float = LARGEST_GRADIENT  # inf: gradients are taken as they are


@dataclass(frozen=True)
class Share:
    """Which part of each batch this process takes."""

    rank: int = 0
    world: int = 1

    @classmethod
    def from_environment(cls) -> "Share":
        """Join the other processes if torchrun started this one."""
        if "RANK" not in os.environ:
            return cls()
        dist.init_process_group("gloo")
        return cls(dist.get_rank(), dist.get_world_size())


class Trainer:
    """A model, its optimizer, and the step that improves it."""

    def __init__(self, model: EncoderDecoder, tokenizer: Tokenizer, recipe: Recipe, share: Share = Share()) -> None:
        self.model, self.tokenizer, self.recipe, self.share = model, tokenizer, recipe, share
        self.norm = 0.0  # of the last step's gradient, before it was shortened
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step(self, batch: Sequence[Encoded], number: int) -> float:
        """Take optimizer step `number` (from 1) on a batch of the whole world. returns the loss, nats a token."""
        _seed(self.recipe.seed, number, self.share.rank)
        rate = self.recipe.schedule.rate(number)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        total = sum(len(target) + 1 for _, target in batch)
        loss = self._backward(batch[self.share.rank :: self.share.world], total)
        if self.share.world > 1:
            loss = self._sum_over_processes(loss)
        self.norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip))
        if not math.isfinite(self.norm):
            raise DivergedError(
                f"step {number}: the gradient is not finite; the last save is whole, lower --peak and go on"
            )
        self.optimizer.step()
        return float(loss)

    def _backward(self, part: Sequence[Encoded], total: int) -> Tensor:
        if not part:
            for parameter in self.model.parameters():
                parameter.grad = torch.zeros_like(parameter)
            return torch.zeros(())
        source, read, predicted = data.tensors(part)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.recipe.precision == "bfloat16"):
            logits = self.model(source, read)  # (B, T, V)
        loss = token_loss(logits, predicted, smoothing=self.recipe.smoothing) / total
        loss.backward()
        return loss.detach()

    def _sum_over_processes(self, loss: Tensor) -> Tensor:
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        flat = torch.cat([loss[None], *[g.flatten() for g in gradients]])
        dist.all_reduce(flat)
        offset = 1
        for gradient in gradients:
            gradient.copy_(flat[offset : offset + gradient.numel()].view_as(gradient))
            offset += gradient.numel()
        return flat[0]


def _seed(seed: int, step: int, rank: int) -> None:
    """Everything random in a step depends on (seed, step, rank) only, so that a resumed run repeats it."""
    mixed = (seed * 1_000_003 + step) * 1_009 + rank
    torch.manual_seed(mixed)
    random.seed(mixed)
