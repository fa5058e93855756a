"""The stages of attention as maps: QKᵀ, divided by √d, the mask, mask added, softmax, times V."""

from dataclasses import dataclass

import numpy as np

from model.trace import Array, AttentionMap, Trace

# Name in the address -> what stands on the switch.
STAGES = {"scores": "QKᵀ", "scaled": "÷√d", "mask": "M", "masked": "+M", "softmax": "softmax", "moved": "·V"}
NOTES = {
    "scores": "Query times key, before anything else. The mask has not acted yet: later tokens have scores, too.",
    "scaled": "Divided by the root of the head's width. Still without the mask.",
    "mask": "The mask itself: 0 where a row may look, −∞ where it may not.",
    "masked": "Scaled scores plus mask. What is −∞ here becomes exactly 0 in the softmax.",
    "softmax": "The weights: each row sums to 1.",
    "moved": "Each weight times the length of the value vector it fetches (before Wᴼ).",
}


@dataclass(frozen=True)
class Stage:
    """What to draw for one side: values, which cells the mask has taken away, and what a cell says."""

    name: str
    values: Array  # (rows, columns)
    allowed: Array  # (rows, columns) bool; a cell that is not is drawn as −∞
    signed: bool  # diverging colours around 0; otherwise from 0 up in the kind's hue
    most: float  # the largest |value| that colours reach; 1 for weights
    sentence: str  # as in phrases.py, with {value}


def stage(name: str, shown: AttentionMap, trace: Trace) -> Stage:
    """One stage of a head over pieces. Raises ValueError for a mean, whose only stage is the softmax."""
    if name == "softmax":
        return Stage(name, shown.weights, shown.allowed, signed=False, most=1.0, sentence="")
    if shown.head is None:
        raise ValueError("a mean of heads has weights only; its scores belong to no softmax")
    everywhere = np.ones_like(shown.allowed)
    width = trace.attention(shown.kind, shown.layer, "queries").shape[-1]
    if name == "mask":
        return Stage(name, np.zeros_like(shown.scores), shown.allowed, True, 1.0, "M for ‘{row}’ and ‘{column}’: 0")
    if name == "moved":
        values = trace.attention(shown.kind, shown.layer, "values")[shown.head - 1]
        moved = shown.weights * np.linalg.norm(values, axis=-1)
        said = "weight times the length of the value of ‘{column}’, for ‘{row}’: {value}"
        return Stage(name, moved, shown.allowed, False, _most(moved[shown.allowed]), said)
    values, said = {
        "scores": (shown.scores * width**0.5, "query of ‘{row}’ · key of ‘{column}’ = {value}"),
        "scaled": (shown.scores, f"query of ‘{{row}}’ · key of ‘{{column}}’ ÷ √{width} = {{value}}"),
        "masked": (shown.scores, f"query of ‘{{row}}’ · key of ‘{{column}}’ ÷ √{width} + 0 = {{value}}"),
    }[name]
    allowed = shown.allowed if name == "masked" else everywhere
    return Stage(name, values, allowed, True, _most(values[allowed]), said)


def _most(values: Array) -> float:
    return max(float(np.abs(values).max(initial=0.0)), 1e-9)
