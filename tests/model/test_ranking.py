"""Which head to open first, and who links a row to a column most."""

import numpy as np
import pytest

from model.ranking import all_maps, most_telling, ranked
from model.trace import KINDS, Token, Trace

ROWS = (Token("<s>", "<s>", special=True), Token("a", "a"), Token("b", "b"))
COLUMNS = (Token("w", "w"), Token("x", "x"), Token("y", "y"), Token("</s>", "</s>", special=True))


def test_the_most_telling_head_has_the_largest_weight_off_special_tokens() -> None:
    weights = np.full((2, 5, 3, 4), 0.1)
    weights[0, 1, 0, 1] = 0.99  # from <s>
    weights[0, 2, 1, 3] = 0.98  # to </s>
    weights[1, 3, 2, 0] = 0.6
    assert most_telling(weights, ROWS, COLUMNS, square=False) == (2, 4)


def test_in_a_square_map_the_diagonal_does_not_count() -> None:
    weights = np.full((2, 5, 4, 4), 0.1)
    weights[0, 1, 2, 2] = 0.9
    weights[1, 4, 1, 2] = 0.5
    assert most_telling(weights, COLUMNS, COLUMNS, square=True) == (2, 5)
    assert most_telling(weights, COLUMNS, COLUMNS, square=False) == (1, 2)


def test_where_no_cell_counts_the_first_head_is_opened() -> None:
    assert most_telling(np.ones((2, 5, 1, 4)), ROWS[:1], COLUMNS, square=False) == (1, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [False, True])
def test_all_maps_come_layer_by_layer_and_head_by_head(trace: Trace, kind: str, words: bool) -> None:
    maps = all_maps(trace, kind, words=words)
    expected = [(kind, layer, head) for layer in range(1, trace.layers(kind) + 1) for head in range(1, 6)]
    assert [(m.kind, m.layer, m.head) for m in maps] == expected


def test_heads_are_ranked_by_their_weight_in_the_cell(trace: Trace) -> None:
    maps = all_maps(trace, "cross", words=True)
    order = ranked(maps, 1, 3)
    found = [maps[i].weights[1, 3] for i in order]
    assert sorted(order) == list(range(10))
    assert found == sorted(found, reverse=True)
