"""A canvas as somebody sees it: where its cells are, what it reads out for a place, and which colour is there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from playwright.sync_api import Locator, Page

from model.trace import Array, AttentionMap
from viz import heatmap
from viz.theme import Theme, ramp

Place = tuple[float, float]  # CSS pixels from the left and the top of the canvas
CLOSE = 4  # of 255: a colour may be a shade off

READ = """(canvas, places) => {
  const reading = canvas.closest('.headlight').querySelector('.reading');
  const box = canvas.getBoundingClientRect();
  const at = ([x, y]) => ({ clientX: box.left + x, clientY: box.top + y });
  const said = places.map((place) => {
    canvas.dispatchEvent(new PointerEvent('pointermove', at(place)));
    return reading.firstChild ? reading.firstChild.textContent.trim() : '';
  });
  canvas.dispatchEvent(new PointerEvent('pointerleave'));
  return said;
}"""
PIXELS = """(canvas, places) => {
  const ratio = canvas.width / canvas.clientWidth;
  const context = canvas.getContext('2d');
  return places.map(([x, y]) => [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data]);
}"""


@dataclass
class Canvas:
    """One canvas on a page."""

    locator: Locator

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        width, height = self.locator.evaluate("(canvas) => [canvas.clientWidth, canvas.clientHeight]")
        return width, height

    def read(self, places: Sequence[Place]) -> list[str]:
        """What it says for each place while the pointer is there."""
        return list(self.locator.evaluate(READ, list(places)))

    def colours(self, places: Sequence[Place]) -> Array:
        """(n, 3) red, green and blue of what is drawn there now."""
        return np.array(self.locator.evaluate(PIXELS, list(places)))[:, :3]

    def find(self, sentences: Sequence[str]) -> Place:
        """Some place for which one of these is said. ValueError if there is none."""
        width, height = self.size
        for x in range(3, width, 20):
            said = self.read([(x, y) for y in range(height)])
            if found := set(sentences) & set(said):
                return x, said.index(found.pop()) + 3
        raise ValueError(f"nowhere on the canvas is said one of {sentences}")

    def cells(self, shown: AttentionMap) -> list[list[Place]]:
        """The middle of each cell of a matrix, from what is read out along one of its rows and one of its columns.

        Every cell of row 1 must say something of its own, and so must every cell of its last column.
        """
        width, height = self.size
        looked = [heatmap.sentence(shown, 1, column) for column in range(len(shown.columns))]
        _, y = self.find(looked)
        columns = _middles(self.read([(x, y) for x in range(width)]), looked)
        looks = [heatmap.sentence(shown, row, len(looked) - 1) for row in range(len(shown.rows))]
        rows = _middles(self.read([(columns[-1], y) for y in range(height)]), looks)
        return [[(x, y) for x in columns] for y in rows]

    def click(self, place: Place) -> None:
        self.locator.click(position={"x": place[0], "y": place[1]})

    def hover(self, place: Place) -> None:
        self.locator.hover(position={"x": place[0], "y": place[1]})


def canvas(page: Page, marker: str) -> Canvas:
    """The canvas with this marker, once it is there."""
    locator = page.locator(f"canvas[data-marker={marker}]")
    locator.wait_for()
    return Canvas(locator)


def colour(theme: Theme, kind: str, weights: Array) -> Array:
    """(…, 3) red, green and blue of these weights, on the square-root scale."""
    return rgb(ramp(theme, kind))[np.rint(np.sqrt(weights) * 255).astype(int)]


def rgb(colours: Sequence[str]) -> Array:
    """(n, 3) red, green and blue of #RRGGBB."""
    return np.array([[int(text[at : at + 2], 16) for at in (1, 3, 5)] for text in colours])


def _middles(said: Sequence[str], sentences: Sequence[str]) -> list[float]:
    """Where the places of equal width end at which these are said, less half of that width."""
    assert len(set(sentences)) == len(sentences), "two cells say the same; choose another sentence"
    ends = [len(said) - said[::-1].index(sentence) for sentence in sentences]
    assert ends == sorted(ends), "rows run from top to bottom, columns from left to right"
    return [end - (ends[-1] - ends[0]) / (len(ends) - 1) / 2 for end in ends]
