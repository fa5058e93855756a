"""How does the last vector become a piece, and what else could have been written?"""

import streamlit as st

from model.words import least_sure
from pages.parts import address, axes, controls, doors, editing, mount, shipped, takeaway, trials, writers
from viz import beams, distribution, lens, loss

st.title("Output")
st.markdown("From the decoder's last vector to the next piece: how sure it is, and how one is taken.", width=640)

reading = controls.reading()
trace, theme, names = axes.steps(reading.trace), controls.theme(), shipped.piece_names()
settings = writers.settings()
address.within("step", len(trace.read))
address.propose("step", least_sure(trace, words=False))
step = st.session_state["step"]
editing.say_model(reading)


def pick(step: int) -> None:
    st.session_state["step"] = step


mount.distribution(
    distribution.payload(trace, names, settings, theme=theme, step=step),
    key="distribution",
    on_step=pick,
    on_settings=writers.settle,
)
st.caption(f"{distribution.CAPTION} {axes.of_steps()}".strip())
with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.place("Step", "step", [token.text for token in trace.predicted], optional=False)
    writers.setting_widgets()
    axes.switches()
    as_table = st.toggle("show as table", key="as_table")
    doors.to_step(step)
takeaway.table(
    "distribution", lambda: distribution.table(trace, names, settings, step), shown=as_table, hide_index=True
)

st.subheader("Read after every layer")
found = trials.lens(reading).at(axes.kept_steps(reading.trace))
address.within("layer", trace.layers("cross"))
address.propose("layer", trace.layers("cross"))  # not another for each step: a click would not stay where it was made
mount.lens(
    lens.payload(found, trace, names, theme=theme, step=step, layer=st.session_state["layer"]),
    key="lens",
    on_pin=lambda layer, step: address.choose(layer=layer, step=step),
)
st.caption(lens.CAPTION)
st.text(lens.since(found, trace, step))
with st.container(horizontal=True, vertical_alignment="bottom"):
    controls.count("Layer", "layer", trace.layers("cross"))
    lens_table = st.toggle("show as table", key="lens_table")
    doors.to_layers(step, st.session_state["layer"])
takeaway.table("lens", lambda: lens.table(found, trace, names), shown=lens_table, hide_index=True)

st.subheader("The loss of each token")
mount.loss(
    loss.payload(trace, names, theme=theme, step=step, smoothing=st.session_state["smoothing"]),
    key="loss",
    on_step=pick,
    on_smoothing=lambda value: st.session_state.update(smoothing=value),
)
st.caption(loss.CAPTION)
with st.popover("Set smoothing by number"):
    st.number_input("Label smoothing ε", 0.0, 0.9, step=0.05, key="smoothing")
loss_table, smoothing = st.toggle("show as table", key="loss_table"), st.session_state["smoothing"]
takeaway.table("loss", lambda: loss.table(trace, smoothing), shown=loss_table, hide_index=True)

st.subheader("Three ways to write")
writers.side_by_side(reading)
st.subheader("The beam as a tree")
writers.width_widget()
grown = trials.beams(reading, st.session_state["beam"])
mount.beams(beams.payload(grown, theme=theme, width=st.session_state["beam"], step=step), key="beams")
st.caption(beams.CAPTION)
beam_table = st.toggle("show as table", key="beam_table")
takeaway.table("beam", lambda: beams.table(grown), shown=beam_table, hide_index=True)
