"""Heads as points on two axes, for canvas/scatter.js."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.inside import digits
from viz.payload import pack
from viz.theme import Theme, for_canvas

TICKS = 5  # about
PADDING = 0.04  # of the range, so that no point lies on the frame
STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Point:
    """One head, and where the same head is in a baseline."""

    kind: str
    layer: int
    head: int
    x: float
    y: float
    said: str  # while the pointer is on it
    label: str = ""  # beside it, where there is room
    baseline: tuple[float, float] | None = None
    baseline_said: str = ""


@dataclass(frozen=True)
class Axis:
    """From where to where, and what is marked on the way."""

    label: str
    least: float
    most: float
    ticks: tuple[float, ...]
    threshold: float | None = None


def axis(
    label: str, values: Sequence[float], *, ends: tuple[float | None, float | None], threshold: float | None = None
) -> Axis:
    """Ticks at round numbers. An end that is None is where the values end; others are as given, whatever the values."""
    least, most = (end if end is not None else _beyond(values, sign) for end, sign in zip(ends, (-1, 1), strict=True))
    if not least < most:
        least, most = least - 0.5, least + 0.5
    step = _round_step((most - least) / TICKS)
    ticks = np.arange(np.ceil(least / step - 1e-9), np.floor(most / step + 1e-9) + 1) * step
    return Axis(label, least, most, tuple(float(np.round(tick, 10)) for tick in ticks), threshold)


def _beyond(values: Sequence[float], sign: int) -> float:
    """A little further than the last value, and never short of 0."""
    numbers = [0.0, *values]
    room = PADDING * (max(numbers) - min(numbers))
    return float(max(numbers) + room if sign > 0 else min(numbers) - room)


def _round_step(least: float) -> float:
    """The next round number."""
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in STEPS if step * power >= least * (1 - 1e-9)))


def payload(points: Sequence[Point], x: Axis, y: Axis, *, theme: Theme, chosen: int | None, empty: str) -> bytes:
    """chosen: the index of the marked point, if any; empty: what is said where there is no point."""
    header = {
        "theme": for_canvas(theme),
        "x": _described(x),
        "y": _described(y),
        "points": [
            {
                "kind": point.kind,
                "layer": point.layer,
                "head": point.head,
                "label": point.label,
                "said": point.said,
                "baselineSaid": point.baseline_said,
            }
            for point in points
        ],
        "chosen": chosen,
        "empty": empty,
    }
    own = np.array([[point.x, point.y] for point in points], dtype=np.float32).reshape(-1, 2)
    nowhere = (np.nan, np.nan)
    baseline = np.array([point.baseline or nowhere for point in points], dtype=np.float32).reshape(-1, 2)
    return pack(header, {"own": own, "baseline": baseline})


def _described(axis: Axis) -> dict[str, object]:
    texts = [digits(tick).rstrip("0").rstrip(".").replace("-", "−") if tick else "0" for tick in axis.ticks]
    return {
        "label": axis.label,
        "least": axis.least,
        "most": axis.most,
        "ticks": [list(tick) for tick in zip(axis.ticks, texts, strict=True)],
        "threshold": axis.threshold,
    }
