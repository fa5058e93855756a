"""A second sentence beside the reader's: typed, or the one that an example goes with."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.parts import address, controls, editing, session

if TYPE_CHECKING:
    from pages.parts.session import Reading

BANK = ("He sat on the river bank.", "He took money from the bank.")
PAIRS = (
    BANK,
    (
        "The animal didn't cross the street because it was too tired.",
        "The animal didn't cross the street because it was too wide.",
    ),
    ("The cat chased the mouse.", "The mouse chased the cat."),
)
PARTNERS = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}


def sentence() -> str:
    """What was typed; without that, the sentence that goes with the reader's, if it is one of the examples."""
    state = st.session_state
    return str(state["other"] or PARTNERS.get(state["sentence"].strip(), ""))


def field() -> None:
    """The widget, and a pair of sentences to try."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Second sentence",
            key="other",
            placeholder=sentence() or "Another English sentence with the same word",
            width="stretch",
        )
        st.button("Try “bank”", key="try_bank", on_click=_try_bank)


def _try_bank() -> None:
    """A sentence of the reader's own with that word stays."""
    own = st.session_state["sentence"].lower().split()
    if not any(word.strip(".,!?") == "bank" for word in own):
        controls.take(BANK[0], "")
    st.session_state["other"] = BANK[1]
    address.forget("side")


def reading() -> "Reading | str | None":
    """What the model makes of the second sentence; a sentence that says why it cannot; None if there is none."""
    from model.command import InputError

    text = sentence()
    if not text:
        return None
    try:
        return session.reading(text, "", controls.decoding(), editing.usable())
    except InputError as error:
        return f"{str(error)[0].upper()}{str(error)[1:]}.".replace("The sentence", "The second sentence")
