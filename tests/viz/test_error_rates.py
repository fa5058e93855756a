"""Error rates of all ways of reading: the right one in each cell, and the best one chosen where it should be."""

import numpy as np
import pytest

from model.alignment import BY, ROWS, Reading
from viz import error_rates
from viz.error_rates import Gold
from viz.payload import unpack
from viz.theme import LIGHT

WAYS = [Reading(layer, head, by, rows) for layer in (1, 2) for head in (None, 1, 2, 3) for by in BY for rows in ROWS]
RATES = {way: 90.0 - 2.5 * number for number, way in enumerate(WAYS)}
OTHERS = {way: 20.0 + 1.25 * number for number, way in enumerate(WAYS)}


def test_the_best_reading_is_chosen_on_one_part_and_scored_on_another() -> None:
    found = error_rates.scores(WAYS[3], [Gold("ours", RATES, RATES), Gold("theirs", RATES, OTHERS)], None)
    assert found["aligned by hand"].tolist() == ["ours", "theirs"]
    assert found["AER, %"].tolist() == ["82.5", "82.5"]
    assert found["best AER, %"].tolist() == [f"{RATES[WAYS[-1]]:.1f}", f"{RATES[WAYS[0]]:.1f}"]
    assert found["best reading"].tolist() == [error_rates.short(WAYS[-1]), error_rates.short(WAYS[0])]


def test_a_gold_pair_on_screen_has_a_line_of_its_own() -> None:
    found = error_rates.scores(WAYS[0], [Gold("ours", RATES, RATES)], 12.34)
    assert found.iloc[0].tolist() == ["this pair", "12.3", "", ""]
    assert len(found) == 2


def test_a_reading_is_named_shortly() -> None:
    assert error_rates.short(Reading(2, None, "norm", "read")) == "layer 2, all heads, ‖αf(x)‖, reads"
    assert error_rates.short(Reading(1, 3, "weight", "predicted")) == "layer 1, head 3, weight, predicts"


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("rows", ROWS)
def test_a_cell_is_the_rate_of_its_layer_and_head_and_the_last_column_of_all_heads(by: str, rows: str) -> None:
    cells, layers, heads = error_rates.of_all(RATES, by, rows)
    assert (layers, heads) == (["layer 1", "layer 2"], ["1", "2", "3", "all"])
    for layer, head in np.ndindex(2, 4):
        assert cells[layer, head] == RATES[Reading(layer + 1, head + 1 if head < 3 else None, by, rows)]


@pytest.mark.parametrize(("head", "column"), [(None, 3), (2, 1)])
def test_the_reading_itself_is_pinned_and_the_scale_is_fixed(head: int | None, column: int) -> None:
    header, arrays = unpack(error_rates.payload(RATES, Reading(2, head, "norm", "read"), theme=LIGHT))
    assert header["pinned"] == [1, column]
    assert header["limit"] == 100
    assert header["names"][3:5] == ["all heads together", "head 1"]
    assert arrays["values"][1, column] == RATES[Reading(2, head, "norm", "read")]
