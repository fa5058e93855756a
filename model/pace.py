"""How long training takes for each token that is predicted, against the length of the sentences."""

import math
import time
from collections.abc import Mapping

import torch

from model.architectures import AnyConfig
from model.config import ModelConfig
from model.data import Encoded
from model.recurrent import PRESETS
from model.trainer import Trainer

# All of 3.8 to 3.9 million parameters.
EQUALLY_LARGE: Mapping[str, AnyConfig] = {**PRESETS, "transformer": ModelConfig(d_model=184, d_ff=704)}
LENGTHS = (8, 16, 32, 64, 128)  # pieces, on either side
POSITIONS = 2304  # in each batch, both sides and special tokens counted: a batch of long sentences has fewer of them
STEPS = 3


def batch_of(length: int, *, vocab_size: int, positions: int = POSITIONS) -> list[Encoded]:
    """As many made-up pairs of `length` pieces a side as fit into a batch. Which pieces makes no difference to time."""
    pairs = max(1, positions // (2 * (length + 1)))
    pieces = torch.randint(4, vocab_size, (pairs, 2, length), generator=torch.Generator().manual_seed(length))
    return [(source, target) for source, target in pieces.tolist()]


def seconds_per_token(trainer: Trainer, batch: list[Encoded], *, steps: int = STEPS) -> float:
    """CPU seconds, all threads counted, of a whole optimizer step over the tokens it predicts: the best of a few steps.

    The trainer's model is changed by it.
    """
    best = math.inf
    for number in range(1, steps + 2):
        began = time.process_time()
        trainer.step(batch, number)
        if number > 1:  # the first one also finds memory
            best = min(best, time.process_time() - began)
    return best / sum(len(target) + 1 for _, target in batch)
