"""How words are aligned: the reading that the weights folder names, the widgets that choose another, and gold pairs."""

import streamlit as st

from model import axis, selection
from model.alignment import BY, ROWS, Reading, last_layer, real_words, strengths_between, word_strengths, words_of
from model.trace import Array, Trace
from pages.parts import address, axes, controls, shipped
from viz.alignment import NORM, STANDS_FOR, Aligned, Cells


def named(trace: Trace) -> Reading:
    """The reading that the weights folder names, chosen on hand-made alignments; the last layer if it names none."""
    from model.checkpoint import CheckpointError

    try:
        return shipped.named_alignment() or last_layer(trace)
    except CheckpointError as error:
        address.note(f"{error}. The last layer is shown instead.")
        return last_layer(trace)


def strength(trace: Trace, reading: Reading) -> Array:
    """(German words, English words) how strongly they hold to each other."""
    return word_strengths(trace, shipped.output_projection("cross", reading.layer), reading)


def switches(trace: Trace) -> Reading:
    """The widgets of a reading. What the address leaves open is that of `named`."""
    _propose(named(trace), trace.layers("cross"), trace.heads("cross"))
    state = st.session_state
    controls.count("⇄ layer", "cross_layer", trace.layers("cross"))
    controls.switch("Heads", "cross_heads", {"one": "one head", "all": "all together"})
    if state["cross_heads"] == "one":
        controls.count("⇄ head", "cross_head", trace.heads("cross"))
    controls.switch("Strength", "by", dict(zip(BY, ("weight", "norm ‖αf(x)‖"), strict=True)), help=NORM)
    controls.switch(
        "A row stands for the word it",
        "rows",
        dict(zip(ROWS, ("reads", "predicts"), strict=True)),
        help=STANDS_FOR[state["rows"]],
    )
    head = state["cross_head"] if state["cross_heads"] == "one" else None
    return Reading(state["cross_layer"], head, state["by"], state["rows"])


def _propose(default: Reading, layers: int, heads: int) -> None:
    address.within("cross_layer", layers)
    address.within("cross_head", heads)
    address.propose("cross_heads", "all" if default.head is None else "one")
    address.propose("cross_layer", default.layer)
    address.propose("cross_head", default.head or 1)
    address.propose("by", default.by)
    address.propose("rows", default.rows)


def take(reading: Reading) -> None:
    """From a callback: choose this reading."""
    one = {} if reading.head is None else {"cross_head": reading.head}
    heads = "all" if reading.head is None else "one"
    st.session_state.update(one, cross_layer=reading.layer, cross_heads=heads, by=reading.by, rows=reading.rows)


def aligned(trace: Trace, reading: Reading) -> Aligned:
    """The words of the sentence and its translation, with the links that somebody made by hand if it is a gold pair."""
    source, target = words_of(trace.source), words_of(trace.predicted)
    pair = next((pair for pair in shipped.everyday_gold() if (pair.source, pair.target) == (source, target)), None)
    by_hand = (None, frozenset()) if pair is None else (pair.sure, pair.possible)
    return Aligned(source, target, strength(trace, reading), reading, *by_hand)


def cells(trace: Trace, reading: Reading) -> Cells:
    """What the matrix shows: rows are what is translated, columns as the switches ask."""
    source = axes.of(trace.source)
    target = axis.axis(trace.predicted, words=axes.words(), special="hidden")
    projection = shipped.output_projection("cross", reading.layer)
    strength = strengths_between(trace, projection, reading, source.groups, target.groups)
    rescaled = axes.special() == "renormalised"
    return Cells(
        selection.rescaled(strength) if rescaled else strength,
        tuple(token.text for token in target.tokens),
        tuple(token.text for token in source.tokens),
        tuple(_word(real_words(trace.predicted), group) or 0 for group in target.groups),
        tuple(_word(real_words(trace.source), group) for group in source.groups),
        rescaled,
    )


def _word(words: list[list[int]], group: tuple[int, ...]) -> int | None:
    """Which of the words holds these pieces, from 0."""
    return next((word for word, pieces in enumerate(words) if group[0] in pieces), None)


def pinned() -> tuple[int | None, int | None]:
    """The pinned German and English word, from 0."""
    german, english = (None if n is None else n - 1 for n in (st.session_state[name] for name in ("german", "english")))
    return german, english
