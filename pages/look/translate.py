"""What does the model make of this sentence, and how sure was it of each piece?"""

import streamlit as st

from model.alignment import align, default_layer
from model.words import least_sure
from pages.parts import address, controls, doors, mount
from viz import payload, tables

st.title("Translate")
st.markdown(
    "The translation piece by piece: how sure the model was, what else it considered, and where it looked.", width=640
)

reading = controls.reading()
trace, theme = reading.trace, controls.theme()

address.within("step", len(trace.read))
address.propose("step", least_sure(trace, words=False))
layer = default_layer(trace)
mount.translation(
    payload.translation(trace, align(trace, layer), reading.candidates, theme=theme, step=st.session_state["step"]),
    key="translation",
    on_step=lambda step: st.session_state.update(step=step),
)
st.caption(
    "A line joins each German word to the English word it leaned on most: the mean of all cross-attention heads of "
    f"layer {layer}, in the row that predicts the word. (Where a sentence needs more than one line, point at a piece: "
    "its English word is underlined.) The bar under a piece is its probability."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.place("Step", "step", [token.text for token in trace.predicted], optional=False)
    as_table = st.toggle("show as table", key="as_table")
if as_table:
    st.dataframe(tables.steps(trace, reading.candidates), hide_index=True)

st.subheader("Where it looked")
doors.three_maps(trace, theme)
controls.caveat()
