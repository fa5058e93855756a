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


_GRID, _HEAD, _PAIR, _TRANSLATION = (_component(name) for name in ("grid", "head", "pair", "translation"))


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


def pair(payload: bytes, *, key: str, on_step: Callable[[int], None]) -> None:
    """Masked and cross-attention; on_step(step) once the pointer has rested."""
    _PAIR(data=payload, key=key, on_step_change=_stepped(key, on_step))


def translation(payload: bytes, *, key: str, on_step: Callable[[int], None]) -> None:
    """The translation piece by piece; a click calls on_step(step)."""
    _TRANSLATION(data=payload, key=key, on_step_change=_stepped(key, on_step))


def _stepped(key: str, on_step: Callable[[int], None]) -> Callable[[], None]:
    def stepped() -> None:
        step = _value(key, "step")
        if step:
            on_step(int(step))

    return stepped


def _value(key: str, name: str) -> Any:
    return st.session_state[key].get(name)
