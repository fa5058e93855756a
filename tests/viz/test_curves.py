"""What lines carry to their canvas: each line's own numbers, named and coloured, and refusals in words."""

import math
from typing import Any

import numpy as np
import pytest

from viz.curves import Series, payload, table
from viz.payload import unpack
from viz.theme import DARK, LIGHT

ONE = Series("norm", np.arange(1, 5), np.array([0.1, 2.5, math.nan, -3.0]), "masked", dashed=True)
TWO = Series("share", np.array([0.5, 2.0, 7.0]), np.array([3e-4, 10.0, 9.0]), strength=0.4)


def drawn(**options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return unpack(payload([ONE, TWO], **{"theme": LIGHT, "x_title": "layer", "y_title": "size"} | options))


def test_each_line_carries_its_own_x_and_y_and_gaps_stay_gaps() -> None:
    _, arrays = drawn()
    for n, line in enumerate((ONE, TWO)):
        np.testing.assert_array_equal(arrays[f"x{n}"], np.asarray(line.x, np.float32))
        np.testing.assert_array_equal(arrays[f"y{n}"], np.asarray(line.y, np.float32))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_line_has_the_colour_of_its_role_in_each_theme(theme: Any) -> None:
    header, _ = drawn(theme=theme)
    assert [line["colour"] for line in header["series"]] == [theme.masked, theme.chrome]
    assert [line["name"] for line in header["series"]] == ["norm", "share"]
    assert [line["dashed"] for line in header["series"]] == [True, False]


def test_a_label_finds_its_x_after_the_numbers_have_become_single_precision() -> None:
    header, arrays = drawn(x_labels={0.1: "tenth"}, notes={2: "here"})
    assert header["labels"] == [[float(np.float32(0.1)), "tenth"]]
    assert header["notes"] == [[2.0, "here"]]
    assert drawn(marked=3)[0]["marked"] == 3.0


def test_lines_that_do_not_fit_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"'a': x has shape \(2,\), but y has shape \(3,\)"):
        Series("a", np.arange(2), np.arange(3))
    for x in ([1.0, 1.0], [2.0, 1.0], [1.0, math.nan]):
        with pytest.raises(ValueError, match="rise"):
            Series("a", np.array(x), np.arange(2))
    with pytest.raises(ValueError, match="no line"):
        payload([], theme=LIGHT, x_title="", y_title="")
    with pytest.raises(ValueError, match="'norm' has the value -3"):
        drawn(log=True)


def test_the_table_has_a_row_for_each_x_and_keeps_equal_names_apart() -> None:
    made = table([ONE, TWO, ONE], x_title="layer", x_labels={2.0: "feed-forward"})
    assert list(made.columns) == ["layer", "1 norm", "share", "3 norm"]
    assert list(made["layer"]) == ["0.5", "1", "2 feed-forward", "3", "4", "7"]
    np.testing.assert_array_equal(made["share"], [3e-4, math.nan, 10.0, math.nan, math.nan, 9.0])
    np.testing.assert_array_equal(made["3 norm"], [math.nan, 0.1, 2.5, math.nan, -3.0, math.nan])
