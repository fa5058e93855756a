"""Lines between two sentences as a hand meets them: what each word says, pins, keys, a narrow page, hand-made links."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model.align import named
from model.alignment import Reading, last_layer, word_strengths, words_of
from model.checkpoint import WEIGHTS
from model.inside import output_projection
from tests.browser import alone, bar
from tests.browser import expected as computed
from tests.browser.canvas import Canvas, canvas, rgb
from tests.browser.conftest import OpenPage
from viz import alignment
from viz.alignment import Aligned
from viz.theme import DARK, LIGHT, Theme

SOURCE, TARGET = ("I", "often", "get", "up", "<b>late</b>", "."), ("Oft", "stehe", "ich", "spät", "auf")
STRENGTH = np.random.default_rng(3).dirichlet(np.full(len(SOURCE), 0.4), size=len(TARGET))
SURE, POSSIBLE = frozenset({(1, 0), (2, 1), (0, 2), (3, 4)}), frozenset({(3, 1), (4, 3)})
HINT = "Point at a word to see all that it holds to; click to pin it."
Draw = Callable[..., Page]


def shown(*, by: str = "weight", by_hand: bool = False) -> Aligned:
    links: dict[str, Any] = {"sure": SURE, "possible": POSSIBLE} if by_hand else {}
    return Aligned(SOURCE, TARGET, STRENGTH * (9 if by == "norm" else 1), Reading(2, 3, by, "read"), **links)


@pytest.fixture
def draw(browser: Browser) -> Iterator[Draw]:
    """Puts an alignment on a page of its own: `draw(shown(), theme=DARK, width=390)`."""
    with ExitStack() as pages:

        def drawn(
            what: Aligned,
            *,
            theme: Theme = LIGHT,
            width: int = 1000,
            pinned: tuple[int | None, int | None] = (None, None),
        ) -> Page:
            payload = alignment.payload(what, theme=theme, pinned=pinned)
            page = alone.drawn(browser, "alignment", payload, theme=theme, width=width)
            pages.callback(page.close)
            return page

        yield drawn


def places(drawn: Canvas, what: Aligned) -> dict[str, list[tuple[float, float]]]:
    """The middle of where each word of both sides is read out."""
    width, height = drawn.size
    grid = np.array([(x, y) for y in range(8, height, 12) for x in range(4, width, 12)])
    said = np.array(drawn.read(grid.tolist()))
    found = {}
    for side, say, count in (
        ("target", alignment.of_target, len(what.target)),
        ("source", alignment.of_source, len(what.source)),
    ):
        found[side] = [tuple(grid[said == say(what, number)].mean(axis=0).tolist()) for number in range(count)]
    return found


@pytest.mark.parametrize("by", ["weight", "norm"])
@pytest.mark.parametrize("width", [1000, 240])
def test_every_word_says_what_it_holds_to(draw: Draw, by: str, width: int) -> None:
    what = shown(by=by, by_hand=by == "norm")
    page = draw(what, width=width)
    drawn = canvas(page, "alignment")
    expect(page.locator(".reading")).to_have_text(HINT)
    at = places(drawn, what)  # each word is somewhere, or this fails
    across = 1 if width == 1000 else 0  # above and below each other, or side by side
    assert max(place[across] for place in at["source"]) < min(place[across] for place in at["target"])
    for side in at.values():
        along = [place[1 - across] for place in side]
        assert along == sorted(along)
    assert drawn.size[0] <= width
    assert alone.told(page) == []  # to point is not to tell


def test_a_click_pins_a_word_and_another_one_or_escape_releases_it(draw: Draw) -> None:
    what = shown()
    page = draw(what)
    drawn, aloud = canvas(page, "alignment"), page.locator("[data-marker=pinned]")
    at = places(drawn, what)
    drawn.click(at["target"][3])
    expect(aloud).to_have_text("Pinned: " + alignment.of_target(what, 3))
    drawn.click(at["source"][1])
    expect(aloud).to_have_text("Pinned: " + alignment.of_source(what, 1))
    drawn.click(at["source"][1])
    expect(aloud).to_have_text("")
    drawn.click(at["target"][0])
    page.keyboard.press("Escape")
    expect(aloud).to_have_text("")
    nothing = ["pin", [-1, -1]]
    assert alone.told(page) == [["pin", [3, -1]], ["pin", [-1, 1]], nothing, ["pin", [0, -1]], nothing]


def test_arrow_keys_go_from_word_to_word_and_across_to_the_linked_one(draw: Draw) -> None:
    what = shown()
    page = draw(what)
    page.locator("canvas").focus()
    reading = page.locator(".reading")
    page.keyboard.press("ArrowRight")
    expect(reading).to_have_text(alignment.of_target(what, 0))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(reading).to_have_text(alignment.of_target(what, 2))
    page.keyboard.press("ArrowUp")
    expect(reading).to_have_text(alignment.of_source(what, what.found[2]))
    page.keyboard.press("ArrowLeft")
    expect(reading).to_have_text(alignment.of_source(what, max(0, what.found[2] - 1)))
    page.keyboard.press("Enter")
    assert alone.told(page) == [["pin", [-1, max(0, what.found[2] - 1)]]]


def test_a_pinned_pair_says_its_own_strength(draw: Draw) -> None:
    what = shown()
    page = draw(what, pinned=(1, 4))
    said = f"‘stehe’ holds to ‘<b>late</b>’: {what.value(1, 4)} ({alignment.name(what.reading)})"
    expect(page.locator(".reading")).to_have_text(said)
    assert page.locator("b").count() == 0


def test_what_was_found_of_hand_made_links_is_counted_in_words(draw: Draw) -> None:
    what = shown(by_hand=True)
    page = draw(what)
    items = page.locator("[data-marker=verdicts] > span").all_text_contents()
    assert items == [f"{line} {meaning}" for line, meaning in alignment.legend(what)]
    assert draw(shown()).locator("[data-marker=verdicts] > span").count() == 0


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_have_the_hue_of_cross_attention_and_stronger_ones_are_wider(draw: Draw, theme: Theme) -> None:
    strength = np.array([[0.9, 0.05, 0.05], [0.0, 0.1, 0.0]])
    what = Aligned(("one", "two", "three"), ("eins", "zwei"), strength, Reading(1, 1, "weight", "read"))
    drawn = canvas(draw(what, theme=theme), "alignment")
    row = drawn.colours([(x, 114) for x in range(400)])  # half way between the two sentences
    lines = "".join(np.where(np.abs(row - rgb([theme.cross])[0]).max(axis=1) < 24, "#", " ")).split()
    assert len(lines) == 2
    assert len(lines[0]) >= len(lines[1]) + 3


def test_on_the_page_a_click_stands_in_the_address_and_the_widgets(open_page: OpenPage) -> None:
    sentence, target = "My sister put the keys on the table.", "Meine Schwester legte die Schlüssel hin."
    trace = computed.read(sentence, target)
    model, _ = computed.loaded()
    way = named(model, WEIGHTS) or last_layer(trace)
    strength = word_strengths(trace, output_projection(model, "cross", way.layer), way)
    what = Aligned(words_of(trace.source), words_of(trace.predicted), strength, way)
    page = open_page(f"/alignment?sentence={quote(sentence)}&target={quote(target)}")
    here = {"sentence": sentence, "target": target}
    drawn = canvas(page, "alignment")
    at = places(drawn, what)
    drawn.click(at["target"][1])
    bar.until_address(page, **here, german=2)
    assert bar.chosen(page, "German word") == "2 Schwester"
    page.keyboard.press("Escape")
    bar.until_address(page, **here)
    bar.choose(page, "Strength", "weight" if way.by == "norm" else "norm ‖αf(x)‖")
    bar.until_address(page, **here, by="weight" if way.by == "norm" else "norm")
