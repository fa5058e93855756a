"""The lines beside pictures: rows with both their labels, heads with the weight at the pinned cell."""

import numpy as np
import pytest

from model.ranking import all_maps, ranked
from model.trace import Trace
from viz import captions, phrases


def test_an_encoder_row_is_its_token_and_a_decoder_row_reads_and_predicts(trace: Trace) -> None:
    assert captions.of_rows(trace.map("encoder", 1, 1)) == [token.text for token in trace.source]
    for kind in ("masked", "cross"):
        said = captions.of_rows(trace.map(kind, 1, 1))
        assert said == [f"{r.text} → {p.text}" for r, p in zip(trace.read, trace.predicted, strict=True)]


def test_heads_are_named_by_number_and_by_layer_where_the_layers_are_mixed(trace: Trace) -> None:
    maps = all_maps(trace, "cross", words=False)
    assert captions.of_heads(maps, None, by_layer=True) == [*"12345"] * 2
    names = [f"{layer}·{head}" for layer in (1, 2) for head in range(1, 6)]
    assert captions.of_heads(maps, None, by_layer=False) == names
    assert captions.of_layers(3) == ["L1", "L2", "L3"]


def test_a_pinned_cell_stands_beside_each_head_with_its_weight(trace: Trace) -> None:
    maps = all_maps(trace, "cross", words=False)
    for said, shown in zip(captions.of_heads(maps, (3, 7), by_layer=False), maps, strict=True):
        name, weight = said.split(" ")
        assert name == f"{shown.layer}·{shown.head}"
        assert phrases.weight(float(shown.weights[3, 7])) in (weight, f"0{weight}", weight.replace("<.", "<0."))


def test_the_line_under_the_grid_names_the_head_that_links_the_pinned_cell_most(trace: Trace) -> None:
    maps = all_maps(trace, "encoder", words=True)
    best = maps[ranked(maps, 2, 5)[0]]
    said = captions.of_grid(maps, (2, 5), ranked=True)
    assert said.startswith(f"‘{maps[0].rows[2].text}’ → ‘{maps[0].columns[5].text}’: ")
    assert f"most in layer {best.layer}, head {best.head} ({phrases.weight(float(best.weights[2, 5]))})" in said
    assert np.all([m.weights[2, 5] <= best.weights[2, 5] for m in maps])
    assert "ranked" in said
    assert "ranked" not in captions.of_grid(maps, (2, 5), ranked=False)


@pytest.mark.parametrize("ranked_too", [False, True])
def test_a_forbidden_cell_ranks_nobody(trace: Trace, ranked_too: bool) -> None:
    maps = all_maps(trace, "masked", words=False)
    assert captions.of_grid(maps, (1, 4), ranked=ranked_too) == "The mask forbids this cell in every head."


def test_without_a_pin_the_line_says_how_to_read_the_grid(trace: Trace) -> None:
    assert "from 0 to 1" in captions.of_grid(all_maps(trace, "cross", words=False), None, ranked=False)
