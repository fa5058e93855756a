"""Lines over one axis, for canvas/curves.js: numbers with names in, bytes out; and the same numbers as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from model.trace import Array
from viz.payload import pack
from viz.theme import Theme, for_canvas

HEIGHT = 300  # pixels; fixed, so that nothing jumps
SENTENCE = "{x_title} {x} — {values}"


@dataclass(frozen=True)
class Series:
    """One line: y over x, both (n,). x rises; a y that is not finite is a gap. Raises ValueError if they do not fit."""

    name: str
    x: Array
    y: Array
    colour: str = "chrome"  # a name in viz/theme.py: encoder, masked, cross, negative, positive, chrome, ink, soft
    dashed: bool = False
    dots: bool = False  # a dot at each value, where values are few
    strength: float = 1.0  # below 1, the colour is paler: for lines of one hue, such as layers

    def __post_init__(self) -> None:
        if np.ndim(self.x) != 1 or np.shape(self.x) != np.shape(self.y):
            raise ValueError(f"line {self.name!r}: x has shape {np.shape(self.x)}, but y has shape {np.shape(self.y)}")
        if not len(self.x) or not np.all(np.diff(self.x) > 0):
            raise ValueError(f"line {self.name!r}: x must hold at least one value and rise from each to the next")


def payload(
    series: Sequence[Series],
    *,
    theme: Theme,
    x_title: str,
    y_title: str,
    marked: float | None = None,
    log: bool = False,
    sentence: str = SENTENCE,
    x_labels: Mapping[float, str] | None = None,
    y_range: tuple[float, float] | None = None,
    notes: Mapping[float, str] | None = None,
    stays: bool = False,
    height: int = HEIGHT,
) -> bytes:
    """Lines on one picture. `marked` is the x that is picked; `stays`: it can be moved, but not released.

    log: y in powers of ten, all of it above 0. sentence: what is said at an x, of {x_title}, {x}, {y_title}, {values}.
    x_labels: what stands for an x on the axis and in the sentence. notes: words beside a rule at that x.
    y_range: where the axis begins and ends (probabilities: 0 and 1); otherwise round numbers around the values.
    """
    if not series:
        raise ValueError("there is no line to draw; give one Series or more")
    for line in series:
        if log and np.nanmin(line.y) <= 0:
            raise ValueError(f"line {line.name!r} has the value {np.nanmin(line.y):g}; a log scale needs them above 0")
    header = {
        "theme": for_canvas(theme),
        "series": [_described(line, theme) for line in series],
        "xTitle": x_title,
        "yTitle": y_title,
        "marked": None if marked is None else float(marked),
        "log": log,
        "sentence": sentence,
        "labels": [[float(np.float32(x)), text] for x, text in (x_labels or {}).items()],  # as x arrives over there
        "range": y_range,
        "notes": [[float(x), text] for x, text in (notes or {}).items()],
        "stays": stays,
        "height": height,
    }
    return pack(header, {f"{axis}{n}": _single(line, axis) for n, line in enumerate(series) for axis in "xy"})


def table(series: Sequence[Series], *, x_title: str, x_labels: Mapping[float, str] | None = None) -> pd.DataFrame:
    """The same numbers: a row for each x, a column for each line, numbered where names are equal."""
    names = [line.name for line in series]
    told = [name if names.count(name) == 1 else f"{n} {name}" for n, name in enumerate(names, start=1)]
    columns = {
        name: pd.Series(np.asarray(line.y, float), index=line.x) for name, line in zip(told, series, strict=True)
    }
    made = pd.DataFrame(columns).sort_index()
    said = [f"{x:g}" if x_labels is None else f"{x:g} {x_labels.get(float(x), '')}".rstrip() for x in made.index]
    made.insert(0, x_title, said)
    return made.reset_index(drop=True)


def _described(line: Series, theme: Theme) -> dict[str, object]:
    said = {name: getattr(line, name) for name in ("name", "dashed", "dots", "strength")}
    return said | {"colour": getattr(theme, line.colour)}


def _single(line: Series, axis: str) -> Array:
    return np.asarray(getattr(line, axis), dtype=np.float32)
