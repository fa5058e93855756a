"""What a beam search looked at, step by step, as a tree of hypotheses. No torch.

`model.decode.beam_search(…, watch=…)` shows each step; `tree` gives it names, scores, and the way to the best.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

KEPT, ENDED, DROPPED = "kept", "ended", "dropped"  # fates that the search decides at each step
LEFT, CUT = "left", "cut"  # what becomes of those kept last: enough others had ended, or the length limit was reached


@dataclass(frozen=True)
class Branch:
    """One continuation that was compared: a hypothesis of the step before, and one more piece."""

    parent: tuple[int, ...]  # ids of that hypothesis
    piece: int
    gain: float  # ln P of the piece
    total: float  # ln P of the whole beginning
    fate: str

    @property
    def ids(self) -> tuple[int, ...]:
        return (*self.parent, self.piece)


@dataclass(frozen=True)
class Node:
    """A branch as a reader sees it."""

    text: str
    parent: int | None  # place among the nodes of the step before, from 0; None at the first step
    gain: float
    total: float
    score: float  # what finished hypotheses are ranked by
    fate: str
    best: bool  # on the way to the hypothesis of best score


@dataclass(frozen=True)
class Written:
    """A finished translation, and what the model gave it."""

    text: str
    ids: tuple[int, ...]  # without specials
    log_probability: float  # </s> included, natural logarithm
    pieces: int  # </s> included
    score: float  # what a beam search ranks by
    ended: bool  # with </s>, not at the length limit


Tree = tuple[tuple[Node, ...], ...]  # a step after the other; in each, the likeliest beginning first


def score(log_probability: float, length: int, length_penalty: float) -> float:
    """Log-probability over ((5 + length) / 6)^length_penalty, </s> counted (Wu et al. 2016, eq. 14)."""
    return float(log_probability / ((5 + length) / 6) ** length_penalty)


def tree(
    steps: Sequence[Sequence[Branch]],
    best: tuple[int, ...],
    *,
    limited: bool,
    name: Callable[[int], str],
    length_penalty: float,
) -> Tree:
    """The steps of one sentence. best: ids of the winner, </s> included if it came; limited: the search reached the
    length limit; name: what a piece is called.
    """
    made = []
    for depth, branches in enumerate(steps):
        places = {branch.ids: place for place, branch in enumerate(steps[depth - 1])} if depth else {}
        last = depth == len(steps) - 1
        made.append(
            tuple(
                Node(
                    text=name(branch.piece),
                    parent=places[branch.parent] if depth else None,
                    gain=branch.gain,
                    total=branch.total,
                    score=score(branch.total, len(branch.ids), length_penalty),
                    fate=_end(branch, limited=limited) if last else branch.fate,
                    best=best[: depth + 1] == branch.ids,
                )
                for branch in branches
            )
        )
    return tuple(made)


def _end(branch: Branch, *, limited: bool) -> str:
    if branch.fate != KEPT:
        return branch.fate
    return CUT if limited else LEFT


def count(grown: Tree, fate: str) -> int:
    """How many nodes met this fate."""
    return sum(node.fate == fate for step in grown for node in step)
