"""Weights by what they move: rows sum to 1 and stay with their tokens; a mean is the norm of the heads' sum."""

import numpy as np
import pytest

from model.inside import OutputProjection, cell, output_projection
from model.measures import value_weighted
from model.trace import KINDS, Trace
from model.transformer import Transformer


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def projection(model: Transformer, kind: str) -> OutputProjection:
    return output_projection(model, kind, 2)


@pytest.mark.parametrize("head", [1, 4, None])
def test_rows_sum_to_1_and_forbidden_cells_stay_0(
    trace: Trace, projection: OutputProjection, kind: str, head: int | None
) -> None:
    found = value_weighted(trace, projection, kind, 2, head)
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1)
    assert (found.weights[~found.allowed] == 0).all()
    assert (found.kind, found.layer, found.head, found.measure) == (kind, 2, head, "value")
    assert (found.rows, found.columns, found.predicts) == trace.labels(kind)


def test_a_row_is_what_inside_a_head_moves_rescaled(trace: Trace, projection: OutputProjection, kind: str) -> None:
    found = value_weighted(trace, projection, kind, 2, 4)
    for row in (0, 3):
        moved = cell(trace, projection, kind, 2, 4, row, 0).row.moved_norms
        np.testing.assert_allclose(found.weights[row], moved / moved.sum(), rtol=1e-5)


def test_a_layer_s_row_is_the_norm_of_the_sum_of_its_heads_vectors(
    trace: Trace, projection: OutputProjection, kind: str
) -> None:
    found = value_weighted(trace, projection, kind, 2, None)
    summed = sum(
        (c := cell(trace, projection, kind, 2, head, 3, 0).row).weights[:, None] * c.moved for head in range(1, 6)
    )
    norms = np.linalg.norm(summed, axis=-1)
    np.testing.assert_allclose(found.weights[3], norms / norms.sum(), rtol=1e-5)


def test_columns_whose_values_are_long_gain(trace: Trace, projection: OutputProjection, kind: str) -> None:
    raw, found = trace.map(kind, 2, 4), value_weighted(trace, projection, kind, 2, 4)
    assert np.abs(raw.weights - found.weights).max() > 0.01
