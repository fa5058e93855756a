"""A canvas as somebody sees it: where its cells are, what it reads out for a place, and which colour is there."""

from collections.abc import Sequence
from dataclasses import dataclass

from playwright.sync_api import Locator, Page

Place = tuple[float, float]  # CSS pixels from the left and the top of the canvas
Colour = tuple[int, int, int]

READ = """(canvas, places) => {
  const reading = canvas.parentElement.querySelector('.reading');
  const box = canvas.getBoundingClientRect();
  const at = ([x, y]) => ({ clientX: box.left + x, clientY: box.top + y });
  const said = places.map((place) => {
    canvas.dispatchEvent(new PointerEvent('pointermove', at(place)));
    return reading.textContent.trim();
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
    """One canvas on a page, found by its marker."""

    locator: Locator

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        width, height = self.locator.evaluate("(canvas) => [canvas.clientWidth, canvas.clientHeight]")
        return width, height

    def read(self, places: Sequence[Place]) -> list[str]:
        """What it says for each place while the pointer is there."""
        return list(self.locator.evaluate(READ, list(places)))

    def colours(self, places: Sequence[Place]) -> list[Colour]:
        """Red, green and blue of what is drawn there now."""
        return [(red, green, blue) for red, green, blue, _ in self.locator.evaluate(PIXELS, list(places))]

    def find(self, sentence: str) -> Place:
        """The middle of the place for which this is said. ValueError if there is none."""
        width, height = self.size
        for y in range(3, height, 6):
            said = self.read([(x, y) for x in range(0, width, 3)])
            if sentence in said:
                x = 3 * middle(said, sentence)
                return x, middle(self.read([(x, down) for down in range(height)]), sentence)
        raise ValueError(f"nowhere on the canvas is said: {sentence}")

    def click(self, place: Place) -> None:
        self.locator.scroll_into_view_if_needed()
        self.locator.click(position={"x": place[0], "y": place[1]})

    def hover(self, place: Place) -> None:
        self.locator.hover(position={"x": place[0], "y": place[1]})


def middle(said: Sequence[str], sentence: str) -> float:
    """Half way between the first and the last index of this sentence."""
    return (said.index(sentence) + len(said) - 1 - said[::-1].index(sentence)) / 2


def canvas(page: Page, marker: str) -> Canvas:
    """The canvas with this marker, once it is drawn."""
    locator = page.locator(f"canvas[data-marker={marker}]").first
    locator.wait_for()
    return Canvas(locator)
