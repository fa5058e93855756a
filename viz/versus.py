"""Two runs beside each other: texts word under word, heads by how far they moved, and one head subtracted."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from model.compare import Difference, Match
from model.trace import KINDS, Array, AttentionMap, LabelError, Token
from viz import field, payload, phrases
from viz.captions import of_rows
from viz.theme import Theme, for_canvas

# A title, the tokens of the one and of the other, and what belongs together.
Texts = tuple[str, Sequence[Token], Sequence[Token], Sequence[Match]]

CELL = "{row} → {column}: {value} from the one to the other"
NOT_SHARED = "{row} → {column}: only one of the two has this cell, or may look at it"
LAYER = "{row}, all heads together: {value} apart (0: the same weights, 1: nothing in common)"
HEAD = "{row}, head {column}: {value} apart (0: the same weights, 1: nothing in common)"
NO_SUCH_ROW = "{row}, head {column}: its rows are other tokens"
HOW_FAR = (
    "How far apart a head's weights are in the two runs: half the sum of all differences in a row (total variation), "
    "averaged over the rows that both have. Pin a row to see which heads move from there: which heads follow “it”?"
)
HEADS_HEIGHT = 340  # pixels


def texts(compared: Sequence[Texts], *, names: tuple[str, str], theme: Theme) -> bytes:
    """Both sentences and both translations, equal words under each other. names: what the two runs are called."""
    told = [
        {
            "title": title,
            "pairs": [
                [None if m.one is None else one[m.one].text, None if m.other is None else other[m.other].text, m.same]
                for m in matches
            ],
        }
        for title, one, other, matches in compared
    ]
    return payload.pack({"theme": for_canvas(theme), "names": list(names), "texts": told}, {})


def heads(
    apart: Mapping[str, Array],
    counted: Sequence[str],
    *,
    theme: Theme,
    opened: tuple[str, int, int | None],
    row: str | None,
) -> bytes:
    """How far each head's maps are apart: by kind (L, H) from 0 to 1; opened: kind, layer, head.

    Where all heads of a layer have one map together, the opened head is None.

    counted: the kinds that have the row which alone is looked at, called `row`; all of them if no row is chosen.
    """
    values, places = stacked(apart)
    allowed = np.array([[kind in counted] * values.shape[1] for kind, _ in places])
    values = np.where(allowed, values, 0.0)
    return field.payload(
        values,
        rows=labels(places),
        columns=["all"] if opened[2] is None else [str(head) for head in range(1, values.shape[1] + 1)],
        theme=theme,
        hue="chrome",
        limit=field.round_limit(values),
        sentence=LAYER if opened[2] is None else HEAD,
        forbidden=NO_SUCH_ROW,
        allowed=allowed,
        row_title="layer",
        column_title="head",
        title=f"How far each {'layer' if opened[2] is None else 'head'} moved"
        + (f", looking from ‘{row}’" if row else ""),
        pinned=(places.index(opened[:2]), (opened[2] or 1) - 1),
        height=HEADS_HEIGHT,
    )


def stacked(apart: Mapping[str, Array]) -> tuple[Array, list[tuple[str, int]]]:
    """All kinds' layers as one matrix (rows, H), and the kind and layer (from 1) of each row.

    Raises LabelError if the kinds do not have equally many heads.
    """
    if len({found.shape[1] for found in apart.values()}) != 1:
        raise LabelError("the kinds of attention have unlike numbers of heads; they cannot stand in one matrix")
    places = [(kind, layer) for kind in KINDS for layer in range(1, len(apart[kind]) + 1)]
    return np.concatenate([apart[kind] for kind in KINDS]), places


def heads_table(apart: Mapping[str, Array]) -> pd.DataFrame:
    """The same numbers as `heads`: a row for each layer, a column for each head."""
    values, places = stacked(apart)
    return field.table(values, labels(places), [f"head {head}" for head in range(1, values.shape[1] + 1)])


def labels(places: Sequence[tuple[str, int]]) -> list[str]:
    return [f"{phrases.kind(kind)} {layer}" for kind, layer in places]


def subtracted(
    found: Difference,
    one: AttentionMap,
    other: AttentionMap,
    *,
    theme: Theme,
    pinned: tuple[int | None, int | None] | None,
) -> bytes:
    """One head's weights in the other run minus those in the one, over all tokens of both. pinned: from 0."""
    values = np.where(found.shared, found.values, 0.0)
    return field.payload(
        values,
        rows=row_names(found.rows, one, other),
        columns=column_names(found.columns, one, other),
        theme=theme,
        hue="signed",
        limit=min(1.0, field.round_limit(values)),
        sentence=CELL,
        allowed=found.shared,
        forbidden=NOT_SHARED,
        title=f"{phrases.kind(one.kind)}, layer {one.layer}, {phrases.head(one.head, one.measure)}: the difference",
        pinned=pinned,
    )


def how_to_subtract(names: tuple[str, str]) -> str:
    """Under the difference: what its colours mean, and how tokens are named."""
    return (
        f"Weight in “{names[1]}” minus weight in “{names[0]}”. A changed token has both names, − stands before "
        "one that only the first run has, + before one that only the second has; their cells are hatched."
    )


def table(found: Difference, one: AttentionMap, other: AttentionMap) -> pd.DataFrame:
    """The same differences; a cell that only one run has is empty."""
    values = np.where(found.shared, found.values, np.nan)
    return field.table(values, row_names(found.rows, one, other), column_names(found.columns, one, other))


def row_names(rows: Sequence[Match], one: AttentionMap, other: AttentionMap) -> list[str]:
    return [_name(m, of_rows(one), of_rows(other)) for m in rows]


def column_names(columns: Sequence[Match], one: AttentionMap, other: AttentionMap) -> list[str]:
    return [_name(m, payload.texts(one.columns), payload.texts(other.columns)) for m in columns]


def _name(m: Match, one: Sequence[str], other: Sequence[str]) -> str:
    """A token of both is named once, a changed one twice, and one that only one run has says so."""
    if m.one is None:
        return f"+ {other[m.other or 0]}"
    if m.other is None:
        return f"− {one[m.one]}"
    return one[m.one] if one[m.one] == other[m.other] else f"{one[m.one]} | {other[m.other]}"
