"""What becomes of the translation without a head, a weight, or a whole part of the model?"""

import streamlit as st

from model.importance import all_heads
from pages.parts import controls, editing, effects, mount, takeaway
from pages.parts import surgery as parts
from viz import surgery

st.title("Surgery")
st.markdown(
    "Silence heads, set what they look at, leave parts out: the translation is written anew at once, and every other "
    "page shows the edited run, too.",
    width=640,
)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    parts.switches()
reading = controls.reading()
trace, theme, state, edits = reading.trace, controls.theme(), st.session_state, editing.current()
losses, what, how_to_read = parts.losses(reading)

left, right = st.columns([9, 11], gap="large")
with left:
    grid = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        opened = parts.opened(trace, losses)
        parts.apply_to_head(*opened)
    with grid:
        mount.surgery(
            surgery.heads(losses, all_heads(trace), edits, theme=theme, opened=opened, tool=state["tool"], what=what),
            key="surgery",
            on_act=parts.act,
        )
        st.caption(f"{how_to_read} {surgery.LEGEND}".strip())
    as_table = st.toggle("show as table", key="as_table")
    takeaway.table("losses", lambda: surgery.table(losses, all_heads(trace), edits), shown=as_table, hide_index=True)
with right:
    st.subheader("What the edits lead to")
    effects.compared(reading, theme)

left, right = st.columns([9, 11], gap="large")
with left:
    st.subheader("Parts to leave out")
    parts.parts(trace)
    parts.undo_list()
with right:
    st.subheader("The open head")
    parts.matrix(trace, opened, theme)

st.subheader("One after the other")
effects.removal(reading, theme)
controls.caveat()
