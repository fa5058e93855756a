"""Three decoders beside each other, and the settings that two of them share with the sidebar."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.parts import controls, trials
from viz.inside import signed

if TYPE_CHECKING:
    from model.beams import Written
    from model.distribution import Settings
    from pages.parts.session import Reading

SAMPLING = ("temperature", "top_k", "top_p")
# One value, two widgets: the sidebar's belong to the app, these to the page. Streamlit would lose a value whose key
# moved from one to the other, so these have keys of their own, and follow the value and set it.
OWN = "_here"


def settings() -> "Settings":
    """Temperature, top-k and top-p as they stand in the address."""
    from model.distribution import Settings

    return Settings(*(st.session_state[name] for name in SAMPLING))


def settle(**chosen: Any) -> None:
    """From a callback: take over these settings. Those that decode make another translation."""
    st.session_state.update(chosen)
    if set(chosen) & set(controls.decoding()):
        controls.new_sentence()


def setting_widgets() -> None:
    """The canvas's sliders once more, as ordinary widgets."""
    with st.popover("Set by number"):
        controls.sampling(own=OWN, on_change=_following(*SAMPLING, "seed"))


def width_widget() -> None:
    with st.container(width=320):
        controls.beam_width(own=OWN, on_change=_following("beam"))


def _following(*names: str) -> Callable[[], None]:
    """Let the page's own widgets show the values; returns what takes over theirs."""
    for name in names:
        if st.session_state.get(name + OWN) != st.session_state[name]:
            st.session_state[name + OWN] = st.session_state[name]

    return lambda: settle(**{name: st.session_state[name + OWN] for name in names})


def side_by_side(reading: "Reading") -> None:
    """What greedy, sampling and beam search write, and which of them the whole app shows now."""
    for column, (method, name) in zip(st.columns(len(controls.DECODERS)), controls.DECODERS.items(), strict=True):
        found = trials.written(reading, controls.decoding(method))
        shown = not reading.forced and st.session_state["decoder"] == method
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{name}**" + (" · forced now" if shown else ""))
            st.text(found.text or "(nothing: it ended at once)")
            st.caption(_figures(found))
            label = "shown on every page" if shown else "Force this one"
            st.button(label, key=f"force_{method}", on_click=_force, args=(method,), disabled=shown)
    if reading.forced:
        total = float(reading.trace.target_log_probabilities().sum())
        st.caption(f"Forced now is your own translation, log-probability {signed(total)}.")


def _figures(found: "Written") -> str:
    cut = "" if found.ended else " · cut at the length limit"
    total, score = signed(found.log_probability), signed(found.score)
    return f"log-probability {total} · {found.pieces} pieces with </s> · score {score}{cut}".replace("<", "\\<")


def _force(method: str) -> None:
    """Show another decoder's translation everywhere; a translation of the reader's own gives way."""
    st.session_state.update(decoder=method, target="")
    controls.new_sentence()
