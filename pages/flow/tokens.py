"""What does the model get to see of a sentence: which pieces, which numbers, which vectors?"""

import streamlit as st

from model.stream import tokens
from pages.parts import axes, controls, mount, second, session, streams, takeaway, vocabulary
from viz import field, pieces, plane
from viz import tokens as drawn

st.title("Tokens")
st.markdown(
    "The model reads numbers, not letters. A text is cut into pieces of one vocabulary for both languages, and each "
    "piece becomes the same vector wherever it stands. What surrounds it comes in later, layer by layer.",
    width=640,
)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    side = streams.side()
    place = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    axes.switches()
    st.toggle("show as table", key="as_table")
reading, theme = controls.reading(), controls.theme()
other = second.reading()
trace = axes.vectors(reading.trace)
shown = tokens(trace, side)
with place:
    here = axes.token(reading.trace, side, vocabulary.proposed(reading.trace, other, side))
split, position = session.pieces(reading), st.session_state["position"]
chosen = split[side][position - 1]

mount.pieces(pieces.payload(split, theme=theme, side=side, position=position), key="pieces", on_pick=vocabulary.pick)
st.caption(pieces.HOW_TO_READ)
vocabulary.links(side, position)
as_table = st.session_state["as_table"]
takeaway.table("pieces", lambda: pieces.table(split[side]), shown=as_table, hide_index=True)

left, right = st.columns([13, 7], gap="large")
with left:
    st.subheader("As vectors")
    mount.field(drawn.embeddings(trace, side, here, theme=theme), key="embeddings", on_pin=vocabulary.pin)
    values = trace.tensors[f"{side}.input.embeddings_tap"]
    st.caption(f"{drawn.how_to_read(values.shape[1])} {axes.of_vectors()}".strip())
with right:
    st.subheader("Nearest in the vocabulary")
    st.text(f"The pieces nearest to ‘{chosen.token.text}’:")
    vocabulary.nearest(int(chosen.token.id or 0))
names = [token.text for token in shown]
takeaway.table("vectors", lambda: field.table(values, names, [""] * values.shape[1]), shown=as_table)

st.subheader(f"Before and after the {side}")
controls.switch("Planes", "map", {"joint": "one for both", "own": "one each"})
groups = vocabulary.maps(trace, side, here, theme)
takeaway.table("plane", lambda: plane.table(groups), shown=as_table, hide_index=True)

st.subheader("The same piece in two sentences")
second.field()
vocabulary.twice(reading, other, side, position, theme)
