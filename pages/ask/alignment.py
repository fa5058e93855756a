"""Which English word does each German word lean on? Read off cross-attention, and scored on alignments made by hand."""

import streamlit as st

from model.alignment import Reading
from pages.parts import address, aligned, axes, by_hand, controls, doors, mount, takeaway
from viz import alignment, captions, error_rates, field

st.title("Alignment")
st.markdown(
    "Which English word each German word leans on, read off cross-attention. No head was trained for it.", width=640
)
with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
    switches = st.container(horizontal=True, vertical_alignment="bottom", width="content")
    pairs = st.container(width="content")
reading = controls.reading()
trace, theme, state = reading.trace, controls.theme(), st.session_state
with switches:
    way = aligned.switches(trace)
shown = aligned.aligned(trace, way)
with pairs:
    by_hand.choose(shown)
address.within("german", len(shown.target))
address.within("english", len(shown.source))
pinned = aligned.pinned()


def pin(german: int | None, english: int | None) -> None:
    state.update(german=german, english=english)


def draw() -> None:
    mount.alignment(alignment.payload(shown, theme=theme, pinned=pinned), key="alignment", on_pin=pin)
    st.caption(alignment.how_to_read(shown))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.place("German word", "german", list(shown.target))
        controls.place("English word", "english", list(shown.source))
        axes.switches()
        as_table = st.toggle("show as table", key="as_table")
        if way.head is not None:
            doors.to_head("cross", way.layer, way.head, "This head on Heads →")
    takeaway.table("alignment", lambda: alignment.table(shown), shown=as_table, hide_index=True)
    left, right = st.columns([1, 1], gap="large")
    with left:
        cells = aligned.cells(trace, way)
        mount.field(
            alignment.matrix(shown, cells, theme=theme, pinned=pinned),
            key="alignment_matrix",
            on_pin=lambda row, column: pin(*cells.words(row, column)),
        )
        st.caption(f"{captions.LINES_ARE_WORDS} {axes.of_map()}".strip())
    takeaway.table("strengths", lambda: field.table(cells.strength, cells.rows, cells.columns), shown=state["as_table"])
    with right:
        score()


def score() -> None:
    st.subheader("How good is this way of reading?")
    corpora = by_hand.corpora()
    st.dataframe(error_rates.scores(way, corpora, by_hand.this_pair(shown)), hide_index=True)
    st.caption(f"{error_rates.AER} {by_hand.limits()}{f' {error_rates.HALVES}' if len(corpora) > 1 else ''}")
    if sentence := by_hand.not_known():
        st.text(sentence)
    cells, layers, heads = error_rates.of_all(corpora[0].rates, way.by, way.rows)

    def choose(layer: int | None, head: int | None) -> None:
        if layer and head:
            aligned.take(Reading(layer, head if head < len(heads) else None, way.by, way.rows))

    mount.field(error_rates.payload(corpora[0].rates, way, theme=theme), key="alignment_rates", on_pin=choose)
    takeaway.table("error_rates", lambda: field.table(cells, layers, heads), shown=state["as_table"])


if shown.target:
    draw()
else:
    st.text("The translation has no word, so there is nothing to align.")
controls.caveat()
