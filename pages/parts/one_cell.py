"""The cell of *Inside a head*: chosen among what is shown, words included, and computed on its pieces."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from model.inside import Cell, most_telling_cell
from model.trace import AttentionMap, Trace
from pages.parts import address, axes, controls, measured
from viz import captions, heatmap, inside


@dataclass(frozen=True)
class Chosen:
    """A cell of pieces of one head, from 0."""

    row: int
    column: int
    seen: AttentionMap  # the head as the switches of the axes ask
    place: tuple[int, int]  # the chosen cell in it, from 0


def choose(trace: Trace, shown: AttentionMap) -> Chosen:
    """The widgets of row and column. Proposed: the most telling cell. Over words, its heaviest of pieces."""
    state, seen = st.session_state, axes.shaped(shown)
    address.within("query", len(seen.rows))
    address.within("key", len(seen.columns))
    row, column = most_telling_cell(shown)
    address.propose("query", axes.of_rows(shown.rows).place(row + 1))
    address.propose("key", axes.of(shown.columns).place(column + 1) or 1)
    controls.place("Row (looks)", "query", captions.of_rows(seen), optional=False)
    controls.place("Column (looked at)", "key", [token.text for token in seen.columns], optional=False)
    place = state["query"] - 1, state["key"] - 1
    down, across = axes.piece_cell(trace, seen, *place)
    return Chosen(down, across, seen, place)


def say(trace: Trace, chosen: Chosen, shown: AttentionMap, cell: Cell) -> None:
    """The cell as a sentence, as raw weight and by the chosen measure, and why it is one of pieces."""
    st.text(heatmap.sentence(shown, chosen.row, chosen.column))
    if axes.words():
        st.caption(captions.CELLS_ARE_PIECES)
    if measured.is_raw():
        return
    by_measure = measured.one(trace, shown.kind, shown.layer, shown.head)
    said = heatmap.sentence(by_measure, chosen.row, chosen.column)
    st.text(said if measured.is_rollout() else f"{said}: {inside.share(cell)}")
    st.caption(measured.note())


def kept(shown: AttentionMap, chosen: Chosen) -> list[int]:
    """The columns (from 0) that the picture of the row shows: without hidden specials, but with the chosen one."""
    return sorted({chosen.column, *(n for group in axes.of(shown.columns).groups for n in group)})


def go(columns: list[int], shown: AttentionMap) -> Callable[[int], None]:
    """What a click on one of those columns does, counted from 1."""

    def clicked(number: int) -> None:
        st.session_state["key"] = axes.of(shown.columns).place(columns[number - 1] + 1) or st.session_state["key"]

    return clicked
