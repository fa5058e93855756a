"""All heads on one canvas, one of them large: what is painted, what a pointer and a keyboard do."""

import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Page, expect

from model.ranking import all_maps, most_telling, ranked
from model.trace import KINDS, AttentionMap, Trace
from model.words import by_words
from tests.browser import bar, expected
from tests.browser.canvas import CLOSE, Canvas, canvas, colour, rgb
from tests.browser.conftest import OpenPage
from viz import captions, heatmap, phrases, tables
from viz.theme import DARK, LIGHT, Theme

SENTENCE = "My brother reads an old book in the small garden today."
TARGET = "Mein Bruder liest."  # so that rows and columns of cross-attention differ in number, whatever the model writes


def link(**address: object) -> str:
    values = {"sentence": SENTENCE, "target": TARGET, **address}
    return "/heads?" + "&".join(f"{name}={quote(str(value))}" for name, value in values.items())


def opened(page: Page, shown: AttentionMap) -> Canvas:
    """The large canvas, once it shows this head."""
    said = re.compile(f"^{shown.kind}, layer {shown.layer}, head {shown.head}: ")
    expect(page.locator("canvas[data-marker=head]")).to_have_attribute("aria-label", said)
    return canvas(page, "head")


def thumbnail(grid: Canvas, shown: AttentionMap) -> tuple[float, float, float]:
    """Left, top and width of a head's thumbnail: what is read out reaches 4 pixels further on each side."""
    name = f"{phrases.kind(shown.kind)}, layer {shown.layer}, head {shown.head}"
    width, height = grid.size
    places = [(x, y) for y in range(8, height, 16) for x in range(4, width, 16)]
    x, y = places[[said.removesuffix(" — click to open it") for said in grid.read(places)].index(name)]
    across = [said.startswith(name) for said in grid.read([(place, y) for place in range(width)])]
    down = [said.startswith(name) for said in grid.read([(x, place) for place in range(height)])]
    return across.index(True) + 4, down.index(True) + 4, sum(across) - 8


def assert_painted(page: Page, trace: Trace, shown: AttentionMap, theme: Theme) -> None:
    """The large matrix and some thumbnails have the colours of the captured weights, cell by cell."""
    large = opened(page, shown)
    places = np.array(large.cells(shown))
    found = large.colours(places[shown.allowed].tolist())
    assert np.abs(found - colour(theme, shown.kind, shown.weights[shown.allowed])).max() <= CLOSE
    grid = canvas(page, "grid")
    for head in (1, 4, 8):
        small = trace.map(shown.kind, 2, head)
        left, top, width = thumbnail(grid, small)
        T, S = small.weights.shape
        cell = width / max(T, S)
        middles = [(left + (s + 0.5) * cell, top + (t + 0.5) * cell) for t in range(T) for s in range(S)]
        painted = colour(theme, shown.kind, small.weights)
        painted[~small.allowed] = rgb([theme.forbidden])
        assert np.abs(grid.colours(middles) - painted.reshape(-1, 3)).max() <= CLOSE


def test_what_is_painted_is_what_was_captured(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    page = open_page(link())
    bar.shows(page, trace.target_text)
    for kind in KINDS:
        bar.choose(page, "Kind", phrases.kind(kind))
        rows, columns, _ = trace.labels(kind)
        layer, head = most_telling(trace.weights(kind), rows, columns, square=kind != "cross")
        assert_painted(page, trace, trace.map(kind, layer, head), LIGHT)
        bar.until_address(page, sentence=SENTENCE, target=TARGET, **({} if kind == "encoder" else {"kind": kind}))
        assert (bar.chosen(page, "Layer"), bar.chosen(page, "Head")) == (str(layer), str(head))


def test_in_the_dark_theme_the_same_numbers_have_dark_colours(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    page = open_page(link(kind="cross", layer=2, head=3), dark=True)
    shown = trace.map("cross", 2, 3)
    assert_painted(page, trace, shown, DARK)
    behind = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert behind == "rgb({}, {}, {})".format(*rgb([DARK.background])[0])
    bar.choose(page, "View", "plotly")
    page.locator(".js-plotly-plot .xtick text").first.wait_for()
    paper = page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout.paper_bgcolor")
    assert paper.upper() == DARK.background


def test_escape_lets_go_of_what_a_link_has_pinned_wherever_the_focus_is(open_page: OpenPage) -> None:
    here = {"sentence": SENTENCE, "target": TARGET, "kind": "cross", "layer": 1, "head": 2}
    page = open_page(link(kind="cross", layer=1, head=2, query=3, key=2))
    aloud = page.locator("[data-marker=pinned]")
    expect(aloud).to_have_text(re.compile("^Pinned: "))
    bar.sentence(page).focus()
    page.keyboard.press("Escape")  # that of the field
    expect(aloud).to_have_text(re.compile("^Pinned: "))
    bar.sentence(page).blur()
    page.keyboard.press("Escape")
    expect(aloud).to_have_text("")
    bar.until_address(page, **here)


def test_a_thumbnail_opens_its_head_by_pointer_and_by_keyboard(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    here = {"sentence": SENTENCE, "target": TARGET, "kind": "cross"}
    page = open_page(link(kind="cross", layer=1, head=2))
    opened(page, trace.map("cross", 1, 2))
    grid = canvas(page, "grid")
    left, top, width = thumbnail(grid, trace.map("cross", 3, 6))
    grid.click((left + width / 2, top + 5))
    opened(page, trace.map("cross", 3, 6))
    bar.until_address(page, **here, layer=3, head=6)
    assert (bar.chosen(page, "Layer"), bar.chosen(page, "Head")) == ("3", "6")
    page.keyboard.press("ArrowRight")  # the grid has kept the focus
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    opened(page, trace.map("cross", 2, 7))
    bar.until_address(page, **here, layer=2, head=7)
    page.get_by_role("combobox", name="Head", exact=True).click()
    page.get_by_role("option", name="4", exact=True).click()
    opened(page, trace.map("cross", 2, 4))
    bar.until_address(page, **here, layer=2, head=4)


def test_hover_reads_a_click_pins_and_escape_or_a_second_click_releases(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    shown, maps = trace.map("cross", 2, 5), all_maps(trace, "cross", words=False)
    here = {"sentence": SENTENCE, "target": TARGET, "kind": "cross", "layer": 2, "head": 5}
    page = open_page(link(kind="cross", layer=2, head=5))
    large, aloud = opened(page, shown), page.locator("[data-marker=pinned]")
    places = large.cells(shown)
    page.evaluate(
        """() => {
          window.runs = 0;
          const watcher = new MutationObserver(() => { window.runs += 1; });
          const app = document.querySelector('[data-testid=stApp]');
          watcher.observe(app, { attributeFilter: ['data-test-script-state'] });
        }"""
    )
    for row, column in ((0, 3), (2, 1), (3, 9)):
        large.hover(places[row][column])
        expect(page.locator(".reading").last).to_have_text(heatmap.sentence(shown, row, column))
    page.wait_for_timeout(300)  # for Python to hear of it, if it did
    assert page.evaluate("window.runs") == 0
    bar.until_address(page, **here)

    large.click(places[2][7])
    bar.until_address(page, **here, query=3, key=8)
    expect(aloud).to_have_text("Pinned: " + heatmap.sentence(shown, 2, 7))
    assert bar.chosen(page, "Row (looks)") == f"3 {captions.of_rows(shown)[2]}"
    assert bar.chosen(page, "Column (looked at)") == f"8 {shown.columns[7].text}"
    expect(page.get_by_text(captions.of_grid(maps, (2, 7), ranked=True))).to_be_visible()
    grid, order = canvas(page, "grid"), ranked(maps, 2, 7)
    places_of = [thumbnail(grid, maps[index])[:2] for index in order]
    assert places_of == sorted(places_of, key=lambda place: (place[1], place[0])), "the heaviest stands first"
    assert page.evaluate("window.runs") > 0

    page.keyboard.press("Escape")
    bar.until_address(page, **here)
    expect(aloud).to_have_text("")
    large.click(places[1][4])
    bar.until_address(page, **here, query=2, key=5)
    large.click(places[1][4])
    bar.until_address(page, **here)

    page.keyboard.press("ArrowRight")
    first = page.locator(".reading").last.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator(".reading").last.inner_text() != first
    page.keyboard.press("Enter")
    expect(aloud).to_have_text(re.compile("^Pinned: "))
    page.wait_for_url(re.compile("[?&]query=[0-9]+.*&key=[0-9]+"))
    page.keyboard.press("Escape")
    expect(aloud).to_have_text("")
    bar.until_address(page, **here)


def test_every_view_shows_the_same_head(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    shown = by_words(trace.map("masked", 3, 2))
    here = {"sentence": SENTENCE, "target": TARGET, "kind": "masked", "layer": 3, "head": 2, "units": "words"}
    page = open_page(link(kind="masked", layer=3, head=2, units="words"))
    opened(page, shown)
    bar.choose(page, "View", "lines")
    bar.until_address(page, **here, view="lines")
    heaviest = int(shown.weights[2].argmax())
    opened(page, shown).find([heatmap.sentence(shown, 2, heaviest)])
    bar.choose(page, "View", "plotly")
    bar.until_address(page, **here, view="plotly")
    page.locator(".js-plotly-plot .ytick text").first.wait_for()
    assert page.locator(".js-plotly-plot .xtick text").all_text_contents() == [t.text for t in shown.columns]
    assert page.locator(".js-plotly-plot .ytick text").all_text_contents() == captions.of_rows(shown)
    assert page.locator(".js-plotly-plot .gtitle").text_content() == "◣ masked, layer 3, head 2"
    z = page.evaluate("[...document.querySelector('.js-plotly-plot')._fullData[0].z].map((row) => [...row])")
    found = np.array([[np.nan if cell is None else cell for cell in row] for row in z], dtype=float)
    np.testing.assert_allclose(found**2, np.where(shown.allowed, shown.weights, np.nan), atol=1e-6)
    bar.choose(page, "View", "table")
    bar.until_address(page, **here, view="table")
    header = page.locator("[data-testid=stDataFrame] canvas [role=columnheader]")
    header.first.wait_for(state="attached")
    assert header.all_text_contents()[1:] == list(tables.cells(shown).columns)
