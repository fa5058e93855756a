"""Tokens as vectors: embeddings, neighbours in the vocabulary, the map before and after, one piece in two sentences."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.contexts import Contexts
from model.stream import tokens
from model.trace import Array, Trace
from model.vectors import Neighbour, Plane, alike, plane, share_shown, unit
from viz import curves, field
from viz import plane as drawn
from viz.theme import Theme

LIMIT = 3.0  # of the colours: at the start of training the numbers have a standard deviation of 1
HUES = {"encoder": "encoder", "decoder": "masked"}
ENDS = {"encoder": "encoder.memory_tap", "decoder": "decoder.output_tap"}
HOW_TO_READ = (
    "Each row is a row of the embedding matrix times √{width} = {root:.3g}, as it enters the network, before positions "
    "are added. Equal pieces have equal rows, wherever they stand and in both languages."
)
NEIGHBOURS = (
    "The pieces of the joint vocabulary whose rows of the matrix point most nearly the same way. Cosine compares "
    "directions only; the matrix also reads out the next word, so pieces may be alike because they follow like words."
)
MAP = (
    "A line joins a piece to itself. The plane shows {before:.0%} of what sets the vectors apart before, {after:.0%} "
    "after (directions only, lengths set to 1); what is near here may be far in the other directions."
)
OWN = "Each picture has a plane of its own, so places must not be compared between them, only neighbourhoods."


def _labels(trace: Trace, side: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokens(trace, side))


def embeddings(trace: Trace, side: str, position: int, *, theme: Theme) -> bytes:
    """A row for each token, a column for each dimension; position from 1."""
    values = trace.tensors[f"{side}.input.embeddings_tap"]
    return field.payload(
        values,
        rows=_labels(trace, side),
        columns=[str(n) for n in range(1, values.shape[1] + 1)],
        theme=theme,
        hue="signed",
        limit=LIMIT,
        sentence="‘{row}’, dimension {column}: {value}",
        title=f"Embeddings: {values.shape[0]} tokens × {values.shape[1]} dimensions",
        row_title="token",
        column_title="dimension",
        pinned=(position - 1, None),
        height=440,
    )


def how_to_read(width: int) -> str:
    return HOW_TO_READ.format(width=width, root=width**0.5)


def neighbours(found: Sequence[Neighbour], names: Sequence[str]) -> pd.DataFrame:
    """The nearest pieces of the vocabulary, most like first."""
    rows = [(names[one.row], one.cosine, one.row) for one in found]
    return pd.DataFrame(rows, columns=["piece", "cosine", "number"])


def before_and_after(trace: Trace, side: str) -> tuple[Array, Array]:
    """(T, D) each, lengths set to 1: embeddings, and what leaves the last layer."""
    return unit(trace.tensors[f"{side}.input.embeddings_tap"]), unit(trace.tensors[ENDS[side]])


def groups(trace: Trace, side: str, points: tuple[Array, Array]) -> list[drawn.Group]:
    """The points before and after, as (T, 2) each, with what they say."""
    names = (f"before the {side}", f"after the {side}")
    made = []
    for name, vectors, where in zip(names, before_and_after(trace, side), points, strict=True):
        looks = (HUES[side], False) if name == names[1] else ("chrome", True)
        labels = _labels(trace, side)
        made.append(drawn.Group(name, where, labels, _says(labels, vectors, name), *looks))
    return made


def _says(labels: Sequence[str], vectors: Array, where: str) -> tuple[str, ...]:
    """For each token the one of this sentence that is most like it."""
    found = alike(vectors, vectors)
    np.fill_diagonal(found, -np.inf)
    if len(labels) == 1:
        return (f"‘{labels[0]}’ {where}",)
    return tuple(
        f"‘{label}’ {where}: of this sentence most like ‘{labels[row.argmax()]}’ (cosine {row.max():.2f})"
        for label, row in zip(labels, found, strict=True)
    )


def joint_map(trace: Trace, side: str, position: int, *, theme: Theme) -> tuple[bytes, str, list[drawn.Group]]:
    """Both sets in one plane: the picture, how to read it, and its points."""
    before, after = before_and_after(trace, side)
    seen = plane(np.concatenate([before, after]))
    made = groups(trace, side, (seen.points[: len(before)], seen.points[len(before) :]))
    title = f"The two directions in which all of them vary most: {_shares(seen)}"
    said = MAP.format(before=share_shown(seen, before), after=share_shown(seen, after))
    return drawn.payload(made, theme=theme, title=title, marked=position), said, made


def own_maps(trace: Trace, side: str, position: int, *, theme: Theme) -> tuple[list[bytes], str, list[drawn.Group]]:
    """Each set in a plane of its own."""
    seen = [plane(vectors) for vectors in before_and_after(trace, side)]
    made = groups(trace, side, (seen[0].points, seen[1].points))
    titles = [f"{group.name}: {_shares(one)}".capitalize() for group, one in zip(made, seen, strict=True)]
    pictures = [
        drawn.payload([group], theme=theme, title=title, marked=position)
        for group, title in zip(made, titles, strict=True)
    ]
    return pictures, OWN, made


def _shares(seen: Plane) -> str:
    first, second = seen.shares
    return f"{first:.0%} + {second:.0%} of the variance"


def context_lines(found: Contexts, piece: str, side: str) -> list[curves.Series]:
    """The piece with itself, and what pieces that have nothing to do with each other come to."""
    x = np.arange(1, len(found.places) + 1)
    return [
        curves.Series(f"‘{piece}’ and ‘{piece}’", x, found.cosines, HUES[side], dots=True),
        curves.Series("different pieces, mean", x, found.others, "chrome", dashed=True, dots=True),
    ]


def context_places(found: Contexts) -> dict[float, str]:
    return {float(n): place for n, place in enumerate(found.places, start=1)}


def context_picture(found: Contexts, lines: Sequence[curves.Series], *, theme: Theme) -> bytes:
    lowest = min(0.0, float(np.nanmin([line.y for line in lines])))
    return curves.payload(
        lines,
        theme=theme,
        x_title="",
        y_title="cosine between the two sentences",
        x_labels=context_places(found),
        y_range=(lowest if lowest == 0 else -1.0, 1.0),
        sentence="{x} — {values}",
    )


def context_said(found: Contexts, piece: str) -> str:
    """The finding, as a sentence."""
    return (
        f"‘{piece}’ is one row of the matrix in both sentences: cosine {found.cosines[0]:.2f}. After the last layer "
        f"the two vectors have cosine {found.cosines[-1]:.2f}; two different pieces, one of each sentence, have "
        f"{found.others[-1]:.2f} on average."
    )
