"""One neuron of a feed-forward: choosing it, what drives it in this sentence and in others, and what it pushes."""

import numpy as np
import streamlit as st

from model import neurons
from model.stream import SUBLAYERS, layers
from model.trace import Array, Token, Trace
from pages.parts import address, axes, boxes, controls, doors, shipped, takeaway
from viz import neurons as drawn

STRONGEST, DRIVERS, PUSHED = 10, 12, 12


def layer(trace: Trace, side: str) -> int:
    """Which layer; proposed is the last."""
    most = layers(trace, side)
    address.within("layer", most)
    address.propose("layer", most)
    return controls.count("Layer", "layer", most)


def chosen(active: Array, found: neurons.Weights) -> int:
    """Which neuron, from 1; proposed is the strongest here. Its twins are clicks on the square and on a button."""
    address.within("neuron", len(active))
    address.propose("neuron", (neurons.strongest(active, found, 1) or [1])[0])
    st.number_input("Neuron", 1, len(active), key="neuron", width=128)
    return int(st.session_state["neuron"])


def choose(number: int | None) -> None:
    if number is not None:
        st.session_state["neuron"] = number


def go(row: int | None, column: int | None) -> None:
    """A click on the picture of all layers: a token and a layer."""
    if row is not None and column is not None:
        axes.go(row)
        st.session_state["layer"] = column


def strongest(before: Array, active: Array, found: neurons.Weights) -> None:
    """The neurons that add most, as buttons that choose one and as a table."""
    numbers = neurons.strongest(active, found, STRONGEST)
    with st.container(horizontal=True, gap="xsmall"):
        for number in numbers:
            st.button(str(number), key=f"strongest_{number}", on_click=choose, args=(number,))
    st.dataframe(drawn.strongest(numbers, before, active, found), hide_index=True, height=248)


def driven(side: str, number: int, neuron: int) -> None:
    """Where the neuron fires most in the built-in sentences."""
    with st.spinner("Reading the built-in sentences, once …"):
        found = shipped.examples()[side]
    places = neurons.drivers(found, number, neuron, DRIVERS)
    if not places:
        st.text(f"Neuron {neuron} is silent in all {len(found.sentences)} built-in sentences.")
        return
    st.dataframe(drawn.driving(places, found), hide_index=True)
    count = len(found.sentences)
    st.caption(f"The tokens of {count} built-in sentences that drive it most. {drawn.SENTENCES[side]}")


def pushes(trace: Trace, number: int, neuron: int, position: int) -> None:
    """Which pieces a decoder neuron pushes up and down."""
    push = neurons.pushes(neuron, shipped.feed_forward("decoder", number), shipped.output_matrix())
    here = _landed(trace, number, neuron, position) if number == layers(trace, "decoder") else None
    up, down = neurons.extremes(push, PUSHED)
    for place, ids, said in zip(st.columns(2), (up, down), ("up", "down"), strict=True):
        with place:
            st.markdown(f"**Pushed {said}**")
            st.dataframe(drawn.pushed(ids, shipped.piece_names(), push, here), hide_index=True)


def _landed(trace: Trace, number: int, neuron: int, position: int) -> Array:
    """What the neuron adds to each score at this position, through the last LayerNorm."""
    active = float(neurons.hidden(trace, "decoder", number, "active")[position - 1, neuron - 1])
    total = trace.tensors[f"decoder.layers.{number}.feed_forward_residual.residual_tap"][position - 1]
    part = active * shipped.feed_forward("decoder", number).output[neuron - 1]
    return neurons.landed(part, total.astype(np.float64), shipped.last_norm(), shipped.output_matrix())


def tables(before: Array, active: Array, found: neurons.Weights, shares: Array, labels: tuple[Token, ...]) -> None:
    """The pictures as tables."""
    as_table, every = st.toggle("show as table", key="as_table"), range(1, len(active) + 1)
    takeaway.table("neurons", lambda: drawn.strongest(every, before, active, found), shown=as_table, hide_index=True)
    takeaway.table("sparsity", lambda: drawn.share_table(shares, labels), shown=as_table)


def links(side: str, number: int) -> None:
    """Back to the stream that this feed-forward adds to, and on to what comes out in the end."""
    with st.container(horizontal=True):
        place = number * len(SUBLAYERS[side])
        st.page_link(doors.LAYERS, label="What it adds to the token →", query_params=address.link(sublayer=place))
        st.page_link(boxes.OUTPUT, label="Output →", query_params=address.link())
