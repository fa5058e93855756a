"""One head of the page of roles: which one, what its numbers are in this sentence, and the way to it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from model.alignment import Reading
from model.roles import STATISTICS, Row, best_way, roles
from model.trace import Trace
from pages.parts import address, aligned, axes, by_hand, controls, doors, mount, session, takeaway
from viz import captions, payload, phrases, tables
from viz.theme import Theme

if TYPE_CHECKING:
    from pages.parts.session import Reading as Run

HINT = "Point at a cell to read it; click to pin it."


def chosen(rows: Sequence[Row], trace: Trace) -> Row:
    """The head in the address, or else the first of its kind that has a role; with its widgets."""
    kind = controls.kind()
    here = [row for row in rows if row["kind"] == kind]
    address.within("layer", trace.layers(kind))
    address.within("head", trace.heads(kind))
    proposed = next(filter(roles, here), here[0])
    for name in ("layer", "head"):
        address.propose(name, proposed[name])
    layer = controls.count("Layer", "layer", trace.layers(kind))
    head = controls.count("Head", "head", trace.heads(kind))
    return next(row for row in here if (row["layer"], row["head"]) == (layer, head))


def choose(kind: str, layer: int, head: int) -> None:
    """From a callback: this head, and no cell of another one."""
    address.choose(kind=kind, layer=layer, head=head, query=None, key=None)


def go(kind: str, layer: int, head: int) -> None:
    """From a callback: to this head on the page of all heads."""
    doors.take(doors.HEADS, kind=kind, layer=layer, head=head, query=None, key=None)


def in_this_sentence(row: Row, reading: "Run") -> dict[str, float | None]:
    """The same numbers over the rows of one sentence. Some need a corpus and are None."""
    from model.habits import habits

    trace, kind, layer, head = reading.trace, row["kind"], row["layer"], row["head"]
    own = {"own": habits([trace])[kind, layer, head]["own"]}
    found = {name: statistic.value(own, "own") for name, statistic in STATISTICS.items()}
    silenced = session.edited(reading, f"silence-{kind}-{layer}.{head}")
    lost = silenced.target_log_probabilities() - trace.target_log_probabilities()
    return found | {"silenced": float(lost.mean()), "aer": _aer(row, trace)}


def example(trace: Trace, row: Row, theme: Theme) -> None:
    """What the head looks at in this sentence, as the switches of the axes ask."""
    shown = axes.shaped(trace.map(row["kind"], row["layer"], row["head"]))
    address.within("query", len(shown.rows))
    address.within("key", len(shown.columns))
    mount.head(
        payload.head(shown, theme=theme, pinned=controls.pinned_cell(), linear=False, lines=False, hint=HINT),
        key="example",
        on_pin=lambda query, key: st.session_state.update(query=query, key=key),
    )
    st.caption(f"{phrases.ROWS_AND_COLUMNS} {axes.of_map()}".strip())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.place("Row (looks)", "query", captions.of_rows(shown))
        controls.place("Column (looked at)", "key", [token.text for token in shown.columns])
        axes.switches()
        as_table = st.toggle("show as table", key="example_as_table")
    takeaway.table("example", lambda: tables.cells(shown), shown=as_table)


def numbers(frame: pd.DataFrame) -> None:
    """The table of one head; on a phone, what it says is further on, but the numbers are whole."""
    widths = {"": 184, "what it says": None} | dict.fromkeys(frame.columns[1:-1], 80)
    columns = {name: st.column_config.TextColumn(width=width) for name, width in widths.items()}
    st.dataframe(frame, column_config=columns, hide_index=True, height="content")


def _aer(row: Row, trace: Trace) -> float | None:
    """On a pair that was aligned by hand, read in the way that the report chose; None elsewhere."""
    if row["kind"] != "cross" or "aer" not in row["own"]:
        return None
    by, rows = best_way(row).split(", rows ")
    return by_hand.this_pair(aligned.aligned(trace, Reading(row["layer"], row["head"], by, rows)))
