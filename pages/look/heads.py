"""Which heads are there, and what does each of them look at in this sentence?"""

import streamlit as st

from model.ranking import most_telling, ranked
from pages.parts import address, axes, controls, doors, measured, mount, takeaway
from viz import captions, heatmap, payload, phrases, tables

st.title("Heads")
st.markdown(f"Every head of every layer, for this sentence. {phrases.ROWS_AND_COLUMNS}", width=640)

with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    kind, linear = controls.kind(), controls.linear()
    controls.units()
    measured.switch()
    with st.popover("More"):
        rank = controls.rank()
        controls.special()
reading = controls.reading()
trace, theme = reading.trace, controls.theme()

address.within("layer", trace.layers(kind))
address.within("head", trace.heads(kind))
rows, columns, _ = trace.labels(kind)
layer, head = most_telling(trace.weights(kind), rows, columns, square=kind != "cross")
address.propose("layer", layer)
address.propose("head", head)

maps = measured.all_maps(trace, kind)
address.within("query", len(maps[0].rows))
address.within("key", len(maps[0].columns))
pinned = controls.pinned_cell()
order = ranked(maps, *pinned) if pinned and rank else None
chosen, by_layer = measured.opened(maps), order is None and not measured.is_rollout()
left, right = st.columns([11, 9], gap="large")

with left:
    mount.grid(
        payload.grid(
            maps,
            theme=theme,
            opened=chosen,
            pinned=pinned,
            linear=linear,
            per_row=trace.layers(kind) if measured.is_rollout() else trace.heads(kind),
            captions=captions.of_heads(maps, pinned, by_layer=by_layer),
            row_labels=captions.of_layers(trace.layers(kind)) if by_layer else (),
            order=order,
        ),
        key="grid",
        on_open=measured.open_,
    )
    st.caption(f"{captions.of_grid(maps, pinned, ranked=order is not None)} {measured.note()} {axes.of_map()}".strip())

with right:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.count("Layer", "layer", trace.layers(kind))
        if not measured.is_rollout():
            controls.count("Head", "head", trace.heads(kind))
        view = controls.view()
    opened = maps[chosen]
    if view == "plotly":
        st.plotly_chart(heatmap.heatmap(opened, theme=theme, linear=linear), key="plotly", theme=None)
    elif view != "table":
        mount.head(
            payload.head(opened, theme=theme, pinned=pinned, linear=linear, lines=view == "lines"),
            key="head_canvas",
            on_pin=lambda query, key: st.session_state.update(query=query, key=key),
        )
    takeaway.table("head", lambda: tables.cells(opened), shown=view == "table", height=520)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.place("Row (looks)", "query", captions.of_rows(opened))
        controls.place("Column (looked at)", "key", [token.text for token in opened.columns])
    if pinned and view in ("plotly", "table"):  # the canvas says it itself
        st.text(heatmap.sentence(opened, *pinned))
    if pinned and not measured.is_rollout():
        doors.to_arithmetic(doors.arithmetic(opened, *pinned))
with left:  # where there is room
    controls.caveat(opened)
