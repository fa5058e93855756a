"""Heads as points under a hand: where they are, what they say, who is chosen or opened, and names without overlaps."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model import report
from model.checkpoint import WEIGHTS
from tests.browser import alone, bar
from tests.browser.canvas import Canvas, canvas, rgb
from tests.browser.conftest import OpenPage
from viz import roles
from viz.scatter import Axis, Point, payload
from viz.theme import DARK, LIGHT, Theme

ACROSS, UP = Axis("entropy", 0, 1, (0, 0.5, 1), 0.9), Axis("gain", -1, 0, (-1, -0.5, 0))
POINTS = [
    Point(
        "encoder", 1, 2, 0.2, -0.5, "first", label="1·2 positional", baseline=(0.8, -0.5), baseline_said="first before"
    ),
    Point("masked", 2, 1, 0.5, -0.5, "second"),
    Point("cross", 3, 4, 0.5, -0.1, "third <i>", label="3·4 alignment"),
]
CROWD = [
    Point("encoder", 1, n, 0.3 + 0.02 * n, -0.5 + 0.015 * n, f"head {n}", label=f"1·{n} syntactic") for n in range(1, 9)
]
Draw = Callable[..., Page]


@pytest.fixture
def draw(browser: Browser) -> Iterator[Draw]:
    """Puts points on a page of their own: `draw(POINTS, theme=DARK, width=390, chosen=1)`."""
    with ExitStack() as pages:

        def drawn(points: list[Point], *, theme: Theme = LIGHT, width: int = 1000, chosen: int | None = None) -> Page:
            data = payload(points, ACROSS, UP, theme=theme, chosen=chosen, empty="No head has both numbers.")
            page = alone.drawn(browser, "scatter", data, theme=theme, width=width)
            pages.callback(page.close)
            return page

        yield drawn


def places(drawn: Canvas) -> dict[str, tuple[float, float]]:
    """The middle of where each sentence is said."""
    width, height = drawn.size
    grid = [(x, y) for y in range(2, height, 7) for x in range(2, width, 7)]
    said = np.array(drawn.read(grid))
    return {text: tuple(np.array(grid)[said == text].mean(axis=0).tolist()) for text in set(said.tolist())}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1000, 390])
def test_points_lie_on_their_numbers_in_the_hue_of_their_kind(draw: Draw, theme: Theme, width: int) -> None:
    drawn = canvas(draw(POINTS, theme=theme, width=width), "scatter")
    at = places(drawn)
    first, second, third, before = (at[said] for said in ("first", "second", "third <i>", "first before"))
    assert first[1] == pytest.approx(second[1], abs=3) == pytest.approx(before[1], abs=3)
    assert second[0] == pytest.approx(third[0], abs=3)
    assert third[1] < second[1]  # up is more
    assert (second[0] - first[0]) == pytest.approx(before[0] - second[0], abs=6)
    for (x, y), kind in ((first, "encoder"), (second, "masked"), (third, "cross")):
        around = [(x + 6.5 * np.cos(angle), y + 6.5 * np.sin(angle)) for angle in np.arange(0.4, 6.2, 0.8)]
        distance = np.abs(drawn.colours(around) - rgb([theme.hue(kind)])[0]).max(axis=1)
        assert np.median(distance) < 40
    behind = np.abs(drawn.colours([(before[0] + 4, before[1] - 3)]) - rgb([theme.background])[0]).max()
    assert behind < 120  # hollow


def test_a_click_chooses_a_head_and_another_one_opens_it(draw: Draw) -> None:
    page = draw(POINTS)
    drawn, aloud = canvas(page, "scatter"), page.locator("[data-marker=pinned]")
    at = places(drawn)
    drawn.click(at["second"])
    expect(aloud).to_have_text("Chosen: second")
    place_of = {"kind": "masked", "layer": 2, "head": 1}
    assert alone.told(page) == [["choose", place_of]]
    drawn.click(at["second"])
    assert alone.told(page)[1:] == [["open", place_of]]
    drawn.click(at["first before"])  # a baseline is that of a head
    assert alone.told(page)[2:] == [["choose", {"kind": "encoder", "layer": 1, "head": 2}]]


def test_keys_go_to_the_nearest_head_in_their_direction(draw: Draw) -> None:
    page = draw(POINTS, chosen=0)
    page.locator("canvas").focus()
    reading = page.locator(".reading")
    expect(reading).to_have_text("first")
    page.keyboard.press("ArrowRight")
    expect(reading).to_have_text("second")
    page.keyboard.press("ArrowUp")
    expect(reading).to_have_text("third <i>")
    page.keyboard.press("ArrowUp")
    expect(reading).to_have_text("third <i>")
    page.keyboard.press("Escape")
    expect(reading).to_have_text("first")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert [name for name, _ in alone.told(page)] == ["choose", "open"]
    assert page.locator("i").count() == 0


@pytest.mark.parametrize("width", [1000, 390])
def test_names_cover_neither_each_other_nor_a_head_nor_leave_the_picture(draw: Draw, width: int) -> None:
    page = draw(CROWD, width=width)
    drawn = canvas(page, "scatter")
    boxes = page.locator(".scatter .name").evaluate_all(
        "(names) => names.map((n) => [n.offsetLeft, n.offsetTop, n.offsetWidth, n.offsetHeight])"
    )
    assert 2 <= len(boxes) <= len(CROWD)
    at = places(drawn)
    discs = [at[point.said] for point in (CROWD[0], CROWD[-1])]
    for number, (x, y, w, h) in enumerate(boxes):
        assert x >= 0 and x + w <= drawn.size[0] and y >= 0 and y + h <= drawn.size[1]  # noqa: PT018
        for other_x, other_y, other_w, other_h in boxes[number + 1 :]:
            assert x >= other_x + other_w or other_x >= x + w or y >= other_y + other_h or other_y >= y + h
        for cx, cy in discs:
            assert not (x < cx < x + w and y < cy < y + h)


def test_nothing_to_draw_is_said(draw: Draw) -> None:
    page = draw([])
    expect(page.locator(".reading")).to_have_text("No head has both numbers.")


def test_on_the_page_a_click_chooses_the_head_and_another_opens_it_on_heads(open_page: OpenPage) -> None:
    page = open_page("/roles?kind=encoder&layer=1&head=1")
    try:
        known = report.load(WEIGHTS)
    except report.ReportError:
        expect(page.get_by_text("What heads do over a corpus is not known here")).to_be_visible()
        return
    points = roles.points(known.heads, "entropy", "confidence", beside="untrained")
    drawn = canvas(page, "scatter")
    at = places(drawn)
    there = next(point for point in points if point.kind == "cross" and point.said in at)
    drawn.click(at[there.said])
    place = {"kind": "cross", "layer": there.layer, "head": there.head}
    bar.until_address(page, **place)
    assert (bar.chosen(page, "Layer"), bar.chosen(page, "Head")) == (str(there.layer), str(there.head))
    expect(page.locator("[data-marker=pinned]").first).to_have_text(f"Chosen: {there.said}")
    canvas(page, "scatter").click(at[there.said])
    page.wait_for_url("**/heads?**")
    label = re.compile(f"^cross, layer {there.layer}, head {there.head}:")
    expect(page.locator("canvas[data-marker=head]")).to_have_attribute("aria-label", label)
