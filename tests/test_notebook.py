"""docs/notebook.ipynb runs from top to bottom, and its last lines are pictures."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from model.trace import AttentionMap
from viz.notebook import Canvas

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def values() -> tuple[list[Any], dict[str, Any]]:
    """What each code cell would show, and the names that are left at the end."""
    found, names = [], {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, str(NOTEBOOK), "exec"), names)
            if isinstance(last, ast.Expr):
                found.append(eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names))
    return found, names


def test_it_runs_and_shows_pictures(values: tuple[list[Any], dict[str, Any]]) -> None:
    shown, _ = values
    assert sum(isinstance(value, Canvas) for value in shown) == 3


def test_what_it_says_about_numbers_holds(values: tuple[list[Any], dict[str, Any]]) -> None:
    _, names = values
    assert names["difference"] < 1e-5
    assert not names["edited"].attention("cross", names["trace"].layers("cross"), "head_outputs").any()
    assert names["edited"].target_text != names["trace"].target_text
    assert isinstance(names["trace"].map("cross", 1, 8), AttentionMap)


def test_no_output_is_stored_that_other_weights_would_belie() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
