"""Puts canvases on a page. Each is registered once, when this module is first imported."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

CANVAS = Path(__file__).resolve().parents[2] / "viz" / "canvas"


def _component(name: str) -> Any:
    common, own = ((CANVAS / f"{part}.js").read_text(encoding="utf-8") for part in ("common", name))
    css = (CANVAS / "canvas.css").read_text(encoding="utf-8")
    return st.components.v2.component(f"headlight_{name}", js=f"{common}\n{own}", css=css)


_GRID, _HEAD, _PAIR, _TRANSLATION, _INSIDE = (
    _component(name) for name in ("grid", "head", "pair", "translation", "inside")
)


def grid(payload: bytes, *, key: str, on_open: Callable[[str, int, int], None]) -> None:
    """Thumbnails of heads; a click calls on_open(kind, layer, head)."""

    def opened() -> None:
        chosen = _value(key, "open")
        if chosen:
            on_open(chosen["kind"], int(chosen["layer"]), int(chosen["head"]))

    _GRID(data=payload, key=key, on_open_change=opened)


def head(payload: bytes, *, key: str, on_pin: Callable[[int | None, int | None], None]) -> None:
    """One head, large; a click calls on_pin(query, key), counted from 1, or with None when it is released."""

    def pinned() -> None:
        cell = _value(key, "pin")
        if cell:
            row, column = (int(at) + 1 or None for at in cell)
            on_pin(row, column)

    _HEAD(data=payload, key=key, on_pin_change=pinned)


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


def _numbered(key: str, name: str, call: Callable[[int], None]) -> Callable[[], None]:
    def triggered() -> None:
        number = _value(key, name)
        if number:
            call(int(number))

    return triggered


def _value(key: str, name: str) -> Any:
    return st.session_state[key].get(name)
