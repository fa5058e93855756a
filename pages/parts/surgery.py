"""The controls of Surgery: what a click on a head or a cell does, and the parts that can be left out."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from model import editlist
from model.edits import Edit, Only, SetCell, SetRow, Silence, Uniform
from model.importance import Head, all_heads
from model.report import ReportError
from model.trace import AttentionMap, Trace
from pages.parts import address, axes, controls, editing, measured, mount, shipped, takeaway, trials
from viz import captions, payload, tables
from viz import surgery as drawn
from viz.theme import Theme

if TYPE_CHECKING:
    from pages.parts.session import Reading

TOOLS = {
    "silence": "silence",
    "mean": "hold at its mean",
    "uniform": "uniform",
    "only": "keep only",
    "cell": "set a cell",
    "row": "set a row",
    "none": "open only",
}
CELL_TOOLS = {"cell": "set its weight", "row": "put its whole row on it"}
TOO_LONG = (
    f"This sentence has more than {trials.LONGEST_IN_TURN} pieces: silencing every head in turn would take too long."
)


def switches() -> None:
    """What a click does, and what the colours of the heads mean."""
    controls.switch("A click or tap", "tool", TOOLS)
    controls.switch("Colours", "harm", {"sentence": "this sentence", "corpus": "corpus"})
    controls.switch("A silenced head becomes", "instead", {"zero": "0", "mean": "its mean"})


def opened(trace: Trace, losses: dict[Head, float]) -> Head:
    """The head whose matrix is shown. Proposed: of its kind the one whose loss is largest."""
    state = st.session_state
    controls.kind()
    kind = state["kind"]
    address.within("layer", trace.layers(kind))
    address.within("head", trace.heads(kind))
    own = [head for head in all_heads(trace) if head[0] == kind]
    best = max(own, key=lambda head: losses.get(head, 0.0))
    address.propose("layer", best[1])
    address.propose("head", best[2])
    controls.count("Layer", "layer", trace.layers(kind))
    controls.count("Head", "head", trace.heads(kind))
    return kind, state["layer"], state["head"]


def losses(reading: "Reading") -> tuple[dict[Head, float], str, str]:
    """What it costs to silence each head, what it is a loss of, and how to read it; empty, with a note, if unknown."""
    by = st.session_state["instead"]
    if st.session_state["harm"] == "corpus":
        try:
            return _of_corpus(by)
        except ReportError as error:
            address.note(f"The corpus's losses are not known: {error}.")
            return {}, "", ""
    found = trials.importance(reading, by)
    if found is None:
        address.note(TOO_LONG)
        return {}, "", ""
    told = dict(zip(found.heads, found.losses.tolist(), strict=True))
    return told, "the log-probability of the unedited translation", captions.SILENCED_IN_TURN


def _of_corpus(by: str) -> tuple[dict[Head, float], str, str]:
    report = shipped.heads_report()
    rows = [row for row in report.heads if row["silenced"]]
    told = {(row["kind"], row["layer"], row["head"]): -row["silenced"][by]["delta"] for row in rows}
    if not told:
        raise ReportError("the report beside the weights was made without silencing")
    return told, "the log-probability of a token of the corpus", captions.SILENCED_OVER_CORPUS


def act(kind: str, layer: int, head: int) -> None:
    """A click on a head: it is opened, and edited if the tool edits heads."""
    address.choose(kind=kind, layer=layer, head=head, query=None, key=None)
    if edit := of_head(kind, layer, head):
        editing.toggle(edit)


def of_head(kind: str, layer: int, head: int) -> Edit | None:
    """What the tool does to a whole head."""
    made: dict[str, Callable[[str, int, int], Edit]] = {
        "silence": Silence,
        "mean": partial(Silence, by="mean"),
        "uniform": Uniform,
        "only": Only,
    }
    tool = st.session_state["tool"]
    return made[tool](kind, layer, head) if tool in made else None


def touch(trace: Trace, query: int | None, key: int | None) -> None:
    """A click on a cell: with the tools for cells it is set, else pinned."""
    edit = of_cell(trace, query, key)
    if edit:
        editing.toggle(edit)
    else:
        address.choose(query=query, key=key)


def of_cell(trace: Trace, query: int | None, key: int | None) -> Edit | None:
    """What the tool does to a cell of the opened head: over words, to the heaviest cell of pieces behind it."""
    state = st.session_state
    if query is None or state["tool"] not in CELL_TOOLS:
        return None
    here = state["kind"], state["layer"], state["head"]
    if key is None:
        row = axes.of_rows(trace.labels(here[0])[0]).position(query)
        return SetRow(*here, row) if state["tool"] == "row" else None
    row, column = (n + 1 for n in axes.piece_cell(trace, trace.map(*here), query - 1, key - 1))
    return SetRow(*here, row, column) if state["tool"] == "row" else SetCell(*here, row, column, state["weight"])


def apply_to_head(kind: str, layer: int, head: int) -> None:
    """The twin of a click on the opened head."""
    edit = of_head(kind, layer, head)
    label = f"Undo: {edit.said}" if edit in editing.current() else f"Apply to {kind} {layer}.{head}"
    st.button(label, key="apply_to_head", on_click=act, args=(kind, layer, head), disabled=edit is None)


def matrix(trace: Trace, head: Head, theme: Theme) -> None:
    """The opened head, in which a click sets a cell or pins it, and the widgets that do the same."""
    tool = st.session_state["tool"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        axes.switches()
        if tool not in CELL_TOOLS:  # they set weights of the head itself
            measured.switch()
    shown = axes.shaped(trace.map(*head) if tool in CELL_TOOLS else measured.one(trace, *head))
    address.within("query", len(shown.rows))
    address.within("key", len(shown.columns))
    pinned = None if tool in CELL_TOOLS else controls.pinned_cell()
    hint = f"Point at a cell to read it; click to {CELL_TOOLS.get(tool, 'pin it')}."
    drawing = payload.head(shown, theme=theme, pinned=pinned, linear=False, lines=False, hint=hint)
    mount.head(drawing, key="head_canvas", on_pin=partial(touch, trace))
    st.caption(" ".join(filter(None, (_told(tool), axes.of_map()))))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _cell_widgets(trace, shown)
    as_table = st.toggle("show as table", key="head_as_table")
    takeaway.table("head", lambda: tables.cells(shown), shown=as_table)


def _told(tool: str) -> str:
    """What the numbers of the opened head are, or what becomes of a cell of words."""
    if tool not in CELL_TOOLS:
        return measured.note()
    return captions.SET_IN_PIECES if axes.words() else ""


def _cell_widgets(trace: Trace, shown: AttentionMap) -> None:
    """The twin of a click on a cell of the opened head: row, column, weight, and a button."""
    state = st.session_state
    controls.place("Row (looks)", "query", captions.of_rows(shown))
    controls.place("Column (looked at)", "key", [token.text for token in shown.columns])
    if state["tool"] == "cell":
        st.number_input("Weight", 0.0, 1.0, step=0.05, key="weight", width=112)
    if state["tool"] in CELL_TOOLS:
        edit = of_cell(trace, state["query"], state["key"])
        label = edit.said if edit else "choose a row and a column"
        st.button(
            f"Set: {label}",
            key="apply_to_cell",
            on_click=touch,
            args=(trace, state["query"], state["key"]),
            disabled=edit is None,
        )


def parts(trace: Trace) -> None:
    """Everything but heads that can be left out."""
    edits = editing.current()
    for number, (label, options) in enumerate(drawn.parts(trace).items()):
        key, said = f"parts_{number}", {str(edit): edit.said for edit in options}
        st.session_state[key] = [str(edit) for edit in edits if str(edit) in said]
        st.multiselect(
            label,
            list(said),
            format_func=said.__getitem__,
            key=key,
            on_change=_leave_out,
            args=(key, options),
            placeholder="as trained",
        )


def _leave_out(key: str, options: list[Edit]) -> None:
    """Make the edits among `options` those that are chosen, and leave the others as they are."""
    chosen = st.session_state[key]
    for edit in options:
        if (edit in editing.current()) != (str(edit) in chosen):
            editing.toggle(edit)


def undo_list() -> None:
    """All edits, each to be undone."""
    edits = editing.current()
    st.markdown(f"**{len(edits)} of at most {editlist.LIMIT} edits**")
    if not edits:
        st.caption("None yet: the run is the model's own.")
    editing.undo_buttons(edits, key="listed")
