"""What edits lead to: the two translations, what became of each step, and heads removed one after the other."""

from typing import TYPE_CHECKING

import streamlit as st

from model.compare import match
from model.shift import shift
from model.words import words
from pages.parts import axes, controls, mount, session, shipped, takeaway, trials
from viz import captions, curves, effect, versus
from viz.theme import Theme

if TYPE_CHECKING:
    from pages.parts.session import Reading

NAMES = ("as trained", "edited")


def compared(reading: "Reading", theme: Theme) -> None:
    """The translation without edits and with them, and what became of each step of the first."""
    before, after = session.unedited(reading), session.over_the_unedited(reading)
    one, other = words(before.predicted), words(reading.trace.predicted)
    mount.versus(versus.texts([("translation", one, other, match(one, other))], names=NAMES, theme=theme), key="versus")
    found = shift(before, after)
    names = shipped.piece_names()
    likeliest = [names[piece] for piece in found.likeliest]
    st.text(effect.verdict(found) if reading.edits else effect.NOTHING)
    shown, kept = axes.steps(before), axes.kept_steps(before)
    moved, expected = found.at(kept), [likeliest[n] for n in kept]
    mount.shift(effect.steps(shown, moved, expected, theme=theme), key="shift")
    st.caption(f"{captions.SHIFT} {axes.of_steps()}".strip())
    as_table = st.toggle("show as table", key="shift_as_table")
    takeaway.table("steps", lambda: effect.steps_table(shown, moved, expected), shown=as_table, hide_index=True)


def removal(reading: "Reading", theme: Theme) -> None:
    """Single against joint: what is lost as heads go one after the other, and what their losses alone add up to."""
    alone = trials.importance(reading, st.session_state["instead"])
    if alone is None:
        return
    controls.switch("Remove heads together", "removed", {"none": "not now", **effect.ORDERS})
    order = st.session_state["removed"]
    if order == "none":  # it takes longer than all the rest of the page
        st.caption(captions.REMOVAL_WAITS)
        return
    removed = trials.removal(reading, st.session_state["instead"], order, alone)
    lines = effect.removal(removed, alone)
    drawing = curves.payload(lines, theme=theme, x_title="heads removed", y_title="loss of ln P")
    mount.curves(drawing, key="removal")
    st.caption(captions.REMOVAL)
    as_table = st.toggle("show as table", key="removal_as_table")
    takeaway.table("removal", lambda: effect.removal_table(removed, alone), shown=as_table, hide_index=True)
