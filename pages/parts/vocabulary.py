"""What the page about tokens puts together: the proposed token, its neighbours, the maps, and one piece twice."""

from typing import TYPE_CHECKING

import streamlit as st

from model.contexts import contexts, most_parted, shared
from model.stream import tokens
from model.trace import Trace
from model.vectors import neighbours
from pages.parts import address, axes, doors, mount, shipped, takeaway
from viz import curves, plane
from viz import tokens as drawn
from viz.theme import Theme

if TYPE_CHECKING:
    from pages.parts.session import Reading

NEAREST = 12


def proposed(trace: Trace, other: "Reading | str | None", side: str) -> int:
    """Of the tokens, from 1, that both sentences have, the one that parts most; else the first that is a word."""
    if other is not None and not isinstance(other, str):
        parted = most_parted(trace, other.trace, side)
        if parted is not None:
            return parted + 1
    words = [n for n, token in enumerate(tokens(trace, side)) if not token.special and not token.is_punctuation]
    return (words or [0])[0] + 1


def pick(side: str, position: int) -> None:
    st.session_state.update(side=side, position=position)


def pin(row: int | None, _: int | None) -> None:
    axes.go(row)


def nearest(piece: int) -> None:
    """The neighbours of one piece in the whole vocabulary."""
    names = shipped.piece_names()
    st.dataframe(
        drawn.neighbours(neighbours(shipped.output_matrix(), piece, NEAREST), names),
        column_config={"cosine": st.column_config.ProgressColumn(format="%.2f", min_value=0.0, max_value=1.0)},
        hide_index=True,
        height=456,
    )
    st.caption(drawn.NEIGHBOURS)


def maps(trace: Trace, side: str, position: int, theme: Theme) -> list[plane.Group]:
    """Before and after, in one plane or in two; their points. position: a place on the axis of `trace`, from 1."""
    if st.session_state["map"] == "joint":
        picture, said, groups = drawn.joint_map(trace, side, position, theme=theme)
        mount.plane(picture, key="joint_map", on_pick=axes.go)
    else:
        pictures, said, groups = drawn.own_maps(trace, side, position, theme=theme)
        for number, (place, one) in enumerate(zip(st.columns(2, gap="large"), pictures, strict=True)):
            with place:
                mount.plane(one, key=f"own_map_{number}", on_pick=axes.go)
    st.caption(said)
    return groups


def twice(reading: "Reading", other: "Reading | str | None", side: str, position: int, theme: Theme) -> None:
    """The chosen piece in both sentences, layer by layer."""
    if other is None or isinstance(other, str):
        st.text(other or "Type a second sentence in which one of the pieces stands again.")
        return
    both = shared(reading.trace, other.trace, side)
    piece = tokens(reading.trace, side)[position - 1].text
    st.text(f"Second sentence: {other.trace.source_text}\nIts translation: {other.trace.target_text}")
    if position - 1 not in both:
        names = ", ".join(f"{n + 1} ‘{tokens(reading.trace, side)[n].text}’" for n in both)
        st.text(f"‘{piece}’ does not stand in the second sentence. Tokens that do: {names}.")
        return
    found = contexts(reading.trace, other.trace, side, position - 1, both[position - 1])
    lines = drawn.context_lines(found, piece, side)
    mount.curves(drawn.context_picture(found, lines, theme=theme), key="contexts")
    st.text(drawn.context_said(found, piece))
    places = drawn.context_places(found)
    takeaway.table(
        "contexts",
        lambda: curves.table(lines, x_title="place", x_labels=places),
        shown=st.session_state["as_table"],
        hide_index=True,
    )


def links(side: str, position: int) -> None:
    """From a token to its way through the layers, and to the heads that move things to it."""
    there = address.link(side=side, position=position)
    kind = "encoder" if side == "encoder" else "masked"
    with st.container(horizontal=True):
        if doors.is_there(doors.LAYERS):
            st.page_link(doors.LAYERS, label="Its way through the layers →", query_params=there)
        at = address.link(kind=kind, query=position, key=None, layer=None, head=None, units="pieces")
        st.page_link(doors.HEADS, label="Where heads look from it →", query_params=at)
