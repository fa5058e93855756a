"""How does the model know where a token stands?"""

import streamlit as st

from model.stream import tokens
from pages.parts import axes, controls, encodings, mount, streams, takeaway
from viz import curves, orders
from viz import positions as drawn

st.title("Positions")
st.markdown(
    "Attention sees a set, not a sequence. What tells it where a token stands is added to the vectors before the first "
    "layer: sines and cosines of many wavelengths, the same for every sentence.",
    width=640,
)
widgets = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
reading, theme = controls.reading(), controls.theme()
trace = reading.trace
own = trace.tensors["encoder.input.positions_tap"].shape[1]
with widgets:
    width, length, frequency = encodings.formula(own)
    axes.switches()
    st.toggle("show as table", key="as_table")

st.caption(drawn.FORMULA)
left, right = st.columns(2, gap="large")
with left:
    mount.field(drawn.heatmap(length, width, frequency, theme=theme), key="encoding", on_pin=encodings.column)
with right:
    lines = drawn.waves(length, width, frequency)
    mount.curves(drawn.waves_picture(lines, theme=theme), key="waves")
    st.caption(drawn.waves_said(width, frequency))
    encodings.numbers(drawn.small(), label=40, width=79)
    st.caption(drawn.SMALL_SAID)
takeaway.table("waves", lambda: curves.table(lines, x_title="pos"), shown=st.session_state["as_table"], hide_index=True)

st.subheader("Near and far")
left, right = st.columns(2, gap="large")
with left:
    mount.field(drawn.similarity(length, width, theme=theme), key="similarity", on_pin=encodings.two_positions)
shift = int(st.session_state["shift"])
with right:
    lines = drawn.by_distance(length, width, own)
    mount.curves(
        drawn.by_distance_picture(lines, theme=theme, shift=shift), key="by_distance", on_pick=encodings.distance
    )
    st.caption(drawn.BY_DISTANCE)
takeaway.table(
    "similarity", lambda: curves.table(lines, x_title="distance"), shown=st.session_state["as_table"], hide_index=True
)

st.subheader("A step is a rotation")
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    st.number_input("Step k", 1, 256, key="shift", width=128)
    side = streams.side()
    shown = tokens(trace, side)
    here = axes.token(trace, side, 1)
    position = st.session_state["position"]
left, right = st.columns([7, 13], gap="large")
with left:
    picture = drawn.circle(width, frequency, shift, position - 1, theme=theme)
    mount.plane(picture, key="circle", on_pick=encodings.on_circle(shown, position - 1))
with right:
    encodings.numbers(drawn.rotation(width, frequency, shift, position - 1), label=106, width=62)
    st.caption(drawn.ROTATION)
    st.text(encodings.checked(trace, side, length, width, shift))

st.subheader("Added to this sentence")
encodings.beside(trace, side, here, theme)

st.subheader("The same words in two orders")
encodings.two_orders(reading, theme)
st.caption(orders.HOW_TO_READ)

st.subheader("Longer inputs, and past the training length")
encodings.past_training(theme)
encodings.links()
