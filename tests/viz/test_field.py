"""A matrix for the canvas: every number to the last bit of float32, labels that fit, and refusals in a sentence."""

from typing import Any

import numpy as np
import pytest

from model.trace import Array, LabelError
from viz import field
from viz.payload import unpack
from viz.theme import DARK, LIGHT, ramp

VALUES = np.random.default_rng(4).normal(size=(3, 5))
ROWS, COLUMNS = ["the", "cat", "the"], ["1", "2", "3", "4", "5"]


def made(values: Array = VALUES, **changes: Any) -> bytes:
    said = {"rows": ROWS, "columns": COLUMNS, "theme": LIGHT, "hue": "signed", "limit": 2.0, "sentence": "{value}"}
    return field.payload(values, **(said | changes))


def test_every_number_arrives_as_float32_under_its_labels() -> None:
    header, arrays = unpack(made(title="Vectors", row_title="token", pinned=(2, None)))
    assert arrays["values"].tobytes() == VALUES.astype(np.float32).tobytes()
    assert (header["rows"], header["columns"], header["pinned"]) == (ROWS, COLUMNS, [2, None])
    assert (header["title"], header["rowTitle"], header["limit"], header["hue"]) == ("Vectors", "token", 2.0, "signed")
    assert "allowed" not in arrays


def test_the_theme_is_the_reader_s_and_every_hue_has_its_shades() -> None:
    for theme in (LIGHT, DARK):
        shades = unpack(made(theme=theme))[0]["theme"]["ramps"]
        for hue in ("encoder", "masked", "cross"):
            assert shades[hue] == ramp(theme, hue)
        for hue in ("negative", "positive", "chrome"):
            assert (shades[hue][0], shades[hue][-1]) == (theme.background, getattr(theme, hue))


def test_cells_without_a_number_are_marked_and_may_hold_anything() -> None:
    allowed = np.ones(VALUES.shape, dtype=bool)
    allowed[1, 2] = False
    header, arrays = unpack(made(np.where(allowed, VALUES, np.nan), allowed=allowed, forbidden="none here"))
    np.testing.assert_array_equal(arrays["allowed"], allowed)
    assert header["forbidden"] == "none here"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows": ["a", "b"]}, "2 rows and 5 columns"),
        ({"columns": ["1"]}, "3 rows and 1 columns"),
        ({"names": ["x"]}, "1 names for 15 cells"),
        ({"allowed": np.ones((5, 3), dtype=bool)}, "allowed has shape"),
    ],
)
def test_labels_that_do_not_fit_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(LabelError, match=said):
        made(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hue": "red"}, "choose encoder, masked"),
        ({"limit": 0.0}, "above 0"),
        ({"limit": np.inf}, "above 0"),
        ({"hue": "encoder"}, "choose signed"),
        ({"values": np.full((3, 5), np.nan)}, "no finite number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        made(**changes)


@pytest.mark.parametrize(
    ("most", "end"), [(0.0, 1), (1.0, 1), (1.01, 1.5), (2.3, 2.5), (5.1, 6), (0.034, 0.04), (16.2, 20), (990, 1000)]
)
def test_the_scale_ends_at_a_round_number_that_nothing_is_beyond(most: float, end: float) -> None:
    assert field.round_limit(np.array([[-most, most / 3]])) == pytest.approx(end)


def test_what_a_cell_says_and_the_table_number_equal_labels_apart() -> None:
    template = "‘{row}’ ({row_number}), dimension {column}, column {column_number}: {value}"
    said = field.say(template, -1.23456, row=2, column=3, rows=ROWS, columns=COLUMNS)
    assert said == "‘the’ (3), dimension 4, column 4: −1.235"
    found = field.table(VALUES, ROWS, COLUMNS)
    assert list(found.index) == ["1 the", "2 cat", "3 the"]
    np.testing.assert_array_equal(found.to_numpy(), VALUES)
