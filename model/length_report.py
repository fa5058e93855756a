"""What was measured past the training length, as it stands beside the weights in length.json. No torch.

`model.length` writes it; pages read it.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from model import sums
from model.report import ReportError, digest
from model.sums import SumsError

REPORT = "length.json"  # in a weights folder
AGAIN = "measure them with `python -m model.length pairs.tsv --save`"
SIDEWAYS = ("previous", "same", "next")  # where a head of self-attention may look, of the places near it


@dataclass(frozen=True)
class HeadHabit:
    """What one head does, on average over the rows of the inputs of one length."""

    kind: str
    layer: int
    head: int
    previous: float | None  # share of rows whose largest weight is one to the left; None for cross-attention
    same: float | None
    next: float | None
    entropy: float | None  # over that of a row that looks everywhere alike

    @property
    def name(self) -> str:
        return f"{self.kind} {self.layer}.{self.head}"

    @property
    def favourite(self) -> str:
        """Where the largest weight of most rows is: previous, same, next, or elsewhere."""
        shares = {name: getattr(self, name) or 0.0 for name in SIDEWAYS}
        shares["elsewhere"] = 1.0 - sum(shares.values())
        return max(shares, key=lambda name: shares[name])


@dataclass(frozen=True)
class Length:
    """Inputs made of so many sentences each."""

    joined: int
    n: int  # inputs
    pieces: float  # of the source, mean
    words: float
    bleu: float  # of whole inputs
    apart: float  # of the same inputs, their sentences translated one by one
    ratio: float  # words written over words of the reference
    heads: tuple[HeadHabit, ...]


@dataclass(frozen=True)
class Start:
    """Single sentences whose first token is given this position (from 1) in the encoder."""

    start: int
    bleu: float


@dataclass(frozen=True)
class LengthReport:
    """Everything in length.json."""

    weights: str  # digest of the weights that were measured
    file: str  # name of the file of sentence pairs
    sentences: int
    trained_words: int  # longest source in training
    lengths: tuple[Length, ...]
    starts: tuple[Start, ...]

    @property
    def trained_pieces(self) -> float:
        """The longest source in training, in pieces: its words times the pieces that a word of these inputs has."""
        return self.trained_words * self.lengths[-1].pieces / self.lengths[-1].words

    def kept(self, length: Length) -> tuple[int, int]:
        """How many heads of self-attention have the favourite they have on single sentences; of how many."""
        first = {habit.name: habit.favourite for habit in self.lengths[0].heads if habit.kind != "cross"}
        return sum(first.get(habit.name) == habit.favourite for habit in length.heads), len(first)

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def load(folder: Path) -> LengthReport:
    """The report on the weights in a folder. Raises ReportError if there is none, or one of other weights."""
    path = folder / REPORT
    if not path.is_file():
        raise ReportError(f"nobody has measured these weights past the training length yet; {AGAIN}")
    try:
        sums.check(folder, [REPORT])
        found = _report(json.loads(path.read_text(encoding="utf-8")))
    except SumsError as error:
        raise ReportError(str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{REPORT} cannot be read ({error}); {AGAIN}") from error
    if found.weights != digest(folder):
        raise ReportError(f"{REPORT} was measured on other weights than those beside it; {AGAIN}")
    return found


def _report(said: dict[str, Any]) -> LengthReport:
    lengths = [Length(**one | {"heads": tuple(HeadHabit(**head) for head in one["heads"])}) for one in said["lengths"]]
    starts = [Start(**one) for one in said["starts"]]
    return LengthReport(**said | {"lengths": tuple(lengths), "starts": tuple(starts)})
