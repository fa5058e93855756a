"""Neighbours against a search by hand, and the plane against the variance it promises."""

import math

import numpy as np
import pytest

from model.vectors import alike, neighbours, plane, share_shown, unit

RNG = np.random.default_rng(3)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other) / math.sqrt(float(one @ one) * float(other @ other))


@pytest.mark.parametrize("row", [0, 13, 46])
def test_neighbours_are_those_of_a_search_by_hand(row: int) -> None:
    matrix = RNG.normal(size=(47, 9)) * RNG.uniform(0.1, 9, size=(47, 1))  # lengths must not matter
    by_hand = sorted((-cosine(matrix[row], matrix[i]), i) for i in range(47) if i != row)[:6]
    found = neighbours(matrix.astype(np.float32), row, 6)
    assert [one.row for one in found] == [i for _, i in by_hand]
    np.testing.assert_allclose([one.cosine for one in found], [-c for c, _ in by_hand], atol=1e-6)


def test_a_piece_is_no_neighbour_of_itself_and_equal_ones_stand_in_order() -> None:
    matrix = np.array([[1, 0], [0, 2], [0, 3], [2, 0], [0, 0], [-1, 0]], dtype=np.float32)
    assert [one.row for one in neighbours(matrix, 0, 10)] == [3, 1, 2, 4, 5]
    assert neighbours(matrix, 0, 10)[-1].cosine == -1.0
    assert [one.cosine for one in neighbours(matrix, 4, 9)] == [0.0] * 5


def test_unit_vectors_have_length_1_and_nothing_stays_nothing() -> None:
    vectors = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(unit(vectors), [[0.6, 0.8], [0.0, 0.0]])


def test_every_two_vectors_have_their_cosine() -> None:
    one, other = RNG.normal(size=(5, 7)), RNG.normal(size=(3, 7)) * 40
    found = alike(one, other)
    assert found.shape == (5, 3)
    for i in range(5):
        for j in range(3):
            assert found[i, j] == pytest.approx(cosine(one[i], other[j]))
    np.testing.assert_array_equal(alike(one, np.zeros((2, 7))), np.zeros((5, 2)))


def test_vectors_that_lie_in_a_plane_are_rebuilt_from_their_points() -> None:
    flat = RNG.normal(size=(12, 2)) * [5.0, 2.0] @ RNG.normal(size=(2, 7)) + RNG.normal(size=7)
    seen = plane(flat)
    np.testing.assert_allclose(seen.middle + seen.points @ seen.directions, flat, atol=1e-9)
    assert sum(seen.shares) == pytest.approx(1.0)
    assert share_shown(seen, flat) == pytest.approx(1.0)


def test_directions_are_orthonormal_and_hold_the_variance_of_the_covariance_matrix() -> None:
    vectors = RNG.normal(size=(23, 8)) * np.arange(1, 9)
    seen = plane(vectors)
    np.testing.assert_allclose(seen.directions @ seen.directions.T, np.eye(2), atol=1e-12)
    values = np.sort(np.linalg.eigvalsh(np.cov(vectors.T)))[::-1]
    np.testing.assert_allclose(seen.shares, values[:2] / values.sum())
    np.testing.assert_allclose(seen.points.var(axis=0, ddof=1), values[:2])
    assert share_shown(seen, vectors) == pytest.approx(sum(seen.shares))
    assert share_shown(seen, vectors[:5]) < 1.0


def test_the_picture_never_flips() -> None:
    vectors = RNG.normal(size=(9, 5))
    seen, turned, mirrored = plane(vectors), plane(vectors[::-1]), plane(-vectors)
    np.testing.assert_allclose(turned.directions, seen.directions, atol=1e-9)
    np.testing.assert_allclose(mirrored.directions, seen.directions, atol=1e-9)
    for direction in seen.directions:
        assert direction[np.abs(direction).argmax()] > 0


@pytest.mark.parametrize("vectors", [np.ones((1, 4)), np.ones((5, 4)), np.array([[0.0, 1, 2], [4, 1, 0]])])
def test_few_vectors_make_a_plane_as_well(vectors: np.ndarray) -> None:
    seen = plane(vectors)
    assert seen.points.shape == (len(vectors), 2)
    assert np.isfinite(seen.points).all()
    assert seen.shares[1] == pytest.approx(0.0)
