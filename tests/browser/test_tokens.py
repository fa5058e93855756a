"""Tokens in a real browser: a chip, a row and a point are three ways to choose the same token."""

from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser import bar, expected
from tests.browser.canvas import Canvas
from tests.browser.conftest import OpenPage

SENTENCE = "My brother naïvely reads an old book."
HERE = {"sentence": SENTENCE}


def open_tokens(open_page: OpenPage, **address: object) -> Page:
    values = {"sentence": SENTENCE, **address}
    page = open_page("/tokens?" + "&".join(f"{name}={quote(str(value))}" for name, value in values.items()))
    page.locator("[data-marker=piece]").wait_for()
    return page


def test_a_chip_is_read_picked_and_walked_to(open_page: OpenPage) -> None:
    page = open_tokens(open_page, position=1)
    source = page.get_by_role("group", name="What the encoder reads")
    chips, said = source.locator("button.piece"), page.locator("[data-marker=piece]")
    trace = expected.read(SENTENCE)
    expect(chips).to_have_count(len(trace.source))
    chips.nth(2).hover()
    expect(said).to_contain_text(f"number {trace.source[2].id} of the vocabulary")
    chips.nth(2).click()
    bar.until_address(page, **HERE, position=3)
    expect(chips.nth(2)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    bar.until_address(page, **HERE, position=4)
    assert bar.chosen(page, "Token") == f"4 {trace.source[3].text}"
    page.get_by_role("group", name="What the decoder reads").locator("button.piece").nth(1).click()
    bar.until_address(page, **HERE, side="decoder", position=2)


def test_bytes_stand_above_the_character_they_spell(open_page: OpenPage) -> None:
    page = open_tokens(open_page)
    spelled = page.get_by_role("group", name="What the encoder reads").locator(".spelled")
    expect(spelled.locator("> .token")).to_have_text("= ï")
    expect(spelled.locator("button.piece .token")).to_have_text(["C3", "AF"])


def test_a_point_of_the_map_is_the_token(open_page: OpenPage) -> None:
    page = open_tokens(open_page, position=2)
    trace = expected.read(SENTENCE)
    drawn = Canvas(page.locator("canvas[data-marker=plane]"))
    drawn.locator.scroll_into_view_if_needed()
    drawn.locator.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    told = drawn.locator.locator("xpath=../p[contains(@class, 'reading')]")
    expect(told).to_contain_text(f"‘{trace.source[3].text}’ before the encoder: of this sentence most like")
    page.keyboard.press("Enter")
    bar.until_address(page, **HERE, position=4)
    place = drawn.find([told.inner_text()])
    drawn.click(place)
    expect(page.locator("canvas[data-marker=field]")).to_be_visible()
    bar.until_address(page, **HERE, position=4)


def test_the_door_leads_on_with_the_token(open_page: OpenPage) -> None:
    page = open_tokens(open_page, position=3)
    page.get_by_role("link", name="Where heads look from it →").click()
    page.wait_for_url("**/heads*")
    bar.until_address(page, **HERE, position=3, query=3)
