"""Time is measured for whole steps of equally large models, over the tokens that they predict."""

from types import SimpleNamespace
from typing import cast

import pytest

from model import pace
from model.architectures import build
from model.data import Encoded
from model.pace import EQUALLY_LARGE, LENGTHS, POSITIONS, batch_of, seconds_per_token
from model.trainer import Trainer


@pytest.mark.parametrize("length", LENGTHS)
def test_a_batch_has_as_many_positions_whatever_the_length(length: int) -> None:
    batch = batch_of(length, vocab_size=347)
    assert {len(side) for example in batch for side in example} == {length}
    assert POSITIONS - 2 * (length + 1) < len(batch) * 2 * (length + 1) <= POSITIONS
    assert all(3 < piece < 347 for example in batch for side in example for piece in side)


def test_the_models_are_equally_large() -> None:
    sizes = [sum(p.numel() for p in build(config).parameters()) for config in EQUALLY_LARGE.values()]
    assert len(sizes) == 4
    assert max(sizes) / min(sizes) < 1.05


def test_the_best_step_counts_but_not_the_first_over_predicted_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    took = iter([0.1, 5.0, 3.0, 4.0])
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(pace, "time", SimpleNamespace(process_time=lambda: clock.now))

    def step(batch: list[Encoded], number: int) -> float:
        clock.now += next(took)
        return 0.0

    batch: list[Encoded] = [([5, 6], [7, 8, 9]), ([5, 6], [7, 8])]
    assert seconds_per_token(cast(Trainer, SimpleNamespace(step=step)), batch, steps=3) == pytest.approx(3.0 / 7)
