"""A canvas on an empty page, without the app: drawn from its payload, with what it would tell Python kept in a list."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from viz.theme import Theme

CANVAS = Path(__file__).resolve().parents[2] / "viz" / "canvas"
SHARED = ("common", "matrix", "hand", "export")
DRAW = """async ([code, packed]) => {
  window.told = [];
  const module = (window.module = await import('data:text/javascript;base64,' + code));
  window.draw = (packed) => {
    const data = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const setTriggerValue = (name, value) => window.told.push([name, value]);
    if (window.stop) window.stop();
    window.stop = module.default({ data, parentElement: document.getElementById('here'), setTriggerValue });
  };
  window.draw(packed);
}"""


def drawn(
    browser: Browser,
    name: str,
    payload: bytes,
    *,
    theme: Theme,
    parts: Sequence[str] = (),
    width: int = 1000,
    height: int = 900,
    touch: bool = False,
) -> Page:
    """A page with this canvas in it, and what else it is made of. Close it after use; `told` says what a hand made the
    canvas tell. touch: a finger instead of a pointer.
    """
    page = browser.new_page(viewport={"width": width, "height": height}, has_touch=touch, is_mobile=touch)
    css = (CANVAS / "canvas.css").read_text(encoding="utf-8")
    page.set_content(f"<style>body {{ background: {theme.background} }} {css}</style><div id=here></div>")
    code = "\n".join((CANVAS / f"{part}.js").read_text(encoding="utf-8") for part in (*SHARED, *parts, name))
    page.evaluate(DRAW, [base64.b64encode(code.encode()).decode(), base64.b64encode(payload).decode()])
    page.evaluate("() => new Promise((ready) => requestAnimationFrame(() => setTimeout(ready, 0)))")
    return page


def redraw(page: Page, payload: bytes) -> None:
    """The same canvas with other data, as after a rerun."""
    page.evaluate("(packed) => window.draw(packed)", base64.b64encode(payload).decode())
    page.evaluate("() => new Promise((ready) => requestAnimationFrame(() => setTimeout(ready, 0)))")


def told(page: Page) -> list[Any]:
    """[name, value] of each trigger so far."""
    return list(page.evaluate("window.told"))
