"""Every colour, and the one scale on which attention is drawn, for Python and JavaScript alike."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

MARKS = {"encoder": "○", "masked": "◣", "cross": "⇄"}  # always beside the hue: colour alone says nothing to some
TICKS = (0, 0.01, 0.1, 0.25, 0.5, 1)  # of the scale, square-root spaced
SHADES = 256

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """One of the two looks; colours as #RRGGBB."""

    name: str
    background: str
    panel: str
    line: str
    ink: str
    soft: str  # text of second rank, still at least 4.5 : 1 on the background
    chrome: str
    hatch: str
    forbidden: str  # cells behind the mask
    encoder: str
    masked: str
    cross: str
    negative: str
    positive: str

    def hue(self, kind: str) -> str:
        """The colour of a kind of attention."""
        return {"encoder": self.encoder, "masked": self.masked, "cross": self.cross}[kind]


LIGHT = Theme(
    name="light",
    background="#FFFFFF",
    panel="#F6F7F9",
    line="#DDE1E7",
    ink="#1F2733",
    soft="#5C6776",
    chrome="#3F4A5A",
    hatch="#C9CFD8",
    forbidden="#F1F3F6",
    encoder="#037465",
    masked="#925003",
    cross="#6F4FA1",
    negative="#1762B6",
    positive="#A8353E",
)
DARK = Theme(
    name="dark",
    background="#14161A",
    panel="#1B1E24",
    line="#2C313A",
    ink="#E7EAF0",
    soft="#9AA4B2",
    chrome="#6B7A8F",
    hatch="#3A414D",
    forbidden="#1D2026",
    encoder="#24C8B1",
    masked="#EA9952",
    cross="#BB9AF4",
    negative="#73B1FF",
    positive="#FF8386",
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def ramp(theme: Theme, kind: str) -> list[str]:
    """SHADES colours from the background (weight 0) to the kind's hue (weight 1), evenly spaced to the eye (OKLab)."""
    return _ramp(theme.background, theme.hue(kind))


def _ramp(first: str, last: str) -> list[str]:
    ends = _to_oklab(np.array([_rgb(first), _rgb(last)]) / 255)
    steps = np.linspace(0, 1, SHADES)[:, None]
    shades = _from_oklab(ends[0] * (1 - steps) + ends[1] * steps)
    return ["#{:02X}{:02X}{:02X}".format(*shade) for shade in np.rint(shades * 255).astype(int).clip(0, 255)]


def for_canvas(theme: Theme) -> dict[str, Any]:
    """What the JavaScript needs to draw in this theme."""
    ramps = {kind: ramp(theme, kind) for kind in MARKS}
    ramps |= {sign: _ramp(theme.background, getattr(theme, sign)) for sign in ("negative", "positive", "chrome")}
    return asdict(theme) | {"ramps": ramps, "marks": MARKS, "ticks": TICKS}


def lightness(colour: str) -> float:
    """Perceived lightness of #RRGGBB in OKLab, 0 (black) to 1 (white)."""
    return float(_to_oklab(np.array([_rgb(colour)]) / 255)[0, 0])


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _rgb(colour: str) -> Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    return float(_linear(np.array(_rgb(colour)) / 255) @ np.array([0.2126, 0.7152, 0.0722]))


def _linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


# Björn Ottosson, "A perceptual color space for image processing" (2020): linear sRGB -> cone response -> OKLab.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _to_oklab(srgb: np.ndarray) -> np.ndarray:
    return np.cbrt(_linear(srgb) @ _CONES.T) @ _LAB.T


def _from_oklab(lab: np.ndarray) -> np.ndarray:
    linear = ((lab @ np.linalg.inv(_LAB).T) ** 3) @ np.linalg.inv(_CONES).T
    linear = linear.clip(0, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
