"""The two attentions of the decoder, and the step that both share: slider, arrows, play, clicks."""

import base64
import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Browser, Page, expect

from model.trace import AttentionMap
from tests.browser import alone, bar, expected, visits
from tests.browser.canvas import CLOSE, canvas, colour, rgb
from tests.browser.conftest import OpenPage
from tests.viz.test_pair import a_pair
from viz import captions, heatmap
from viz.pair import payload
from viz.theme import LIGHT

SENTENCE = "My brother reads an old book in the small garden today."
TARGET = "Mein Bruder liest."
DIMMED = 0.45  # share of the background over rows that are not the step's
CHOICES = {"layer": 2, "head": 3, "cross_layer": 3, "cross_head": 6}


def link(**address: object) -> str:
    values = {"sentence": SENTENCE, "target": TARGET, **CHOICES, **address}
    return "/masked_vs_cross?" + "&".join(f"{name}={quote(str(value))}" for name, value in values.items())


def sides() -> tuple[AttentionMap, AttentionMap]:
    trace = expected.read(SENTENCE, TARGET)
    return trace.map("masked", 2, 3), trace.map("cross", 3, 6)


def stands_at(page: Page, step: int) -> None:
    """Step text, slider and cards all say this step."""
    masked, _ = sides()
    expect(page.locator("[data-marker=step]")).to_have_text(f"step {step} of {len(masked.rows)}")
    expect(page.get_by_role("slider", name="step of the translation")).to_have_value(str(step))
    assert masked.predicts is not None
    said = f"having read {masked.rows[step - 1].text}, about to write {masked.predicts[step - 1].text}"
    for kind in ("masked", "cross"):
        expect(page.locator(f".card[data-kind={kind}]")).to_contain_text(said)


def until_step(page: Page, step: int, **more: object) -> None:
    """Python has heard of the step: it is in the address and in the select box."""
    masked, _ = sides()
    bar.until_address(page, sentence=SENTENCE, target=TARGET, **CHOICES, step=step, **more)
    expect(page.get_by_role("combobox", name=re.compile("^Step"))).to_have_value(
        f"{step} {captions.of_rows(masked)[step - 1]}"
    )


def test_both_sides_are_painted_as_captured_and_only_the_left_has_a_staircase(open_page: OpenPage) -> None:
    page = open_page(link(step=3))
    drawn = canvas(page, "pair")
    stands_at(page, 3)
    background = rgb([LIGHT.background])[0]
    for shown in sides():
        assert len(shown.columns) != len(sides()[1].rows) or shown.kind == "masked"
        places = np.array(drawn.cells(shown))
        full = colour(LIGHT, shown.kind, shown.weights)
        for row in range(len(shown.rows)):
            painted = full[row] if row == 2 else full[row] * (1 - DIMMED) + background * DIMMED
            found = drawn.colours(places[row].tolist())
            allowed = shown.allowed[row]
            assert np.abs(found[allowed] - painted[allowed]).max() <= CLOSE
        said = drawn.read(places[0].tolist())
        forbidden = [sentence for sentence in said if "may not look at" in sentence]
        assert len(forbidden) == (len(shown.columns) - 1 if shown.kind == "masked" else 0)


def test_the_step_follows_slider_arrows_play_and_clicks_and_python_hears_when_it_rests(open_page: OpenPage) -> None:
    masked, cross = sides()
    page = open_page(link(step=2))
    last = len(masked.rows)
    slider = page.get_by_role("slider", name="step of the translation")
    slider.press("ArrowRight")
    stands_at(page, 3)
    until_step(page, 3)
    visits.wait_until_idle(page)
    page.keyboard.press("ArrowRight")  # the slider has kept the focus, though Python has drawn it anew
    stands_at(page, 4)
    page.wait_for_timeout(320)  # Python has just heard of 4, and has not answered yet
    page.keyboard.press("ArrowRight")
    until_step(page, 5)
    stands_at(page, 5)
    page.keyboard.press("ArrowLeft")
    until_step(page, 4)

    drawn = canvas(page, "pair")
    drawn.locator.press("ArrowUp")
    stands_at(page, 3)
    drawn.locator.press("ArrowUp")
    drawn.locator.press("ArrowUp")
    stands_at(page, 1)
    until_step(page, 1)
    page.keyboard.press("ArrowUp")  # there is nothing before the first
    stands_at(page, 1)

    page.get_by_role("button", name="play the translation").click()
    for step in range(2, last + 1):
        stands_at(page, step)
    until_step(page, last)

    visits.wait_until_idle(page)
    places = drawn.cells(cross)
    drawn.click(places[1][8])
    stands_at(page, 2)
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: " + heatmap.sentence(cross, 1, 8))
    until_step(page, 2, kind="cross", query=2, key=9)
    page.keyboard.press("Escape")
    expect(page.locator("[data-marker=pinned]")).to_have_text("")
    until_step(page, 2, kind="cross")

    box = page.get_by_role("combobox", name=re.compile("^Step"))
    page.get_by_role("heading", name="Masked vs cross", exact=True).scroll_into_view_if_needed()
    box.click()  # at the edge of the window the page scrolls to it, and Streamlit closes a list when a page scrolls
    page.get_by_role("option", name=re.compile("^4 ")).click()
    stands_at(page, 4)


def test_the_slider_stands_at_the_step_before_anything_is_drawn(browser: Browser) -> None:
    """A key pressed until then must not begin in the middle, where the browser puts a slider without a value."""
    made, shape = a_pair(expected.read(SENTENCE, TARGET)), (9, 14, 4)
    packed = payload(made, theme=LIGHT, step=2, linear=True, pinned=None, lifted=False, door=True, shape=shape)
    page = alone.drawn(browser, "pair", packed, theme=LIGHT)
    at_once = "(packed) => { window.draw(packed); return document.querySelector('input[type=range]').value; }"
    assert page.evaluate(at_once, base64.b64encode(packed).decode()) == "2"
    page.close()


def test_a_forbidden_cell_says_why_and_a_pin_stays_while_the_heads_change(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    masked, _ = sides()
    page = open_page(link(step=2))
    drawn, reading = canvas(page, "pair"), page.locator(".reading")
    places = drawn.cells(masked)
    drawn.hover(places[1][3])
    expect(reading).to_have_text(heatmap.sentence(masked, 1, 3))
    expect(reading).to_contain_text("−∞")
    drawn.click(places[2][1])
    until_step(page, 3, kind="masked", query=3, key=2)
    page.get_by_role("combobox", name="◣ head", exact=True).click()
    page.get_by_role("option", name="8", exact=True).click()
    other = trace.map("masked", 2, 8)
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: " + heatmap.sentence(other, 2, 1))
    stands_at(page, 3)
