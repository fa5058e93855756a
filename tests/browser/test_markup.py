"""What somebody types is text: on every page it can be read, and nowhere does it act."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.browser import bar, expected, visits
from tests.browser.conftest import OpenPage
from tests.pages.visitor import PAGES

SCRIPT = "</script><img src=x onerror=alert(1)>"
MARKDOWN = "**bold** $x^2$ [a](http://b.example) :smile: http://c.example &lt;i&gt;"
LINKS = ", ".join([*(f"a[href^='http:{'//'}{host}.']" for host in "bc"), "a[href^=mailto]"])
MADE_OF_IT = f"img[src=x], [onerror], strong:has-text('bold'), em, .katex, {LINKS}"


def opened(open_page: OpenPage, path: str) -> tuple[Page, list[str]]:
    """The page, and what dialogs have said on it."""
    said: list[str] = []

    def hear(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page = open_page(path)
    page.on("dialog", hear)
    return page, said


def inert(page: Page, said: list[str]) -> None:
    visits.wait_until_idle(page)
    page.wait_for_timeout(200)  # for an image to fail
    assert said == []
    assert page.locator(MADE_OF_IT).all_inner_texts() == []


@pytest.mark.parametrize("name", PAGES)
def test_markup_is_shown_and_does_not_act(open_page: OpenPage, name: str) -> None:
    place = "" if name == "translate" else name
    page, said = opened(open_page, f"/{place}?sentence={quote(MARKDOWN)}&target={quote(SCRIPT)}")
    bar.shows(page, expected.loaded()[1].normalise(SCRIPT))
    inert(page, said)
    page.get_by_role("button", name="Your translation").click()
    target = page.get_by_role("textbox", name="German to use instead of the model's own")
    target.fill(MARKDOWN)
    target.press("Enter")
    bar.shows(page, expected.loaded()[1].normalise(MARKDOWN))
    page.keyboard.press("Escape")
    bar.type_sentence(page, SCRIPT)
    bar.until_address(page, sentence=SCRIPT, target=MARKDOWN)
    expect(bar.sentence(page)).to_have_value(SCRIPT)
    inert(page, said)


@pytest.mark.parametrize("view", ["plotly", "table", "lines"])
def test_markup_in_tokens_does_not_act_in_any_view(open_page: OpenPage, view: str) -> None:
    address = f"sentence={quote(SCRIPT)}&target={quote(MARKDOWN)}&kind=cross&view={view}&units=words&query=2&key=2"
    page, said = opened(open_page, f"/heads?{address}")
    if view == "plotly":
        page.locator(".js-plotly-plot .xtick text").first.wait_for()
    inert(page, said)
    if view == "plotly":
        labels = page.locator(".js-plotly-plot .xtick text").all_text_contents()
        assert "<" in "".join(labels)
        page.locator(".js-plotly-plot .nsewdrag").hover()
        page.locator(".js-plotly-plot .hovertext").wait_for()
        inert(page, said)


def test_half_a_character_in_the_address_and_a_typed_nul_do_no_harm(open_page: OpenPage) -> None:
    page = open_page("/?sentence=a%ED%A0%80b")
    expect(page.locator("button.piece").first).to_be_visible()
    bar.type_sentence(page, "The \0cat sleeps.")
    bar.shows(page, expected.read("The \0cat sleeps.").target_text)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_what_the_address_says_is_quoted_and_does_not_act(open_page: OpenPage) -> None:
    page, said = opened(open_page, f"/heads?kind={quote(SCRIPT)}&view={quote(MARKDOWN)}&scale={quote('me@b.example')}")
    for text in (SCRIPT, MARKDOWN[:40], "me@b.example"):
        expect(page.get_by_text(f"={text!r}, which does not exist")).to_be_visible()
    inert(page, said)
