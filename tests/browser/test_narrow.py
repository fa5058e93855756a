"""A phone: nothing to be pushed sideways, tokens with bars instead of matrices, and a tap pins."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from model.trace import AttentionMap
from tests.browser import bar, expected
from tests.browser.conftest import OpenPage
from tests.pages.visitor import PAGES
from viz import captions, heatmap, phrases

WIDTH = 390
SENTENCE = "My brother reads an old book in the small garden today."
TARGET = "Mein Bruder liest."
LONG = "Donaudampfschifffahrtsgesellschaft" * 6 + " and the house."


def pushed_sideways(page: Page) -> list[str]:
    """What sticks out on the right of the page; of an element that does, nothing inside it is told."""
    return list(
        page.evaluate(
            """() => {
              const wide = document.documentElement.scrollWidth > window.innerWidth;
              const main = document.querySelector('[data-testid=stMain]');
              const sticksOut = (element) => element.getBoundingClientRect().right > window.innerWidth + 1;
              const found = [...main.querySelectorAll('*')].filter(sticksOut);
              const outer = found.filter((e) => !found.includes(e.parentElement));
              return wide || main.scrollWidth > main.clientWidth ? outer.map((e) => e.outerHTML.slice(0, 200)) : [];
            }"""
        )
    )


@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_to_be_pushed_sideways(open_page: OpenPage, name: str) -> None:
    page = open_page(f"/{'' if name == 'translate' else name}?sentence={quote(SENTENCE)}", width=WIDTH)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert pushed_sideways(page) == []
    bar.type_sentence(page, LONG)
    bar.until_address(page, sentence=LONG)
    bar.shows(page, expected.read(LONG).target_text)
    page.wait_for_timeout(300)  # for pictures to follow the width
    assert pushed_sideways(page) == []


def bars(page: Page, shown: AttentionMap, row: int, holder: str) -> None:
    """One row of attention as tokens with bars and digits, without what the mask hides."""
    strip, allowed = page.locator(f"{holder} .bar"), shown.allowed[row].nonzero()[0]
    expect(strip.locator(".token")).to_have_text([shown.columns[at].text for at in allowed])
    expect(strip.locator(".digits")).to_have_text([phrases.weight(float(shown.weights[row, at])) for at in allowed])


def test_a_head_is_a_strip_of_tokens_and_a_tap_pins(open_page: OpenPage) -> None:
    here = {"sentence": SENTENCE, "target": TARGET, "kind": "cross", "layer": 2, "head": 3}
    page = open_page("/heads?" + "&".join(f"{n}={quote(str(v))}" for n, v in here.items()), width=WIDTH)
    shown = expected.read(SENTENCE, TARGET).map("cross", 2, 3)
    expect(page.locator("canvas[data-marker=head]")).to_be_hidden()
    chips = page.locator(".tokens button")
    assert chips.all_text_contents() == captions.of_rows(shown)
    chips.nth(2).click()
    bars(page, shown, 2, ".narrow")
    page.locator(".narrow .bar").nth(4).click()
    bar.until_address(page, **here, query=3, key=5)
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: " + heatmap.sentence(shown, 2, 4))
    expect(page.locator(".narrow .bar.marked")).to_have_count(1)
    page.locator(".narrow .bar").nth(4).click()
    bar.until_address(page, **here)
    assert pushed_sideways(page) == []


def test_the_two_attentions_are_strips_and_a_tap_pins(open_page: OpenPage) -> None:
    here = {"sentence": SENTENCE, "target": TARGET, "layer": 2, "head": 3, "cross_layer": 3, "cross_head": 6, "step": 3}
    page = open_page("/masked_vs_cross?" + "&".join(f"{n}={quote(str(v))}" for n, v in here.items()), width=WIDTH)
    trace = expected.read(SENTENCE, TARGET)
    masked, cross = trace.map("masked", 2, 3), trace.map("cross", 3, 6)
    expect(page.locator("canvas[data-marker=pair]")).to_be_hidden()
    bars(page, masked, 2, ".card[data-kind=masked]")
    hidden = int((~masked.allowed[2]).sum())
    expect(page.locator(".card[data-kind=masked]")).to_contain_text(f"−∞ for {hidden} tokens that the mask hides")
    bars(page, cross, 2, ".card[data-kind=cross]")
    page.locator(".card[data-kind=cross] .bar").nth(5).click()
    bar.until_address(page, **here, kind="cross", query=3, key=6)
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: " + heatmap.sentence(cross, 2, 5))
    page.get_by_role("slider", name="step of the translation").press("ArrowRight")
    expect(page.locator("[data-marker=step]")).to_contain_text("step 4 of")
    bars(page, cross, 3, ".card[data-kind=cross]")
    assert pushed_sideways(page) == []
