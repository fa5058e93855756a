"""What a reader takes along from a page: its numbers as CSV and JSON, the sentence as a report, the view as code."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from model.alignment import strongest, word_strengths
from pages.parts import address, aligned, controls, shipped
from viz import code, offline

if TYPE_CHECKING:
    from pages.parts.session import Reading

Table = Callable[[], pd.DataFrame]
REPORT = "One file that opens without a server, with every head in it."
NPZ = "Every captured tensor under its name, for numpy.load."
_OFFERED, _FACTS = "_takeaway_offered", "_takeaway_facts"


def begin() -> None:
    """Before the page: nothing is offered yet."""
    st.session_state[_OFFERED], st.session_state[_FACTS] = {}, {}


def table(name: str, made: Table, *, shown: bool, **options: Any) -> None:
    """The numbers of one picture: to take away under this name and, if `shown`, as a table on the page.

    `made` makes the table when somebody asks for it; options are those of st.dataframe.
    """
    st.session_state[_OFFERED][name] = made
    if shown:
        st.dataframe(made(), **options)


def says(**facts: Any) -> None:
    """What the view as code has to know, and is in no field of the address."""
    st.session_state[_FACTS].update(facts)


def draw(page: str) -> None:
    """Under the page: one door to everything that can be taken away."""
    found = st.session_state.get(controls.READING)
    with st.popover("Take away", icon=":material/download:"):
        for name, made in st.session_state[_OFFERED].items():
            _numbers(name, made, _about(page, name))
        if found is not None:
            _whole(found)
        st.caption("The view as code, for a notebook or a script in the folder of Headlight:")
        st.code(code.lines(page, chosen()), language="python")
        st.caption("Under every picture: PNG and SVG. The link to this view is the address in the browser.")


def _numbers(name: str, made: Table, about: dict[str, Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(name.replace("_", " "), width=160)
        _file("CSV", f"headlight-{name}.csv", "text/csv", lambda: csv(made()))
        _file("JSON", f"headlight-{name}.json", "application/json", lambda: as_json(made(), about))


def _file(label: str, name: str, mime: str, made: Callable[[], bytes], *, told: str | None = None) -> None:
    """A button for a file that is made when somebody asks for it."""
    st.download_button(label, data=made, file_name=name, mime=mime, on_click="ignore", key=f"take {name}", help=told)


def _whole(found: "Reading") -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("the sentence", width=160)
        _file("Report (HTML)", "headlight-report.html", "text/html", report(found), told=REPORT)
        _file("Everything (NPZ)", "headlight-trace.npz", "application/octet-stream", _packed(found), told=NPZ)


def csv(numbers: pd.DataFrame) -> bytes:
    """The table as it is, every digit of it."""
    return numbers.to_csv().encode("utf-8")


def as_json(numbers: pd.DataFrame, about: dict[str, Any]) -> bytes:
    """One object: what it is about, and the table's index, columns and data, row by row; an empty cell is null."""
    filled = numbers.astype(object).where(numbers.notna(), None)
    return json.dumps({**about, **filled.to_dict("split")}, ensure_ascii=False, default=str).encode("utf-8")


def report(found: "Reading") -> Callable[[], bytes]:
    """The sentence as a page that opens offline, with what is chosen now; it is made when it is asked for."""
    state, trace = st.session_state, found.trace
    kind = state["kind"]
    layer, head = min(state["layer"] or 1, trace.layers(kind)), min(state["head"] or 1, trace.heads(kind))
    told = f"{trace.target_text} — {controls.how_written(found)}. Weights {shipped.weights_digest()[:16]}."
    way = aligned.named(trace)
    projection = shipped.output_projection("cross", way.layer)

    def made() -> bytes:
        links = strongest(word_strengths(trace, projection, way))
        return offline.page(
            trace, links, found.candidates, opened=(kind, layer, head), told=told, forced=found.forced
        ).encode("utf-8")

    return made


def _packed(found: "Reading") -> Callable[[], bytes]:
    def made() -> bytes:
        from model import capture

        return capture.packed(found.trace)

    return made


def _about(page: str, name: str) -> dict[str, Any]:
    return {"page": page, "picture": name, "weights": shipped.weights_digest(), "address": address.link()}


def chosen() -> dict[str, Any]:
    """Every name of the address with its value, what the page proposed included, the decoder's settings, and facts."""
    state = st.session_state
    values = {name: state[name] for name in address.FIELDS}
    return values | {"decoding": controls.decoding()} | state[_FACTS]
