"""Inside one head: the payload of its canvas, and the same numbers as a table."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.inside import Cell, Unscaled, without_scaling
from model.trace import AttentionMap
from viz.payload import pack, texts
from viz.theme import Theme, for_canvas


def payload(cell: Cell, shown: AttentionMap, row: int, *, theme: Theme, kept: Sequence[int] | None = None) -> bytes:
    """The arithmetic of one cell for canvas/inside.js. row counts from 0.

    kept: the columns (from 0) that the picture of the row shows, the cell's own among them; all of them if it is None.
    """
    columns = list(range(len(shown.columns)) if kept is None else kept)
    looks, looked = shown.rows[row].text, shown.columns[cell.column].text
    length = digits(float(np.linalg.norm(cell.output)))
    numbers = {
        "query": cell.query,
        "key": cell.key,
        "product": cell.products,
        "scores": cell.row.scores[columns],
        "exponentials": cell.row.exponentials[columns],
        "weights": cell.row.weights[columns],
        "moved": cell.row.moved_norms[columns],
        "heads": cell.head_norms,
    }
    header = {
        "theme": for_canvas(theme),
        "kind": shown.kind,
        "head": shown.head,
        "columns": texts([shown.columns[n] for n in columns]),
        "column": columns.index(cell.column),
        "chain": chain(cell),
        "words": {
            "product": "Query times key",
            "query": f"query of ‘{looks}’",
            "key": f"key of ‘{looked}’",
            "products": "their products",
            "hint": "Point at a dimension to read it. Red is above 0, blue below; queries and keys share one scale.",
            "chain": "From their sum to the weight",
            "row": f"The whole row of ‘{looks}’, and what is moved to it",
            "columns": ["looked at", "score", "exp", "weight α", "", "‖α f(x)‖", ""],
            "heads": "All heads side by side, through Wᴼ",
            "sum": (
                f"Length of what each head adds. Their sum and bᴼ are the sub-layer's output, of length {length}; "
                "the lengths do not add up, since the heads point in different directions."
            ),
        },
    }
    arrays = {name: values.astype(np.float32) for name, values in numbers.items()}
    return pack(header, arrays | {"allowed": cell.row.allowed[columns].astype(np.uint8)})


def chain(cell: Cell) -> list[tuple[str, str, str]]:
    """The links from the sum of products to the weight: what is done, the number, and in words."""
    row, at = cell.row, cell.column
    score, allowed = float(row.scores[at]), bool(row.allowed[at])
    return [
        ("Σ q·k", signed(cell.dot), f"sum of {cell.width} products"),
        (f"÷ √{cell.width}", signed(score), "scaled score"),
        ("+ mask", signed(score) if allowed else "−∞", "may look" if allowed else "may not look"),
        ("exp", digits(row.exponentials[at]), f"of the score less the row's largest, {signed(row.largest)}"),
        ("÷ Σ exp", digits(row.weights[at]), f"the row's exponentials sum to {digits(row.total)}"),
        ("α ‖f(x)‖", digits(row.moved_norms[at]), f"moved; ‖f(x)‖ alone is {digits(row.norms[at])}"),
    ]


def table(cell: Cell, shown: AttentionMap) -> pd.DataFrame:
    """The row, a line for each column that is looked at."""
    row = cell.row
    return pd.DataFrame(
        {
            "looked at": texts(shown.columns),
            "score": row.scores,
            "allowed": row.allowed,
            "exp": row.exponentials,
            "weight": row.weights,
            "norm of f(x)": row.norms,
            "norm of weight times f(x)": row.moved_norms,
        }
    )


def share(cell: Cell) -> str:
    """The value-weighted weight of the cell as a division: what it moves, of what its whole row moves."""
    moved = cell.row.moved_norms
    return f"{digits(moved[cell.column])} ÷ {digits(moved.sum())}, the sum of the row's ‖α f(x)‖"


def products(cell: Cell) -> pd.DataFrame:
    """Query, key and their products, a line for each dimension."""
    numbers = range(1, cell.width + 1)
    return pd.DataFrame({"dimension": numbers, "query": cell.query, "key": cell.key, "product": cell.products})


def csv(cell: Cell, shown: AttentionMap, row: int) -> str:
    """Every figure of the page, to the last digit: what, where, value."""
    lines: list[tuple[str, str, float]] = []
    for number in range(cell.width):
        for name, values in (("query", cell.query), ("key", cell.key), ("product", cell.products)):
            lines.append((name, f"dimension {number + 1}", float(values[number])))
    for number, line in enumerate(table(cell, shown).to_dict("records"), start=1):
        where = f"column {number} {line.pop('looked at')}"
        lines += [(str(what), where, float(value)) for what, value in line.items()]
    lines += [("norm of head", f"head {n}", float(norm)) for n, norm in enumerate(cell.head_norms, start=1)]
    lines += _whole(cell)
    made = pd.DataFrame(lines, columns=["what", "where", "value"])
    made.insert(0, "cell", f"{shown.kind} layer {shown.layer} head {shown.head} row {row + 1} column {cell.column + 1}")
    return str(made.to_csv(index=False))


def _whole(cell: Cell) -> list[tuple[str, str, float]]:
    """What the page says of the row and of the sub-layer as a whole."""
    told = without_scaling(cell.row, cell.width)
    divided, left_out = f"divided by √{cell.width}", f"√{cell.width} left out"
    return [
        ("sum of products", "all dimensions", cell.dot),
        ("largest score", "allowed columns", cell.row.largest),
        ("sum of exp", "all columns", cell.row.total),
        ("norm of output", "all heads", float(np.linalg.norm(cell.output))),
        ("entropy in bits", divided, told.entropy),
        ("entropy in bits", left_out, told.entropy_unscaled),
        ("norm of gradient", divided, told.gradient),
        ("norm of gradient", left_out, told.gradient_unscaled),
    ]


def scaling(found: Unscaled, width: int) -> pd.DataFrame:
    """What the division by the root of the width does to this row."""
    return pd.DataFrame(
        {
            "": [f"divided by √{width}", "left out"],
            "entropy of the row, bits": [f"{n:.3g}" for n in (found.entropy, found.entropy_unscaled)],
            "norm of the softmax's gradient": [f"{n:.3g}" for n in (found.gradient, found.gradient_unscaled)],
        }
    )


def digits(value: float) -> str:
    """Three digits after the point, fewer of a large number; a small one is not called 0. As in canvas/inside.js."""
    size = abs(value)
    if 0 < size < 0.0005:
        return f"{value:.1e}".replace("e-0", "e-")
    return f"{value:.{3 if size < 10 else 2 if size < 100 else 1}f}"


def signed(value: float) -> str:
    """The digits, with a real minus sign."""
    return digits(value).replace("-", "−")
