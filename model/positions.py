"""The sinusoidal encoding as formulas (Vaswani et al. 2017, 3.5), in float64 and apart from the network. No torch.

PE(pos, 2i) = sin(pos w_i), PE(pos, 2i + 1) = cos(pos w_i), w_i = 10000^(-2i / width). `pos` counts from 0 as in the
paper, so the first token has pos 0; frequencies count from 1, the fastest first.
"""

from dataclasses import dataclass

import numpy as np

from model.stream import cosines, lengths
from model.trace import Array


def frequencies(width: int) -> Array:
    """(width / 2,) radians from one position to the next, fastest first. Raises ValueError for an odd width."""
    if width < 2 or width % 2:
        raise ValueError(f"width={width} must be even, 2 or more: sine and cosine come in pairs")
    return 10000.0 ** (-np.arange(0, width, 2) / width)


def encoding(length: int, width: int) -> Array:
    """(length, width) of the positions 0 to length - 1: sine, cosine, sine, cosine …, fastest first."""
    angles = np.outer(np.arange(length), frequencies(width))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width)


def column_names(width: int) -> list[str]:
    """`sin 1`, `cos 1`, `sin 2` …: what each column holds, and of which frequency."""
    return [f"{wave} {n}" for n in range(1, width // 2 + 1) for wave in ("sin", "cos")]


def similarity(distance: Array, width: int) -> Array:
    """PE(pos) · PE(pos + distance), whatever pos is: the sum of cos(w distance), since every sine meets its cosine."""
    return np.cos(np.outer(distance, frequencies(width))).sum(axis=-1)


def rotations(shift: int, width: int) -> Array:
    """(width / 2, 2, 2): for each frequency, what turns (sin, cos) at pos into (sin, cos) at pos + shift."""
    angles = shift * frequencies(width)
    sine, cosine = np.sin(angles), np.cos(angles)
    return np.stack([np.stack([cosine, sine], -1), np.stack([-sine, cosine], -1)], axis=-2)


def turned(encoded: Array, matrices: Array) -> Array:
    """Each pair of columns of encoded (length, width) times its matrix (width / 2, 2, 2)."""
    length, width = encoded.shape
    return np.einsum("fij,lfj->lfi", matrices, encoded.reshape(length, width // 2, 2)).reshape(length, width)


def rotation_error(encoded: Array, shift: int) -> float:
    """The largest difference between turned rows and the rows `shift` further on; 0 where none is so far on."""
    length, width = encoded.shape
    if shift >= length:
        return 0.0
    found = turned(encoded.astype(np.float64), rotations(shift, width))[: length - shift]
    return float(np.abs(found - encoded[shift:]).max())


@dataclass(frozen=True)
class Sizes:
    """How large what is added is beside what it is added to: for each token, (T,) each."""

    embeddings: Array  # length of the embedding times sqrt(D)
    positions: Array  # length of the positional encoding
    sums: Array  # length of both together
    cosines: Array  # of embedding and position: near 0, they hardly meet


def sizes(embeddings: Array, positions: Array, sums: Array) -> Sizes:
    """From the three taps at the input of one side, (T, D) each."""
    one, other, both = (part.astype(np.float64) for part in (embeddings, positions, sums))
    return Sizes(lengths(one), lengths(other), lengths(both), cosines(one, other))
