"""Ways from one page to the next deeper one; each carries the whole address."""

import streamlit as st

from model.heads import most_telling
from model.trace import KINDS, AttentionMap, Trace
from pages.parts import address, mount
from viz import payload, phrases
from viz.theme import Theme

HEADS, MASKED_VS_CROSS = "pages/look/heads.py", "pages/look/masked_vs_cross.py"
_THROUGH = "_door_taken"


def three_maps(trace: Trace, theme: Theme) -> None:
    """One telling head of each kind, small; a click opens it on the page of all heads."""
    shown = [_telling(trace, kind) for kind in KINDS]
    captions = [f"{phrases.kind(m.kind)} L{m.layer}·{m.head}" for m in shown]

    def through(kind: str, layer: int, head: int) -> None:
        address.forget("query", "key", "view")
        st.session_state.update({"kind": kind, "layer": layer, "head": head, _THROUGH: HEADS})

    mount.grid(
        payload.grid(
            shown, theme=theme, opened=None, pinned=None, linear=False, per_row=3, captions=captions, size=220
        ),
        key="three_maps",
        on_open=through,
    )
    if door := st.session_state.pop(_THROUGH, None):
        st.switch_page(door, query_params=address.link())
    with st.container(horizontal=True):
        for m in shown:
            there = address.link(kind=m.kind, layer=m.layer, head=m.head, query=None, key=None)
            st.page_link(HEADS, label=f"All {m.kind} heads →", query_params=there)
        st.page_link(MASKED_VS_CROSS, label="Masked vs cross →", query_params=address.link())


def _telling(trace: Trace, kind: str) -> AttentionMap:
    rows, columns, _ = trace.labels(kind)
    return trace.map(kind, *most_telling(trace.weights(kind), rows, columns, square=kind != "cross"))
