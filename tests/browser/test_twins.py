"""What is written in Python and in JavaScript says the same in both: run in a real browser, over many values."""

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from model.ranking import all_maps
from model.trace import KINDS, Trace
from tests.browser import alone
from viz import captions, heatmap, phrases, thumbnails
from viz.payload import head, pack
from viz.theme import DARK, LIGHT, MARKS, Theme, for_canvas, ramp

UNPACKED = """(packed) => {
  const raw = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const { header, arrays } = unpack(raw.subarray(1));  // it need not begin where its buffer begins
  const of = (array) => ({ type: array.constructor.name, shape: array.shape, values: [...array] });
  return { header, arrays: Object.fromEntries(Object.entries(arrays).map(([name, a]) => [name, of(a)])) };
}"""
SAID = """(packed) => {
  const { header, arrays } = unpack(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)));
  const [T, S] = arrays.weights.shape;
  const row = (t) => Array.from({ length: S }, (_, s) => say(header.map, arrays, t, s));
  return {
    cells: Array.from({ length: T }, (_, t) => row(t)),
    labels: Array.from({ length: T }, (_, t) => rowLabel(header.map, t)),
  };
}"""
NASTY = ["{weight}", "{row} {{x}}", "$& $1 $$", "</script><img src=x>", "‘’", "\u2028", "🐴", "·ing", "", "__proto__"]


@pytest.fixture(scope="module")
def script(browser: Browser) -> Iterator[Page]:
    """A page with nothing in it but the functions that every canvas shares."""
    page = browser.new_page()
    for name in alone.SHARED:
        page.add_script_tag(content=(alone.CANVAS / f"{name}.js").read_text(encoding="utf-8"))
    yield page
    page.close()


def test_a_weight_reads_the_same(script: Page) -> None:
    generator = np.random.default_rng(3)
    spread = [0.0, 1.0, *(k / 2**n for n in range(1, 12) for k in range(2**n)), *(k / 2000 for k in range(2001))]
    drawn = [*generator.random(3000), *generator.random(3000) ** 4, *10.0 ** -generator.random(500) * 1e-3]
    edges = [np.nextafter(edge, way) for edge in (0.0005, 0.0995, 0.995, 0.005) for way in (0, edge, 1)]
    values = [float(v) for v in [*spread, *drawn, *edges]]
    values += [float(np.float32(v)) for v in values]
    found = script.evaluate("(values) => values.map(number)", values)
    assert [(v, said) for v, said in zip(values, found, strict=True) if phrases.weight(v) != said] == []


def test_a_template_is_filled_the_same(script: Page) -> None:
    templates = [*phrases.SENTENCES.values(), phrases.FORBIDDEN]
    names = ("row", "column", "predicts", "weight", "layer", "head")
    for text in NASTY:
        values = dict.fromkeys(names, text) | {"layer": 2}
        found = script.evaluate("([templates, values]) => templates.map((t) => fill(t, values))", [templates, values])
        assert found == [template.format(**values) for template in templates]


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    header=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text()),
    seed=st.integers(0, 99),
)
def test_what_python_packs_javascript_unpacks(script: Page, header: dict[str, str], seed: int) -> None:
    header = {name: text for name, text in header.items() if name not in ("arrays", "__proto__")}
    generator = np.random.default_rng(seed)
    arrays = {
        "bytes": generator.integers(0, 256, (3, seed % 4), dtype=np.uint8),
        "shorts": generator.integers(0, 65536, (seed % 7,), dtype=np.uint16),
        "floats": generator.standard_normal((2, 3, seed % 5), dtype=np.float32),
        "one": np.float32([[seed / 7]]),
    }
    found = script.evaluate(UNPACKED, base64.b64encode(b"x" + pack(header, arrays)).decode())
    assert {name: text for name, text in found["header"].items() if name != "arrays"} == header
    types = {"uint8": "Uint8Array", "uint16": "Uint16Array", "float32": "Float32Array"}
    for name, array in arrays.items():
        assert found["arrays"][name]["type"] == types[array.dtype.name]
        assert found["arrays"][name]["shape"] == list(array.shape)
        assert found["arrays"][name]["values"] == array.ravel().tolist()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("linear", [False, True])
def test_a_weight_has_the_same_colour(script: Page, theme: Theme, linear: bool) -> None:
    weights = np.linspace(0, 1, 4001, dtype=np.float32)
    places = weights.astype(np.float64) if linear else np.sqrt(weights.astype(np.float64))
    assert thumbnails.shades(weights, linear=linear).tolist() == [int(np.floor(place * 255 + 0.5)) for place in places]
    for kind in MARKS:
        shades = ramp(theme, kind)
        found = script.evaluate(
            "([theme, kind, weights, linear]) => weights.map((w) => shade(theme, kind, w, linear))",
            [for_canvas(theme), kind, weights.tolist(), linear],
        )
        assert found == [shades[int(np.floor(place * 255 + 0.5))] for place in places]


def test_a_colour_is_taken_apart_the_same(script: Page) -> None:
    shades = ramp(DARK, "cross")
    found = script.evaluate("(shades) => shades.map(rgb)", shades)
    assert found == [[int(shade[at : at + 2], 16) for at in (1, 3, 5)] for shade in shades]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [False, True])
def test_every_cell_says_the_same_sentence_and_every_row_has_the_same_label(
    script: Page, trace: Trace, kind: str, words: bool
) -> None:
    shown = all_maps(trace, kind, words=words)[-1]
    packed = head(shown, theme=LIGHT, pinned=None, linear=False, lines=False)
    found = script.evaluate(SAID, base64.b64encode(packed).decode())
    assert found["labels"] == captions.of_rows(shown)
    for row, line in enumerate(found["cells"]):
        assert line == [heatmap.sentence(shown, row, column) for column in range(len(shown.columns))]


def test_a_shortened_text_fits_and_breaks_no_character(script: Page) -> None:
    texts = ["Donaudampfschifffahrt", "🐴🐴🐴🐴🐴🐴", "a", "ü" * 40, "👩‍👩‍👧👩‍👩‍👧"]
    code = """([text, width]) => {
      const context = document.createElement('canvas').getContext('2d');
      const shown = fitted(context, text, width);
      return [shown, context.measureText(shown).width, context.measureText(text).width];
    }"""
    for text in texts:
        for width in (5, 20, 40, 1000):
            shown, drawn, whole = script.evaluate(code, [text, width])
            shown.encode()  # half a character could not be
            assert drawn <= width or len(shown) <= 3
            assert (shown == text) == (whole <= width)
            assert shown == text or text.startswith(shown.removesuffix("…"))


def test_labels_stand_far_enough_apart(script: Page) -> None:
    code = "(rows) => rows.map(([count, cell]) => stride(count, cell, 12))"
    rows: list[Any] = [[count, cell] for count in (3, 40, 41, 257) for cell in (0.8, 1, 3, 7, 12, 26)]
    for (_, cell), every in zip(rows, script.evaluate(code, rows), strict=True):
        assert every * cell >= 12
        assert isinstance(every, int)
