"""What does the model make of this sentence, and how sure was it of each piece?"""

import streamlit as st

from model.alignment import strongest
from model.words import least_sure
from pages.parts import address, aligned, axes, controls, doors, mount, takeaway
from viz import alignment, payload, tables

st.title("Translate")
st.markdown(
    "The translation piece by piece: how sure the model was, what else it considered, and where it looked.", width=640
)

reading = controls.reading()
trace, theme = reading.trace, controls.theme()

shown, considered = axes.steps(trace), [reading.candidates[n] for n in axes.kept_steps(trace)]
address.within("step", len(shown.read))
address.propose("step", least_sure(shown, words=False))
way = aligned.named(trace)
links = strongest(aligned.strength(trace, way))
mount.translation(
    payload.translation(shown, links, considered, theme=theme, step=st.session_state["step"], forced=reading.forced),
    key="translation",
    on_step=lambda step: address.choose(step=step),
)
st.caption(
    "A line joins each German word to the English word it leaned on most: cross-attention, "
    f"{alignment.name(way)} (Alignment explains it). Where a sentence needs more than one line, choose a piece: "
    f"its English word is underlined. The bar under a piece is its probability. {axes.of_steps()}".strip()
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.place("Step", "step", [token.text for token in shown.predicted], optional=False)
    axes.switches()
    as_table = st.toggle("show as table", key="as_table")
    st.page_link(doors.ALIGNMENT, label="Which word stands for which →", query_params=address.link())
takeaway.table("steps", lambda: tables.steps(shown, considered), shown=as_table, hide_index=True)

st.subheader("Where it looked")
doors.three_maps(trace, theme)
st.caption(axes.of_map())
controls.caveat()
