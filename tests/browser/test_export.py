"""What is exported is what is shown: read back from the file, cell by cell and word by word."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from model.alignment import align, last_layer
from model.inside import output_projection
from model.labels import candidates
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from tests.browser import canvas, expected, visits
from tests.browser.conftest import OpenPage
from tests.viz.test_offline import HOSTILE, hostile, large, written
from viz import captions, offline
from viz.theme import DARK, LIGHT, Theme, ramp

PLAIN = "My brother reads an old book in the small garden today."  # no two cells of it say the same
SENTENCE = "My sister sees a </text><script>alert(1)</script> & two trees."
SVG = "{http://www.w3.org/2000/svg}"


def exported(page: Page, within: Locator, kind: str) -> bytes:
    with page.expect_download() as begun:
        within.get_by_role("button", name=f"Download this picture as {kind}").click()
    return Path(begun.value.path()).read_bytes()


def cells_of(root: ElementTree.Element, n: int) -> list[str]:
    """The colours of the first n filled shapes with round corners: nothing else has them before the cells are drawn."""
    shapes = [e for e in root.iter(f"{SVG}path") if e.get("fill", "none").startswith("#")]
    return [shape.get("fill", "").upper() for shape in shapes[:n]]


def texts_of(root: ElementTree.Element) -> list[str]:
    return [e.text or "" for e in root.iter(f"{SVG}text")]


def svg_of_head(page: Page) -> ElementTree.Element:
    host = page.locator(".headlight", has=page.locator("canvas[data-marker=head]"))
    return ElementTree.fromstring(exported(page, host, "SVG"))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: str(theme.name))
def test_a_head_as_svg_has_every_cell_in_its_colour_and_every_label(open_page: OpenPage, theme: Theme) -> None:
    shown = expected.read(PLAIN).map("encoder", 2, 3)
    page = open_page(f"/heads?sentence={quote(PLAIN)}&layer=2&head=3", dark=theme is DARK)
    root = svg_of_head(page)
    shades = np.array(ramp(theme, "encoder"))
    wanted = shades[np.rint(np.sqrt(shown.weights.astype(np.float32)) * 255).astype(int)].flatten().tolist()
    found = canvas.rgb(cells_of(root, len(wanted)))
    assert abs(found - canvas.rgb(wanted)).max() <= canvas.CLOSE
    assert {*captions.of_rows(shown), *(token.text for token in shown.columns)} <= set(texts_of(root))


def test_of_a_long_sentence_an_svg_has_labels_for_which_the_screen_has_no_room(open_page: OpenPage) -> None:
    long = " ".join(f"house{number}" for number in range(18)) + "."
    shown = expected.read(long).map("encoder", 2, 3)
    page = open_page(f"/heads?sentence={quote(long)}&layer=2&head=3")
    assert len(shown.columns) > 33
    told = texts_of(svg_of_head(page))
    labels = [token.text for token in shown.columns]
    assert [told.count(label) >= 2 * labels.count(label) for label in labels] == [True] * len(labels)


def test_a_token_is_text_in_an_svg_too(open_page: OpenPage) -> None:
    short = 'Is <b> & "c" old?'
    shown = expected.read(short).map("encoder", 1, 1)
    root = svg_of_head(open_page(f"/heads?sentence={quote(short)}&layer=1&head=1"))
    assert set(captions.of_rows(shown)) <= set(texts_of(root))
    assert not [e for e in root.iter() if not e.tag.startswith(SVG) or e.tag == f"{SVG}script"]


def test_a_picture_with_a_mask_is_exported_and_left_as_it_was(open_page: OpenPage) -> None:
    page = open_page(f"/heads?sentence={quote(PLAIN)}&kind=masked&layer=1&head=2&query=4&key=2")
    drawn = page.locator("canvas[data-marker=head]")
    host = page.locator(".headlight", has=drawn)
    root = ElementTree.fromstring(exported(page, host, "SVG"))
    assert list(root.iter(f"{SVG}clipPath")), "the hatching is clipped to its cells"
    before = drawn.evaluate("(canvas) => canvas.toDataURL()")
    picture = Image.open(io.BytesIO(exported(page, host, "PNG"))).convert("RGB")
    width, height = (float(root.get(name, "0")) for name in ("width", "height"))
    assert abs(np.array(picture.size) - 2 * np.array([width, height])).max() <= 2
    assert len(picture.getcolors(1 << 24) or []) > 20
    assert drawn.evaluate("(canvas) => canvas.toDataURL()") == before


@pytest.fixture(scope="module")
def trace() -> Trace:
    return expected.read(PLAIN)


def a_report(trace: Trace) -> str:
    model, tokenizer = expected.loaded()
    reading = last_layer(trace)
    links = align(trace, output_projection(model, "cross", reading.layer), reading)
    told = f"{trace.target_text} — read on a day like <b>today</b>."
    return offline.page(trace, links, candidates(tokenizer, trace, 5), opened=("encoder", 1, 2), told=told)


@pytest.fixture(scope="module")
def report(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(a_report(trace), encoding="utf-8")
    return path


def opened_offline(browser: Browser, report: Path, *, dark: bool = False) -> tuple[Page, visits.Visit]:
    visit = visits.begin(browser, "http://localhost:1", dark=dark, width=1280, height=900)
    page = visit.context.new_page()
    page.goto(report.as_uri())
    return page, visit


def test_a_report_opens_without_a_server_and_says_what_the_app_says(
    browser: Browser, report: Path, trace: Trace
) -> None:
    page, visit = opened_offline(browser, report)
    expect(page.get_by_role("heading", level=1)).to_have_text(trace.source_text)
    expect(page.locator(".told").first).to_contain_text("<b>today</b>")
    shown = canvas.canvas(page, "head")
    cells = shown.cells(trace.map("encoder", 1, 2))
    assert len(cells) == len(trace.source)
    page.get_by_role("button", name="⇄ cross").click()
    page.locator("canvas[data-marker=grid]").click(position={"x": 40, "y": 20})
    expect(page.locator("#opened")).to_have_text("⇄ cross, layer 1, head 1")
    assert canvas.canvas(page, "grid").read([(40, 20)]) == ["⇄ cross, layer 1, head 1"]
    canvas.canvas(page, "head").cells(trace.map("cross", 1, 1))
    chips = page.locator("#translation .piece .token")
    assert chips.all_inner_texts() == [token.text for token in trace.predicted]
    visit.context.close()
    assert visit.complaints() == []


def test_a_report_speaks_of_fingers_to_a_finger(browser: Browser, report: Path) -> None:
    page = browser.new_page(viewport={"width": 820, "height": 900}, has_touch=True, is_mobile=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(report.as_uri())
    page.get_by_role("button", name="◣ masked").click()
    expect(page.locator("#head .reading")).to_have_text("Tap a cell to read it and pin it.")
    page.close()
    assert errors == []


def test_a_report_follows_the_reader_s_theme_and_colours_are_of_the_weights(
    browser: Browser, report: Path, trace: Trace
) -> None:
    page, visit = opened_offline(browser, report, dark=True)
    shown = trace.map("encoder", 1, 2)
    places = canvas.canvas(page, "head").cells(shown)
    found = canvas.canvas(page, "head").colours([place for row in places for place in row])
    wanted = canvas.colour(DARK, "encoder", shown.weights.flatten())
    assert abs(found - wanted).max() <= canvas.CLOSE
    visit.context.close()
    assert visit.complaints() == []


def test_a_report_of_144_heads_with_tokens_that_want_to_break_out_opens_offline(
    browser: Browser, build: Callable[..., Transformer], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    path, plain = tmp_path / "report.html", large(build, tokenizer)
    sides = {name: hostile(getattr(plain, name)) for name in ("source", "read", "predicted")}
    path.write_bytes(written(replace(plain, source_text=HOSTILE[0], **sides), HOSTILE[3]).encode("utf-8", "replace"))
    page, visit = opened_offline(browser, path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[0])
    expect(page.locator("canvas[data-marker=head]")).to_be_visible()
    expect(page.locator("#translation .piece .token").first).to_have_text(HOSTILE[0])
    assert page.locator("script, img, iframe").count() == 2
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    visit.context.close()
    assert visit.complaints() == []


def test_nothing_in_a_report_can_break_out_or_be_loaded() -> None:
    text = a_report(expected.read(SENTENCE))
    assert text.count("</script>") == 2
    assert "<script>alert" not in text
    assert "default-src 'none'" in text
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", text.split("<script", 1)[0])
