"""Many heads for canvas/grid.js, which paints them and prints no number: the shade of each cell, one byte each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.trace import Array, AttentionMap
from viz.theme import SHADES


def shades(weights: Array, *, linear: bool) -> Array:
    """Which of a ramp's colours a weight is painted in, uint8: the one that canvas/common.js finds."""
    exact = weights.astype(np.float32).astype(np.float64).clip(0, 1)  # canvases hold float32 and count in float64
    position = exact if linear else np.sqrt(exact)
    return np.floor(position * (SHADES - 1) + 0.5).astype(np.uint8)  # as Math.round, which np.rint is not


def packed(heads: Sequence[AttentionMap], *, linear: bool) -> tuple[list[dict[str, Any]], dict[str, Array]]:
    """Of each head its size in cells and the number of its mask, if it has one; and the arrays, `shades0` `mask0` ….

    A mask is sent once, however many heads share it. Shades run through the cells that are allowed, row by row.
    """
    said, arrays, numbers = [], {}, dict[tuple[Any, bytes], int]()
    for index, head in enumerate(heads):
        mask = None
        if not head.allowed.all():
            mask = numbers.setdefault((head.allowed.shape, head.allowed.tobytes()), len(numbers))
            arrays[f"mask{mask}"] = head.allowed.astype(np.uint8)
        arrays[f"shades{index}"] = shades(head.weights[head.allowed], linear=linear)
        said.append({"cells": list(head.weights.shape), "mask": mask})
    return said, arrays
