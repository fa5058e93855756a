"""How well a way of reading aligns words: alignment error rates of all ways, as a table and for canvas/field.js."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from model.alignment import Reading
from model.trace import Array
from viz import field
from viz.alignment import BY, ROWS
from viz.theme import Theme

Rates = Mapping[Reading, float]  # percent

HALVES = (
    "A file named here holds pairs that others have aligned, and is no part of Headlight; the card of the weights says "
    "whose they are. Its best reading is chosen on the first half and scored on the last."
)
AER = (
    "Alignment error rate: 0 % if every link is right and none is missing. A found link counts twice if it is sure by "
    "hand and once if it is possible; only sure ones can be missed (Och & Ney 2003)."
)


@dataclass(frozen=True)
class Gold:
    """A corpus aligned by hand, and what every way of reading scores on it."""

    name: str
    rates: Rates
    choose_on: Rates  # what the best reading is chosen on; other pairs, or the best would flatter itself


def scores(reading: Reading, corpora: Sequence[Gold], this_pair: float | None) -> pd.DataFrame:
    """A line for each corpus: this reading beside the best one. this_pair: of a gold pair on screen, in percent."""
    rows = [(corpus.name, f"{corpus.rates[reading]:.1f}", *_best(corpus)) for corpus in corpora]
    if this_pair is not None:
        rows.insert(0, ("this pair", f"{this_pair:.1f}", "", ""))
    return pd.DataFrame(rows, columns=["aligned by hand", "AER, %", "best AER, %", "best reading"])


def _best(corpus: Gold) -> tuple[str, str]:
    best = min(corpus.choose_on, key=lambda reading: corpus.choose_on[reading])
    return f"{corpus.rates[best]:.1f}", short(best)


def short(reading: Reading) -> str:
    """A way of reading, for a cell of a table."""
    head = "all heads" if reading.head is None else f"head {reading.head}"
    return f"layer {reading.layer}, {head}, {BY[reading.by]}, {ROWS[reading.rows]}"


def of_all(rates: Rates, by: str, rows: str) -> tuple[Array, list[str], list[str]]:
    """(layers, heads + 1) error rates of one way of reading, with labels for rows and columns; last, all heads."""
    chosen = {(r.layer, r.head): rate for r, rate in rates.items() if (r.by, r.rows) == (by, rows)}
    layers = sorted({layer for layer, _ in chosen})
    heads = sorted({head for _, head in chosen if head is not None})
    cells = np.array([[chosen[layer, head] for head in (*heads, None)] for layer in layers])
    return cells, [f"layer {layer}" for layer in layers], [*map(str, heads), "all"]


def payload(rates: Rates, reading: Reading, *, theme: Theme) -> bytes:
    """Every head and layer by its error rate, read as `reading` is; the reading itself is pinned."""
    cells, layers, heads = of_all(rates, reading.by, reading.rows)
    return field.payload(
        cells,
        rows=layers,
        columns=heads,
        theme=theme,
        hue="chrome",
        limit=100.0,
        sentence="cross-attention, {row}, {name}: AER {value} %",
        title=f"AER of every head, by {BY[reading.by]}, row {ROWS[reading.rows]} the word (less colour is better)",
        column_title="head",
        pinned=(reading.layer - 1, len(heads) - 1 if reading.head is None else reading.head - 1),
        names=[*(f"head {head}" for head in heads[:-1]), "all heads together"] * len(layers),
        height=220,
    )
