"""A matrix of numbers with labels, for canvas/field.js: bytes for the picture, and the same numbers as a table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.trace import Array, LabelError
from viz.inside import signed
from viz.payload import pack
from viz.theme import Theme, for_canvas

HUES = ("encoder", "masked", "cross", "signed", "chrome")
HEIGHT = 520  # pixels; what needs more scrolls inside the picture
NOTHING = "there is no number here"


def payload(
    values: Array,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    theme: Theme,
    hue: str,
    limit: float,
    sentence: str,
    title: str = "",
    row_title: str = "",
    column_title: str = "",
    pinned: tuple[int | None, int | None] | None = None,
    stays: bool = False,
    allowed: Array | None = None,
    forbidden: str = NOTHING,
    names: Sequence[str] | None = None,
    height: int = HEIGHT,
) -> bytes:
    """values (R, C), with a label for each row and column; equal labels stay apart.

    hue: a kind of attention or chrome runs from 0 to `limit`, signed runs from -limit by 0 to limit; the scale under
    the picture says so, and what is beyond has the colour of the end. pinned: row and column from 0; one of them may
    be None, for a whole row or column; `stays`: it can be moved, but not released. sentence and forbidden are filled
    with {row}, {column}, {row_number}, {column_number} (from 1), {value}, and {name} of the cell, if `names` (row after
    row) are given.
    allowed (R, C) bool: cells that hold a number; the others are hatched.
    """
    _labels_fit(values, allowed, rows, columns, names)
    _can_be_drawn(values if allowed is None else values[allowed], hue, limit)
    header = {
        "theme": for_canvas(theme),
        "rows": list(rows),
        "columns": list(columns),
        "names": None if names is None else list(names),
        "hue": hue,
        "limit": float(limit),
        "sentence": sentence,
        "forbidden": forbidden,
        "title": title,
        "rowTitle": row_title,
        "columnTitle": column_title,
        "pinned": pinned,
        "stays": stays,
        "height": height,
    }
    arrays = {"values": values.astype(np.float32)}
    if allowed is not None and not allowed.all():
        arrays["allowed"] = allowed.astype(np.uint8)
    return pack(header, arrays)


def say(sentence: str, value: float, *, row: int, column: int, rows: Sequence[str], columns: Sequence[str]) -> str:
    """What the canvas says of a cell; row and column from 0."""
    said = {"row": rows[row], "column": columns[column], "row_number": row + 1, "column_number": column + 1}
    return sentence.format(**said, value=signed(float(np.float32(value))))


def table(values: Array, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """The same numbers; rows and columns are numbered, so that equal labels stay apart."""
    numbered = [[f"{n} {label}" for n, label in enumerate(labels, start=1)] for labels in (rows, columns)]
    return pd.DataFrame(values, index=numbered[0], columns=numbered[1])


def round_limit(values: Array) -> float:
    """A round end for the scale that no value is beyond."""
    most = float(np.abs(values).max(initial=0.0))
    if most == 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(most))
    return float(
        next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= most * (1 - 1e-9))
    )


def _labels_fit(
    values: Array,
    allowed: Array | None,
    rows: Sequence[str],
    columns: Sequence[str],
    names: Sequence[str] | None,
) -> None:
    shape = len(rows), len(columns)
    _fits("the numbers have", values, shape)
    if allowed is not None:
        _fits("allowed has", allowed, shape)
    if names is not None and len(names) != values.size:
        raise LabelError(f"there are {len(names)} names for {values.size} cells")


def _fits(what: str, array: Array, shape: tuple[int, int]) -> None:
    if array.shape != shape or not array.size:
        raise LabelError(f"{what} shape {array.shape}, but there are labels for {shape[0]} rows and {shape[1]} columns")


def _can_be_drawn(values: Array, hue: str, limit: float) -> None:
    if hue not in HUES:
        raise ValueError(f"hue {hue!r} is not known; choose {', '.join(HUES)}")
    if not (np.isfinite(limit) and limit > 0):
        raise ValueError(f"the end of the scale is {limit}; it must be a number above 0")
    if not np.isfinite(values).all():
        raise ValueError("some cells hold no finite number; mark them as not allowed")
    if hue != "signed" and values.min(initial=0.0) < 0:
        raise ValueError(f"some numbers are below 0, where the scale of hue {hue!r} begins; choose signed")
