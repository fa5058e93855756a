"""The address is the state: every choice has a name in it, values as people read them, defaults left out.

`read` runs before any widget, `write` after all of them. In between, the values live in st.session_state under
the same names, which are also the keys of the widgets. A key is assigned only when its value changes: what Python
assigns the browser takes over, and would undo a click that it has not sent yet.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model import editlist
from model.stream import QUANTITIES

FIRST_SENTENCE = "The animal didn't cross the street because it was too tired."
LONGEST_TEXT = 4096  # characters kept in the address; 256 pieces never hold more

_IN_BROWSER, _PAGE, _BY_MENU = "_address_in_browser", "_address_page", "_address_by_menu"
_PROPOSED, _NOTES, _KEPT = "_address_proposed", "_address_notes", "_address_kept"
_STOPPED = "_address_stopped"


@dataclass(frozen=True)
class Field:
    """One name in the address: how to read its text, and what it is when absent."""

    parse: Callable[[str], Any]  # raises ValueError for text that means nothing here
    default: Any


def _choice(*choices: str) -> Field:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"choose {', '.join(choices[:-1])} or {choices[-1]}")
        return text

    return Field(parse, choices[0])


def _proposed_choice(*choices: str) -> Field:
    """A choice whose default the page proposes."""
    return Field(_choice(*choices).parse, None)


def _whole(least: int, most: int | None, default: int | None) -> Field:
    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else least - 1
        if number < least or (most is not None and number > most):
            raise ValueError(f"it counts from {least}" + (f" to {most}" if most is not None else ""))
        return number

    return Field(parse, default)


def _even(least: int, most: int, default: int | None) -> Field:
    whole = _whole(least, most, default)

    def parse(text: str) -> int:
        number: int = whole.parse(text)
        if number % 2:
            raise ValueError("it is an even number")
        return number

    return Field(parse, default)


def _decimal(least: float, most: float, default: float) -> Field:
    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise ValueError(f"it is a number from {least} to {most}")
        return number

    return Field(parse, default)


def _edits(text: str) -> str:
    """A list of edits, as text: it is one value, and what it says is read where it is carried out."""
    return editlist.text(editlist.parsed(text))


HEAD_NUMBERS = (  # as in model/roles.py
    *("entropy", "confidence", "distance", "previous", "same", "next"),
    *("special", "marks", "relation", "aer", "silenced", "held"),
)
FIELDS = {
    "sentence": Field(str, FIRST_SENTENCE),
    "target": Field(str, ""),
    "decoder": _choice("greedy", "beam", "sample"),
    "beam": _whole(1, 10, 4),
    "temperature": _decimal(0.1, 3.0, 1.0),
    "top_k": _whole(0, 1000, 0),
    "top_p": _decimal(0.05, 1.0, 1.0),
    "seed": _whole(0, 999_999, 1),
    "kind": _choice("encoder", "masked", "cross"),
    "layer": _whole(1, None, None),
    "head": _whole(1, None, None),
    "cross_layer": _whole(1, None, None),
    "cross_head": _whole(1, None, None),
    "step": _whole(1, None, None),
    "query": _whole(1, None, None),
    "key": _whole(1, None, None),
    "units": _choice("pieces", "words"),
    "special": _choice("shown", "hidden", "renormalised"),
    "heads": _choice("one", "mean"),
    "stage": _choice("softmax", "scores", "scaled", "mask", "masked", "moved"),
    "mask": _choice("on", "lifted"),
    "padding": _choice("none", "padded"),
    "view": _choice("matrix", "lines", "plotly", "table"),
    "scale": _choice("√", "linear"),
    "rank": _choice("weight", "order"),
    "x": Field(_choice(*HEAD_NUMBERS).parse, "entropy"),
    "y": Field(_choice(*HEAD_NUMBERS).parse, "confidence"),
    "beside": _choice("untrained", "shuffled", "none"),
    "kinds": _choice("all", "encoder", "masked", "cross"),
    "cross_heads": _proposed_choice("one", "all"),
    "by": _proposed_choice("weight", "norm"),
    "rows": _proposed_choice("read", "predicted"),
    "german": _whole(1, None, None),  # which word of the translation
    "english": _whole(1, None, None),  # and of the source
    "flow": _choice("whole", "vectors", "encoder", "decoder", "output"),
    "smoothing": _decimal(0.0, 0.9, 0.1),
    "side": _choice("encoder", "decoder"),
    "position": _whole(1, None, None),  # which token of that side
    "sublayer": _whole(1, None, None),  # which of that side, in order of flow
    "quantity": _choice(*QUANTITIES),
    "residual": _choice("on", "off", "everywhere", "skipped"),
    "neuron": _whole(1, None, None),
    "other": Field(str, ""),  # a second sentence
    "map": _choice("joint", "own"),
    "width": _even(2, 512, None),
    "length": _whole(2, 257, None),
    "frequency": _whole(1, None, None),
    "shift": _whole(1, 256, 1),
    "edits": Field(_edits, ""),
    "tool": _choice("silence", "mean", "uniform", "only", "cell", "row", "none"),  # what a click does in Surgery
    "weight": _decimal(0.0, 1.0, 0.5),  # that it gives a cell
    "harm": _choice("sentence", "corpus"),  # whose losses colour the heads
    "instead": _choice("zero", "mean"),  # what stands in the place of a head that is silenced in turn
    "removed": _choice("none", "least", "most"),  # in which order all are, one after the other
    "against": _choice("sentence", "translation", "decoder", "edits"),  # what Compare compares with
    "measure": _choice("raw", "value", "rollout"),
}
ON_EVERY_PAGE = ("sentence", "target", "decoder", "beam", "temperature", "top_k", "top_p", "seed")  # app.py draws them


def read(page: str) -> None:
    """Take over what the address says, if it is news; keep every value otherwise."""
    state, now = st.session_state, dict(st.query_params)
    news, arrived = _is_news(page, named=any(name in now for name in FIELDS)), state.get(_PAGE) != page
    if news or arrived or _is_back_or_forward():
        state[_IN_BROWSER] = now
    state[_NOTES] = []
    stopped = state.pop(_STOPPED, False)
    if news:
        state[_PROPOSED] = {}
    for name, field in FIELDS.items():
        if news:
            state[name] = _parsed(name, field, now.get(name))
        elif name not in state or (arrived and name not in ON_EVERY_PAGE):  # another page's widgets take nothing along
            state[name] = state[_KEPT].get(name, field.default)
        elif stopped and name not in ON_EVERY_PAGE:
            state[name] = state[name]  # its widget is new, and would begin empty
    state[_PAGE], state[_KEPT] = page, {name: state[name] for name in FIELDS}


def _is_news(page: str, *, named: bool) -> bool:
    """Whether the address says what this session does not know yet.

    It does to a new visitor, after Back or Forward, and through a link to another page. A visit to another page without
    any of our names came from the menu and means "keep", then and when Back comes to it.

    With any other run the browser sends what it has in its bar, and that may be older than what `write` wrote last: a
    second click is often faster than the answer to the first.
    """
    state = st.session_state
    if _IN_BROWSER not in state:
        return True
    by_menu = state.setdefault(_BY_MENU, set())
    if _is_back_or_forward():
        return named or page not in by_menu
    arrived = state[_PAGE] != page
    if arrived and not named and link():
        by_menu.add(page)
    return arrived and named


def write() -> None:
    """Put every value that is not a default into the address."""
    values = link()
    if not values == st.session_state[_IN_BROWSER] == dict(st.query_params):
        st.query_params.from_dict(values)
    st.session_state[_IN_BROWSER] = values
    st.session_state[_KEPT] = {name: st.session_state[name] for name in FIELDS}
    for name in FIELDS:  # Streamlit forgets the value of a widget that was not drawn; one that was refuses this
        with suppress(StreamlitAPIException):
            st.session_state[name] = st.session_state[name]


def stop() -> NoReturn:
    """Write the address and end the page here, before most of its widgets are drawn."""
    write()
    st.session_state[_STOPPED] = True
    st.stop()


def link(**changes: Any) -> dict[str, str]:
    """The whole address as it stands, with these changes: what a door to another page carries."""
    state, proposed = st.session_state, st.session_state.get(_PROPOSED, {})
    values = {}
    for name, field in FIELDS.items():
        value = changes.get(name, state.get(name))
        # A browser does not keep a name without a value in its address.
        left_out = value in (field.default, None, "") or (name not in changes and proposed.get(name, ...) == value)
        if not left_out:
            values[name] = str(value)[:LONGEST_TEXT]
    return values


def page() -> str:
    """The name of the page in the address."""
    return str(st.session_state[_PAGE])


def propose(name: str, value: int | str | None) -> None:
    """The value of a field that the reader has not set. It follows the sentence, and stays out of the address."""
    state, proposed = st.session_state, st.session_state.setdefault(_PROPOSED, {})
    if state.get(name) is None or proposed.get(name, ...) == state[name]:
        proposed[name] = value
        if state.get(name) != value:
            state[name] = value


def choose(**values: Any) -> None:
    """What the reader has chosen by a click. It stays when proposals change, also where it is what was proposed."""
    st.session_state.update(values)
    for name in values:
        st.session_state.get(_PROPOSED, {}).pop(name, None)


def within(name: str, most: int) -> None:
    """Let go of a number that counts further than there is, and say so."""
    value = st.session_state.get(name)
    if value is not None and value > most:
        if st.session_state.get(_PROPOSED, {}).get(name) != value:
            note(f"There is no {name.replace('_', ' ')} {value} here: it counts from 1 to {most}.")
        st.session_state[name] = None


def forget(*names: str) -> None:
    """Back to the default, for values that mean nothing once something else has changed."""
    for name in names:
        st.session_state[name] = FIELDS[name].default


def note(sentence: str) -> None:
    """Something about the address that the page should say, once."""
    if sentence not in notes():
        st.session_state.setdefault(_NOTES, []).append(sentence)


def notes() -> list[str]:
    return list(st.session_state.get(_NOTES, []))


def _is_back_or_forward() -> bool:
    """Whether the browser's own buttons asked for this run."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _parsed(name: str, field: Field, text: str | None) -> Any:
    if text is None:
        return field.default
    try:
        return field.parse(text)
    except ValueError as error:
        note(f"The address says {name}={text[:40]!r}, which does not exist: {error}.")
        return field.default
