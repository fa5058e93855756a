"""Axes hold every point and have round ticks; the canvas gets each head once, with its baseline or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.payload import unpack
from viz.scatter import Axis, Point, axis, payload
from viz.theme import DARK, LIGHT

NUMBERS = st.floats(-1e4, 1e4).map(lambda value: round(value, 4))
POINTS = [
    Point("encoder", 1, 2, 0.1, 0.9, "one", label="1·2 positional", baseline=(0.8, 0.2), baseline_said="before"),
    Point("cross", 3, 1, 0.4, 0.3, "two"),
]


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_an_open_axis_holds_every_value_and_zero_and_has_a_few_ticks_inside(values: list[float]) -> None:
    found = axis("x", values, ends=(None, None))
    assert found.least <= min(0, *values) <= max(0, *values) <= found.most
    assert 2 <= len(found.ticks) <= 8
    assert all(found.least - 1e-9 <= tick <= found.most + 1e-9 for tick in found.ticks)
    steps = np.diff(found.ticks)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)


def test_a_given_end_stays_whatever_the_values() -> None:
    found = axis("share", [0.2, 0.3], ends=(0.0, 1.0), threshold=0.9)
    assert (found.least, found.most, found.threshold) == (0, 1, 0.9)
    assert found.ticks == (0, 0.2, 0.4, 0.6, 0.8, 1)
    assert axis("distance", [2.0], ends=(0.0, None)).least == 0
    nothing = axis("x", [], ends=(None, None))
    assert nothing.least < nothing.most


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_canvas_gets_each_head_and_where_it_is_in_the_baseline(theme: object) -> None:
    across, up = Axis("a", 0, 1, (0, 0.5, 1), 0.9), Axis("b", -0.25, 0, (-0.25, 0))
    chosen = DARK if theme is DARK else LIGHT
    header, arrays = unpack(payload(POINTS, across, up, theme=chosen, chosen=1, empty="none"))
    np.testing.assert_array_equal(arrays["own"], np.array([[0.1, 0.9], [0.4, 0.3]], dtype=np.float32))
    np.testing.assert_array_equal(arrays["baseline"], np.array([[0.8, 0.2], [np.nan, np.nan]], dtype=np.float32))
    assert [(p["kind"], p["layer"], p["head"], p["label"]) for p in header["points"]] == [
        ("encoder", 1, 2, "1·2 positional"),
        ("cross", 3, 1, ""),
    ]
    assert [(p["said"], p["baselineSaid"]) for p in header["points"]] == [("one", "before"), ("two", "")]
    assert header["chosen"] == 1
    assert header["x"] == {
        "label": "a", "least": 0, "most": 1, "ticks": [[0, "0"], [0.5, "0.5"], [1, "1"]], "threshold": 0.9,
    }  # fmt: skip
    assert header["y"]["ticks"] == [[-0.25, "−0.25"], [0, "0"]]
    assert header["y"]["threshold"] is None
    assert header["theme"]["name"] == chosen.name


def test_ticks_are_written_as_round_numbers() -> None:
    for ends, texts in (
        ((0.0, 100.0), ["0", "20", "40", "60", "80", "100"]),
        ((0.0, 12.0), ["0", "2.5", "5", "7.5", "10"]),
        ((-0.02, 0.0), ["−0.02", "−0.015", "−0.01", "−0.005", "0"]),
    ):
        header, _ = unpack(
            payload([], axis("x", [], ends=ends), axis("y", [], ends=ends), theme=LIGHT, chosen=None, empty="")
        )
        assert [text for _, text in header["x"]["ticks"]] == texts


def test_no_head_at_all_is_a_picture_too() -> None:
    header, arrays = unpack(
        payload([], Axis("a", 0, 1, ()), Axis("b", 0, 1, ()), theme=LIGHT, chosen=None, empty="none")
    )
    assert arrays["own"].shape == (0, 2)
    assert header["empty"] == "none"
