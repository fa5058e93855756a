"""Time calls against each other: all of them in each round, so that what else the machine does falls on all alike."""

import statistics
import time
from collections.abc import Callable, Mapping

Times = dict[str, list[float]]  # by name, seconds of each round


def interleaved(calls: Mapping[str, Callable[[], object]], *, rounds: int, warm: int = 1) -> Times:
    """Each call once a round, in turn; the first `warm` rounds are thrown away."""
    times: Times = {name: [] for name in calls}
    for _ in range(warm + rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: taken[warm:] for name, taken in times.items()}


def median(times: Times, name: str) -> float:
    return statistics.median(times[name])


def ratio(times: Times, name: str, against: str) -> float:
    """How many times as long as `against`: the median over rounds, each round compared with itself."""
    return statistics.median(one / other for one, other in zip(times[name], times[against], strict=True))


def percentile(values: list[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
