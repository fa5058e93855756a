"""Many heads for canvas/grid.js, which paints them and prints no number: the shade of each cell, some six bits each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.trace import Array, AttentionMap
from viz.theme import SHADES

LOW_BITS = 8  # of a shade: its Rice code has a parameter below that


def shades(weights: Array, *, linear: bool) -> Array:
    """Which of a ramp's colours a weight is painted in, uint8: the one that canvas/common.js finds."""
    exact = weights.astype(np.float32).astype(np.float64).clip(0, 1)  # canvases hold float32 and count in float64
    position = exact if linear else np.sqrt(exact)
    return np.floor(position * (SHADES - 1) + 0.5).astype(np.uint8)  # as Math.round, which np.rint is not


def packed(heads: Sequence[AttentionMap], *, linear: bool) -> tuple[list[dict[str, Any]], dict[str, Array]]:
    """Of each head its size in cells, the number of its mask, if it has one, and the parameter of its Rice code; and
    the arrays, `shades0` `mask0` ….

    A mask is sent once, however many heads share it. Shades run through the cells that are allowed, row by row.
    """
    said, arrays, numbers = [], {}, dict[tuple[Any, bytes], int]()
    for index, head in enumerate(heads):
        mask = None
        if not head.allowed.all():
            mask = numbers.setdefault((head.allowed.shape, head.allowed.tobytes()), len(numbers))
            arrays[f"mask{mask}"] = head.allowed.astype(np.uint8)
        seen = shades(head.weights[head.allowed], linear=linear)
        low = min(range(LOW_BITS), key=lambda low: _length(seen, low))
        arrays[f"shades{index}"] = rice_code(seen, low)
        said.append({"cells": list(head.weights.shape), "mask": mask, "low": low})
    return said, arrays


def rice_code(values: Array, low: int) -> Array:
    """Small numbers in few bits, without loss (Rice & Plaunt 1971). values uint8 (N,) -> uint8 (bytes,).

    What is left of a number without its `low` lowest bits is as many ones and a zero; those bits follow, the lowest
    first. In a byte the lowest bit comes first, too.
    """
    exact = values.astype(np.int64)
    ends = np.cumsum((exact >> low) + 1 + low)
    bits = np.ones(_length(values, low), dtype=np.uint8)
    bits[ends - low - 1] = 0
    for place in range(low):
        bits[ends - low + place] = (exact >> place) & 1
    return np.packbits(bits, bitorder="little")


def _length(values: Array, low: int) -> int:
    """How many bits the code takes."""
    return int((values >> low).sum(dtype=np.int64)) + values.size * (1 + low)
