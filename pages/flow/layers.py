"""What does each layer do to a token: how long is its vector, where does it point, and what was added to it?"""

import streamlit as st

from model.stream import stream
from pages.parts import axes, controls, mount, streams, takeaway
from viz import curves, quantities
from viz import stream as drawn

st.title("Layers")
st.markdown(
    "Each token is one vector that flows through all layers. Every sub-layer adds something to it; LayerNorm takes the "
    "sum to mean 0 and variance 1, then times a learned gain, plus a learned bias.",
    width=640,
)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    side = streams.side()
    numbers = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    names = quantities.CHOICES
    st.selectbox("What is shown", list(names), format_func=names.__getitem__, key="quantity", width=248)
    axes.switches()
reading, theme, state = controls.reading(), controls.theme(), st.session_state
found = stream(axes.vectors(reading.trace), side)
with numbers:
    position, sublayer = streams.place(reading.trace, found)
quantity, here = state["quantity"], found.sublayers[sublayer - 1]
edited = streams.edited(reading, found, here)
others = {edited[0]: edited[2]} if edited else {}
token = f"‘{found.tokens[position - 1].text}’"

left, right = st.columns([11, 9], gap="large")
with left:
    picture = drawn.over_tokens(found, quantity, theme=theme, position=position, sublayer=sublayer)
    mount.field(picture, key="stream", on_pin=streams.pin)
    st.caption(f"{quantities.HOW_TO_READ} {axes.of_vectors()}".strip())
with right:
    lines = drawn.lines(found, quantity, position, others)
    mount.curves(
        drawn.line(lines, found, quantity, theme=theme, sublayer=sublayer), key="one_token", on_pick=streams.pick
    )
    with st.container(border=True):
        st.text(f"{token} at {drawn.name(here)}. {drawn.account(here, position, pre_norm=found.pre_norm)}")
        streams.links(here)

if edited:
    said, trace, other = edited
    st.subheader("What is left")
    st.text(drawn.what_is_left(reading.trace, trace, said))
    kept = drawn.left_of(found, other, position)
    mount.curves(
        drawn.drawn(kept, found, "cosine with the run as trained", theme=theme, sublayer=sublayer, cosine=True),
        key="left",
        on_pick=streams.pick,
    )

st.subheader("Tokens among themselves")
left, right = st.columns([11, 9], gap="large")
with left:
    mount.field(
        drawn.alike(found, sublayer, theme=theme, position=position),
        key="alike",
        on_pin=lambda row, _: streams.pin(row, None),
    )
with right:
    means = drawn.alike_by_place(found, others)
    if means:
        title = "mean cosine between different tokens"
        mount.curves(
            drawn.drawn(means, found, title, theme=theme, sublayer=sublayer, cosine=True),
            key="alike_by_place",
            on_pick=streams.pick,
        )
st.caption(quantities.ALIKE)
as_table = st.toggle("show as table", key="as_table")
takeaway.table("stream", lambda: drawn.table(found, quantity), shown=as_table)
takeaway.table(
    "token", lambda: curves.table(lines, x_title="place", x_labels=dict(enumerate(drawn.places(found)))), shown=as_table
)
