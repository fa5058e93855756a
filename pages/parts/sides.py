"""The two sides of *Masked vs cross*: which layer, which head, which stage, and the maps that follow from it."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from model.ranking import most_telling
from model.selection import shaped
from model.trace import AttentionMap, Trace
from model.words import word_log_probabilities
from pages.parts import address, controls, measured, session
from viz import captions, phrases
from viz.pair import PADDING, Pair, leaning
from viz.stages import STAGES, stage
from viz.theme import MARKS

if TYPE_CHECKING:
    from pages.parts.session import Reading


def switches() -> None:
    """What acts on both sides; what is wanted less often is behind a button."""
    controls.units()
    measured.switch()
    controls.switch("Mask", "mask", {"on": "as trained", "lifted": "lifted"})
    with st.popover("More"):
        controls.switch("Heads", "heads", {"one": "one a side", "mean": "mean of the layer"})
        controls.special()
        controls.switch("Batch", "padding", {"none": "one sentence", "padded": f"{PADDING} × padding"})
        controls.linear()


def of_steps() -> str:
    """What a step counts, if it is not what it counts elsewhere."""
    return captions.STEPS_ARE_WORDS if st.session_state["units"] == "words" else ""


def traced(reading: "Reading") -> Trace:
    """The pass that the switches ask for."""
    if st.session_state["mask"] == "lifted":
        return session.lifted(reading)
    return session.padded(reading, PADDING) if st.session_state["padding"] == "padded" else reading.trace


def places(trace: Trace) -> None:
    """A layer and a head for each side. Proposed: the most telling ones."""
    for kind, layer, head in (("masked", "layer", "head"), ("cross", "cross_layer", "cross_head")):
        rows, columns, _ = trace.labels(kind)
        address.within(layer, trace.layers(kind))
        address.within(head, trace.heads(kind))
        address.propose(layer, most_telling(trace.weights(kind), rows, columns, square=kind == "masked")[0])
        chosen = trace.weights(kind)[st.session_state[layer] - 1 : st.session_state[layer]]
        address.propose(head, most_telling(chosen, rows, columns, square=kind == "masked")[1])
        mark = {"masked": "◣", "cross": "⇄"}[kind]
        controls.count(f"{mark} layer", layer, trace.layers(kind))
        if st.session_state["heads"] == "one" and not measured.is_rollout():
            controls.count(f"{mark} head", head, trace.heads(kind))


def stage_name() -> str:
    """The stage to draw. Over words, for means, without specials, and by other measures there are weights only."""
    state = st.session_state
    if state["units"] == "words" or state["heads"] == "mean" or state["special"] != "shown" or not measured.is_raw():
        return "softmax"
    controls.switch("Stage", "stage", STAGES)
    return str(state["stage"])


def pair(trace: Trace, name: str) -> Pair:
    """Both sides as the controls ask, and the encoder's last layer behind them."""
    state = st.session_state
    words = state["units"] == "words"

    def side(kind: str, layer: int, head: int | None) -> AttentionMap:
        return shaped(measured.one(trace, kind, layer, head), words=words, special=state["special"])

    one = state["heads"] == "one"
    masked = side("masked", state["layer"], state["head"] if one else None)
    cross = side("cross", state["cross_layer"], state["cross_head"] if one else None)
    encoder = side("encoder", trace.layers("encoder"), None)
    chances = word_log_probabilities(trace) if words else trace.target_log_probabilities()
    stages = stage(name, masked, trace), stage(name, cross, trace)
    return Pair(masked, cross, encoder, *stages, probabilities=np.exp(chances), leans=leaning(cross, encoder))


def pin_widgets(shown: Pair) -> None:
    """The twin of a click on a cell, for the keyboard."""
    with st.popover("Pin a cell"):
        controls.switch("Side", "kind", {kind: phrases.kind(kind) for kind in MARKS}, forgets=("query", "key"))
        on = {"masked": shown.masked, "cross": shown.cross}.get(st.session_state["kind"])
        if on is None:
            st.caption("Encoder cells are pinned on the page Heads.")
            return
        controls.place("Row (looks)", "query", captions.of_rows(on))
        controls.place("Column (looked at)", "key", [token.text for token in on.columns])


def pinned(shown: Pair) -> tuple[AttentionMap, int, int] | None:
    """The side on which a cell is pinned, with its row and column (from 0), if it is still there."""
    state = st.session_state
    on = {"masked": shown.masked, "cross": shown.cross}.get(state["kind"])
    if on is None or state["query"] is None or state["key"] is None:
        return None
    address.within("query", len(on.rows))
    address.within("key", len(on.columns))
    if state["query"] is None or state["key"] is None:
        return None
    return on, state["query"] - 1, state["key"] - 1
