"""Puts canvases on a page. Each is registered once, when this module is first imported."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

CANVAS = Path(__file__).resolve().parents[2] / "viz" / "canvas"


def _component(name: str, *parts: str) -> Any:
    files = ("common", "matrix", "hand", "export", *parts, name)
    js = "\n".join((CANVAS / f"{part}.js").read_text(encoding="utf-8") for part in files)
    css = (CANVAS / "canvas.css").read_text(encoding="utf-8")
    return st.components.v2.component(f"headlight_{name}", js=js, css=css)


_GRID, _HEAD, _PAIR, _TRANSLATION, _INSIDE = (
    _component(name) for name in ("grid", "head", "pair", "translation", "inside")
)
_CURVES, _PIECES, _PLANE = (_component(name) for name in ("curves", "pieces", "plane"))
_FIELD = _component("field")
_ALIGNMENT, _SCATTER = (_component(name) for name in ("alignment", "scatter"))
_NETWORK = _component("network")
_DISTRIBUTION, _LOSS = (_component(name, "steps") for name in ("distribution", "loss"))
_LENS, _BEAMS = (_component(name) for name in ("lens", "beams"))
_VERSUS = _component("versus")
_SURGERY, _SHIFT = (_component(name) for name in ("surgery", "shift"))


def grid(payload: bytes, *, key: str, on_open: Callable[[str, int, int], None]) -> None:
    """Thumbnails of heads; a click calls on_open(kind, layer, head). Head 0: all heads of the layer."""
    _GRID(data=payload, key=key, on_open_change=_of_head(key, "open", on_open))


def surgery(payload: bytes, *, key: str, on_act: Callable[[str, int, int], None]) -> None:
    """All heads as cells; a click, or Enter, calls on_act(kind, layer, head)."""
    _SURGERY(data=payload, key=key, on_act_change=_of_head(key, "act", on_act))


def versus(payload: bytes, *, key: str) -> None:
    """Texts of two runs, word under word."""
    _VERSUS(data=payload, key=key)


def shift(payload: bytes, *, key: str) -> None:
    """How far each step of a translation was moved."""
    _SHIFT(data=payload, key=key)


def head(payload: bytes, *, key: str, on_pin: Callable[[int | None, int | None], None]) -> None:
    """One head, large; a click calls on_pin(query, key), counted from 1, or with None when it is released."""
    _HEAD(data=payload, key=key, on_pin_change=_pinned(key, on_pin))


def pair(
    payload: bytes,
    *,
    key: str,
    on_step: Callable[[int], None],
    on_pin: Callable[[str | None, int, int], None],
    on_arithmetic: Callable[[str, int, int], None],
) -> None:
    """Masked and cross-attention. on_step(step) once the pointer has rested; on_pin and on_arithmetic(kind, row,
    column), counted from 0, with None for the kind when the cell is released.
    """

    def called(name: str, call: Callable[..., None]) -> Callable[[], None]:
        def triggered() -> None:
            cell = _value(key, name)
            if cell:
                call(cell["kind"], int(cell["row"]), int(cell["column"]))

        return triggered

    _PAIR(
        data=payload,
        key=key,
        on_step_change=_numbered(key, "step", on_step),
        on_pin_change=called("pin", on_pin),
        on_arithmetic_change=called("arithmetic", on_arithmetic),
    )


def translation(payload: bytes, *, key: str, on_step: Callable[[int], None]) -> None:
    """The translation piece by piece; a click calls on_step(step)."""
    _TRANSLATION(data=payload, key=key, on_step_change=_numbered(key, "step", on_step))


def inside(payload: bytes, *, key: str, on_column: Callable[[int], None]) -> None:
    """The arithmetic of one cell; a click on a column of its row calls on_column(key)."""
    _INSIDE(data=payload, key=key, on_column_change=_numbered(key, "column", on_column))


def curves(payload: bytes, *, key: str, on_pick: Callable[[float | None], None] | None = None) -> None:
    """Lines over one axis; a click calls on_pick(x), or with None when x is released."""

    def picked() -> None:
        chosen = _value(key, "pick")
        if chosen and on_pick:
            on_pick(None if chosen["x"] is None else float(chosen["x"]))

    _CURVES(data=payload, key=key, on_pick_change=picked)


def field(payload: bytes, *, key: str, on_pin: Callable[[int | None, int | None], None]) -> None:
    """A matrix of numbers; a click calls on_pin(row, column), counted from 1, or with None when the cell is released.
    Several on a page are told apart by their key.
    """
    _FIELD(data=payload, key=key, on_pin_change=_pinned(key, on_pin))


def network(payload: bytes, *, key: str, on_flow: Callable[[str], None], on_door: Callable[[str], None]) -> None:
    """The drawing of the network; a number in it calls on_flow(step), a click on a box that leads somewhere
    on_door(box).
    """

    def called(name: str, call: Callable[[str], None]) -> Callable[[], None]:
        def triggered() -> None:
            if chosen := _value(key, name):
                call(str(chosen))

        return triggered

    _NETWORK(data=payload, key=key, on_flow_change=called("flow", on_flow), on_door_change=called("door", on_door))


def alignment(payload: bytes, *, key: str, on_pin: Callable[[int | None, int | None], None]) -> None:
    """Lines between two sentences; a click on a word calls on_pin(German, English), from 1, one of them None."""
    _ALIGNMENT(data=payload, key=key, on_pin_change=_pinned(key, on_pin))


def distribution(payload: bytes, *, key: str, on_step: Callable[[int], None], on_settings: Callable[..., None]) -> None:
    """The distribution at every step. A click on a step calls on_step(step); a slider that has come to rest calls
    on_settings(temperature=…, top_k=…, top_p=…).
    """

    def settled() -> None:
        if chosen := _value(key, "settings"):
            temperature, top_p = (round(float(chosen[name]), 6) for name in ("temperature", "top_p"))
            on_settings(temperature=temperature, top_k=int(chosen["top_k"]), top_p=top_p)

    numbered = _numbered(key, "step", on_step)
    _DISTRIBUTION(data=payload, key=key, on_step_change=numbered, on_settings_change=settled)


def loss(payload: bytes, *, key: str, on_step: Callable[[int], None], on_smoothing: Callable[[float], None]) -> None:
    """The loss of every token; a click calls on_step(step), the slider on_smoothing(smoothing) once it rests."""

    def settled() -> None:
        if chosen := _value(key, "smoothing"):
            on_smoothing(round(float(chosen["value"]), 6))

    _LOSS(data=payload, key=key, on_step_change=_numbered(key, "step", on_step), on_smoothing_change=settled)


def lens(payload: bytes, *, key: str, on_pin: Callable[[int, int], None]) -> None:
    """What is read after each layer; a click calls on_pin(layer, step)."""

    def pinned() -> None:
        if cell := _value(key, "pin"):
            on_pin(int(cell[0]), int(cell[1]) + 1)

    _LENS(data=payload, key=key, on_pin_change=pinned)


def beams(payload: bytes, *, key: str) -> None:
    """A beam search as a tree."""
    _BEAMS(data=payload, key=key)


def pieces(payload: bytes, *, key: str, on_pick: Callable[[str, int], None]) -> None:
    """Texts split into pieces; a click calls on_pick(side, position), counted from 1."""

    def picked() -> None:
        chosen = _value(key, "pick")
        if chosen:
            on_pick(chosen["side"], int(chosen["position"]))

    _PIECES(data=payload, key=key, on_pick_change=picked)


def plane(payload: bytes, *, key: str, on_pick: Callable[[int], None]) -> None:
    """Points in a plane; a click calls on_pick(number), counted from 1."""
    _PLANE(data=payload, key=key, on_pick_change=_numbered(key, "pick", on_pick))


def scatter(
    payload: bytes,
    *,
    key: str,
    on_choose: Callable[[str, int, int], None],
    on_open: Callable[[str, int, int], None],
) -> None:
    """Heads as points; a click calls on_choose(kind, layer, head), another one on the same head on_open."""
    _SCATTER(
        data=payload,
        key=key,
        on_choose_change=_of_head(key, "choose", on_choose),
        on_open_change=_of_head(key, "open", on_open),
    )


def _numbered(key: str, name: str, call: Callable[[int], None]) -> Callable[[], None]:
    def triggered() -> None:
        number = _value(key, name)
        if number:
            call(int(number))

    return triggered


def _of_head(key: str, name: str, call: Callable[[str, int, int], None]) -> Callable[[], None]:
    def triggered() -> None:
        chosen = _value(key, name)
        if chosen:
            call(chosen["kind"], int(chosen["layer"]), int(chosen["head"] or 0))

    return triggered


def _pinned(key: str, call: Callable[[int | None, int | None], None]) -> Callable[[], None]:
    def triggered() -> None:
        cell = _value(key, "pin")
        if cell:
            row, column = (int(at) + 1 or None for at in cell)
            call(row, column)

    return triggered


def _value(key: str, name: str) -> Any:
    return st.session_state[key].get(name)
