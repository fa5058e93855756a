"""Lines in a real browser: hover reads all of them at one place, a click picks it, arrow keys move, Escape releases."""

import re

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model.positions import similarity, sizes
from tests.browser import alone, bar, expected
from tests.browser.canvas import CLOSE, Canvas, canvas, rgb
from tests.browser.conftest import OpenPage
from viz.curves import Series
from viz.curves import payload as packed
from viz.field import round_limit
from viz.theme import LIGHT

SENTENCE = "My brother reads an old book."
LINK = f"/positions?sentence={SENTENCE.replace(' ', '+')}&width=8&length=12"
TOP = 34  # pixels above the end of the axis
HERE = {"sentence": SENTENCE, "width": 8, "length": 12}


def curves(page: Page, title: str) -> Canvas:
    """The lines with this axis, once they are there."""
    found = page.locator(f"canvas[data-marker=curves][aria-label^='{title} by ']")
    found.wait_for()
    found.scroll_into_view_if_needed()
    return Canvas(found)


def reading(drawn: Canvas) -> str:
    return str(drawn.locator.evaluate("(canvas) => canvas.parentElement.querySelector('.reading').textContent"))


def places(drawn: Canvas, said: str) -> list[float]:
    """The x, in pixels, at which this is read out."""
    width, height = drawn.size
    return [x for x, one in enumerate(drawn.read([(x, height / 2) for x in range(width)])) if one.startswith(said)]


def test_hover_reads_a_click_picks_and_keys_move(open_page: OpenPage) -> None:
    page = open_page(LINK)
    drawn = curves(page, "cosine")
    alike = similarity(np.arange(12), 8) / 4
    at = places(drawn, "distance k 5 — ")
    assert at == list(range(at[0], at[-1] + 1))
    middle = (at[0] + at[-1]) / 2
    drawn.hover((middle, 100))
    assert f"d = 8: {alike[5]:.3f}".replace("-", "−") in reading(drawn)

    drawn.click((middle, 100))
    bar.until_address(page, **HERE, shift=5)
    assert page.get_by_role("spinbutton", name="Step k").input_value() == "5"
    drawn.locator.focus()
    page.keyboard.press("ArrowRight")
    assert reading(drawn).startswith("distance k 6 — ")
    page.keyboard.press("Enter")
    bar.until_address(page, **HERE, shift=6)


def test_a_line_is_painted_where_its_numbers_are(open_page: OpenPage) -> None:
    page = open_page(LINK)
    drawn = curves(page, "length of the vector")
    trace = expected.read(SENTENCE)
    taps = [trace.tensors[f"encoder.input.{what}_tap"] for what in ("embeddings", "positions", "sum")]
    lengths = sizes(*taps).embeddings
    most = round_limit(np.concatenate([np.linalg.norm(tap, axis=-1) for tap in taps]))
    token = int(np.argmax(lengths[1:-1])) + 1  # at the ends a place is half as wide
    at = places(drawn, f"‘{trace.source[token].text}’ — ")
    column = round((at[0] + at[-1]) / 2)
    drawn.locator.dispatch_event("pointerleave")
    colours, beside = (drawn.colours([(x, y) for y in range(drawn.size[1])]) for x in (column, column + 8))
    zero = np.flatnonzero(np.abs(beside - rgb([LIGHT.chrome])).max(axis=1) <= CLOSE)[-1]  # beside the token's tick
    line = np.flatnonzero(np.abs(colours - rgb([LIGHT.encoder])).max(axis=1) <= CLOSE)
    assert line.mean() == pytest.approx(zero - lengths[token] / most * (zero - TOP), abs=2)
    assert f"embedding × √d: {lengths[token]:.2f}" in drawn.read([(column, 100)])[0]


def test_a_token_is_picked_and_moves_the_circle(open_page: OpenPage) -> None:
    page = open_page(LINK)
    drawn = curves(page, "length of the vector")
    trace = expected.read(SENTENCE)
    at = places(drawn, f"‘{trace.source[3].text}’ — ")
    drawn.click(((at[0] + at[-1]) / 2, 100))
    bar.until_address(page, **HERE, position=4)
    circle = page.locator("canvas[data-marker=plane]")
    expect(circle.locator("xpath=../p[contains(@class, 'reading')]")).to_have_text("pos 3 turned to pos 4")


def test_slanted_names_are_whole_at_both_ends(browser: Browser) -> None:
    x = np.arange(5.0)
    names = {float(n): f"after sub-layer {n}" for n in x}
    payload = packed([Series("one", x, x)], theme=LIGHT, x_title="", y_title="value", x_labels=names)
    page = alone.drawn(browser, "curves", payload, theme=LIGHT, width=360)
    drawn = canvas(page, "curves")
    edges = [(x, y) for x in (0, 1, drawn.size[0] - 2, drawn.size[0] - 1) for y in range(TOP, drawn.size[1])]
    assert not drawn.colours(edges).any()
    page.close()


def test_nothing_below_moves_while_lines_are_read(browser: Browser) -> None:
    x = np.arange(6.0)
    lines = [Series(f"head {number} of the encoder, one to the left", x, x + number) for number in range(5)]
    payload = packed(lines, theme=LIGHT, x_title="pieces of the source", y_title="share")
    page = alone.drawn(browser, "curves", payload, theme=LIGHT, width=360)
    drawn, tall = canvas(page, "curves"), "document.querySelector('.headlight').offsetHeight"
    before = page.evaluate(tall)
    drawn.hover((drawn.size[0] / 2, 100))
    assert reading(drawn).count("one to the left") == 5
    assert page.evaluate(tall) == before
    page.close()


def test_on_a_phone_names_stand_above_and_the_same_is_read(open_page: OpenPage) -> None:
    page = open_page(LINK, width=390, dark=True)
    drawn = curves(page, "length of the vector")
    expect(page.locator(".legend").filter(has_text="both together")).to_be_visible()
    assert drawn.size[0] < 390
    drawn.hover((drawn.size[0] / 2, 100))
    assert re.search(r"embedding × √d: [\d.]+ · position: [\d.]+ · both together: [\d.]+", reading(drawn))
