"""The tables behind the pictures: the same numbers, for reading, sorting and copying."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model.trace import AttentionMap, Candidate, Trace
from viz.captions import of_rows


def cells(shown: AttentionMap) -> pd.DataFrame:
    """One head as a table: a row for each row, a column for each column, numbered so that equal tokens stay apart.

    A cell that may not be looked at is empty.
    """
    values = np.where(shown.allowed, shown.weights.astype(float), np.nan)
    columns = [f"{number} {token.text}" for number, token in enumerate(shown.columns, start=1)]
    index = [f"{number} {label}" for number, label in enumerate(of_rows(shown), start=1)]
    return pd.DataFrame(values, index=index, columns=columns)


def steps(trace: Trace, considered: Sequence[Sequence[Candidate]]) -> pd.DataFrame:
    """The translation step by step: what was read, what was predicted and how probable it was, and the likeliest."""
    return pd.DataFrame(
        {
            "step": range(1, len(trace.read) + 1),
            "read": [token.text for token in trace.read],
            "predicts": [token.text for token in trace.predicted],
            "probability": np.exp(trace.target_log_probabilities()),
            "log-probability": trace.target_log_probabilities(),
            "likeliest": ["  ".join(f"{c.text} {c.probability:.3f}" for c in row) for row in considered],
        }
    )


def vectors(trace: Trace, kind: str, layer: int, head: int, what: str) -> pd.DataFrame:
    """All queries, keys, values or head_outputs of one head: a row for each token, a column for each dimension."""
    rows, columns, _ = trace.labels(kind)
    tokens = rows if what in ("queries", "head_outputs") else columns
    values = trace.attention(kind, layer, what)[head - 1]
    index = [f"{number} {token.text}" for number, token in enumerate(tokens, start=1)]
    return pd.DataFrame(values, index=index, columns=range(1, values.shape[1] + 1))
