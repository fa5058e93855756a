"""What the thumbnails of a grid are painted in, read from its payload; and what they have to be, cell by cell."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from model.trace import Array, AttentionMap

FORBIDDEN = -1


def painted(header: Mapping[str, Any], arrays: Mapping[str, Array], index: int) -> Array:
    """(rows, columns) shades of one thumbnail."""
    said = header["heads"][index]
    cells = np.full(said["cells"], FORBIDDEN)
    allowed = np.ones(said["cells"], dtype=bool) if said["mask"] is None else arrays[f"mask{said['mask']}"] == 1
    cells[allowed] = arrays[f"shades{index}"]
    return cells


def wanted(shown: AttentionMap, *, linear: bool = False) -> Array:
    """(rows, columns) shades that the exact weights give: the nearest of 256, by the weight or by its square root."""
    cells = np.full(shown.weights.shape, FORBIDDEN)
    for place in zip(*np.nonzero(shown.allowed), strict=True):
        weight = float(np.float32(shown.weights[place]))
        cells[place] = math.floor((weight if linear else math.sqrt(weight)) * 255 + 0.5)
    return cells
