"""Thumbnails are painted in the very colours of the exact weights: to the bit, in each scale and theme."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from model.trace import KINDS, Array, AttentionMap, Trace
from tests.browser import alone
from tests.browser.canvas import rgb
from tests.thumbnails import FORBIDDEN, wanted
from viz import offline, payload
from viz.theme import DARK, LIGHT, Theme, ramp

SIZE, GUTTER, LABEL = 120, 8, 26  # CSS pixels, as canvas/grid.js has them
OFFLINE = 96  # the size of a thumbnail in a report, as canvas/offline.js has it
SHAPES = {"encoder": (24, 24), "masked": (23, 23), "cross": (19, 24), "long": (241, 130)}


def a_map(kind: str, shape: tuple[int, int]) -> AttentionMap:
    """Weights from nothing to everything, the smaller the more of them."""
    weights = np.random.default_rng(shape[0]).random(shape, dtype=np.float32) ** 4
    weights.flat[::7] = [0, 1, 0.5, 1e-7, 1e-5][shape[0] % 5]
    if kind == "masked":
        weights = np.tril(weights)
    labels = [str(n) for n in range(max(shape))]
    rows, columns = labels[: shape[0]], labels[: shape[1]]
    return AttentionMap.of(weights, rows, columns, predicts=None if kind == "encoder" else rows, kind=kind)


def pooled(shades: Array, pool: int) -> Array:
    """The darkest of each square of pool × pool cells."""
    T, S = shades.shape
    return np.array([[shades[t : t + pool, s : s + pool].max() for s in range(0, S, pool)] for t in range(0, T, pool)])


def picture_of(page: Page) -> Array:
    """(height, width, 3) what is on the canvas."""
    url = page.locator("canvas[data-marker=grid]").evaluate("(canvas) => canvas.toDataURL()")
    return np.array(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB"))


def assert_painted(picture: Array, left: int, size: int, shown: AttentionMap, theme: Theme, *, linear: bool) -> None:
    """A thumbnail of the first row, which begins here."""
    T, S = shown.weights.shape
    shades = pooled(wanted(shown, linear=linear), -(-max(T, S) // size))
    width, height = S * size / max(T, S), T * size / max(T, S)
    down, across = ((np.arange(n) + 0.5) * room / n for n, room in zip(shades.shape, (height, width), strict=True))
    found = picture[np.ix_((4 + down).astype(int), (left + across).astype(int))]
    colours = rgb([*ramp(theme, shown.kind), theme.forbidden])
    np.testing.assert_array_equal(found, colours[np.where(shades == FORBIDDEN, -1, shades)])


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: str(theme.name))
@pytest.mark.parametrize("width", [1000, 400])
def test_a_thumbnail_s_colours_are_those_of_its_exact_weights(browser: Browser, theme: Theme, width: int) -> None:
    """However small it is, no peak is lost."""
    maps = [a_map(kind if kind in KINDS else "cross", shape) for kind, shape in SHAPES.items()]
    packed = [
        payload.grid(
            maps, theme=theme, opened=None, pinned=None, linear=linear, per_row=4, captions=[""] * 4, size=SIZE
        )
        for linear in (False, True)
    ]
    page = alone.drawn(browser, "grid", packed[0], theme=theme, width=width)
    for linear in (False, True):
        alone.redraw(page, packed[linear])
        picture = picture_of(page)
        size = min(SIZE, (picture.shape[1] - 3 * GUTTER - 4) // 4)
        assert (size < SIZE) == (width == 400)
        for index, shown in enumerate(maps):
            assert_painted(picture, 2 + index * (size + GUTTER), size, shown, theme, linear=linear)
    page.close()


def test_thumbnails_of_a_report_are_painted_by_its_exact_weights_too(
    browser: Browser, trace: Trace, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    report = offline.page(trace, [], [[] for _ in trace.read], opened=("encoder", 1, 1), told="it")
    file.write_text(report, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1600, "height": 900}, color_scheme="dark")
    page.goto(file.as_uri())
    for kind in KINDS:
        page.get_by_role("button", name=kind).click()
        for scale in ("√", "linear"):
            page.get_by_role("button", name=scale).click()
            for head in (1, 3):
                left, shown = LABEL + 2 + (head - 1) * (OFFLINE + GUTTER), trace.map(kind, 1, head)
                assert_painted(picture_of(page), left, OFFLINE, shown, DARK, linear=scale == "linear")
    page.close()
