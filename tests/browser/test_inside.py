"""Inside a head: every figure on the page is the one that is computed, and each of them can be reached by hand."""

import io
import re

import pandas as pd
from playwright.sync_api import expect

from model.inside import cell, output_projection
from tests.browser import bar, expected
from tests.browser.conftest import OpenPage
from viz import heatmap, inside

SENTENCE, TARGET = "The dog sleeps in the garden.", "Der Hund schläft im Garten."
HERE = {"sentence": SENTENCE, "target": TARGET, "kind": "cross", "layer": "2", "head": "3", "query": "4", "key": "2"}


def link(**changes: str) -> str:
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in (HERE | changes).items())
    return f"/inside_a_head?{query}"


def test_the_chain_the_row_and_the_heads_are_those_of_the_cell(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    model, _ = expected.loaded()
    found = cell(trace, output_projection(model, "cross", 2), "cross", 2, 3, 3, 1)
    page = open_page(link())
    expect(page.locator("[data-marker=chain] b")).to_have_text([value for _, value, _ in inside.chain(found)])
    lines = page.locator("[data-marker=row] button.line")
    expect(lines.locator(".token")).to_have_text([token.text for token in trace.source])
    expect(lines.nth(1)).to_have_attribute("aria-current", "true")
    expect(page.locator("[data-marker=heads] .bar")).to_have_count(trace.heads("cross"))
    expect(page.get_by_text(f"of length {inside.signed(float((found.output**2).sum() ** 0.5))}")).to_be_visible()


def test_arrows_read_the_dimensions_and_a_click_takes_another_column(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    page = open_page(link())
    product = page.locator("[data-marker=product]")
    product.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".inside .reading")).to_have_text(re.compile(r"^dimension 1 of 32: .* × .* = "))
    page.locator("[data-marker=row] button.line").nth(4).click()
    bar.until_address(page, **(HERE | {"key": "5"}))
    shown = trace.map("cross", 2, 3)
    expect(page.get_by_text(heatmap.sentence(shown, 3, 4), exact=True)).to_be_visible()


def test_every_number_can_be_taken_away_and_the_whole_vectors_are_a_click_away(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    model, _ = expected.loaded()
    found = cell(trace, output_projection(model, "cross", 2), "cross", 2, 3, 3, 1)
    page = open_page(link())
    with page.expect_download() as download:
        page.get_by_role("button", name="Download every number").click()
    taken = pd.read_csv(download.value.path())
    here = pd.read_csv(io.StringIO(inside.csv(found, trace.map("cross", 2, 3), 3)))
    # Another number of threads in the server adds in another order.
    pd.testing.assert_frame_equal(taken, here, check_exact=False, rtol=1e-4, atol=1e-5)
    assert len(taken) > 3 * found.width
    bar.choose(page, "The whole of", "queries")
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)


def test_the_door_of_a_pinned_cell_leads_here(open_page: OpenPage) -> None:
    page = open_page(link().replace("inside_a_head", "heads"))
    page.get_by_role("link", name="Arithmetic →").click()
    page.wait_for_url(re.compile("/inside_a_head"))
    bar.until_address(page, **HERE)
    expect(page.locator("[data-marker=chain]")).to_be_visible()
