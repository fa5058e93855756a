"""The canvas, the tables and the download hold the arithmetic of a cell, to the last bit that each can hold."""

import math
from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd
import pytest

from model.capture import trace_of
from model.config import ModelConfig
from model.inside import Cell, Unscaled, cell, output_projection, without_scaling
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, AttentionMap, Token, Trace
from model.transformer import Transformer
from viz.inside import chain, csv, digits, payload, products, scaling, signed, table
from viz.payload import texts, unpack
from viz.theme import DARK, LIGHT

# Of one kind each; the masked ones are a cell that may be looked at and one that may not.
PLACES = [("encoder", 3, 2, 5, 11), ("masked", 2, 4, 9, 6), ("masked", 1, 5, 6, 9), ("cross", 2, 3, 4, 30)]


class Looked:
    """A cell of the shared trace, with its map."""

    def __init__(self, model: Transformer, trace: Trace, kind: str, layer: int, head: int, row: int, column: int):
        projection = output_projection(model, kind, layer)
        self.cell = cell(trace, projection, kind, layer, head, row, column)
        self.shown, self.row = trace.map(kind, layer, head), row

    def drawn(self) -> tuple[dict[str, Any], dict[str, Array]]:
        return unpack(payload(self.cell, self.shown, self.row, theme=LIGHT))


@pytest.fixture(params=PLACES, ids=lambda place: "-".join(str(part) for part in place))
def looked(request: pytest.FixtureRequest, model: Transformer, trace: Trace) -> Looked:
    return Looked(model, trace, *request.param)


def largest_allowed(found: Cell) -> float:
    return max(score for score, may in zip(found.row.scores, found.row.allowed, strict=True) if may)


def test_the_canvas_gets_every_figure_as_float32(looked: Looked) -> None:
    header, found = looked.drawn()
    one, row = looked.cell, looked.cell.row
    expected = {
        "query": one.query,
        "key": one.key,
        "product": one.query * one.key,
        "scores": row.scores,
        "exponentials": row.exponentials,
        "weights": row.weights,
        "moved": row.weights * row.norms,
        "heads": one.head_norms,
    }
    assert {*found} == {*expected, "allowed"}
    for name, numbers in expected.items():
        assert found[name].dtype == np.float32
        np.testing.assert_array_equal(found[name], numbers.astype(np.float32))
    np.testing.assert_array_equal(found["allowed"], row.allowed)
    assert (len(found["query"]), len(found["heads"])) == (4, 5)
    assert len(found["scores"]) == len(header["columns"]) == len(looked.shown.columns)


def test_the_canvas_gets_the_labels_of_the_cell(looked: Looked) -> None:
    header, _ = looked.drawn()
    shown = looked.shown
    assert (header["kind"], header["head"], header["column"]) == (shown.kind, shown.head, looked.cell.column)
    assert header["columns"] == texts(shown.columns)
    assert header["words"]["query"] == f"query of ‘{shown.rows[looked.row].text}’"
    assert header["words"]["key"] == f"key of ‘{shown.columns[looked.cell.column].text}’"
    assert [tuple(link) for link in header["chain"]] == chain(looked.cell)
    assert f"of length {digits(math.hypot(*looked.cell.output))};" in header["words"]["sum"]


def test_the_same_cell_gives_the_same_bytes_and_the_theme_is_the_readers(looked: Looked) -> None:
    first, second = (payload(looked.cell, looked.shown, looked.row, theme=DARK) for _ in range(2))
    assert first == second
    assert unpack(first)[0]["theme"]["name"] == "dark"


def test_the_chain_says_the_rounded_numbers_link_by_link(looked: Looked) -> None:
    one, at = looked.cell, looked.cell.column
    row, may = one.row, bool(one.row.allowed[at])
    dot = sum(q * k for q, k in zip(one.query, one.key, strict=True))
    score, lifted = dot / 2, math.exp(dot / 2 - largest_allowed(one))
    weight = lifted / sum(row.exponentials) if may else 0
    assert chain(one) == [
        ("Σ q·k", signed(dot), "sum of 4 products"),
        ("÷ √4", signed(score), "scaled score"),
        ("+ mask", signed(score) if may else "−∞", "may look" if may else "may not look"),
        ("exp", digits(lifted if may else 0), f"of the score less the row's largest, {signed(largest_allowed(one))}"),
        ("÷ Σ exp", digits(weight), f"the row's exponentials sum to {digits(row.total)}"),
        ("α ‖f(x)‖", digits(weight * row.norms[at]), f"moved; ‖f(x)‖ alone is {digits(row.norms[at])}"),
    ]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0.000"),
        (1.23456, "1.235"),
        (-1.23456, "-1.235"),
        (0.0006, "0.001"),
        (0.00012, "1.2e-4"),
        (-0.00012, "-1.2e-4"),
        (3.21e-12, "3.2e-12"),
        (23.4567, "23.46"),
        (234.567, "234.6"),
    ],
)
def test_numbers_are_readable_to_three_digits_and_a_small_one_is_not_called_zero(value: float, said: str) -> None:
    """As the rows of canvas/inside.js say them."""
    assert digits(value) == said
    assert signed(value) == said.replace("-", "−")


def test_the_table_of_the_row_holds_its_numbers_and_equal_tokens_their_own_lines(looked: Looked) -> None:
    found, row = table(looked.cell, looked.shown), looked.cell.row
    assert list(found["looked at"]) == texts(looked.shown.columns)
    expected = {
        "score": row.scores,
        "allowed": row.allowed,
        "exp": row.exponentials,
        "weight": row.weights,
        "norm of f(x)": row.norms,
        "norm of weight times f(x)": row.moved_norms,
    }
    assert list(found.columns) == ["looked at", *expected]
    for name, numbers in expected.items():
        np.testing.assert_array_equal(found[name], numbers)


def test_the_table_of_products_has_a_line_for_each_dimension(looked: Looked) -> None:
    found = products(looked.cell)
    assert list(found["dimension"]) == [1, 2, 3, 4]
    np.testing.assert_array_equal(found["query"] * found["key"], found["product"])
    np.testing.assert_array_equal(found["query"], looked.cell.query)
    np.testing.assert_array_equal(found["key"], looked.cell.key)


def read_back(text: str) -> tuple[pd.DataFrame, dict[tuple[str, str], float]]:
    found = pd.read_csv(StringIO(text), keep_default_na=False)
    lines = {(str(what), str(where)): float(value) for _, what, where, value in found.itertuples(index=False)}
    assert len(lines) == len(found)  # nothing is said twice
    return found, lines


def test_the_download_holds_every_figure_to_the_last_bit(looked: Looked) -> None:
    one, row = looked.cell, looked.cell.row
    found, lines = read_back(csv(one, looked.shown, looked.row))
    expected: dict[tuple[str, str], float] = {}
    for n in range(4):
        for name, numbers in (("query", one.query), ("key", one.key), ("product", one.products)):
            expected[name, f"dimension {n + 1}"] = numbers[n]
    by_column = {
        "score": row.scores,
        "allowed": row.allowed,
        "exp": row.exponentials,
        "weight": row.weights,
        "norm of f(x)": row.norms,
        "norm of weight times f(x)": row.moved_norms,
    }
    for n, token in enumerate(looked.shown.columns):
        expected |= {(name, f"column {n + 1} {token.text}"): numbers[n] for name, numbers in by_column.items()}
    expected |= {("norm of head", f"head {n + 1}"): norm for n, norm in enumerate(one.head_norms)}
    told = without_scaling(row, 4)
    expected |= {
        ("sum of products", "all dimensions"): one.dot,
        ("largest score", "allowed columns"): largest_allowed(one),
        ("sum of exp", "all columns"): row.total,
        ("norm of output", "all heads"): float(np.linalg.norm(one.output)),
        ("entropy in bits", "divided by √4"): told.entropy,
        ("entropy in bits", "√4 left out"): told.entropy_unscaled,
        ("norm of gradient", "divided by √4"): told.gradient,
        ("norm of gradient", "√4 left out"): told.gradient_unscaled,
    }
    assert lines == {place: float(value) for place, value in expected.items()}
    assert list(found.columns) == ["cell", "what", "where", "value"]
    shown = looked.shown
    place = f"row {looked.row + 1} column {one.column + 1}"
    assert set(found["cell"]) == {f"{shown.kind} layer {shown.layer} head {shown.head} {place}"}


@pytest.mark.parametrize("text", [",", '"', "a\nb", "NA", "=1+1", "'", "ü🐴"])
def test_whatever_a_token_says_the_download_is_read_back(
    build: Callable[..., Transformer], tokenizer: Tokenizer, text: str
) -> None:
    model = build(ModelConfig(347, d_model=20, n_heads=5, d_ff=37, encoder_layers=1, decoder_layers=2))
    trace = trace_of(model, tokenizer, [70, 71, 72], [150, 151])
    one = Looked(model, trace, "cross", 1, 2, 1, 3)
    columns = tuple(Token(text, text) for _ in one.shown.columns)
    shown = AttentionMap(
        "cross", 1, 2, one.shown.weights, one.shown.scores, one.shown.allowed, one.shown.rows, columns, one.shown.rows
    )
    _, lines = read_back(csv(one.cell, shown, 1))
    for n in range(4):
        assert lines["weight", f"column {n + 1} {text}"] == one.cell.row.weights[n]


def test_scaling_is_told_to_three_digits(looked: Looked) -> None:
    told = Unscaled(entropy=2.34567, entropy_unscaled=0.00123456, gradient=0.456789, gradient_unscaled=1.23456e-9)
    found = scaling(told, 32)
    assert found.to_numpy().tolist() == [["divided by √32", "2.35", "0.457"], ["left out", "0.00123", "1.23e-09"]]
    assert list(found.columns) == ["", "entropy of the row, bits", "norm of the softmax's gradient"]


def test_the_cells_looked_at_here_are_of_all_kinds_and_one_is_forbidden(model: Transformer, trace: Trace) -> None:
    assert {kind for kind, *_ in PLACES} == set(KINDS)
    may = [bool(Looked(model, trace, *place).cell.row.allowed[place[-1]]) for place in PLACES]
    assert may == [True, True, False, True]
