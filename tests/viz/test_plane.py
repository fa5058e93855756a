"""What a plane carries: each point under its own label, number and group."""

import numpy as np
import pytest

from model.trace import LabelError
from viz.payload import unpack
from viz.plane import Group, payload, table
from viz.theme import DARK

BEFORE = Group(
    "before", np.array([[0.0, 1], [2, 3], [4, 5]]), ("a", "b", "a"), ("A1", "B", "A2"), "chrome", hollow=True
)
AFTER = Group("after", np.array([[6.0, 7], [8, 9], [10, 11]]), ("a", "b", "a"), ("A1'", "B'", "A2'"), "cross")


def test_points_keep_their_label_number_and_group() -> None:
    header, arrays = unpack(payload([BEFORE, AFTER], theme=DARK, title="t", marked=2))
    np.testing.assert_array_equal(arrays["points"], np.arange(12).reshape(6, 2))
    told = [(p["label"], p["number"], p["group"], p["says"]) for p in header["points"]]
    assert told == [
        ("a", 1, 0, "A1"),
        ("b", 2, 0, "B"),
        ("a", 3, 0, "A2"),
        ("a", 1, 1, "A1'"),
        ("b", 2, 1, "B'"),
        ("a", 3, 1, "A2'"),
    ]
    assert [group["colour"] for group in header["groups"]] == [DARK.chrome, DARK.cross]
    assert (header["marked"], header["circle"]) == (2, False)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(LabelError, match="3 points, 2 labels"):
        Group("before", BEFORE.points, ("a", "b"), ("A", "B"), "chrome")


def test_the_table_has_a_row_for_each_point() -> None:
    made = table([BEFORE, AFTER])
    assert list(made["where"]) == ["before"] * 3 + ["after"] * 3
    np.testing.assert_array_equal(made[["1st direction", "2nd direction"]], np.arange(12).reshape(6, 2))
