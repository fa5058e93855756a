"""The edits of a run. They stand in the address; on every page a line marks an edited run, and can undo them."""

from typing import TYPE_CHECKING

import streamlit as st

from model import editlist
from model.edits import Edit, EditError, LiftMask, Silence
from pages.parts import address, session

if TYPE_CHECKING:
    from pages.parts.session import Reading

SURGERY, SURGERY_NAME = "pages/ask/surgery.py", "surgery"
COMPARE = "pages/ask/compare.py"
NAMED = 4  # edits that the line names; the others are counted


def current() -> tuple[Edit, ...]:
    """The edits in the address."""
    return editlist.parsed(st.session_state["edits"])


def toggle(edit: Edit) -> None:
    """From a callback: carry out one more edit, or undo it if it is there."""
    try:
        keep(editlist.toggled(current(), edit))
    except EditError as error:
        st.toast(f"{str(error)[0].upper()}{str(error)[1:]}.")


def keep(edits: tuple[Edit, ...]) -> None:
    """From a callback: these edits and no others."""
    st.session_state["edits"] = editlist.text(edits)


def usable() -> str:
    """The edits of the address that this model has a place for; the others are let go, and said."""
    kept, complaints = session.usable(st.session_state["edits"])
    for sentence in complaints:
        address.note(f"{sentence}.")
    if kept != st.session_state["edits"]:
        st.session_state["edits"] = kept
    return kept


def mark(found: "Reading") -> None:
    """The line that says that this run is edited, with all edits to undo. Nothing, if it is not.

    Surgery keeps its room from the beginning: what is clicked there must not move away under the pointer.
    """
    edits = editlist.parsed(found.edits)
    if not edits and address.page() != SURGERY_NAME:
        return
    for sentence in editlist.without_effect(edits, found.trace):
        address.note(f"{sentence}.")
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="edit_mark"):
        st.markdown("**✂ Edited run**" if edits else "**✂ As trained**", width="content")
        st.text(summary(edits) or "nothing is edited yet", width="content")
        with st.popover(f"Edits ({len(edits)})", disabled=not edits):
            undo_buttons(edits, key="undo")
        st.button("Undo all", key="undo_all", on_click=keep, args=((),), type="tertiary", disabled=not edits)


def summary(edits: tuple[Edit, ...]) -> str:
    """The edits in words, or the first of them."""
    named = " · ".join(edit.said for edit in edits[:NAMED])
    return named if len(edits) <= NAMED else f"{named} · and {len(edits) - NAMED} more"


def written_by(found: "Reading", decoder: str) -> str:
    """Where a translation that is not forced comes from."""
    if not found.edits:
        return f"the model's translation, {decoder}"
    if found.own_score is None:
        return "the translation without edits (too long to be written anew with the mask lifted)"
    lifted = LiftMask() in editlist.parsed(found.edits)
    return f"the edited model's translation, {'greedy, as the mask is lifted' if lifted else decoder}"


def undo_buttons(edits: tuple[Edit, ...], *, key: str) -> None:
    """One button for each edit, which takes it back."""
    for edit in edits:
        st.button(f"Undo: {edit.said}", key=f"{key} {edit}", on_click=toggle, args=(edit,), type="tertiary")


def say_inside(kind: str, layer: int, head: int) -> None:
    """On a page that recomputes a head: which edits its arithmetic leaves out."""
    if edits := editlist.inside(current(), kind, layer, head):
        st.text(f"✂ {summary(tuple(edits))}: the arithmetic below is what the model does by itself, before that edit.")


def say_model(found: "Reading") -> None:
    """On a page that tells what “the model” holds: under edits that is the edited one."""
    if not found.edits:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("✂ On this page “the model” is the edited model.", width="content")
        st.page_link(COMPARE, label="Beside it as trained →", query_params=address.link(against="edits"))


def to_surgery(kind: str, layer: int, head: int) -> None:
    """From a head to the page on which it is silenced, once it is silenced."""
    edit, edits = Silence(kind, layer, head), current()
    full = edit in edits or len(edits) >= editlist.LIMIT
    there = edits if full else editlist.toggled(edits, edit)
    st.page_link(
        SURGERY,
        label=f"{kind} {layer}.{head} in Surgery →" if full else f"Silence {kind} {layer}.{head} →",
        query_params=address.link(edits=editlist.text(there), kind=kind, layer=layer, head=head, query=None, key=None),
    )
