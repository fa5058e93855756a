"""Text can be read, equal weights look equal, and the page, the canvas and Plotly share their colours."""

import json
import re
import tomllib
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from viz.logo import logo
from viz.theme import DARK, LIGHT, MARKS, SHADES, THEMES, TICKS, Theme, contrast, for_canvas, lightness, ramp

CANVAS = Path(__file__).resolve().parents[2] / "viz" / "canvas"
CONFIG = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
SVG = "http://www.w3.org/2000/svg"  # a name that a file begins with; nothing is loaded from there
WRITTEN = ("ink", "soft", "encoder", "masked", "cross", "negative", "positive")  # what text is drawn in
BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
EVERY_KIND = pytest.mark.parametrize("kind", list(MARKS))


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == contrast("#FFFFFF", "#777777") == pytest.approx(4.478, abs=1e-3)


def test_lightness_runs_from_black_to_white() -> None:
    assert lightness("#000000") == pytest.approx(0, abs=1e-6)
    assert lightness("#FFFFFF") == pytest.approx(1, abs=1e-4)
    assert lightness("#777777") == pytest.approx(0.5693, abs=1e-3)  # of Ottosson's reference implementation


@BOTH
@pytest.mark.parametrize("behind", ["background", "panel"])
@pytest.mark.parametrize("written", WRITTEN)
def test_text_can_be_read_on_everything_behind_it(theme: Theme, written: str, behind: str) -> None:
    assert contrast(getattr(theme, written), getattr(theme, behind)) >= 4.5


@BOTH
def test_what_is_only_drawn_is_still_seen(theme: Theme) -> None:
    assert contrast(theme.chrome, theme.background) >= 3
    assert contrast(theme.chrome, theme.panel) >= 3


@BOTH
@EVERY_KIND
def test_a_ramp_begins_at_the_page_and_ends_at_the_hue(theme: Theme, kind: str) -> None:
    shades = ramp(theme, kind)
    assert len(shades) == SHADES
    assert (shades[0], shades[-1]) == (theme.background, theme.hue(kind))
    assert all(re.fullmatch("#[0-9A-F]{6}", shade) for shade in shades)


@BOTH
@EVERY_KIND
def test_equal_steps_of_weight_are_equal_steps_of_lightness(theme: Theme, kind: str) -> None:
    found = np.array([lightness(shade) for shade in ramp(theme, kind)])
    even = np.linspace(found[0], found[-1], SHADES)
    step = abs(even[1] - even[0])
    assert np.abs(found - even).max() < step  # rounding to 256 levels of red, green and blue does no more
    towards_hue = np.diff(found) * np.sign(found[-1] - found[0])
    assert (towards_hue > -0.1 * step).all()  # and never back


@BOTH
def test_the_lightest_weight_that_matters_can_be_told_from_nothing(theme: Theme) -> None:
    """A uniform row over 60 tokens: square-root spaced it is an eighth of the way."""
    for kind in MARKS:
        shades = ramp(theme, kind)
        shown = shades[round((1 / 60) ** 0.5 * (SHADES - 1))]
        assert abs(lightness(shown) - lightness(theme.background)) > 0.04


def test_ticks_rise_from_nothing_to_everything() -> None:
    assert (TICKS[0], TICKS[-1]) == (0, 1)
    assert all(low < high for low, high in pairwise(TICKS))


@BOTH
def test_the_canvas_gets_all_of_the_theme_as_json(theme: Theme) -> None:
    said = json.loads(json.dumps(for_canvas(theme), allow_nan=False))
    assert said.items() >= asdict(theme).items()
    assert said["ramps"].items() >= {kind: ramp(theme, kind) for kind in MARKS}.items()
    for sign in ("negative", "positive"):
        assert (said["ramps"][sign][0], said["ramps"][sign][-1]) == (theme.background, getattr(theme, sign))
    assert (said["marks"], said["ticks"]) == (MARKS, list(TICKS))


@pytest.mark.parametrize("path", sorted(CANVAS.iterdir()), ids=lambda path: path.name)
def test_no_canvas_has_a_colour_of_its_own(path: Path) -> None:
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(\d|\bhsla?\(", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(CANVAS.glob("*.js")), ids=lambda path: path.name)
def test_every_colour_a_canvas_asks_for_is_in_the_theme(path: Path) -> None:
    asked = set(re.findall(r"\btheme\.(\w+)", path.read_text(encoding="utf-8")))
    assert asked <= set(for_canvas(LIGHT))


@pytest.mark.parametrize("path", sorted(CANVAS.glob("*.js")), ids=lambda path: path.name)
def test_text_reaches_the_page_as_text_only(path: Path) -> None:
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://"
    text = path.read_text(encoding="utf-8").replace(SVG, "")
    assert not re.findall(forbidden, text)


def test_the_stylesheet_uses_only_variables_that_the_theme_sets() -> None:
    asked = set(re.findall(r"var\(--(\w+)\)", (CANVAS / "canvas.css").read_text(encoding="utf-8")))
    assert asked <= {name for name, value in for_canvas(LIGHT).items() if isinstance(value, str)}


@BOTH
def test_the_page_around_the_pictures_has_the_same_colours(theme: Theme) -> None:
    said = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme.name]
    assert said["backgroundColor"] == theme.background
    assert said["secondaryBackgroundColor"] == theme.panel
    assert said["borderColor"] == theme.line
    assert said["textColor"] == theme.ink
    assert contrast(said["primaryColor"], said["backgroundColor"]) >= 3
    assert contrast(said["linkColor"], said["backgroundColor"]) >= 4.5


def test_themes_are_found_by_name() -> None:
    assert {"light": LIGHT, "dark": DARK} == THEMES


@BOTH
def test_the_logo_is_drawn_in_the_theme(theme: Theme) -> None:
    drawn = logo(theme)
    assert drawn.startswith("<svg ")
    assert f'fill="{theme.ink}">Headlight</text>' in drawn
