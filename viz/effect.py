"""What edits do: to each step of a translation, and to all of it as heads are removed one after the other."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.importance import Importance, Removal
from model.shift import Shift
from model.trace import Trace
from viz import payload, phrases
from viz.curves import Series
from viz.inside import signed
from viz.theme import Theme, for_canvas

NOTHING = "Nothing is edited yet: choose a head."
FULL = 4.0  # bits that fill a bar, whatever the edit: a step of two edits can be compared. The caption says it, too
ORDERS = {"least": "least needed first", "most": "most needed first"}


def steps(trace: Trace, found: Shift, likeliest: Sequence[str], *, theme: Theme) -> bytes:
    """Each step of the unedited translation for canvas/shift.js. likeliest: what the edited run would write there."""
    told = [
        {
            "text": predicted.text,
            "moved": float(moved),
            "before": float(np.exp(before)),
            "after": float(np.exp(after)),
            "now": None if piece == predicted.id else name,
            "said": _of_step(read.text, predicted.text, float(moved), float(np.exp(before)), float(np.exp(after))),
        }
        for read, predicted, moved, before, after, piece, name in zip(
            trace.read, trace.predicted, found.moved, found.before, found.after, found.likeliest, likeliest, strict=True
        )
    ]
    return payload.pack({"theme": for_canvas(theme), "steps": told, "limit": FULL}, {})


def _of_step(read: str, predicted: str, moved: float, before: float, after: float) -> str:
    chances = f"P(‘{predicted}’) {phrases.weight(before)} → {phrases.weight(after)}"
    return f"having read ‘{read}’: {chances}; its distribution moved by {signed(moved)} bits"


def steps_table(trace: Trace, found: Shift, likeliest: Sequence[str]) -> pd.DataFrame:
    """The same, a line for each step."""
    return pd.DataFrame(
        {
            "read": payload.texts(trace.read),
            "predicts": payload.texts(trace.predicted),
            "ln P before": found.before,
            "ln P after": found.after,
            "KL divergence in bits": found.moved,
            "likeliest now": list(likeliest),
        }
    )


def verdict(found: Shift) -> str:
    """What the edits did to the unedited translation as a whole."""
    before, after = (f"{total:.2f}".replace("-", "−") for total in found.totals)
    moved = signed(float(found.moved.mean()))
    return f"log-probability of the unedited translation: {before} → {after} · a step moved by {moved} bits on average"


def removal(removed: Removal, alone: Importance) -> list[Series]:
    """Losses by the number of heads removed: as they are, and as they would be if losses added up."""
    count = np.arange(len(removed.heads) + 1)
    together, summed = (np.concatenate([[0.0], losses]) for losses in (removed.losses, removed.summed(alone)))
    return [
        Series("removed together", count, together, colour="ink"),
        Series("sum of the losses alone", count, summed, colour="soft", dashed=True),
    ]


def removal_table(removed: Removal, alone: Importance) -> pd.DataFrame:
    """The same, a line for each head, in the order in which they go."""
    lines = [(*head, alone.of(head)) for head in removed.heads]
    made = pd.DataFrame(lines, columns=["kind", "layer", "head", "loss alone"])
    made["sum of the losses alone"], made["removed together"] = removed.summed(alone), removed.losses
    made.insert(0, "removed", range(1, len(lines) + 1))
    return made
