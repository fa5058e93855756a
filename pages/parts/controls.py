"""What stands on every page: the sentence's bar, the sidebar, the guard, and the widgets that pages share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from pages.parts import address, editing, session
from viz import phrases
from viz.theme import LIGHT, MARKS, THEMES, Theme

if TYPE_CHECKING:
    from model.trace import AttentionMap
    from pages.parts.session import Reading

EXAMPLES = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The cat chased the mouse.",
    "The mouse chased the cat.",
    "I saw a carrot. It was big.",
    "My brother gave his friend the book that she had lost.",
    "He has never seen the sea before.",
)
TRAINED_WORDS = 20  # few sentences of the training data had more
READING = "_reading_shown"  # in the session's state: what the page is about
DECODERS = {"greedy": "greedy", "beam": "beam search", "sample": "sampling"}


def theme() -> Theme:
    """The theme that the reader's browser shows."""
    return THEMES.get(st.context.theme.type or "", LIGHT)


def bar() -> None:
    """The sentence, examples, and a translation to force; above every page."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="bar"):
        st.text_input(
            "English sentence",
            key="sentence",
            on_change=new_sentence,
            placeholder="Type an English sentence and press Enter",
            width="stretch",
        )
        st.menu_button("Examples", EXAMPLES, key="examples", on_click=_pick)  # closes once something is picked
        with st.popover("Your translation" if not st.session_state["target"] else "Your translation ✓"):
            st.text_input(
                "German to use instead of the model's own",
                key="target",
                on_change=new_sentence,
                placeholder="leave empty for the model's own",
            )
    # A container, not st.empty(): what it said stays until the next answer is there, so that nothing below it jumps.
    st.session_state["_bar_line"] = st.container(gap="xsmall")


def sidebar() -> None:
    """Decoding settings; closed at first."""
    with st.sidebar:
        st.header("Decoding")
        st.radio("Decoder", list(DECODERS), format_func=DECODERS.__getitem__, key="decoder", on_change=new_sentence)
        method = st.session_state["decoder"]
        if method == "beam":
            beam_width(on_change=new_sentence)
            st.caption("Ranked by log-probability ÷ ((5 + length) / 6)^0.6 (Wu et al. 2016).")
        if method == "sample":
            sampling(on_change=new_sentence)
        st.caption("The attention shown always comes from one pass over the sentence and the finished translation.")


def beam_width(*, own: str = "", on_change: Callable[[], None]) -> None:
    """The width of the beam. `own` ends the key of a page's own widget; see writers.py."""
    st.slider("Beam width", 1, 10, key=f"beam{own}", on_change=on_change, help="Hypotheses kept at each step.")


def sampling(*, own: str = "", on_change: Callable[[], None]) -> None:
    """How a piece is drawn. `own` ends the keys of a page's own widgets; see writers.py."""
    st.slider("Temperature", 0.1, 3.0, step=0.1, key=f"temperature{own}", on_change=on_change)
    st.number_input("Top k (0 = all pieces)", 0, 1000, key=f"top_k{own}", on_change=on_change)
    st.slider("Top p", 0.05, 1.0, step=0.05, key=f"top_p{own}", on_change=on_change)
    st.number_input("Seed", 0, 999_999, key=f"seed{own}", on_change=on_change)


def _pick() -> None:
    st.session_state["sentence"] = st.session_state["examples"]
    new_sentence()


def take(sentence: str, target: str) -> None:
    """From a callback: another sentence, and a translation to force."""
    st.session_state.update(sentence=sentence, target=target)
    new_sentence()


def new_sentence() -> None:
    """A pinned cell and a step belong to one sentence; the layer and the head that somebody chose stay."""
    address.forget("query", "key", "step", "position", "german", "english")


def decoding(method: str | None = None) -> dict[str, Any]:
    """The settings that the chosen decoder uses, or this one; others do not matter, so they are in no cache's key."""
    state = st.session_state
    method = method or state["decoder"]
    used = {"greedy": (), "beam": ("beam",), "sample": ("temperature", "top_k", "top_p", "seed")}[method]
    return {"method": method} | {name: state[name] for name in used}


def reading() -> "Reading":
    """What the model made of the sentence, under the edits of the address."""
    state = st.session_state
    found = guarded(lambda: session.reading(state["sentence"], state["target"], decoding(), editing.usable()))
    state[READING] = found
    _say_translation(found)
    return found


def guarded(read: "Callable[[], Reading]") -> "Reading":
    """A reading. A mistake in it becomes a sentence on the page, which ends there."""
    from model.checkpoint import CheckpointError
    from model.command import InputError

    try:
        return read()
    except InputError as error:
        _stop(f"{str(error)[0].upper()}{str(error)[1:]}.")
    except CheckpointError as error:
        _stop(f"The weights cannot be used: {error}.", icon="⚠️")


def _stop(sentence: str, icon: str | None = None) -> NoReturn:
    with st.session_state["_bar_line"]:
        st.error(_as_text(sentence), icon=icon)
    notes()
    address.stop()


def _as_text(text: str) -> str:
    """Text that Streamlit would read as Markdown, with everything that Markdown would act on disarmed."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:&" else c for c in text)


def how_written(found: "Reading") -> str:
    """Where the translation comes from."""
    return "your translation" if found.forced else editing.written_by(found, DECODERS[st.session_state["decoder"]])


def _say_translation(found: "Reading") -> None:
    with st.session_state["_bar_line"]:
        st.text(found.trace.target_text or "(the model ended at once: an empty translation)")
        total = float(found.trace.target_log_probabilities().sum())
        said = f"{how_written(found)} · log-probability {_signed(total)}"
        if found.forced and found.own_score is not None:
            said += f" · the {'edited ' if found.edits else ''}model's own: {_signed(found.own_score)}"
        st.caption(_as_text(said))
        _warn(_cautions(found))
        editing.mark(found)


def notes() -> None:
    """What the address asked for and does not exist. Some of it shows only while the page is made, so call it after."""
    with st.session_state["_bar_line"]:
        _warn(address.notes())


def _warn(sentences: list[str]) -> None:
    """Not as Markdown: what somebody typed is quoted here, and even disarmed an address on the web becomes a link."""
    for sentence in sentences:
        st.text(f"⚠ {sentence}")


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _cautions(found: "Reading") -> list[str]:
    said = []
    for what, left_out in (("sentence", found.left_out), ("translation", found.target_left_out)):
        if left_out:
            said.append(f"The {what} is longer than 256 pieces. It was cut before “{left_out[:40]}…”")
    if len(found.trace.source_text.split()) > TRAINED_WORDS:
        said.append(f"Few sentences that the model learned from had more than {TRAINED_WORDS} words; expect mistakes.")
    if not found.forced and not found.ended:
        said.append("The translation reached its length limit before the model ended it.")
    return said


def kind() -> str:
    """Which of the three attentions."""
    switch("Kind", "kind", {name: phrases.kind(name) for name in MARKS}, forgets=("query", "key", "layer", "head"))
    return str(st.session_state["kind"])


def units() -> bool:
    """Whether to draw words instead of pieces."""
    switch("Units", "units", {"pieces": "pieces", "words": "words"}, forgets=("query", "key", "step"))
    return bool(st.session_state["units"] == "words")


def special() -> None:
    """What becomes of the columns of <s> and </s>."""
    choices = {"shown": "shown", "hidden": "hidden", "renormalised": "hidden, rows rescaled to 1"}
    switch("<s>, </s>", "special", choices, forgets=("query", "key"))


def switch(
    label: str, key: str, choices: dict[str, str], forgets: tuple[str, ...] = (), *, help: str | None = None
) -> None:
    """One of a few: the value in the address, and what stands on the button. help: what it means, behind a mark."""
    st.segmented_control(
        label,
        list(choices),
        format_func=choices.__getitem__,
        key=key,
        required=True,
        help=help,
        wrap=True,  # on a phone
        on_change=address.forget,
        args=forgets,
    )


def linear() -> bool:
    """Whether colour is proportional to weight, instead of to its square root."""
    switch("Scale", "scale", {"√": "√", "linear": "linear"})
    return bool(st.session_state["scale"] == "linear")


def count(label: str, key: str, most: int) -> int:
    """A number from 1 to `most` to choose; its twin is a click on a canvas."""
    st.selectbox(label, range(1, most + 1), key=key, width=76)  # four of them fit a phone
    return int(st.session_state[key])


def place(label: str, key: str, names: list[str], *, optional: bool = True) -> None:
    """A row or a column to choose by its number from 1, or none; its twin is a click on a canvas."""
    st.selectbox(
        label,
        range(1, len(names) + 1),
        format_func=lambda number: f"{number} {names[number - 1]}",
        key=key,
        index=None if optional else 0,
        placeholder="none",
        width=208,
    )


def rank() -> bool:
    """Whether a pinned cell puts the heads into the order of their weight there."""
    switch("A pinned cell", "rank", {"weight": "ranks the heads", "order": "leaves them in order"})
    return bool(st.session_state["rank"] == "weight")


def view() -> str:
    """How the opened head is drawn."""
    switch("View", "view", {name: name for name in ("matrix", "lines", "plotly", "table")})
    return str(st.session_state["view"])


def pinned_cell() -> tuple[int, int] | None:
    """Row and column of the pinned cell, from 0, if both are chosen."""
    row, column = st.session_state["query"], st.session_state["key"]
    return None if row is None or column is None else (row - 1, column - 1)


def caveat(*shown: "AttentionMap") -> None:
    """Under every picture of attention: what it does not show, and a door to Surgery for each head that is shown."""
    st.caption(phrases.CAVEAT)
    with st.container(horizontal=True):
        for one in shown:
            if one.head is not None:
                editing.to_surgery(one.kind, one.layer, one.head)
