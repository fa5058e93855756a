"""Vectors as points in a plane, for canvas/plane.js, and the same points as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from model.trace import Array, LabelError
from viz.payload import pack
from viz.theme import Theme, for_canvas

HEIGHT = 440  # pixels


@dataclass(frozen=True)
class Group:
    """Points of one kind: one for each label, in order. Raises LabelError if they do not fit."""

    name: str
    points: Array  # (N, 2)
    labels: tuple[str, ...]
    says: tuple[str, ...]  # what each point says
    colour: str  # a name in viz/theme.py
    hollow: bool = False

    def __post_init__(self) -> None:
        if not len(self.points) == len(self.labels) == len(self.says):
            raise LabelError(f"{len(self.points)} points, {len(self.labels)} labels and {len(self.says)} sentences")


def payload(
    groups: Sequence[Group], *, theme: Theme, title: str, marked: int, circle: bool = False, height: int = HEIGHT
) -> bytes:
    """Points of equal number (from 1) in one group and the next are joined; those numbered `marked` stand out.

    circle: the unit circle is drawn around them.
    """
    header = {
        "theme": for_canvas(theme),
        "title": title,
        "groups": [{"name": g.name, "colour": getattr(theme, g.colour), "hollow": g.hollow} for g in groups],
        "points": [
            {"label": label, "says": said, "group": index, "number": number}
            for index, group in enumerate(groups)
            for number, (label, said) in enumerate(zip(group.labels, group.says, strict=True), start=1)
        ],
        "marked": marked,
        "circle": circle,
        "height": height,
    }
    return pack(header, {"points": np.concatenate([group.points for group in groups]).astype(np.float32)})


def table(groups: Sequence[Group]) -> pd.DataFrame:
    """A row for each point."""
    rows = [
        (group.name, number, label, *map(float, point))
        for group in groups
        for number, (label, point) in enumerate(zip(group.labels, group.points, strict=True), start=1)
    ]
    return pd.DataFrame(rows, columns=["where", "position", "piece", "1st direction", "2nd direction"])
