"""What was measured past the training length, as lines over it, and in words."""

from collections.abc import Sequence

import numpy as np

from model.length_report import HeadHabit, Length, LengthReport
from model.trace import Array
from viz import curves
from viz.field import round_limit
from viz.theme import MARKS, Theme

MOST_HEADS = 5  # lines
WHERE = {"previous": "one to the left", "next": "one to the right"}
HOW_TO_READ = (
    "Inputs are neighbouring sentences of a file, joined. One by one, the same sentences are translated on their own "
    "and joined afterwards: the same words. What the joined line loses beside that one comes of their standing in one "
    "input: it is longer, holds several sentences, and most of its words stand where training seldom put any."
)
STARTS = (
    "Here nothing is long: single sentences, but the encoder is told that the first word stands further on. If the "
    "model used only how far apart words are, this line would be flat."
)


def _pieces(report: LengthReport) -> Array:
    return np.array([length.pieces for length in report.lengths])


def bleu(report: LengthReport) -> list[curves.Series]:
    x = _pieces(report)
    return [
        curves.Series("joined", x, np.array([n.bleu for n in report.lengths]), "ink", dots=True),
        curves.Series("one by one", x, np.array([n.apart for n in report.lengths]), dashed=True, dots=True),
    ]


def starts(report: LengthReport) -> list[curves.Series]:
    x = np.array([one.start for one in report.starts])
    return [curves.Series("", x, np.array([one.bleu for one in report.starts]), "ink", dots=True)]


def sideways(report: LengthReport) -> list[curves.Series]:
    """The heads of self-attention that look most to the left or right on single sentences, and how that goes on."""
    first = [(share, habit.name, where) for habit in report.lengths[0].heads for where, share in _shares(habit).items()]
    lines = []
    for _, name, where in sorted(first, reverse=True)[:MOST_HEADS]:
        here = [next(habit for habit in length.heads if habit.name == name) for length in report.lengths]
        y = np.array([_shares(habit)[where] for habit in here])
        lines.append(curves.Series(f"{MARKS[here[0].kind]} {name}, {WHERE[where]}", _pieces(report), y, here[0].kind))
    return lines


def _shares(habit: HeadHabit) -> dict[str, float]:
    shares = {"previous": habit.previous, "next": habit.next}
    return {where: share for where, share in shares.items() if share is not None and habit.kind != "cross"}


def entropies(report: LengthReport) -> list[curves.Series]:
    """Mean over the heads of each kind: how evenly rows look, 1 being everywhere alike."""
    means = {kind: np.array([_mean_entropy(length, kind) for length in report.lengths]) for kind in MARKS}
    return [curves.Series(f"{mark} {kind}", _pieces(report), means[kind], kind) for kind, mark in MARKS.items()]


def _mean_entropy(length: Length, kind: str) -> float:
    values = [habit.entropy for habit in length.heads if habit.kind == kind and habit.entropy is not None]
    return float(np.mean(values)) if values else float("nan")


def picture(
    lines: Sequence[curves.Series], report: LengthReport, *, theme: Theme, y_title: str, most: float | None
) -> bytes:
    """Over the pieces of an input, with a rule where training ended; y from 0 to `most`, or to the largest value."""
    at = report.trained_pieces
    within = at <= report.lengths[-1].pieces
    return curves.payload(
        lines,
        theme=theme,
        x_title="pieces of the source",
        y_title=y_title,
        notes={at: f"longest in training, about {at:.0f} pieces"} if within else None,
        y_range=None if most is None else (0.0, most),
        sentence="{x} pieces — {values}",
    )


def starts_picture(report: LengthReport, *, theme: Theme) -> bytes:
    lines, most = starts(report), round_limit(np.array([one.bleu for one in report.starts]))
    title = "position of the first word"
    return curves.payload(lines, theme=theme, x_title=title, y_title="BLEU", y_range=(0.0, most))


def said(report: LengthReport) -> str:
    """What the lines show, with their numbers."""
    first, last = report.lengths[0], report.lengths[-1]
    kept, heads = report.kept(last)
    return (
        f"{report.sentences} sentences of {report.file}, greedy. {_loss(report)} At {last.pieces:.0f} pieces BLEU is "
        f"{last.bleu:.1f} against {last.apart:.1f} one by one, and {last.ratio:.2f} times as many words are written as "
        f"the reference has ({first.ratio:.2f} for single sentences). {kept} of {heads} heads of self-attention still "
        "have their largest weight most often where they have it on single sentences: to the left, on the token "
        "itself, to the right, or elsewhere."
    )


def _loss(report: LengthReport) -> str:
    at = next((length for length in report.lengths if length.bleu < 0.8 * length.apart), None)
    if at is None:
        return "Nowhere do joined inputs lose more than a fifth of BLEU."
    lost = f"{at.bleu:.1f} against {at.apart:.1f}"
    said = f"From {at.pieces:.0f} pieces on, joined inputs lose more than a fifth of BLEU ({lost})"
    within = at.pieces <= report.trained_pieces
    return f"{said}, inside the lengths of training." if within else f"{said}."


def verdict(report: LengthReport) -> str:
    """Whether positions past the training length are of use, by the first length beyond it."""
    beyond = next((length for length in report.lengths if length.pieces > report.trained_pieces), None)
    claim = "Sinusoids “may allow the model to extrapolate” past the lengths of training (Vaswani et al. 2017, 3.5)."
    if beyond is None:
        return f"{claim} No input that was measured is longer than those of training."
    share = beyond.bleu / beyond.apart if beyond.apart else 0.0
    found = "This model does" if share >= 0.8 else "This model does in part" if share >= 0.5 else "This model does not"
    return f"{claim} {found}: at {beyond.pieces:.0f} pieces {share:.0%} of BLEU are left."


def starts_said(report: LengthReport) -> str:
    first, last = report.starts[0], report.starts[-1]
    return f"BLEU {first.bleu:.1f} from position {first.start}, {last.bleu:.1f} from position {last.start}."
