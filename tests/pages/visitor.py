"""One visitor of the app without a browser: follows links, types, and reads what is on the page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from model.trace import Array
from pages.parts import address as address_bar
from viz.payload import unpack

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path for path in sorted(ROOT.glob("pages/*/*.py")) if path.parent.name != "parts"}
SENTENCE = "The old man doesn't hear two green trees today."
PATIENCE = 120  # seconds for one run, on a busy machine


@dataclass
class Visitor:
    """A session. AppTest runs no JavaScript: what a canvas would draw is read from its payload."""

    app: AppTest

    def follow(self, page: str, **address: str) -> None:
        """Open a link to a page, with SENTENCE if it names no other: whatever was chosen before is gone."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(address_bar, "_is_back_or_forward", lambda: True)  # or a link to the same page is no news
            self._go(page, {"sentence": SENTENCE} | address)

    def menu(self, page: str) -> None:
        """Go to a page by the menu, which empties the address."""
        self._go(page, {})

    def _go(self, page: str, address: dict[str, str]) -> None:
        self.app.query_params.clear()
        self.app.query_params.update(address)
        self.app.switch_page(str(PAGES[page].relative_to(ROOT))).run()

    def type(self, text: str, *, key: str = "sentence") -> None:
        self.app.text_input(key=key).set_value(text).run()

    def choose(self, key: str, value: Any) -> None:
        """Set a choice among several, whichever widget it is."""
        for kind in ("selectbox", "radio", "slider", "number_input", "button_group", "toggle"):
            for widget in self.app.get(kind):
                if widget.key == key:
                    widget.set_value(value).run()
                    return
        raise KeyError(f"there is no widget {key!r} on the page")

    @property
    def address(self) -> dict[str, str]:
        return dict(self.app.query_params)

    def state(self, name: str) -> Any:
        return self.app.session_state[name]

    @property
    def translation(self) -> str:
        """The first plain text on the page stands in the bar."""
        return str(self.app.text[0].value)

    @property
    def notes(self) -> list[str]:
        """The lines that warn of something."""
        return [text.value.removeprefix("⚠ ") for text in self.app.text if text.value.startswith("⚠")]

    @property
    def captions(self) -> list[str]:
        return [plain(caption.value) for caption in self.app.caption]

    @property
    def errors(self) -> list[str]:
        """The sentences in which a page says that it cannot go on."""
        return [plain(error.value) for error in self.app.error]

    def canvas(self, name: str) -> tuple[dict[str, Any], dict[str, Array]]:
        """Header and arrays of the one canvas of this kind on the page."""
        (found,) = [c.proto for c in self.app.get("bidi_component") if c.proto.component_name == f"headlight_{name}"]
        return unpack(found.bytes)

    def canvases(self) -> list[tuple[dict[str, Any], dict[str, Array]]]:
        return [unpack(component.proto.bytes) for component in self.app.get("bidi_component")]


def plain(markdown: str) -> str:
    """What a reader sees of Markdown in which every mark is disarmed by a backslash."""
    return re.sub(r"\\([^\sA-Za-z0-9])", r"\1", markdown)


def texts(tokens: Sequence[Any]) -> list[str]:
    return [token.text for token in tokens]
