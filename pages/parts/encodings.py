"""What the page about positions puts together: the formula's widgets, the check, two orders, and what was measured."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from model.config import MAX_POSITIONS
from model.positions import encoding, rotation_error, sizes
from model.report import ReportError
from model.stream import cosines, tokens
from model.trace import Token, Trace
from model.words import word_groups, words
from pages.parts import address, axes, doors, mount, shipped, takeaway, trials
from viz import curves, lengths, orders
from viz import positions as drawn
from viz.theme import Theme

if TYPE_CHECKING:
    from pages.parts.session import Reading

LENGTH = 64  # positions shown at first


def formula(own: int) -> tuple[int, int, int]:
    """d, length and frequency of the formula; proposed are the model's own width and a middling wave."""
    state = st.session_state
    address.propose("width", own)
    address.propose("length", LENGTH)
    st.number_input("d", 2, 512, step=2, key="width", width=128, on_change=_even)
    st.number_input("Positions", 2, MAX_POSITIONS, key="length", width=128)
    width = int(state["width"])
    address.within("frequency", width // 2)
    address.propose("frequency", 1 + width // 8)
    st.number_input("Frequency", 1, width // 2, key="frequency", width=128)
    return width, int(state["length"]), int(state["frequency"])


def _even() -> None:
    """The widget's arrows make steps of two, but an odd number can be typed."""
    st.session_state["width"] += st.session_state["width"] % 2


def column(_: int | None, number: int | None) -> None:
    """A click on a column of the heatmap: two of them make a frequency."""
    if number is not None:
        st.session_state["frequency"] = (number + 1) // 2


def distance(k: float | None) -> None:
    if k:
        st.session_state["shift"] = min(int(k), MAX_POSITIONS - 1)


def two_positions(row: int | None, column: int | None) -> None:
    """A click on two positions: their distance."""
    distance(None if row is None or column is None else abs(row - column))


def on_circle(shown: Sequence[Token], pos: int) -> Callable[[int], None]:
    """What a click on the circle does: its points begin a little before `pos`, and may reach beyond the tokens."""

    def clicked(number: int) -> None:
        st.session_state["position"] = min(drawn.around(pos) + number, len(shown))

    return clicked


def checked(trace: Trace, side: str, length: int, width: int, shift: int) -> str:
    """How exactly the rotation holds: for the formula, and for what this model added to this sentence."""
    heard = trace.tensors[f"{side}.input.positions_tap"]
    apart = float(np.abs(heard - encoding(*heard.shape)).max())
    error = rotation_error(encoding(length + shift, width), shift)
    where = f"over pos 0 to {length - 1} and all frequencies"
    said = f"Largest error of M · PE(pos) = PE(pos + {shift}) {where}: {error:.1e}. "
    if apart > 1e-5:
        return said + "This model learned its positions; they are not those of the formula."
    said += f"What this model added to this sentence is the formula at d = {heard.shape[1]}, within {apart:.1e}"
    if shift < len(heard):
        said += f"; turned by {shift} it errs by at most {rotation_error(heard, shift):.1e}, in single precision"
    return said + "."


def beside(whole: Trace, side: str, place: int, theme: Theme) -> None:
    """Embeddings and positions of this sentence, as lengths. place: of the chosen token on its axis, from 1."""
    trace, pos = axes.vectors(whole), st.session_state["position"] - 1
    shown = tokens(trace, side)
    found = sizes(*(trace.tensors[f"{side}.input.{what}_tap"] for what in ("embeddings", "positions", "sum")))
    lines = drawn.sizes(found, shown, side)
    mount.curves(drawn.sizes_picture(lines, shown, theme=theme, position=place), key="sizes", on_pick=axes.go)
    st.text(drawn.sizes_said(found, place, shown[place - 1], pos=pos))
    st.caption(axes.of_vectors())
    _by_token("sizes", lines, drawn.labels(shown))


def two_orders(reading: "Reading", theme: Theme) -> None:
    """The sentence and its words backwards through the encoder, with positions and without."""
    from model.orders import backwards

    shown = reading.trace.source
    order = backwards(shown)
    if len(word_groups(shown)) < 2 or order == list(range(len(shown))):
        st.text("One word has one order only; type a sentence.")
        return
    both, kept = trials.two_orders(reading.source_ids, tuple(order)), axes.of(shown)
    st.text(f"Backwards: {' '.join(word.text for word in words([shown[place] for place in order[:-1]]))}")
    lines = orders.lines(*(cosines(kept.mean(one.first), kept.mean(one.second)) for one in both))
    mount.curves(orders.picture(lines, kept.tokens, theme=theme), key="orders")
    st.text(orders.said(*(one.largest_difference for one in both)))
    _by_token("orders", lines, drawn.labels(kept.tokens))


def _by_token(name: str, lines: Sequence[curves.Series], labels: Mapping[float, str]) -> None:
    takeaway.table(
        name,
        lambda: curves.table(lines, x_title="token", x_labels=labels),
        shown=st.session_state["as_table"],
        hide_index=True,
    )


def past_training(theme: Theme) -> None:
    """What was measured on longer inputs than training had."""
    try:
        report = shipped.length_report()
    except ReportError as error:
        st.text(f"{str(error)[0].upper()}{str(error)[1:]}.")
        return
    st.text(lengths.verdict(report))
    left, right = st.columns(2, gap="large")
    with left:
        mount.curves(lengths.picture(lengths.bleu(report), report, theme=theme, y_title="BLEU", most=None), key="bleu")
        st.caption(lengths.HOW_TO_READ)
    with right:
        mount.curves(lengths.starts_picture(report, theme=theme), key="starts")
        st.caption(f"{lengths.STARTS} {lengths.starts_said(report)}")
    st.text(lengths.said(report))
    left, right = st.columns(2, gap="large")
    for place, key, lines, title in (
        (left, "sideways", lengths.sideways(report), "share of rows that look there most"),
        (right, "entropies", lengths.entropies(report), "entropy of rows, 1 = everywhere alike"),
    ):
        with place:
            mount.curves(lengths.picture(lines, report, theme=theme, y_title=title, most=1.0), key=key)


def numbers(frame: pd.DataFrame, *, label: int, width: int) -> None:
    """A table of numbers with four digits each. Pixels of the first column and of the others: all fit on a phone."""
    digits = st.column_config.NumberColumn(format="%.4f", width=width)
    labels = {"_index": st.column_config.Column(width=label)}
    st.dataframe(frame, column_config=labels | dict.fromkeys(frame.columns, digits))


def links() -> None:
    """From positions to the heads that look at places."""
    there = address.link(kind="encoder", layer=None, head=None, query=None, key=None)
    st.page_link(doors.HEADS, label="Heads that look to the left and right →", query_params=there)
