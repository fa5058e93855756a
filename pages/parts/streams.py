"""The controls of the pages about layers: which side, which token, which sub-layer, and which residual path is off."""

from typing import TYPE_CHECKING

import streamlit as st

from model import editlist
from model.edits import Edit, NoResidual, SkipSublayer
from model.stream import Stream, Sublayer, most_turned, stream
from model.trace import Trace
from pages.parts import address, axes, boxes, controls, doors, session
from viz import stream as drawn

if TYPE_CHECKING:
    from pages.parts.session import Reading

RESIDUAL = {
    "on": "as trained",
    "off": "residual path off, here",
    "everywhere": "all residual paths of this side off",
    "skipped": "sub-layer left out, here",
}


def side() -> str:
    """Encoder or decoder; a position and a sub-layer belong to one of them."""
    choices = {"encoder": "encoder", "decoder": "decoder"}
    controls.switch("Side", "side", choices, forgets=("position", "sublayer", "neuron"))
    return str(st.session_state["side"])


def place(trace: Trace, found: Stream) -> tuple[int, int]:
    """Which token and which sub-layer, from 1. Proposed: the piece that is turned most, and where it is."""
    position, sublayer = most_turned(stream(trace, found.side))
    address.within("sublayer", len(found.sublayers))
    address.propose("sublayer", sublayer)
    chosen = axes.token(trace, found.side, position)
    names = [drawn.name(sublayer) for sublayer in found.sublayers]
    st.selectbox(
        "Sub-layer", range(1, len(names) + 1), format_func=lambda n: names[n - 1], key="sublayer", index=0, width=208
    )
    return chosen, int(st.session_state["sublayer"])


def pin(row: int | None, column: int | None) -> None:
    """A click on a token's vector at one place; the first place is the start, before any sub-layer."""
    axes.go(row)
    if column is not None and column > 1:
        st.session_state["sublayer"] = column - 1


def pick(place: float | None) -> None:
    """A click on the line: a place, counted from 0, the start."""
    if place:
        st.session_state["sublayer"] = int(place)


def edited(reading: "Reading", found: Stream, here: Sublayer) -> tuple[str, Trace, Stream] | None:
    """What is switched off, in words, and the run without it; None where all is as trained."""
    controls.switch("Residual path", "residual", RESIDUAL)
    edits = _edits(st.session_state["residual"], found, here)
    if not edits:
        return None
    trace = session.edited(reading, editlist.text(edits))
    said = edits[0].said if len(edits) == 1 else f"no residual path in the {found.side}"
    return said, trace, stream(axes.vectors(trace), found.side)


def _edits(choice: str, found: Stream, here: Sublayer) -> list[Edit]:
    if choice == "everywhere":
        return [NoResidual(sublayer.name, sublayer.layer) for sublayer in found.sublayers]
    if choice == "skipped":
        return [SkipSublayer(here.name, here.layer)]
    return [NoResidual(here.name, here.layer)] if choice == "off" else []


def links(here: Sublayer) -> None:
    """From a sub-layer to the pages that look into it, and to what comes out in the end."""
    with st.container(horizontal=True):
        if here.is_attention:
            there = address.link(kind=here.name, layer=here.layer, head=None, query=None, key=None)
            st.page_link(doors.HEADS, label="Its heads →", query_params=there)
        there = address.link(layer=here.layer, neuron=None)
        st.page_link(boxes.FEED_FORWARD, label=f"Feed-forward of layer {here.layer} →", query_params=there)
        st.page_link(boxes.OUTPUT, label="Output →", query_params=address.link())
