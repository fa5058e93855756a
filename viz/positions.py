"""The pictures of sinusoidal positions: as a heatmap, as waves, their similarity, the rotation, and their sizes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import positions
from model.positions import Sizes
from model.trace import Token
from viz import curves, field, plane
from viz.inside import signed
from viz.theme import Theme

SHOWN = 4  # waves beside the chosen one
ON_CIRCLE = 12  # positions
SMALL = 4  # positions and columns of the table of numbers
HUES = {"encoder": "encoder", "decoder": "masked"}
FORMULA = (
    "PE(pos, 2i) = sin(pos · ω), PE(pos, 2i+1) = cos(pos · ω), ω = 10000^(−2i/d). "
    "`pos` counts from 0: the first token has pos 0. Frequencies count from 1, the fastest first."
)
BY_DISTANCE = (
    "PE(pos) · PE(pos + k) = Σ cos(ω k): every sine meets its cosine, so how like two positions are depends on their "
    "distance k alone, not on where they stand. Divided by d/2, the squared length of every row, it is their cosine."
)
SMALL_SAID = "d = 4, the first four positions: two frequencies, ω = 1 and ω = 1/100."
ROTATION = (
    "M is the same for every position: for each frequency ω it turns (sin, cos) by the angle kω. So “k further on” is "
    "one linear map, which a head can learn."
)


def heatmap(length: int, width: int, frequency: int, *, theme: Theme) -> bytes:
    """A row for each position, a column for each sine and cosine; the pair of `frequency` (from 1) is marked."""
    return field.payload(
        positions.encoding(length, width),
        rows=[str(pos) for pos in range(length)],
        columns=positions.column_names(width),
        theme=theme,
        hue="signed",
        limit=1.0,
        sentence="pos {row}, {column}: {value}",
        title=f"PE: {length} positions × {width} dimensions",
        row_title="pos",
        column_title="sine and cosine of each frequency",
        pinned=(None, 2 * frequency - 2),
        height=440,
    )


def wavelength(frequency: int, width: int) -> float:
    """Positions in one full turn."""
    return float(2 * np.pi / positions.frequencies(width)[frequency - 1])


def spread(width: int, frequency: int) -> list[int]:
    """Frequencies (from 1) from fast to slow, without the chosen one."""
    most = width // 2
    return sorted({1 + most * n // (2 * SHOWN) for n in range(SHOWN)} - {frequency})


def waves(length: int, width: int, frequency: int) -> list[curves.Series]:
    """The chosen frequency, and sines of others paler behind it."""
    encoded, pos = positions.encoding(length, width), np.arange(length)
    others = spread(width, frequency)
    return [
        *(
            curves.Series(f"sin {n}", pos, encoded[:, 2 * n - 2], strength=0.75 - 0.4 * index / len(others))
            for index, n in enumerate(others)
        ),
        curves.Series(f"cos {frequency}", pos, encoded[:, 2 * frequency - 1], "ink", dashed=True),
        curves.Series(f"sin {frequency}", pos, encoded[:, 2 * frequency - 2], "ink"),
    ]


def waves_said(width: int, frequency: int) -> str:
    own, fastest, slowest = (_turn(n, width) for n in (frequency, 1, width // 2))
    return (
        f"Each column of the heatmap is one such wave. Frequency {frequency} of {width // 2} turns once in {own} "
        f"positions, the fastest in {fastest}, the slowest in {slowest}."
    )


def _turn(frequency: int, width: int) -> str:
    turn = wavelength(frequency, width)
    return f"{turn:.2f}" if turn < 100 else f"{turn:,.0f}"


def waves_picture(lines: Sequence[curves.Series], *, theme: Theme) -> bytes:
    return curves.payload(lines, theme=theme, x_title="pos", y_title="value", y_range=(-1.0, 1.0), height=360)


def small() -> pd.DataFrame:
    """PE with d = 4 at the positions 0 to 3: every number can be checked with a pocket calculator."""
    columns = ["sin pos", "cos pos", "sin pos/100", "cos pos/100"]
    return pd.DataFrame(positions.encoding(SMALL, SMALL), columns=columns).rename_axis("pos")


def similarity(length: int, width: int, *, theme: Theme) -> bytes:
    """The cosine of every two positions."""
    encoded = positions.encoding(length, width)
    names = [str(pos) for pos in range(length)]
    return field.payload(
        encoded @ encoded.T / (width / 2),
        rows=names,
        columns=names,
        theme=theme,
        hue="signed",
        limit=1.0,
        sentence="pos {row} and pos {column}: cosine {value}",
        title="Cosine of every two positions",
        row_title="pos",
        column_title="pos",
        height=440,
    )


def by_distance(length: int, width: int, own: int) -> list[curves.Series]:
    """Cosine by distance for the chosen width and, if it is another one, for the model's."""
    distance = np.arange(length)
    lines = [curves.Series(f"d = {width}", distance, positions.similarity(distance, width) / (width / 2), "ink")]
    if own != width:
        values = positions.similarity(distance, own) / (own / 2)
        lines.append(curves.Series(f"d = {own}, this model", distance, values, dashed=True))
    return lines


def by_distance_picture(lines: Sequence[curves.Series], *, theme: Theme, shift: int) -> bytes:
    """The distance `shift` is marked, if the picture reaches so far."""
    marked = shift if shift <= lines[0].x[-1] else None
    return curves.payload(
        lines, theme=theme, x_title="distance k", y_title="cosine", y_range=(-1.0, 1.0), height=360, marked=marked
    )


def around(pos: int) -> int:
    """The first position on the circle: it shows the chosen one among its neighbours."""
    return max(0, pos - ON_CIRCLE // 2)


def circle(width: int, frequency: int, shift: int, pos: int, *, theme: Theme) -> bytes:
    """(sin, cos) of some positions around `pos` in one frequency, each joined to the one `shift` further on."""
    first, last = around(pos), around(pos) + ON_CIRCLE
    encoded = positions.encoding(last + shift, width)[:, 2 * frequency - 2 : 2 * frequency]
    here, there = range(first, last), range(first + shift, last + shift)
    groups = [
        plane.Group("pos", encoded[first:last], _names(here), tuple(f"pos {p}" for p in here), "chrome", hollow=True),
        plane.Group(
            f"pos + {shift}",
            encoded[first + shift :],
            _names(there),
            tuple(f"pos {p} turned to pos {q}" for p, q in zip(here, there, strict=True)),
            "ink",
        ),
    ]
    title = f"Frequency {frequency}: sine across, cosine up; a step of {shift} is one turn for all"
    return plane.payload(groups, theme=theme, title=title, marked=pos - first + 1, circle=True, height=360)


def _names(places: range) -> tuple[str, ...]:
    return tuple(str(place) for place in places)


def rotation(width: int, frequency: int, shift: int, pos: int) -> pd.DataFrame:
    """For some frequencies the matrix, what it makes of (sin, cos) at pos, and what stands at pos + shift.

    A column for each frequency, so that all of it is seen on a narrow screen.
    """
    chosen = sorted({*spread(width, frequency), frequency})
    encoded = positions.encoding(pos + shift + 1, width)
    turned = positions.turned(encoded[pos : pos + 1], positions.rotations(shift, width))[0]
    rows = []
    for n in chosen:
        (cosine, sine), _ = positions.rotations(shift, width)[n - 1]
        pair = slice(2 * n - 2, 2 * n)
        rows.append((n, cosine, sine, -sine, cosine, *encoded[pos, pair], *turned[pair], *encoded[pos + shift, pair]))
    names = ["M₁₁ cos kω", "M₁₂ sin kω", "M₂₁ −sin kω", "M₂₂ cos kω"]
    for where in (f"at {pos}", "turned by M", f"at {pos + shift}"):
        names += [f"sin {where}", f"cos {where}"]
    numbers = {str(n): values for n, *values in rows}
    return pd.DataFrame(numbers, index=pd.Index(names, name="frequency"))


def sizes(found: Sizes, tokens: Sequence[Token], side: str) -> list[curves.Series]:
    x = np.arange(1, len(tokens) + 1)
    return [
        curves.Series("embedding × √d", x, found.embeddings, HUES[side], dots=True),
        curves.Series("position", x, found.positions, "chrome", dashed=True, dots=True),
        curves.Series("both together", x, found.sums, "ink", dots=True),
    ]


def labels(tokens: Sequence[Token]) -> dict[float, str]:
    return {float(n): token.text for n, token in enumerate(tokens, start=1)}


def sizes_picture(lines: Sequence[curves.Series], tokens: Sequence[Token], *, theme: Theme, position: int) -> bytes:
    return curves.payload(
        lines,
        theme=theme,
        x_title="",
        y_title="length of the vector",
        marked=position,
        x_labels=labels(tokens),
        y_range=(0.0, field.round_limit(np.concatenate([line.y for line in lines]))),
        sentence="‘{x}’ — {values}",
        stays=True,
    )


def sizes_said(found: Sizes, place: int, token: Token, *, pos: int) -> str:
    """place: of the token among those that are shown, from 1; pos: where it begins in the sentence, from 0."""
    at = place - 1
    return (
        f"‘{token.text}’ at pos {pos}: an embedding of length {found.embeddings[at]:.2f} meets a position of length "
        f"{found.positions[at]:.2f}; together {found.sums[at]:.2f}. Their cosine is {signed(found.cosines[at])}."
    )
