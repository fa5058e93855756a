"""What does each head do, over a corpus? Every head as a point, named where a published threshold names it."""

import streamlit as st

from model.report import Report
from model.roles import NOT_COUNTED, STATISTICS
from pages.parts import controls, doors, known, mount, role, takeaway
from viz import phrases
from viz import roles as drawn
from viz.scatter import payload
from viz.theme import MARKS

st.title("Roles")
st.markdown("What every head does over a corpus. One sentence shows where a head looks, not what it is for.", width=640)
with st.container(horizontal=True, vertical_alignment="bottom"):
    for axis in ("x", "y"):
        names = {name: statistic.label for name, statistic in STATISTICS.items()}
        st.selectbox(f"{axis} axis", list(names), format_func=names.__getitem__, key=axis, width=224)
    controls.switch("Beside", "beside", {**drawn.BASELINES, "none": "nothing"})
    controls.switch("Kinds", "kinds", {"all": "all", **{kind: phrases.kind(kind) for kind in MARKS}})
reading = controls.reading()
state, theme = st.session_state, controls.theme()
x, y, beside = state["x"], state["y"], None if state["beside"] == "none" else state["beside"]


def draw(report: Report) -> None:
    picture = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = role.chosen(report.heads, reading.trace)
        as_table = st.toggle("show as table", key="as_table")
    rows = [each for each in report.heads if state["kinds"] in ("all", each["kind"])]
    points = drawn.points(rows, x, y, beside=beside)
    here = (row["kind"], row["layer"], row["head"])
    with picture:
        mount.scatter(
            payload(
                points,
                *drawn.axes(points, x, y),
                theme=theme,
                chosen=next((n for n, p in enumerate(points) if (p.kind, p.layer, p.head) == here), None),
                empty="No head has both numbers.",
            ),
            key="scatter",
            on_choose=role.choose,
            on_open=role.go,
        )
        st.caption(drawn.how_to_read(report.content, points, x, y, heads=len(rows), beside=beside))
    takeaway.table("roles", lambda: drawn.table(rows, x, y, beside=beside), shown=as_table, hide_index=True)
    st.subheader(f"{drawn.name(row).capitalize()}: here, and over the corpus")
    role.numbers(drawn.beside_sentence(report.content, row, role.in_this_sentence(row, reading)))
    st.caption(drawn.NO_ROLE)
    role.example(reading.trace, row, theme)
    doors.to_head(*here, "Open it on Heads →")
    st.subheader("Which heads have a name")
    st.dataframe(drawn.rules(report.heads), hide_index=True, width="content")
    st.markdown(drawn.criteria(), width=640)
    st.caption(f"Not counted: {NOT_COUNTED}.")


report = known.report()
if isinstance(report, str):
    st.text(f"What heads do over a corpus is not known here: {report}.")
else:
    takeaway.says(reported=True)
    draw(report)
controls.caveat()
