"""The loss of every token, for canvas/loss.js, and the same numbers as a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from model.loss import Losses, least, losses
from model.trace import Array, Trace
from viz.payload import pack
from viz.theme import Theme, for_canvas

CAPTION = (
    "What training would charge for each token: the cross-entropy, in nats, of a target q against the model's p. The "
    "target is 1 − ε on the right piece plus ε/V on each of the V pieces, as torch defines it (the paper's ε is 0.1). "
    "Lower part of a column: (1 − ε) · −ln p of the right piece; upper part: ε times the mean of −ln p over all "
    "pieces. Below, the target above the model, piece by piece. It says how surprised the model is, not how good the "
    "translation is."
)
SHOWN = 6  # likeliest pieces with a bar of their own, beside the written one


def payload(trace: Trace, names: Sequence[str], *, theme: Theme, step: int, smoothing: float) -> bytes:
    """Every token's loss in its two parts, which the slider mixes. step counts from 1."""
    found = losses(trace)
    header = {
        "theme": for_canvas(theme),
        "step": step,
        "smoothing": smoothing,
        "vocabulary": found.vocabulary,
        "steps": [_step(trace, names, found, index) for index in range(len(trace.predicted))],
    }
    return pack(header, {})


def _step(trace: Trace, names: Sequence[str], found: Losses, index: int) -> dict[str, Any]:
    log_probabilities = trace.log_probabilities()[index]
    written = trace.predicted[index].id or 0
    shown = _shown(log_probabilities, written)
    return {
        "text": trace.predicted[index].text,
        "read": trace.read[index].text,
        "surprise": float(found.surprise[index]),
        "spread": float(found.spread[index]),
        "pieces": [[names[i], float(log_probabilities[i]), i == written] for i in shown],
        "others": len(log_probabilities) - len(shown),
        "othersSum": float(log_probabilities.sum() - log_probabilities[shown].sum()),
        "othersShare": float(1 - np.exp(log_probabilities[shown]).sum()),
    }


def _shown(log_probabilities: Array, written: int) -> list[int]:
    """The written piece first, then the likeliest others."""
    order = [int(i) for i in np.argsort(-log_probabilities, kind="stable")[: SHOWN + 1] if i != written]
    return [written, *order[:SHOWN]]


def table(trace: Trace, smoothing: float) -> pd.DataFrame:
    """Every token with its loss and the two parts of it, in nats."""
    found = losses(trace)
    return pd.DataFrame(
        {
            "step": range(1, len(trace.predicted) + 1),
            "read": [token.text for token in trace.read],
            "predicts": [token.text for token in trace.predicted],
            "−ln p": found.surprise,
            "mean −ln p over the vocabulary": found.spread,
            f"loss with ε = {smoothing:g}": found.at(smoothing),
            "least possible": least(found.vocabulary, smoothing),
        }
    )
