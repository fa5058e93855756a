"""The sinusoidal encoding: the paper's formula, the network's own table, and what a step does to it."""

import math

import numpy as np
import pytest

from model.positions import (
    column_names,
    encoding,
    frequencies,
    rotation_error,
    rotations,
    similarity,
    sizes,
    turned,
)
from model.trace import Trace
from model.transformer import sinusoids

LENGTH, WIDTH = 31, 14


def test_every_number_is_the_paper_s_formula() -> None:
    found = encoding(LENGTH, WIDTH)
    assert found.shape == (LENGTH, WIDTH)
    for pos in range(LENGTH):
        for i in range(WIDTH // 2):
            angle = pos / 10000 ** (2 * i / WIDTH)
            assert found[pos, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert found[pos, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_the_small_table_can_be_checked_by_hand() -> None:
    expected = [[math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)] for p in range(4)]
    np.testing.assert_allclose(encoding(4, 4), expected, atol=1e-15)


def test_the_network_adds_just_this(trace: Trace) -> None:
    for side in ("encoder", "decoder"):
        heard = trace.tensors[f"{side}.input.positions_tap"]
        np.testing.assert_allclose(heard, encoding(*heard.shape), atol=1e-7)
    np.testing.assert_allclose(sinusoids(LENGTH, WIDTH).numpy(), encoding(LENGTH, WIDTH), atol=1e-7)


def test_columns_are_named_in_pairs_and_the_fastest_stands_first() -> None:
    assert column_names(6) == ["sin 1", "cos 1", "sin 2", "cos 2", "sin 3", "cos 3"]
    assert frequencies(6)[0] == 1.0
    assert (np.diff(frequencies(WIDTH)) < 0).all()
    for width in (0, 1, 7):
        with pytest.raises(ValueError, match="even"):
            frequencies(width)


@pytest.mark.parametrize("shift", [1, 3, 17])
def test_a_step_turns_every_position_by_one_and_the_same_matrix(shift: int) -> None:
    found, matrices = encoding(LENGTH, WIDTH), rotations(shift, WIDTH)
    assert matrices.shape == (WIDTH // 2, 2, 2)
    np.testing.assert_allclose(turned(found[:-shift], matrices), found[shift:], atol=1e-12)
    for pos in (0, 5):
        for f in range(WIDTH // 2):
            pair = matrices[f] @ found[pos, 2 * f : 2 * f + 2]
            np.testing.assert_allclose(pair, found[pos + shift, 2 * f : 2 * f + 2], atol=1e-12)
    assert rotation_error(found, shift) < 1e-12


def test_the_matrix_is_a_rotation_and_the_error_of_anything_else_is_seen() -> None:
    for matrix in rotations(5, WIDTH):
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(2), atol=1e-12)
        assert np.linalg.det(matrix) == pytest.approx(1.0)
    broken = encoding(LENGTH, WIDTH)
    broken[LENGTH - 1, 3] += 0.25
    assert rotation_error(broken, 4) == pytest.approx(0.25)
    assert rotation_error(broken[:4], 4) == 0.0


def test_how_like_two_positions_are_depends_on_their_distance_alone() -> None:
    found = encoding(LENGTH, WIDTH)
    products = found @ found.T
    expected = similarity(np.arange(LENGTH), WIDTH)
    assert expected[0] == pytest.approx(WIDTH / 2)
    for distance in range(LENGTH):
        np.testing.assert_allclose(np.diagonal(products, distance), expected[distance], atol=1e-10)


def test_sizes_are_those_of_the_taps_and_obey_the_law_of_cosines(trace: Trace) -> None:
    parts = [trace.tensors[f"encoder.input.{name}_tap"] for name in ("embeddings", "positions", "sum")]
    found = sizes(*parts)
    for lengths, part in zip((found.embeddings, found.positions, found.sums), parts, strict=True):
        np.testing.assert_allclose(lengths, [math.sqrt(float((row.astype(float) ** 2).sum())) for row in part])
    law = found.embeddings**2 + found.positions**2 + 2 * found.embeddings * found.positions * found.cosines
    np.testing.assert_allclose(found.sums**2, law, rtol=1e-5)
