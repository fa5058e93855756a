"""Ways from one page to the next deeper one; each carries the whole address."""

from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model.ranking import most_telling
from model.stream import SUBLAYERS
from model.trace import KINDS, AttentionMap, Trace
from pages.parts import address, axes, mount
from viz import payload, phrases
from viz.theme import Theme

HEADS, MASKED_VS_CROSS, INSIDE = (f"pages/look/{name}.py" for name in ("heads", "masked_vs_cross", "inside_a_head"))
LAYERS = "pages/flow/layers.py"
ALIGNMENT = "pages/ask/alignment.py"
ROOT = Path(__file__).resolve().parents[2]
_TAKEN = "_door_taken"


def take(page: str, **state: Any) -> None:
    """From a callback: go to `page`, with these values in the address, in the run that follows."""
    st.session_state.update(state | {_TAKEN: page})


def pass_through() -> None:
    """Carry out what `take` asked for; before anything is drawn."""
    if page := st.session_state.pop(_TAKEN, None):
        st.switch_page(page, query_params=address.link())


def three_maps(trace: Trace, theme: Theme) -> None:
    """One telling head of each kind, small; a click opens it on the page of all heads."""
    shown = [axes.shaped(_telling(trace, kind)) for kind in KINDS]
    captions = [f"{phrases.kind(m.kind)} L{m.layer}·{m.head}" for m in shown]
    mount.grid(
        payload.grid(
            shown, theme=theme, opened=None, pinned=None, linear=False, per_row=3, captions=captions, size=220
        ),
        key="three_maps",
        on_open=lambda kind, layer, head: take(HEADS, kind=kind, layer=layer, head=head, query=None, key=None),
    )
    with st.container(horizontal=True):
        for m in shown:
            there = address.link(kind=m.kind, layer=m.layer, head=m.head, query=None, key=None)
            st.page_link(HEADS, label=f"All {m.kind} heads →", query_params=there)
        st.page_link(MASKED_VS_CROSS, label="Masked vs cross →", query_params=address.link())


def arithmetic(shown: AttentionMap, row: int, column: int) -> dict[str, Any]:
    """The address values of *Inside a head* for a drawn cell (from 0), which that page finds the pieces of.

    A mean has no arithmetic of its own: its first head is opened.
    """
    place = {"kind": shown.kind, "layer": shown.layer, "head": shown.head or 1}
    return place | {"query": row + 1, "key": column + 1}


def to_arithmetic(values: dict[str, Any]) -> None:
    """The pinned cell's door, as a link."""
    st.page_link(INSIDE, label="Arithmetic →", query_params=address.link(**values))


def is_there(page: str) -> bool:
    """Whether the menu has this page."""
    context = get_script_run_ctx()
    pages = context.pages_manager.get_pages().values() if context else ()
    return any(Path(one["script_path"]) == ROOT / page for one in pages)


def to_step(step: int) -> None:
    """From a step to the two attentions at that step."""
    st.page_link(
        MASKED_VS_CROSS, label=f"Step {step} in Masked vs cross →", query_params=address.link(step=step, units="pieces")
    )


def to_layers(step: int, layer: int) -> None:
    """From what is read after a layer to the stream at that place."""
    if is_there(LAYERS):
        there = address.link(side="decoder", position=step, sublayer=layer * len(SUBLAYERS["decoder"]))
        st.page_link(LAYERS, label=f"Layer {layer} at step {step} →", query_params=there)


def to_head(kind: str, layer: int, head: int, label: str) -> None:
    """One head on the page of all heads, as a link; a cell that was pinned in another head is let go."""
    there = address.link(kind=kind, layer=layer, head=head, query=None, key=None)
    st.page_link(HEADS, label=label, query_params=there)


def _telling(trace: Trace, kind: str) -> AttentionMap:
    rows, columns, _ = trace.labels(kind)
    return trace.map(kind, *most_telling(trace.weights(kind), rows, columns, square=kind != "cross"))
