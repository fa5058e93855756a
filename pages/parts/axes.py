"""Words or pieces, and what becomes of <s> and </s>: two switches that act wherever tokens stand on an axis."""

from collections.abc import Sequence

import streamlit as st

from model import axis, selection
from model.stream import tokens
from model.trace import AttentionMap, Token, Trace
from pages.parts import address, controls
from viz import captions

_SHOWN = "_axis_shown"  # in the session's state: what stood on the axis when somebody clicked


def switches() -> None:
    """Both, behind a button."""
    with st.popover("Words or pieces"):
        controls.units()
        controls.special()


def words() -> bool:
    return bool(st.session_state["units"] == "words")


def special() -> str:
    return str(st.session_state["special"])


def shaped(shown: AttentionMap) -> AttentionMap:
    """A map over pieces, as both switches ask. Specials stay where nothing else is looked at."""
    return selection.shaped(shown, words=words(), special=_special_of(shown))


def _special_of(shown: AttentionMap) -> str:
    return special() if any(not token.special for token in shown.columns) else "shown"


def piece_cell(trace: Trace, shown: AttentionMap, row: int, column: int) -> tuple[int, int]:
    """The cell over pieces behind a cell of a shaped map (from 0): of several, the one of largest raw weight."""
    hides = special() if any(not token.special for token in trace.labels(shown.kind)[1]) else "shown"
    head = shown.head or 1
    return selection.piece_cell(trace, shown.kind, shown.layer, head, row, column, words=words(), special=hides)


def of_map() -> str:
    """What the switches did to a map, in a sentence; empty if nothing."""
    return captions.SPECIAL[special()]


def of(pieces: Sequence[Token]) -> axis.Axis:
    """The axis on which these pieces stand: of vectors, or columns that are looked at."""
    return axis.axis(pieces, words=words(), special=special())


def of_rows(pieces: Sequence[Token]) -> axis.Axis:
    """The axis of what looks: it keeps its specials."""
    return axis.axis(pieces, words=words(), special="shown")


def vectors(trace: Trace) -> Trace:
    """The run whose vectors stand on such axes."""
    return axis.vectors(trace, words=words(), special=special())


def one_by_one(trace: Trace) -> Trace:
    """The same, but pieces stay pieces: for what happens to each by itself."""
    return axis.vectors(trace, words=False, special=special())


def of_neurons() -> str:
    """Why neurons are told of pieces, if somebody asked for words, and what is hidden."""
    return _said(captions.NEURONS_ARE_OF_PIECES)


def of_vectors() -> str:
    """What the switches did to vectors, in a sentence."""
    return _said(captions.WORD_VECTORS)


def steps(trace: Trace) -> Trace:
    """The run by what it writes: a step writes a piece, so only the switch of specials acts."""
    return axis.steps(trace, special=special())


def kept_steps(trace: Trace) -> list[int]:
    """Which steps those are, from 0."""
    return axis.shown_steps(trace, special=special())


def of_steps() -> str:
    """Why steps are pieces, if somebody asked for words, and what is hidden."""
    return _said(captions.STEPS_ARE_PIECES)


def _said(of_words: str) -> str:
    return " ".join(filter(None, (of_words if words() else "", captions.of_tokens(special()))))


def token(trace: Trace, side: str, proposed: int, *, whole_words: bool = True) -> int:
    """Which token of a side, as its place on the axis, from 1. In the address stands the position of its first piece.

    proposed: a position, from 1. The twin of the widget is a click on a canvas, which calls `go`.
    """
    state = st.session_state
    found = axis.axis(tokens(trace, side), words=whole_words and words(), special=special())
    address.within("position", len(tokens(trace, side)))
    if state["position"] is not None and found.place(state["position"]) is None:  # hidden
        address.forget("position")
    address.propose("position", found.position(found.place(proposed) or 1))
    place = found.place(state["position"]) or 1
    if state["position"] != found.position(place):
        state["position"] = found.position(place)
    names = {found.position(n): f"{found.position(n)} {one.text}" for n, one in enumerate(found.tokens, start=1)}
    st.selectbox("Token", list(names), format_func=names.__getitem__, key="position", width=208)
    state[_SHOWN] = found
    return place


def go(place: float | None) -> None:
    """From a callback: the token at this place of the axis, from 1."""
    found = st.session_state.get(_SHOWN)
    if place is not None and found is not None and place <= len(found.tokens):
        st.session_state["position"] = found.position(int(place))
