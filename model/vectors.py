"""Sets of vectors: nearest neighbours, and the plane in which a set varies most. No torch."""

from dataclasses import dataclass

import numpy as np

from model.trace import Array


def unit(vectors: Array) -> Array:
    """The same directions, each of length 1, in float64; a vector of length 0 stays 0."""
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=-1, keepdims=True)
    return np.divide(exact, lengths, out=np.zeros_like(exact), where=lengths > 0)


def alike(one: Array, other: Array) -> Array:
    """(N, D) and (M, D) -> (N, M) cosines of every two; with a vector of length 0 it is 0."""
    found: Array = unit(one) @ unit(other).T
    return found


@dataclass(frozen=True)
class Neighbour:
    """A row of the matrix, and how like it is."""

    row: int
    cosine: float


def neighbours(matrix: Array, row: int, count: int) -> list[Neighbour]:
    """The `count` other rows of matrix (V, D) most like this one, most like first; of equal ones the earlier first."""
    lengths = np.sqrt(np.einsum("vd,vd->v", matrix, matrix))
    products, size = matrix @ matrix[row], lengths * lengths[row]
    found = np.divide(products, size, out=np.zeros_like(products), where=size > 0)
    found[row] = -np.inf
    best = np.argsort(-found, kind="stable")[: min(count, len(found) - 1)]
    return [Neighbour(int(i), float(found[i])) for i in best]


@dataclass(frozen=True)
class Plane:
    """The two directions in which vectors vary most (principal components), and the vectors seen along them."""

    middle: Array  # (D,) of all vectors
    directions: Array  # (2, D), orthonormal; the entry of largest size is positive, so that a picture never flips
    points: Array  # (N, 2)
    shares: tuple[float, float]  # of the variance of all vectors, along each direction


def plane(vectors: Array) -> Plane:
    """vectors (N, D), D two or more. Of fewer than three different ones a direction holds no variance: share 0."""
    exact = vectors.astype(np.float64)
    middle = exact.mean(axis=0)
    _, sizes, directions = np.linalg.svd(
        np.vstack([exact - middle, np.zeros((2, exact.shape[1]))]), full_matrices=False
    )
    chosen = np.array([_facing(direction) for direction in directions[:2]])
    total = float((sizes**2).sum())
    first, second = (float(size**2 / total) if total > 0 else 0.0 for size in sizes[:2])
    return Plane(middle, chosen, (exact - middle) @ chosen.T, (first, second))


def _facing(direction: Array) -> Array:
    return direction * (-1.0 if direction[np.abs(direction).argmax()] < 0 else 1.0)


def share_shown(seen: Plane, vectors: Array) -> float:
    """How much of the variance of these vectors, around their own middle, lies in the plane."""
    exact = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    total = float((exact**2).sum())
    return float(((exact @ seen.directions.T) ** 2).sum()) / total if total > 0 else 0.0
