"""How do the decoder's two attentions differ: back at its own words, and across at the source?"""

import streamlit as st

from model.heads import most_telling
from model.words import by_words, least_sure
from pages.parts import address, controls, mount
from viz import captions, payload, tables

st.title("Masked vs cross")
st.markdown(
    "While it writes, the decoder looks two ways: back at what it has written, never ahead, and across at the whole "
    "source.",
    width=640,
)

with st.container(horizontal=True, gap="medium"):
    by_word, linear = controls.units(), controls.linear()
reading = controls.reading()
trace, theme = reading.trace, controls.theme()

address.within("layer", trace.layers("cross"))
for kind, name in (("masked", "head"), ("cross", "cross_head")):
    address.within(name, trace.heads(kind))
layer, cross_head = most_telling(trace.weights("cross"), trace.read, trace.source, square=False)
address.propose("layer", layer)
at = st.session_state["layer"] - 1
address.propose("head", most_telling(trace.weights("masked")[at : at + 1], trace.read, trace.read, square=True)[1])
address.propose(
    "cross_head", most_telling(trace.weights("cross")[at : at + 1], trace.read, trace.source, square=False)[1]
)

with st.container(horizontal=True, vertical_alignment="bottom"):
    layer = controls.count("Layer", "layer", trace.layers("cross"))
    masked_head = controls.count("◣ head", "head", trace.heads("masked"))
    cross_head = controls.count("⇄ head", "cross_head", trace.heads("cross"))
    step_place = st.container()
masked, cross = trace.map("masked", layer, masked_head), trace.map("cross", layer, cross_head)
if by_word:
    masked, cross = by_words(masked), by_words(cross)
address.within("step", len(masked.rows))
address.propose("step", least_sure(trace, words=by_word))
with step_place:
    controls.place("Step (reads → predicts)", "step", captions.of_rows(masked), optional=False)

mount.pair(
    payload.pair(masked, cross, theme=theme, step=st.session_state["step"], linear=linear, trace=trace),
    key="pair",
    on_step=lambda step: st.session_state.update(step=step),
)
st.markdown(captions.WHY_NO_STAIRCASE, width=640)
st.caption(captions.HEAD_NUMBERS)
if st.toggle("show as table", key="as_table"):
    for shown in (masked, cross):
        st.dataframe(tables.cells(shown))
controls.caveat()
