"""The learning rate follows the paper's formula, and comes down in the end."""

import pytest

from model.schedule import Schedule


@pytest.mark.parametrize("step", [1, 2, 399, 400, 401, 1600, 9999])
def test_the_rate_is_the_papers_formula(step: int) -> None:
    """Vaswani et al. 2017, equation 3."""
    expected = 20**-0.5 * min(step**-0.5, step * 400**-1.5)
    assert Schedule(d_model=20, warmup=400).rate(step) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shape", ["paper", "constant"])
def test_the_rate_is_highest_at_the_end_of_the_warm_up(shape: str) -> None:
    schedule = Schedule(20, 50, peak=0.003, shape=shape)
    rates = [schedule.rate(step) for step in range(1, 300)]
    assert max(rates) == rates[49] == pytest.approx(0.003)
    assert rates[:50] == sorted(rates[:50])


def test_after_the_warm_up_four_times_the_step_is_half_the_rate() -> None:
    schedule = Schedule(20, 50, peak=0.003)
    assert schedule.rate(400) == pytest.approx(schedule.rate(100) / 2)


def test_a_constant_rate_stays_at_its_peak() -> None:
    assert Schedule(20, 50, peak=0.003, shape="constant").rate(77_777) == 0.003


@pytest.mark.parametrize("shape", ["paper", "constant"])
def test_the_cooldown_falls_to_nearly_zero_at_the_last_step_and_changes_nothing_before(shape: str) -> None:
    plain = Schedule(20, 10, peak=0.003, shape=shape, steps=200)
    cooled = Schedule(20, 10, peak=0.003, shape=shape, steps=200, cooldown=80)
    assert [cooled.rate(step) for step in range(1, 122)] == [plain.rate(step) for step in range(1, 122)]
    last = [cooled.rate(step) for step in range(121, 201)]
    assert last == sorted(last, reverse=True)
    assert 0 < last[-1] <= 0.003 / 80
    assert cooled.rate(161) == pytest.approx(plain.rate(161) / 2)
