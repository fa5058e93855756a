"""The drawing of the network under a hand: boxes say what they do and lead to their pages, steps light up."""

import re
from urllib.parse import quote

from playwright.sync_api import Page, expect

from model.parameters import count
from tests.browser import bar, expected
from tests.browser.conftest import OpenPage
from viz import network

SENTENCE = "The dog sleeps in the garden."
HERE = {"sentence": SENTENCE}


def opened(open_page: OpenPage, *, width: int = 1280, **address: str) -> Page:
    query = "&".join(f"{name}={quote(value)}" for name, value in (HERE | address).items())
    page = open_page(f"/architecture?{query}", width=width)
    page.locator("[data-box=cross]").wait_for()
    return page


def test_a_box_says_what_it_does_and_leads_to_its_page(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE)
    model, _ = expected.loaded()
    page = opened(open_page, layer="2", scale="linear")
    reading = page.locator("[data-marker=box]")
    for box in network.boxes(trace, model.config):
        page.locator(f"[data-box={box.name}]").focus()
        expect(reading).to_contain_text(box.does)
        expect(reading).to_contain_text(network.parameters(box, count(model), model.config))
    page.locator("[data-box=cross]").hover()
    expect(reading).to_contain_text("a click opens cross heads")
    page.locator("[data-box=cross]").click()
    page.wait_for_url(re.compile("/heads"))
    bar.until_address(page, **HERE, kind="cross", scale="linear")


def test_arrows_go_along_the_flow(open_page: OpenPage) -> None:
    page = opened(open_page)
    page.locator("[data-box=masked]").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "cross"
    page.keyboard.press("ArrowLeft")
    assert focused(page) == "decoder_norm_1"


def focused(page: Page) -> str:
    return str(page.locator("[data-box=cross]").evaluate("(box) => box.getRootNode().activeElement.dataset.box"))


def test_a_number_in_the_drawing_lights_up_its_step(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE)
    page = opened(open_page)
    expect(page.locator(".box.faded")).to_have_count(0)
    page.get_by_role("button", name="step 3 decoder").click()
    bar.until_address(page, **HERE, flow="decoder")
    expect(page.locator("[data-marker=flow]")).to_contain_text(network.said(trace)["decoder"])
    expect(page.locator("[data-box=masked]")).not_to_have_class(re.compile("faded"))
    expect(page.locator("[data-box=encoder]")).to_have_class(re.compile("faded"))
    page.get_by_role("button", name="step 3 decoder").click()
    bar.until_address(page, **HERE)


def test_on_a_phone_every_box_stands_in_one_column_and_says_what_it_does(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE)
    model, _ = expected.loaded()
    page = opened(open_page, width=390)
    boxes = network.boxes(trace, model.config)
    expect(page.locator("button.box")).to_have_count(len(boxes))
    expect(page.locator("button.box .does")).to_have_text([box.does for box in boxes])
    left = page.locator("button.box").evaluate_all(
        "(all) => [...new Set(all.map((one) => one.getBoundingClientRect().left))]"
    )
    assert len(left) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
