"""Where does one number come from? A cell of a head, from query and key to what is moved."""

import streamlit as st

from model import inside as arithmetic
from model.ranking import most_telling
from pages.parts import address, axes, controls, editing, measured, mount, one_cell, shipped, takeaway
from viz import captions, inside, tables

st.title("Inside a head")
st.markdown("One cell, from query and key to the weight, and from the weight to what the head moves.", width=640)

with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    kind = controls.kind()
    measured.switch()
    axes.switches()
numbers = st.container(horizontal=True, vertical_alignment="bottom")
reading = controls.reading()
trace, theme = reading.trace, controls.theme()

rows, columns, _ = trace.labels(kind)
address.within("layer", trace.layers(kind))
address.within("head", trace.heads(kind))
for name, value in zip(
    ("layer", "head"), most_telling(trace.weights(kind), rows, columns, square=kind != "cross"), strict=True
):
    address.propose(name, value)
with numbers:
    layer = controls.count("Layer", "layer", trace.layers(kind))
    head = controls.count("Head", "head", trace.heads(kind))
    shown = trace.map(kind, layer, head)
    chosen = one_cell.choose(trace, shown)
row, column = chosen.row, chosen.column

projection = shipped.output_projection(kind, layer)
cell = arithmetic.cell(trace, projection, kind, layer, head, row, column)
one_cell.say(trace, chosen, shown, cell)
editing.say_inside(kind, layer, head)
kept = one_cell.kept(shown, chosen)
mount.inside(inside.payload(cell, shown, row, theme=theme, kept=kept), key="inside", on_column=one_cell.go(kept, shown))
if len(kept) < len(columns):
    st.caption(captions.ROW_WITHOUT_SPECIALS)
st.subheader("And without √d")
st.markdown(captions.WITHOUT_SCALING, width=640)
st.dataframe(inside.scaling(arithmetic.without_scaling(cell.row, cell.width), cell.width), hide_index=True)
with st.container(horizontal=True, vertical_alignment="bottom"):
    st.download_button(
        "Download every number (CSV)",
        data=lambda: inside.csv(cell, shown, row),
        file_name=f"{kind}-layer{layer}-head{head}-row{row + 1}-column{column + 1}.csv",
        on_click="ignore",
    )
    names = {"queries": "queries", "keys": "keys", "values": "values", "head_outputs": "the head's output"}
    whole = st.segmented_control("The whole of", list(names), format_func=names.__getitem__, key="whole")
    as_table = st.toggle("show as table", key="as_table")
takeaway.table("products", lambda: inside.products(cell), shown=as_table, hide_index=True)
takeaway.table("row", lambda: inside.table(cell, shown).iloc[kept], shown=as_table, hide_index=True)
if whole:
    st.dataframe(tables.vectors(trace, kind, layer, head, whole))
controls.caveat(shown)
