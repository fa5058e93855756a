"""Which word stands for which: lines between two sentences for canvas/alignment.js, in words, and as a table."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from model.alignment import Links, Reading, strongest
from model.trace import Array, LabelError
from viz import field, phrases
from viz.inside import digits
from viz.payload import pack
from viz.theme import Theme, for_canvas

BY = {"weight": "weight", "norm": "‖αf(x)‖"}
ROWS = {"read": "reads", "predicted": "predicts"}
_ROW = "A row of the decoder has read one word and predicts the next; here it stands for the word that it"
STANDS_FOR = {"read": f"{_ROW} has read.", "predicted": f"{_ROW} predicts."}
NORM = (
    "‖αf(x)‖ is the length of what is moved from a word: weight α times f(x) = (x Wⱽ + bⱽ) Wᴼ, with this head's own "
    "Wⱽ, bⱽ and part of Wᴼ (Kobayashi et al. 2020)."
)
NEXT = 3  # how many more words a sentence names
VERDICTS = {  # of a link: how its line is drawn, and what that means
    "hit": ("───", "found, and linked by hand"),
    "possible": ("─○─", "found, possible by hand"),
    "extra": ("─×─", "found, not by hand"),
    "missed": ("╌╌╌", "by hand, not found"),
}


@dataclass(frozen=True)
class Aligned:
    """One sentence and its translation, and how strongly each German word holds to each English word."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    strength: Array  # (T, S)
    reading: Reading
    sure: Links | None = None  # by hand; None where nobody has aligned this pair
    possible: Links = frozenset()

    def __post_init__(self) -> None:
        if self.strength.shape != (len(self.target), len(self.source)):
            raise LabelError(
                f"strength has shape {self.strength.shape}, but there are {len(self.target)} German words and "
                f"{len(self.source)} English ones"
            )

    @property
    def found(self) -> list[int]:
        """For each German word the English word that it leans on most, from 0."""
        return [link.source for link in strongest(self.strength)]

    @property
    def links(self) -> Links:
        """(English word, German word) of each link."""
        return frozenset((source, target) for target, source in enumerate(self.found))

    def verdict(self, target: int) -> str | None:
        """What the hand-made links say of the link of a German word; None where there are none."""
        if self.sure is None:
            return None
        link = self.found[target], target
        return "hit" if link in self.sure else "possible" if link in self.possible else "extra"

    @property
    def missed(self) -> list[tuple[int, int]]:
        """(source, target) that are linked by hand, but not found."""
        return sorted((self.sure or frozenset()) - self.links)

    def value(self, target: int, source: int) -> str:
        """The strength of one link, as people read it."""
        strength = float(self.strength[target, source])
        return phrases.weight(strength) if self.reading.by == "weight" else digits(strength)


@dataclass(frozen=True)
class Cells:
    """The strengths that the matrix shows: of words, or of pieces, and of `</s>` if it is shown."""

    strength: Array  # (R, C)
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    german: tuple[int, ...]  # which word each row is or belongs to, from 0
    english: tuple[int | None, ...]  # and each column; None: no word
    rescaled: bool = False  # each row sums to 1

    @classmethod
    def of_words(cls, shown: Aligned) -> "Cells":
        """The words as they are."""
        german, english = range(len(shown.target)), range(len(shown.source))
        return cls(shown.strength, shown.target, shown.source, tuple(german), tuple(english))

    def place(self, german: int | None, english: int | None) -> tuple[int | None, int | None]:
        """The row and column in which a pinned word begins, all from 0."""
        row = None if german is None else self.german.index(german)
        return row, None if english is None else self.english.index(english)

    def words(self, row: int | None, column: int | None) -> tuple[int | None, int | None]:
        """The words of a row and a column, all from 1."""
        german = None if row is None else self.german[row - 1] + 1
        english = None if column is None else self.english[column - 1]
        return german, None if english is None else english + 1


def name(reading: Reading) -> str:
    """A way of reading in a few words."""
    heads = "all heads together" if reading.head is None else f"head {reading.head}"
    return f"layer {reading.layer}, {heads}, by {BY[reading.by]}, in the row that {ROWS[reading.rows]} the German word"


def definitions(reading: Reading) -> str:
    """What the words of a way of reading mean."""
    return STANDS_FOR[reading.rows] + (f" {NORM}" if reading.by == "norm" else "")


def payload(shown: Aligned, *, theme: Theme, pinned: tuple[int | None, int | None]) -> bytes:
    """pinned: a German and an English word, from 0; one of them or both may be None."""
    header: dict[str, Any] = {
        "theme": for_canvas(theme),
        "source": list(shown.source),
        "target": list(shown.target),
        "found": shown.found,
        "verdicts": [shown.verdict(target) for target in range(len(shown.target))],
        "missed": shown.missed,
        "legend": legend(shown),
        "by": shown.reading.by,
        "most": most(shown),
        "pinned": pinned,
        "ofTarget": [of_target(shown, target) for target in range(len(shown.target))],
        "ofSource": [of_source(shown, source) for source in range(len(shown.source))],
        "ofBoth": f"‘{{target}}’ holds to ‘{{source}}’: {{value}} ({name(shown.reading)})",
    }
    return pack(header, {"strength": shown.strength.astype(np.float32)})


def most(shown: Aligned) -> float:
    """What the widest line stands for: a weight of 1, or the largest length in this sentence."""
    return 1.0 if shown.reading.by == "weight" else max(float(shown.strength.max(initial=0.0)), 1e-9)


def of_target(shown: Aligned, target: int) -> str:
    """What one German word leans on, and next to that."""
    order = np.argsort(-shown.strength[target], kind="stable")[: NEXT + 1]
    first, *others = (f"‘{shown.source[s]}’ {shown.value(target, s)}" for s in order)
    then = f"; then {', '.join(others)}" if others else ""
    said = f"‘{shown.target[target]}’ leans on {first}{then}."
    return said if shown.sure is None else f"{said} By hand: {_by_hand(shown, target)}."


def _by_hand(shown: Aligned, target: int) -> str:
    """The English words to which somebody has linked a German word."""
    sure, possible = (
        [f"‘{shown.source[s]}’" for s, t in sorted(links) if t == target]
        for links in (shown.sure or (), shown.possible)
    )
    parts = [" and ".join(sure)] if sure else []
    parts += [f"possibly {' or '.join(possible)}"] if possible else []
    return ", ".join(parts) or "no word"


def of_source(shown: Aligned, source: int) -> str:
    """Which German words lean on an English word most."""
    leaning = [t for t, found in enumerate(shown.found) if found == source]
    if leaning:
        words = " and ".join(f"‘{shown.target[t]}’ ({shown.value(t, source)})" for t in leaning)
        return f"{words} {'leans' if len(leaning) == 1 else 'lean'} on ‘{shown.source[source]}’ most."
    nearest = int(shown.strength[:, source].argmax())
    return (
        f"No German word leans on ‘{shown.source[source]}’ most; nearest to it is ‘{shown.target[nearest]}’ "
        f"({shown.value(nearest, source)})."
    )


def legend(shown: Aligned) -> list[tuple[str, str]]:
    """The kinds of line in the picture, with how many of each there are."""
    if shown.sure is None:
        return []
    verdicts = [shown.verdict(target) for target in range(len(shown.target))]
    counts = {kind: verdicts.count(kind) for kind in VERDICTS} | {"missed": len(shown.missed)}
    return [(line, f"{counts[kind]} {meaning}") for kind, (line, meaning) in VERDICTS.items()]


def table(shown: Aligned) -> pd.DataFrame:
    """A line for each German word: what it leans on, how strongly, and what somebody has linked by hand."""
    T = range(len(shown.target))
    columns: dict[str, list[Any]] = {
        "German": [f"{t + 1} {shown.target[t]}" for t in T],
        "leans on": [f"{s + 1} {shown.source[s]}" for s in shown.found],
        BY[shown.reading.by]: [float(shown.strength[t, s]) for t, s in enumerate(shown.found)],
    }
    if shown.sure is not None:
        columns["by hand"] = [_by_hand(shown, t) for t in T]
        columns["link"] = [shown.verdict(t) for t in T]
    return pd.DataFrame(columns)


def matrix(shown: Aligned, cells: Cells, *, theme: Theme, pinned: tuple[int | None, int | None]) -> bytes:
    """Strengths as a matrix, for canvas/field.js: German looks, English is looked at. pinned: words, from 0."""
    by_hand = dict.fromkeys(shown.sure or (), " Linked by hand.") | dict.fromkeys(shown.possible, " Possible by hand.")
    names = [by_hand.get((s, t), "") if s is not None else "" for t in cells.german for s in cells.english]
    shares = cells.rescaled or shown.reading.by == "weight"
    return field.payload(
        cells.strength,
        rows=cells.rows,
        columns=cells.columns,
        theme=theme,
        hue="cross",
        limit=1.0 if shares else field.round_limit(cells.strength),
        sentence="‘{row}’ holds to ‘{column}’: {value}.{name}",
        title=f"Every {BY[shown.reading.by]}",
        row_title="German",
        column_title="English",
        pinned=None if pinned == (None, None) else cells.place(*pinned),
        names=names,
        height=440,
    )


def how_to_read(shown: Aligned) -> str:
    """Under the lines."""
    widest = "a weight of 1" if shown.reading.by == "weight" else "the largest length in this sentence"
    said = (
        f"Cross-attention, {name(shown.reading)}. A line joins each German word to the English word that it holds to "
        f"most; the widest possible line is {widest}. {definitions(shown.reading)} Over an English word's pieces "
        f"{'weights' if shown.reading.by == 'weight' else 'vectors'} are summed, over a German word's rows averaged."
    )
    return said if shown.sure is None else f"{said} This pair was linked by hand: the lines say what was found of that."
