"""What is different between two runs, and which heads moved?"""

from functools import partial

import streamlit as st

from model.compare import difference
from pages.parts import axes, compared, controls, measured, mount, takeaway
from viz import versus

st.title("Compare")
st.markdown("Two runs of the same weights, word under word: what changed, and which heads moved?", width=640)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    controls.switch("Compare with", "against", compared.AGAINST, forgets=compared.OF_ONE_PAIR)
    measured.switch()
    axes.switches()


def draw(found: compared.Runs) -> None:
    state, theme = st.session_state, controls.theme()
    compared.say_texts(found, theme)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        every = compared.maps(found)
        shown = compared.opened(found, every)
        controls.place("Row (looks)", "query", versus.row_names(shown.rows, shown.one, shown.other))
        controls.place("Column", "key", versus.column_names(shown.columns, shown.one, shown.other))
        as_table = st.toggle("show as table", key="as_table")
    apart, counted, row = compared.moved(found, every, shown)
    here = shown.one.kind, shown.one.layer, shown.one.head
    left, right = st.columns([1, 1], gap="large")
    with left:
        mount.field(
            versus.heads(apart, counted, theme=theme, opened=here, row=row),
            key="moved",
            on_pin=lambda row, head: compared.open_head(versus.stacked(apart)[1], row, head),
        )
        st.caption(" ".join(filter(None, (versus.HOW_FAR, measured.note(), axes.of_map()))))
        compared.to_furthest(found, every)
    with right:
        change = difference(shown.one, shown.other)
        mount.field(
            versus.subtracted(change, shown.one, shown.other, theme=theme, pinned=compared.pinned()),
            key="difference",
            on_pin=lambda query, key: state.update(query=query, key=key),
        )
        st.caption(versus.how_to_subtract(found.names))
    for column, run, name in zip(st.columns(2, gap="large"), compared.RUNS, found.names, strict=True):
        with column:
            st.subheader(name.capitalize())
            mount.head(
                compared.drawn(shown, run, theme),
                key=f"head_{run}",
                on_pin=partial(shown.pin, run),
            )
    takeaway.table("heads", lambda: versus.heads_table(apart), shown=as_table)
    takeaway.table("difference", lambda: versus.table(change, shown.one, shown.other), shown=as_table)
    controls.caveat(shown.one)


if pair := compared.runs():
    draw(pair)
