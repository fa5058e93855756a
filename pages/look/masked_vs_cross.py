"""How do the decoder's two attentions differ: back at its own words, and across at the source?"""

import streamlit as st

from model.words import least_sure
from pages.parts import address, axes, controls, doors, measured, mount, sides, takeaway, trials
from viz import captions, lifting, tables
from viz import pair as drawn
from viz.stages import NOTES

st.title("Masked vs cross")
st.markdown(
    "While it writes, the decoder looks two ways: back at what it has written, never ahead, and across at the whole "
    "source.",
    width=640,
)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    sides.switches()
reading = controls.reading()
trace, theme, state = sides.traced(reading), controls.theme(), st.session_state
lifted, padded = state["mask"] == "lifted", state["padding"] == "padded"
has_arithmetic = not lifted and not padded and not measured.is_rollout()

with st.container(horizontal=True, vertical_alignment="bottom"):
    sides.places(trace)
    step_place = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    stage = sides.stage_name()
pair = sides.pair(trace, stage)
takeaway.says(drawn_stage=stage)
address.within("step", len(pair.masked.rows))
pinned = sides.pinned(pair)
by_itself = least_sure(reading.trace, words=state["units"] == "words")
address.propose("step", pinned[1] + 1 if pinned else by_itself)
with step_place:
    controls.place("Step (reads → predicts)", "step", captions.of_rows(pair.masked), optional=False)
    sides.pin_widgets(pair)


def pin(kind: str | None, row: int, column: int) -> None:
    here = {"kind": kind, "query": row + 1, "key": column + 1} if kind else {"query": None, "key": None}
    state.update(here | {"step": row + 1})


def inside(kind: str, row: int, column: int) -> None:
    side = pair.masked if kind == "masked" else pair.cross
    doors.take(doors.INSIDE, **doors.arithmetic(side, row, column))


mount.pair(
    drawn.payload(
        pair,
        theme=theme,
        step=state["step"],
        linear=state["scale"] == "linear",
        pinned=pinned,
        lifted=lifted,
        door=has_arithmetic,
        shape=trace.shape,
    ),
    key="pair",
    on_step=lambda step: address.choose(step=step),
    on_pin=pin,
    on_arithmetic=inside,
)
if pinned and has_arithmetic:
    doors.to_arithmetic(doors.arithmetic(*pinned))
st.caption(" ".join(filter(None, (measured.note() or NOTES[stage], axes.of_map(), sides.of_steps()))))
if padded and not lifted:
    st.markdown(captions.padding(reading.trace, trace), width=640)
if lifted:
    st.markdown(captions.LIFTED, width=640)
    st.dataframe(lifting.table(reading.trace, trace), hide_index=True)
    st.text(captions.written_lifted(trials.written_lifted(reading), reading.trace.target_text))
st.markdown(captions.WHY_NO_STAIRCASE, width=640)
st.caption(captions.HEAD_NUMBERS)
as_table = st.toggle("show as table", key="as_table")
takeaway.table("masked", lambda: tables.cells(pair.masked), shown=as_table)
takeaway.table("cross", lambda: tables.cells(pair.cross), shown=as_table)
controls.caveat(pair.masked, pair.cross)
