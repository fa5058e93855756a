"""The app's canvases in a notebook: the last expression of a cell draws itself; `save` writes it as an HTML page.

from model import checkpoint
from model.capture import capture
from viz.notebook import head
head(capture(*checkpoint.load(), "The cat sleeps.").map("cross", 3, 1))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from model.trace import AttentionMap
from viz import captions, offline, payload, phrases
from viz.theme import LIGHT, Theme


@dataclass(frozen=True)
class Canvas:
    """An interactive picture. Jupyter shows it where it is the value of a cell."""

    page: str  # HTML, whole, nothing to be loaded
    height: int  # pixels

    def _repr_html_(self) -> str:
        # A frame of its own, so that neither the notebook nor the picture can disturb the other.
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe sandbox="allow-scripts allow-downloads" style="{style}" srcdoc="{escape(self.page)}"></iframe>'

    def save(self, path: Path | str) -> None:
        """Write it as a page that opens offline."""
        Path(path).write_text(self.page, encoding="utf-8")


def head(
    shown: AttentionMap,
    *,
    theme: Theme = LIGHT,
    linear: bool = False,
    lines: bool = False,
    pinned: tuple[int, int] | None = None,
) -> Canvas:
    """One head, as a matrix or as lines between tokens. pinned: row and column, counted from 1."""
    cell = None if pinned is None else (pinned[0] - 1, pinned[1] - 1)
    message = payload.head(shown, theme=theme, pinned=cell, linear=linear, lines=lines)
    title = f"{shown.kind}, layer {shown.layer}, {phrases.head(shown.head, shown.measure)}"
    return Canvas(offline.alone("head", message, title=title), 240 + 26 * len(shown.rows))


def heads(shown: Sequence[AttentionMap], *, theme: Theme = LIGHT, linear: bool = False, per_row: int = 8) -> Canvas:
    """Many heads as thumbnails, of one kind or of several, `per_row` in a row."""
    message = payload.grid(
        shown,
        theme=theme,
        opened=None,
        pinned=None,
        linear=linear,
        per_row=per_row,
        captions=captions.of_heads(shown, None, by_layer=False),
    )
    return Canvas(offline.alone("grid", message, title=f"{len(shown)} heads"), 80 + 170 * -(-len(shown) // per_row))
