"""Masked vs cross, its switches: stages, padding, means, the mask lifted, and the door to the arithmetic."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from model.capture import trace_of
from model.edits import LiftMask
from model.selection import select
from model.what_if import write_edited
from tests.browser import bar, expected
from tests.browser.canvas import canvas
from tests.browser.conftest import OpenPage
from viz import captions, heatmap
from viz.stages import NOTES, STAGES, stage

SENTENCE, TARGET = "The dog sleeps in the garden.", "Der Hund schläft im Garten."
HERE = {"sentence": SENTENCE, "target": TARGET, "layer": "2", "head": "3", "cross_layer": "1", "cross_head": "5"}


def link(**changes: str) -> str:
    return "/masked_vs_cross?" + "&".join(f"{n}={quote_plus(v)}" for n, v in (HERE | {"step": "3"} | changes).items())


@pytest.mark.parametrize("name", ["scores", "masked", "moved"])
def test_a_stage_reads_its_own_numbers(open_page: OpenPage, name: str) -> None:
    trace = expected.read(SENTENCE, TARGET)
    shown = trace.map("cross", 1, 5)
    drawn = stage(name, shown, trace)
    page = open_page(link())
    bar.choose(page, "Stage", STAGES[name])
    expect(page.get_by_text(NOTES[name])).to_be_visible()
    value = f"{drawn.values[2, 1]:.3f}".replace("-", "−")
    said = drawn.sentence.format(row=shown.rows[2].text, column=shown.columns[1].text, value=value)
    assert said in canvas(page, "pair").read([(x, y) for y in range(60, 460, 12) for x in range(300, 1100, 9)])


def test_padding_is_masked_on_both_sides(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    model, tokenizer = expected.loaded()
    ids = [[t.id for t in tokens if not t.special and t.id is not None] for tokens in (trace.source, trace.predicted)]
    padded = trace_of(model, tokenizer, *ids, padding=3)
    page = open_page(link(padding="padded"))
    said = canvas(page, "pair").read([(x, y) for y in range(60, 560, 14) for x in range(4, 1100, 9)])
    for kind, layer, head in (("masked", 2, 3), ("cross", 1, 5)):
        assert heatmap.sentence(padded.map(kind, layer, head), 2, len(padded.labels(kind)[1]) - 1) in said
    expect(page.get_by_text("Those columns are masked on both sides")).to_be_visible()


def test_the_lifted_mask_looks_ahead_and_writes_its_own_translation(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    model, tokenizer = expected.loaded()
    ids = [[t.id for t in tokens if not t.special and t.id is not None] for tokens in (trace.source, trace.predicted)]
    lifted = trace_of(model, tokenizer, *ids, edits=(LiftMask(),))
    page = open_page(link())
    bar.choose(page, "Mask", "lifted")
    bar.until_address(page, **(HERE | {"step": "3", "mask": "lifted"}))
    expect(page.get_by_text("The model was never trained that way")).to_be_visible()
    ahead = heatmap.sentence(lifted.map("masked", 2, 3), 0, 2)
    assert "−∞" not in ahead
    assert ahead in canvas(page, "pair").read([(x, y) for y in range(60, 460, 12) for x in range(4, 420, 9)])
    written = tokenizer.decode(write_edited(model, ids[0], (LiftMask(),)).ids)
    expect(page.get_by_text(captions.written_lifted(written, TARGET).splitlines()[1])).to_be_visible()


def test_means_words_and_rescaled_rows_can_be_had_together(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    page = open_page(link(heads="mean", units="words", special="renormalised"))
    shown = select(trace, "cross", 1, None, words=True, special="renormalised")
    said = canvas(page, "pair").read([(x, y) for y in range(60, 460, 12) for x in range(300, 1100, 9)])
    assert heatmap.sentence(shown, 2, 1) in said
    expect(page.get_by_text(captions.SPECIAL["renormalised"])).to_be_visible()


def test_a_pinned_cell_opens_its_arithmetic(open_page: OpenPage) -> None:
    page = open_page(link(kind="cross", query="3", key="2"))
    expect(page.locator("[data-marker=pinned]")).to_have_text(re.compile("^Pinned: "))
    page.get_by_role("button", name="open the pinned cell inside its head").click()
    page.wait_for_url(re.compile("/inside_a_head.*kind=cross"))
    found = bar.address(page)
    assert {name: found[name] for name in ("kind", "layer", "head", "query", "key")} == {
        "kind": "cross",
        "layer": "1",
        "head": "5",
        "query": "3",
        "key": "2",
    }
