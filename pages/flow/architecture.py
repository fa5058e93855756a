"""What happens between the sentence and the translation, from box to box, with this sentence's own sizes?"""

import streamlit as st

from pages.parts import boxes, controls, mount, shipped, takeaway
from viz import network

st.title("Architecture")
st.markdown("The whole network, with the shape of what this sentence puts on every arrow.", width=640)

controls.switch("Walk through", "flow", network.FLOW)
reading = controls.reading()
counts, config = shipped.anatomy()
mount.network(
    network.payload(
        reading.trace,
        counts,
        config,
        theme=controls.theme(),
        flow=st.session_state["flow"],
        doors=boxes.leading(),
    ),
    key="network",
    on_flow=lambda flow: st.session_state.update(flow=flow),
    on_door=boxes.enter,
)
st.caption(
    "After figure 1 of “Attention Is All You Need” (Vaswani et al. 2017). On an arrow: a row for each token × a "
    "column for each number; inside an attention: heads × rows × columns of weights. Only in attention do tokens "
    "meet; every other box works on each of them by itself. Not drawn: dropout, which acts in training only."
)
boxes.links()
as_table = st.toggle("show as table", key="as_table")
takeaway.table("shapes", lambda: network.shapes(reading.trace, config), shown=as_table, hide_index=True)
takeaway.table("parameters", lambda: network.table(counts), shown=as_table, hide_index=True)
