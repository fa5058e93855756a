"""The lines that a page gives to copy run, and make the numbers that the page shows."""

import ast
from typing import Any

import numpy as np
import pytest

from model import checkpoint
from model.capture import capture
from viz import code

SENTENCE = 'She said "no" to O\'Neil; {braces} \\ and a\ttab.'
CHOSEN: dict[str, Any] = {
    "sentence": SENTENCE, "target": "", "decoding": {"method": "greedy"}, "edits": "", "kind": "masked", "layer": 2,
    "head": 3, "cross_layer": 2, "cross_head": 4, "query": 3, "key": 2, "step": 2, "units": "pieces",
    "side": "decoder", "position": 2, "length": None, "width": None,
    "cross_heads": "all", "by": "weight", "rows": "read", "other": "It is old.", "x": "entropy", "y": "special",
}  # fmt: skip


def ran(page: str, **changes: Any) -> dict[str, Any]:
    """The names that the lines leave behind, and under `value` that of the last line."""
    tree, names = ast.parse(code.lines(page, CHOSEN | changes)), dict[str, Any]()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "copied", "exec"), names)
    if isinstance(last, ast.Expr):
        names["value"] = eval(compile(ast.Expression(last.value), "copied", "eval"), names)
    return names


def test_the_run_is_that_of_the_page_whatever_was_typed() -> None:
    names = ran("translate")
    same = capture(*checkpoint.load(), SENTENCE)
    np.testing.assert_array_equal(names["trace"].logits, same.logits)


def test_target_decoder_and_edits_are_in_the_lines() -> None:
    changes: dict[str, Any] = {"target": "Nein, “O'Neil”!", "edits": "silence-encoder-1.2"}
    changes["decoding"] = {"method": "beam", "beam": 3}
    names = ran("translate", **changes)
    assert names["trace"].target_text == changes["target"]
    assert not names["trace"].attention("encoder", 1, "head_outputs")[1].any()
    assert "Decoding(method='beam', beam=3)" in code.lines(
        "heads", CHOSEN | {"decoding": {"method": "beam", "beam": 3}}
    )


@pytest.mark.parametrize("page", sorted(code._PAGES))
def test_the_lines_of_every_page_run(page: str) -> None:
    assert ran(page)


def test_lines_of_a_cell_recompute_it() -> None:
    names = ran("inside_a_head")
    shown = names["trace"].map("masked", 2, 3)
    assert names["score"] == pytest.approx(shown.scores[2, 1], rel=1e-5)
    assert names["weight"] == shown.weights[2, 1]


def test_lines_of_a_step_are_its_distribution() -> None:
    names = ran("output")
    assert names["value"].sum() == pytest.approx(1)
    trace = names["trace"]
    assert np.log(names["value"][trace.predicted[1].id]) == pytest.approx(trace.target_log_probabilities()[1])
