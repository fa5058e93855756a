"""Which neurons fire for a token, what drives one of them, and what does it push?"""

import streamlit as st

from model import neurons
from model.stream import tokens
from pages.parts import axes, controls, mount, neuron, shipped, streams
from viz import neurons as drawn

st.title("Feed-forward")
st.markdown(
    "Behind every attention each token passes, by itself, through one hidden layer of many neurons. Most of them are "
    "silent: which fire, and for what?",
    width=640,
)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    side = streams.side()
    numbers = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    axes.switches()
reading, theme = controls.reading(), controls.theme()
trace, activation = axes.one_by_one(reading.trace), shipped.anatomy()[1].activation
with numbers:
    layer = neuron.layer(trace, side)
    liveliest = neurons.liveliest(reading.trace, side, layer)
    position = axes.token(reading.trace, side, liveliest, whole_words=False)
found = shipped.feed_forward(side, layer)
hidden, active = (neurons.hidden(trace, side, layer, what) for what in ("hidden", "active"))
before, after = hidden[position - 1], active[position - 1]
with numbers:
    chosen = neuron.chosen(after, found)
labels, count, shares = tokens(trace, side), len(after), neurons.firing(trace, side)

left, right = st.columns([11, 9], gap="large")
with left:
    mount.field(
        drawn.square(before, after, theme=theme, activation=activation, neuron=chosen),
        key="hidden",
        on_pin=lambda row, column: neuron.choose(row and column and drawn.pinned(row, column, count)),
    )
    st.text(drawn.of_position(after, labels[position - 1].text))
    st.caption(f"{drawn.HOW_TO_READ} {axes.of_neurons()}".strip())
with right:
    st.markdown("**Strongest here**")
    neuron.strongest(before, after, found)
    mount.field(
        drawn.sparsity(shares, labels, theme=theme, position=position, layer=layer),
        key="sparsity",
        on_pin=neuron.go,
    )

st.subheader(f"Neuron {chosen} of layer {layer}, {side}")
mount.curves(
    drawn.along(active[:, chosen - 1], labels, theme=theme, neuron=chosen, position=position),
    key="along",
    on_pick=lambda place: axes.go(place or None),
)
driving, pushing = st.columns(2, gap="large")
with pushing:
    st.markdown("**What it pushes**")
    if side == "decoder":
        neuron.pushes(trace, layer, chosen, position)
    st.caption(drawn.PUSHES[side])

st.subheader("ReLU beside GELU")
left, right = st.columns(2, gap="large")
with left:
    mount.curves(drawn.functions(theme=theme, before=float(before[chosen - 1]), neuron=chosen), key="functions")
with right:
    mount.curves(drawn.histogram(before, theme=theme), key="histogram")
st.caption(drawn.FUNCTIONS_READ)
neuron.links(side, layer)
neuron.tables(before, after, found, shares, labels)
with driving:  # last: the first time, it takes a while
    st.markdown("**What drives it**")
    neuron.driven(side, layer, chosen)
