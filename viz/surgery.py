"""Surgery: all heads as cells, with what silencing them costs and what was done to them; and the other parts."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from model.edits import (
    Edit,
    LiftMask,
    NoPositions,
    NoResidual,
    NoScaling,
    Only,
    SetCell,
    SetRow,
    Silence,
    SkipSublayer,
    Uniform,
)
from model.importance import Head
from model.trace import KINDS, Trace
from viz import field, payload, phrases
from viz.inside import signed
from viz.theme import Theme, for_canvas

# What a click on a head does, with each tool.
TOOLS = {
    "silence": "silences it (its output becomes 0)",
    "mean": "holds its output at its mean over this sentence",
    "uniform": "makes it look everywhere alike",
    "only": "silences all other heads of its layer",
    "cell": "opens it; a click in its matrix sets a cell",
    "row": "opens it; a click in its matrix puts a whole row on one column",
    "none": "opens it",
}
MARKS = {"silence": "✕", "mean": "≈", "uniform": "=", "only": "◉", "cell": "✎"}
LEGEND = "✕ silenced · ≈ held at its mean · = made uniform · ◉ the only one of its layer · ✎ cells set"


def heads(
    losses: Mapping[Head, float],
    every: Sequence[Head],
    edits: Sequence[Edit],
    *,
    theme: Theme,
    opened: Head,
    tool: str,
    what: str,
) -> bytes:
    """All heads for canvas/surgery.js, coloured by what it costs to silence them; `what` falls by that.

    Without losses the cells have no colour. tool: a key of TOOLS; with "none", a click changes nothing.
    """
    places = list(dict.fromkeys((kind, layer) for kind, layer, _ in every))
    columns = max(head for _, _, head in every)
    marked = marks(edits, every)
    rows = [{"kind": kind, "layer": layer, "note": note(edits, kind, layer)} for kind, layer in places]
    cells = [(kind, layer, head) for kind, layer in places for head in range(1, columns + 1)]
    header = {
        "theme": for_canvas(theme),
        "rows": rows,
        "columns": columns,
        "marks": [marked.get(cell, "") for cell in cells],
        "said": [cost(cell, losses.get(cell), what) for cell in cells],
        "limit": field.round_limit(np.array(list(losses.values()))),
        "opened": [places.index(opened[:2]), opened[2] - 1],
        "edits": tool != "none",
        "mode": f"✂ Edit mode: a click on a head {TOOLS[tool]}." if tool != "none" else f"A click {TOOLS[tool]}.",
    }
    if not losses:
        return payload.pack(header, {})
    values = np.array([losses[cell] for cell in cells], np.float32)
    return payload.pack(header, {"values": values.reshape(len(places), columns)})


def cost(head: Head, loss: float | None, what: str) -> str:
    """What silencing one head costs, as a sentence."""
    kind, layer, number = head
    name = f"{phrases.kind(kind)}, layer {layer}, head {number}"
    if loss is None:
        return name
    direction = "falls" if loss > 0 else "rises"
    return f"{name}: with it silenced, {what} {direction} by {signed(abs(loss))}"


def marks(edits: Sequence[Edit], every: Sequence[Head]) -> dict[Head, str]:
    """The sign of what was done to each head that was edited; the last edit counts."""
    found: dict[Head, str] = {}
    for edit in edits:
        if isinstance(edit, Only):
            found |= {head: MARKS["silence"] for head in every if head[:2] == (edit.kind, edit.layer)}
            found[edit.kind, edit.layer, edit.head] = MARKS["only"]
        elif isinstance(edit, Silence):
            found[edit.kind, edit.layer, edit.head] = MARKS["silence" if edit.by == "zero" else "mean"]
        elif isinstance(edit, Uniform | SetCell | SetRow):
            found[edit.kind, edit.layer, edit.head] = MARKS["uniform" if isinstance(edit, Uniform) else "cell"]
    return found


def note(edits: Sequence[Edit], kind: str, layer: int) -> str:
    """What was done to a whole attention, in a word or two."""
    said = []
    for edit in edits:
        if isinstance(edit, NoScaling) and (edit.kind, edit.layer) == (kind, layer):
            said.append("no √d")
        if isinstance(edit, SkipSublayer) and (edit.sublayer, edit.layer) == (kind, layer):
            said.append("left out")
        if isinstance(edit, NoResidual) and (edit.sublayer, edit.layer) == (kind, layer):
            said.append("no residual")
        if isinstance(edit, LiftMask) and kind == "masked":
            said.append("no mask")
    return ", ".join(said)


def table(losses: Mapping[Head, float], every: Sequence[Head], edits: Sequence[Edit]) -> pd.DataFrame:
    """The same, a line for each head."""
    marked = marks(edits, every)
    lines = [(*head, losses.get(head, np.nan), marked.get(head, "")) for head in every]
    return pd.DataFrame(lines, columns=["kind", "layer", "head", "loss of ln P", "edit"])


def parts(trace: Trace) -> dict[str, list[Edit]]:
    """Everything but heads that can be left out, by what stands above it."""
    layers = {kind: range(1, trace.layers(kind) + 1) for kind in KINDS}
    attentions = [(kind, layer) for kind in KINDS for layer in layers[kind]]
    forward = [
        (f"{side}_feed_forward", layer)
        for side, kind in (("encoder", "encoder"), ("decoder", "masked"))
        for layer in layers[kind]
    ]
    return {
        "Positions, mask": [NoPositions("encoder"), NoPositions("decoder"), LiftMask()],
        "√d": [NoScaling(*place) for place in attentions],
        "Sub-layers": [SkipSublayer(*place) for place in (*attentions, *forward)],
        "Residual paths": [NoResidual(*place) for place in (*attentions, *forward)],
    }
