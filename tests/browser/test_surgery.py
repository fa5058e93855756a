"""Surgery by hand: a click on a head edits it, a click on a cell sets it, and every page then shows the edited run."""

import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Page, expect

from model.capture import trace_of
from model.editlist import parsed
from model.importance import Head, all_heads, each_alone, losses
from model.trace import Trace
from model.what_if import log_probabilities, write_edited
from tests.browser import bar, expected
from tests.browser.canvas import CLOSE, Canvas, canvas, rgb
from tests.browser.conftest import OpenPage
from viz import field, heatmap, surgery
from viz.theme import LIGHT, for_canvas

SENTENCE = "My brother reads an old book in the small garden today."
HERE = {"sentence": SENTENCE}


def link(**address: object) -> str:
    return "/surgery?" + "&".join(f"{name}={quote(str(value))}" for name, value in (HERE | address).items())


def places(cells: Canvas, heads: list[Head]) -> dict[Head, tuple[float, float]]:
    """The middle of each head's cell, from where it is read out. Not the open one's: it is read beside cells, too."""
    width, height = cells.size
    spots = [(x, y) for y in range(24, height - 40, 9) for x in range(90, width, 11)]
    said = cells.read(spots)
    found = {}
    for head in heads:
        xs, ys = zip(*(spot for spot, text in zip(spots, said, strict=True) if is_of(text, head)), strict=True)
        found[head] = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
    return found


def is_of(said: str, head: Head) -> bool:
    return said.startswith(f"{surgery.cost(head, None, '')}:")


def edited(written: str) -> Trace:
    model, tokenizer = expected.loaded()
    source = tokenizer.encode(SENTENCE)
    ids = write_edited(model, source, parsed(written)).ids
    return trace_of(model, tokenizer, source, ids, edits=parsed(written))


def until(page: Page, **expected: object) -> None:
    """Wait until the address says this, whatever else it says: a proposed layer or head is left out of it."""
    wanted = {name: None if value is None else str(value) for name, value in expected.items()}
    page.wait_for_function(
        """(wanted) => {
          const found = new URLSearchParams(location.search);
          return Object.entries(wanted).every(([name, value]) => found.get(name) === value);
        }""",
        arg=wanted,
    )


def test_a_click_silences_a_head_a_second_one_takes_it_back_and_the_keyboard_does_the_same(
    open_page: OpenPage,
) -> None:
    page = open_page(link())
    trace = expected.read(SENTENCE)
    bar.shows(page, trace.target_text)
    expect(page.locator("[data-marker=mode]")).to_have_text(re.compile("Edit mode: a click on a head silences it"))
    cells, head = canvas(page, "surgery"), ("cross", 3, 4)
    there = places(cells, [head])[head]
    cells.click(there)
    until(page, edits="silence-cross-3.4", kind="cross")
    bar.shows(page, edited("silence-cross-3.4").target_text)
    expect(page.get_by_text("✂ Edited run")).to_be_visible()
    expect(page.locator("[data-marker=opened]")).to_have_text(re.compile("layer 3, head 4.*edited: ✕"))
    page.keyboard.press("ArrowLeft")  # the picture has kept the focus
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    both = "silence-cross-3.4,silence-cross-2.3"
    until(page, edits=both)
    bar.shows(page, edited(both).target_text)
    cells.click(there)
    until(page, edits="silence-cross-2.3")
    page.get_by_role("button", name="Undo all").click()
    until(page, edits=None)
    bar.shows(page, trace.target_text)
    expect(page.get_by_text("✂ Edited run")).to_have_count(0)


def test_heads_are_painted_by_their_losses(open_page: OpenPage) -> None:
    model, tokenizer = expected.loaded()
    trace, source = expected.read(SENTENCE), tokenizer.encode(SENTENCE)
    heads = all_heads(trace)
    found = losses(log_probabilities(model, source, [t.id or 0 for t in trace.read[1:]], each_alone(heads, "zero")))
    page = open_page(link(tool="none"))
    bar.shows(page, trace.target_text)
    expect(page.locator("[data-marker=mode]")).to_have_text("A click opens it.")
    cells, limit = canvas(page, "surgery"), field.round_limit(found)
    decoder = [index for index, head in enumerate(heads) if head[0] != "encoder"]
    at = places(cells, [heads[index] for index in decoder])
    for index in (*decoder[::9], max(decoder, key=found.__getitem__)):
        x, y = at[heads[index]]
        shades = for_canvas(LIGHT)["ramps"]["positive" if found[index] >= 0 else "negative"]
        shade = shades[int(np.rint(abs(found[index]) / limit * 255))]
        patch = [(x + across, y + down) for across in range(-10, 11, 4) for down in (-9, 9)]
        painted = np.median(cells.colours(patch), axis=0)  # of what is above and below the number
        assert np.abs(painted - rgb([shade])).max() <= CLOSE, heads[index]
    cells.click(at["masked", 2, 5])
    until(page, kind="masked", edits=None)
    expect(page.locator("[data-marker=opened]")).to_have_text(re.compile("layer 2, head 5"))
    expect(page.get_by_text("✂ Edited run")).to_have_count(0)


def test_a_click_in_the_matrix_sets_a_cell_and_other_pages_show_the_edited_run(open_page: OpenPage) -> None:
    page = open_page(link(tool="cell", weight="0.8", kind="cross", layer=2, head=5))
    trace = expected.read(SENTENCE)
    bar.shows(page, trace.target_text)
    large = canvas(page, "head")
    large.click(large.cells(trace.map("cross", 2, 5))[2][4])
    written = "cell-cross-2.5-3.5-0.8"
    until(page, edits=written)
    bar.shows(page, edited(written).target_text)
    expect(page.get_by_text("1 of at most")).to_be_visible()
    bar.menu(page, "Heads")
    expect(page.get_by_text("✂ Edited run")).to_be_visible()
    expect(page.get_by_text("cross 2.5, row 3: column 5 set to 0.8", exact=True)).to_be_visible()
    shown = edited(written).map("cross", 2, 5)
    canvas(page, "head").find([heatmap.sentence(shown, 2, 4)])
    page.go_back()
    until(page, edits=written, tool="cell")
