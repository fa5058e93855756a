"""A matrix of numbers as a hand meets it: its colours, what it says, its pins, and how it scrolls inside itself."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model.trace import Array
from tests.browser import alone
from tests.browser.canvas import CLOSE, canvas, rgb
from viz import field
from viz.inside import digits, signed
from viz.theme import DARK, LIGHT, Theme, for_canvas

SENTENCE = "‘{row}’ ({row_number}), column {column}: {value}"
Draw = Callable[..., Page]


@pytest.fixture
def draw(browser: Browser) -> Iterator[Draw]:
    """Puts a payload on a page of its own: `draw(payload, theme=DARK, width=390)`."""
    with ExitStack() as pages:

        def drawn(payload: bytes, *, theme: Theme = LIGHT, width: int = 1000, touch: bool = False) -> Page:
            page = alone.drawn(browser, "field", payload, theme=theme, width=width, touch=touch)
            pages.callback(page.close)
            return page

        yield drawn


def numbers(rows: int, columns: int) -> Array:
    return np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)


def labels(values: Array) -> tuple[list[str], list[str]]:
    return [f"token{row % 3}" for row in range(values.shape[0])], [str(n) for n in range(1, values.shape[1] + 1)]


def made(values: Array, **changes: Any) -> bytes:
    rows, columns = labels(values)
    said = {"theme": LIGHT, "hue": "signed", "limit": 2.0, "sentence": SENTENCE} | changes
    return field.payload(values, rows=rows, columns=columns, **said)


def said_of(values: Array, row: int, column: int) -> str:
    rows, columns = labels(values)
    return field.say(SENTENCE, float(values[row, column]), row=row, column=column, rows=rows, columns=columns)


def middles(page: Page, values: Array) -> list[tuple[float, float]]:
    """The middle of each cell, row after row, from what is read out along the first row and the first column."""
    drawn = canvas(page, "field")
    width, height = drawn.size
    across, down = drawn.read([(x, 6) for x in range(width)]), drawn.read([(2, y) for y in range(height)])
    columns = [across.index(said_of(values, 0, c)) for c in range(values.shape[1])]
    rows = [down.index(said_of(values, r, 0)) for r in range(values.shape[0])]
    wide, tall = ((at[-1] - at[0]) / (len(at) - 1) for at in (columns, rows))
    return [(x + wide / 2, y + tall / 2) for y in rows for x in columns]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("hue", ["signed", "chrome"])
def test_cells_have_the_colour_of_their_number_and_say_it(draw: Draw, theme: Theme, hue: str) -> None:
    values = numbers(5, 7)
    values = abs(values) if hue == "chrome" else values
    allowed = np.ones(values.shape, dtype=bool)
    allowed[3, 4] = False
    page = draw(made(values, hue=hue, theme=theme, allowed=allowed, forbidden="no {column}"), theme=theme)
    drawn, places = canvas(page, "field"), middles(page, values)
    expected = [said_of(values, r, c) if allowed[r, c] else f"no {c + 1}" for r in range(5) for c in range(7)]
    assert drawn.read(places) == expected
    ramps = for_canvas(theme)["ramps"]
    shares = values.ravel().astype(float) / 2
    names = [hue if hue != "signed" else "negative" if share < 0 else "positive" for share in shares]
    shades = [ramps[n][min(255, int(np.floor(abs(s) * 255 + 0.5)))] for n, s in zip(names, shares, strict=True)]
    off = np.abs(drawn.colours(places) - rgb(shades)).max(axis=1)
    assert off[allowed.ravel()].max() <= CLOSE


def test_many_columns_are_thin_cells_side_by_side_and_each_can_be_read(draw: Draw) -> None:
    values = numbers(4, 256)
    drawn = canvas(draw(made(values)), "field")
    width, _ = drawn.size
    heard = drawn.read([(x, 30) for x in range(width)])
    assert {said_of(values, 1, column) for column in range(256)} <= set(heard)
    assert heard.index(said_of(values, 1, 255)) > 255 * 3


def test_click_and_keys_pin_a_cell_counted_from_0_and_escape_releases(draw: Draw) -> None:
    values = numbers(5, 7)
    page = draw(made(values))
    drawn, aloud = canvas(page, "field"), page.locator("[data-marker=pinned]")
    places = middles(page, values)
    drawn.click(places[2 * 7 + 3])
    expect(aloud).to_have_text("Pinned: " + said_of(values, 2, 3))
    drawn.click(places[2 * 7 + 3])
    expect(aloud).to_have_text("")
    drawn.click(places[4 * 7 + 6])
    page.mouse.move(990, 890)
    for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)  # beyond the last there is nothing
    expect(page.locator(".reading")).to_have_text(said_of(values, 3, 4))
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(aloud).to_have_text("")
    pins = [[2, 3], [-1, -1], [4, 6], [3, 4], [-1, -1]]
    assert alone.told(page) == [["pin", cell] for cell in pins]


@pytest.mark.parametrize("width", [1000, 390])
def test_what_does_not_fit_scrolls_inside_and_stays_where_it_was_after_a_rerun(draw: Draw, width: int) -> None:
    values = numbers(80, 300)
    page = draw(made(values, height=400, pinned=(70, 290)), width=width)
    scrolled = "() => { const s = document.querySelector('.scroller'); return [s.scrollLeft, s.scrollTop]; }"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("document.querySelector('.scroller').clientHeight <= 400")
    left, top = page.evaluate(scrolled)
    assert top > 600  # the pinned cell was brought into sight
    assert (left > 0) == (width == 390)
    alone.redraw(page, made(values + 1, height=400, pinned=(3, 3)))
    assert page.evaluate(scrolled) == [left, top]
    page.locator("canvas[data-marker=field]").press("ArrowUp")
    assert page.evaluate(scrolled) == [0 if width == 1000 else page.evaluate(scrolled)[0], 0]
    expect(page.locator(".reading")).to_have_text(said_of(values + 1, 2, 3))


def test_a_picture_fades_where_it_goes_on_and_only_there(draw: Draw) -> None:
    page = draw(made(numbers(80, 300), height=400), width=390)
    fades = """() => { const style = document.querySelector('.scroller').style;
      return ['left', 'right', 'above', 'below'].map((edge) => style.getPropertyValue(`--more-${edge}`) !== '0px'); }"""
    go = """(to) => new Promise((done) => {
      const scroller = document.querySelector('.scroller');
      scroller.onscroll = () => done();
      scroller.scrollTo(...to);
    })"""
    assert page.evaluate(fades) == [False, True, False, True]
    assert "linear-gradient" in page.evaluate("getComputedStyle(document.querySelector('.scroller')).maskImage")
    page.evaluate(go, [100, 0])
    assert page.evaluate(fades) == [True, True, False, True]
    page.evaluate(go, [9999, 9999])
    assert page.evaluate(fades) == [True, False, True, False]


def test_the_last_slanted_name_is_whole(draw: Draw) -> None:
    values = numbers(3, 9)
    names = [*"abcdefgh", "feed-forward!!!"]
    said = {"theme": LIGHT, "hue": "signed", "limit": 2.0, "sentence": SENTENCE}
    page = draw(field.payload(values, rows=["x"] * 3, columns=names, **said), width=390)
    edge = """() => {
      const top = document.querySelector('.top');
      const { data } = top.getContext('2d').getImageData(top.width - 2, 0, 2, top.height);
      return data.every((part) => part === 0) && top.width > 0;
    }"""
    assert page.evaluate(edge)
    assert page.evaluate(
        "(() => { const s = document.querySelector('.scroller'); return s.scrollWidth <= s.clientWidth; })()"
    )


@pytest.mark.parametrize("touch", [False, True])
def test_the_hint_is_in_the_words_of_the_hand(draw: Draw, touch: bool) -> None:
    page = draw(made(numbers(5, 7)), touch=touch)
    pointer, finger = "Point at a cell to read it; click to choose it.", "Tap a cell to read it and choose it."
    expect(page.locator(".reading")).to_have_text(finger if touch else pointer)


def test_a_pin_that_stays_can_be_moved_but_not_released(draw: Draw) -> None:
    values = numbers(5, 7)
    page = draw(made(values, pinned=(2, 3), stays=True))
    drawn, places = canvas(page, "field"), middles(page, values)
    drawn.click(places[2 * 7 + 3])
    page.keyboard.press("Escape")
    drawn.click(places[1 * 7 + 5])
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: " + said_of(values, 1, 5))
    assert alone.told(page) == [["pin", [1, 5]]]


def test_a_whole_row_can_be_pinned(draw: Draw) -> None:
    values = numbers(5, 7)
    page = draw(made(values, pinned=(2, None), row_title="token"))
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: token: token2")


def test_digits_read_the_same_in_python(draw: Draw) -> None:
    page = draw(made(numbers(2, 3)))
    drawn = [float(v) for v in np.random.default_rng(2).normal(size=400) * 10.0 ** np.arange(-6, 4).repeat(40)]
    values = [v for v in drawn if digits(v) == digits(float(np.nextafter(v, 9)))] + [0.0, 1.0, -1.0, 250.0]
    page.add_script_tag(content=(alone.CANVAS / "common.js").read_text(encoding="utf-8"))
    assert page.evaluate("(values) => values.map(signed)", values) == [signed(v) for v in values]
