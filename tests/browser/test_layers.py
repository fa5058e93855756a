"""Layers and Feed-forward under a hand: what a cell says, what a click chooses, and where the doors lead."""

import re

from playwright.sync_api import Locator, Page, expect

from model import neurons
from model.stream import measured, stream
from tests.browser import bar, expected
from tests.browser.canvas import Canvas
from tests.browser.conftest import OpenPage
from viz import field
from viz import neurons as drawn_neurons
from viz import stream as drawn
from viz.quantities import WORDING

SENTENCE, TARGET = "The dog sleeps in the garden.", "Der Hund schläft im Garten."
HERE = {"sentence": SENTENCE, "target": TARGET, "side": "decoder"}


def link(page: str, **changes: str) -> str:
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in (HERE | changes).items())
    return f"/{page}?{query}"


def picture(page: Page, number: int) -> tuple[Canvas, Locator]:
    """One of the matrices on the page, and what it says under the pointer."""
    canvas = page.locator("canvas[data-marker=field]").nth(number)
    canvas.wait_for()
    return Canvas(canvas), canvas.locator("xpath=ancestor::*[contains(@class, 'headlight')]").locator(".reading")


def test_a_cell_of_the_stream_says_its_number_and_a_click_chooses_token_and_sub_layer(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    found = stream(trace, "decoder")
    page = open_page(link("layers", quantity="share", position="2", sublayer="1"))
    cells, reading = picture(page, 0)
    share = measured(found, "share")
    said = [
        field.say(
            WORDING["share"].sentence,
            share[place - 1, token],
            row=token,
            column=place,
            rows=[t.text for t in found.tokens],
            columns=drawn.places(found),
        )
        for token, place in ((3, 5), (1, 1))
    ]
    place = cells.find([said[0]])
    cells.click(place)
    bar.until_address(page, **HERE, quantity="share", position="4", sublayer="5")
    assert bar.chosen(page, "Token") == f"4 {found.tokens[3].text}"
    assert bar.chosen(page, "Sub-layer") == "layer 2 · ⇄ cross"
    expect(page.get_by_text(drawn.account(found.sublayers[4], 4, pre_norm=False))).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    bar.until_address(page, **HERE, quantity="share", position="4", sublayer="4")
    expect(reading).to_contain_text(f"‘{found.tokens[3].text}’ (4), L2 ◣ masked: ")
    page.get_by_role("link", name="Its heads →").click()
    page.wait_for_url(re.compile("/heads"))
    bar.until_address(page, **HERE, quantity="share", position="4", sublayer="4", kind="masked", layer="2")


def test_without_a_residual_path_the_page_says_what_is_left(open_page: OpenPage) -> None:
    page = open_page(link("layers", position="2", sublayer="3"))
    bar.choose(page, "Residual path", "sub-layer left out, here")
    bar.until_address(page, **HERE, position="2", sublayer="3", residual="skipped")
    expect(page.get_by_text("With decoder feed-forward 1 left out, the log-probability of the same")).to_be_visible()
    expect(page.locator("canvas[data-marker=curves]")).to_have_count(3)


def test_a_neuron_is_chosen_in_the_square_and_by_number(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    before, after = (neurons.hidden(trace, "decoder", 2, what)[3] for what in ("hidden", "active"))
    names = drawn_neurons.of_neurons(before, after, "relu")
    page = open_page(link("feed_forward", layer="2", position="4", neuron="34"))
    square, reading = picture(page, 0)
    expect(reading).to_have_text(names[33])
    square.click(square.find([names[417]]))
    here = HERE | {"layer": "2", "position": "4"}
    bar.until_address(page, **here, neuron="418")
    expect(page.get_by_role("spinbutton", name="Neuron")).to_have_value("418")
    expect(page.get_by_role("heading", name="Neuron 418 of layer 2, decoder")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    bar.until_address(page, **here, neuron="450")
    page.get_by_role("spinbutton", name="Neuron").fill("1024")
    page.get_by_role("spinbutton", name="Neuron").press("Enter")
    expect(reading).to_have_text(names[1023])
    bar.until_address(page, **here, neuron="1024")  # until then the doors lead to where the old address says
    page.get_by_role("link", name="What it adds to the token →").click()
    page.wait_for_url(re.compile("/layers"))
    bar.until_address(page, **here, neuron="1024", sublayer="6")
