"""What the thumbnails of a grid are painted in, read from its payload; and what they have to be, cell by cell."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from model.trace import Array, AttentionMap

FORBIDDEN = -1


def painted(header: Mapping[str, Any], arrays: Mapping[str, Array], index: int) -> Array:
    """(rows, columns) shades of one thumbnail."""
    said = header["heads"][index]
    cells = np.full(said["cells"], FORBIDDEN)
    allowed = np.ones(said["cells"], dtype=bool) if said["mask"] is None else arrays[f"mask{said['mask']}"] == 1
    cells[allowed] = decoded(arrays[f"shades{index}"], said["low"], int(allowed.sum()))
    return cells


def decoded(code: Array, low: int, count: int) -> list[int]:
    """So many numbers out of a Rice code, which holds nothing else."""
    read = iter("".join(f"{byte:08b}"[::-1] for byte in code.tolist()))
    numbers = [_next(read, low) for _ in range(count)]
    rest = "".join(read)
    assert rest == "0" * len(rest)
    assert len(rest) < 8
    return numbers


def _next(read: Iterator[str], low: int) -> int:
    """A number of a Rice code: its high bits as ones and a zero, then its low bits, the lowest first."""
    high = sum(1 for _ in itertools.takewhile("1".__eq__, read))
    return (high << low) + sum(int(next(read)) << place for place in range(low))


def wanted(shown: AttentionMap, *, linear: bool = False) -> Array:
    """(rows, columns) shades that the exact weights give: the nearest of 256, by the weight or by its square root."""
    cells = np.full(shown.weights.shape, FORBIDDEN)
    for place in zip(*np.nonzero(shown.allowed), strict=True):
        weight = float(np.float32(shown.weights[place]))
        cells[place] = math.floor((weight if linear else math.sqrt(weight)) * 255 + 0.5)
    return cells
