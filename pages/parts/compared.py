"""The two runs that *Compare* shows, and where a cell of the one stands in the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from model.compare import Match, apart, furthest, match, row_distances
from model.trace import KINDS, Array, AttentionMap, Trace
from model.words import words as by_words_of
from pages.parts import address, controls, editing, measured, mount, second, session, takeaway
from viz import payload, versus
from viz.captions import of_rows
from viz.theme import Theme

if TYPE_CHECKING:
    from pages.parts.session import Reading

AGAINST = {
    "sentence": "another sentence",
    "translation": "your translation",
    "decoder": "another decoder",
    "edits": "the edited model",
}
RUNS = ("one", "other")
Maps = dict[str, tuple[list[AttentionMap], ...]]  # by kind, of both runs, layer by layer
OF_ONE_PAIR = ("query", "key", "kind", "layer", "head")  # what means nothing for two other runs
WIDER = "The animal didn't cross the street because it was too wide."  # until another sentence is typed


@dataclass(frozen=True)
class Runs:
    """Two readings, and what each is called."""

    one: "Reading"
    other: "Reading"
    names: tuple[str, str]


def runs() -> Runs | None:
    """What the reader asked to compare; None, with a sentence on the page, while something is missing."""
    chosen = str(st.session_state["against"])
    if chosen == "sentence":
        return _against_sentence()
    if chosen == "translation":
        return _against_translation()
    return _against_decoder() if chosen == "decoder" else _against_edits()


def _against_sentence() -> Runs:
    text = second.sentence() or WIDER
    st.text_input("The other sentence", key="other", placeholder=text, width=640)
    takeaway.says(other=text)
    one = controls.reading()
    other = controls.guarded(lambda: session.reading(text, "", controls.decoding(), one.edits))
    return Runs(one, other, ("the sentence", "the other"))


def _against_translation() -> Runs | None:
    state, found = st.session_state, controls.reading()
    if not found.forced:
        st.info("Type a German sentence into “Your translation” above; it is compared with the model's own.")
        return None
    own = session.reading(state["sentence"], "", controls.decoding(), found.edits)
    return Runs(own, found, ("the model's", "yours"))


def _against_decoder() -> Runs:
    state, found = st.session_state, controls.reading()
    other = "greedy" if state["decoder"] == "beam" else "beam"
    first, second = (
        session.reading(state["sentence"], "", controls.decoding(method), found.edits)
        for method in (state["decoder"], other)
    )
    return Runs(first, second, (controls.DECODERS[state["decoder"]], controls.DECODERS[other]))


def _against_edits() -> Runs | None:
    state, found = st.session_state, controls.reading()
    if not found.edits:
        st.info(
            "Nothing is edited. Silence a head on the page Surgery, and this page compares with the model as it is."
        )
        st.page_link(editing.SURGERY, label="Surgery →", query_params=address.link())
        return None
    plain = session.reading(state["sentence"], state["target"], controls.decoding())
    return Runs(plain, found, ("as it is", "edited"))


@dataclass(frozen=True)
class Opened:
    """One head in both runs, and how their tokens belong together."""

    one: AttentionMap
    other: AttentionMap
    rows: tuple[Match, ...]
    columns: tuple[Match, ...]

    def cell(self, run: str) -> tuple[int, int] | None:
        """The pinned cell in one run's own map ("one" or "other"), from 0; None if there is none there."""
        row, column = st.session_state["query"], st.session_state["key"]
        if row is None or column is None:
            return None
        place = getattr(self.rows[row - 1], run), getattr(self.columns[column - 1], run)
        return None if None in place else place

    def row(self, run: str) -> int | None:
        """The row that a narrow screen begins with, the same token in both runs: the chosen one, or what moved most."""
        if (chosen := st.session_state["query"]) is not None:
            return getattr(self.rows[chosen - 1], run)
        shared = [m for m in self.rows if m.is_shared]
        return getattr(shared[int(row_distances(self.one, self.other).argmax())], run) if shared else None

    def pin(self, run: str, query: int | None, key: int | None) -> None:
        """From a callback: a cell of one run's own map (from 1), or none, becomes the pinned one of both."""
        for name, chosen, merged in (("query", query, self.rows), ("key", key, self.columns)):
            places = [getattr(m, run) for m in merged]
            st.session_state[name] = None if chosen is None else places.index(chosen - 1) + 1


def drawn(shown: Opened, run: str, theme: Theme) -> bytes:
    """The head in one of the runs."""
    hint = "Point at a cell to read it; click to pin it in both."
    one, cell, row = getattr(shown, run), shown.cell(run), shown.row(run)
    return payload.head(one, theme=theme, pinned=cell, linear=False, lines=False, hint=hint, row=row)


def maps(found: Runs) -> Maps:
    """Every head of both runs by the chosen measure, with tokens as the switches ask."""
    traces = found.one.trace, found.other.trace
    return {kind: tuple(measured.all_maps(trace, kind) for trace in traces) for kind in KINDS}


def far(every: Maps, trace: Trace, rows: Mapping[str, int | None] = {}) -> dict[str, Array]:
    """How far each head is from itself in the other run, by kind (L, H): over all rows, or those named (from 0)."""
    return {k: apart(*both, row=rows.get(k)).reshape(trace.layers(k), -1) for k, both in every.items()}


def opened(found: Runs, every: Maps) -> Opened:
    """The head that the widgets name. Proposed: of its kind the one that moved most."""
    trace, state = found.one.trace, st.session_state
    controls.kind()
    moved, kind = far(every, trace), state["kind"]
    address.within("layer", trace.layers(kind))
    address.within("head", trace.heads(kind))
    _, layer, head = furthest({kind: moved[kind]})
    address.propose("layer", layer)
    address.propose("head", head)
    controls.count("Layer", "layer", trace.layers(kind))
    if not measured.is_rollout():
        controls.count("Head", "head", trace.heads(kind))
    one, other = (both[measured.opened(both)] for both in every[kind])
    rows, columns = match(one.rows, other.rows), match(one.columns, other.columns)
    address.within("query", len(rows))
    address.within("key", len(columns))
    return Opened(one, other, rows, columns)


def to_furthest(found: Runs, every: Maps) -> None:
    """A door to the head that moved most, of all kinds."""
    place = furthest(far(every, found.one.trace))
    st.button(f"Open the {_named(*place)}", key="moved_most", on_click=_open, args=place, type="tertiary")


def _named(kind: str, layer: int, head: int) -> str:
    if measured.is_rollout():
        return f"layer that moved most: {kind} {layer}"
    return f"head that moved most: {kind} {layer}.{head}"


def moved(found: Runs, every: Maps, shown: Opened) -> tuple[dict[str, Array], tuple[str, ...], str | None]:
    """How far each head moved, by kind; the kinds that count; and the row that alone is looked at, if one is chosen."""
    chosen = st.session_state["query"]
    row = None if chosen is None else shown.rows[chosen - 1]
    if row is None or row.one is None or row.other is None:
        return far(every, found.one.trace), KINDS, None
    counted = ("encoder",) if shown.one.kind == "encoder" else ("masked", "cross")
    at = [m for m in shown.rows if m.is_shared].index(row)
    return far(every, found.one.trace, dict.fromkeys(counted, at)), counted, of_rows(shown.one)[row.one]


def pinned() -> tuple[int | None, int | None] | None:
    """The pinned row and column among merged ones, from 0; one of them may be None."""
    row, column = (st.session_state[name] for name in ("query", "key"))
    return None if row is column is None else (row and row - 1, column and column - 1)


def open_head(places: Sequence[tuple[str, int]], row: int | None, head: int | None) -> None:
    """From a callback: a cell of the matrix of all heads, from 1; places: the kind and layer of each of its rows."""
    if row and head:
        _open(*places[row - 1], head)


def _open(kind: str, layer: int, head: int) -> None:
    one = {} if measured.is_rollout() else {"head": head}  # a layer has no head, and the chosen one waits
    address.choose(**one, kind=kind, layer=layer, query=None, key=None)


def say_texts(found: Runs, theme: Theme) -> None:
    """Both sentences and both translations, by words."""
    told = []
    for title, side in (("sentence", "source"), ("translation", "predicted")):
        one, other = (by_words_of(getattr(run.trace, side)) for run in (found.one, found.other))
        told.append((title, one, other, match(one, other)))
    mount.versus(versus.texts(told, names=found.names, theme=theme), key="versus")
