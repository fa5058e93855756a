"""A beam search as a tree, for canvas/beams.js, and the same as a table."""

from collections.abc import Iterator

import pandas as pd

from model.beams import CUT, DROPPED, ENDED, KEPT, LEFT, Node, Tree, count
from viz.inside import signed
from viz.payload import pack
from viz.theme import Theme, for_canvas

CAPTION = (
    "At each step every kept beginning is continued by every piece. Drawn are the likeliest continuations, twice as "
    "many as the beam is wide, best on top, each with the log-probability of its whole beginning; those without a box "
    "are dropped, as are all that are not drawn. What ends with `</s>` is finished and shows its score after “=”: "
    "log-probability ÷ ((5 + length) / 6)^0.6 (Wu et al. 2016). The thick line leads to the best score."
)
FATES = {
    KEPT: "kept",
    ENDED: "finished with </s>",
    DROPPED: "dropped",
    LEFT: "left when enough others had ended",
    CUT: "cut at the length limit",
}


def payload(grown: Tree, *, theme: Theme, width: int, step: int) -> bytes:
    """For each step what was compared, likeliest first. width: of the beam; step counts from 1."""
    header = {
        "theme": for_canvas(theme),
        "width": width,
        "step": step,
        "hint": f"{summary(grown)} Point at a piece to read its hypothesis.",
        "steps": [
            [
                {
                    "text": node.text,
                    "parent": node.parent,
                    "figure": f"= {signed(node.score)}" if node.fate in (ENDED, CUT) else signed(node.total),
                    "fate": node.fate,
                    "best": node.best,
                    "said": said,
                }
                for node, said in zip(nodes, sentences, strict=True)
            ]
            for nodes, sentences in zip(grown, told(grown), strict=True)
        ],
    }
    return pack(header, {})


def summary(grown: Tree) -> str:
    """How many hypotheses met which fate."""
    met = {FATES[fate]: count(grown, fate) for fate in FATES if count(grown, fate)}
    fates = ", ".join(f"{number} {fate}" for fate, number in met.items())
    return f"{len(grown)} steps, {sum(met.values())} hypotheses: {fates}."


def told(grown: Tree) -> Iterator[list[str]]:
    """What is said of each node, step by step."""
    begun: list[str] = []
    for number, nodes in enumerate(grown, start=1):
        before = [begun[node.parent] if node.parent is not None else "" for node in nodes]
        yield [
            _sentence(number, rank, node, text) for rank, (node, text) in enumerate(zip(nodes, before, strict=True), 1)
        ]
        begun = [joined(text, node.text) for node, text in zip(nodes, before, strict=True)]


def joined(text: str, piece: str) -> str:
    """A beginning with one more piece; a middle dot says that a word goes on."""
    return text + piece[1:] if piece.startswith("·") and len(piece) > 1 else f"{text} {piece}".strip()


def _sentence(number: int, rank: int, node: Node, before: str) -> str:
    start = (
        f"step {number}, rank {rank}: ‘{before}’ + ‘{node.text}’" if before else f"step 1, rank {rank}: ‘{node.text}’"
    )
    best = ", on the way to the best" if node.best else ""
    return (
        f"{start}: log-probability {signed(node.total)} (this piece {signed(node.gain)}), "
        f"score {signed(node.score)}; {FATES[node.fate]}{best}"
    )


def table(grown: Tree) -> pd.DataFrame:
    """A line for each node."""
    return pd.DataFrame(
        {
            "step": number,
            "rank": rank,
            "rank of what it continues": None if node.parent is None else node.parent + 1,
            "piece": node.text,
            "log-probability of the piece": node.gain,
            "log-probability so far": node.total,
            "score": node.score,
            "fate": FATES[node.fate],
            "best": node.best,
        }
        for number, nodes in enumerate(grown, start=1)
        for rank, node in enumerate(nodes, start=1)
    )
