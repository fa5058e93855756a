"""What lifting the mask does to each step: the probability of the right next token, and where the row then looks."""

import numpy as np
import pandas as pd

from model.trace import Trace


def table(trained: Trace, lifted: Trace) -> pd.DataFrame:
    """Row by row: P(right next token) as trained and with the mask lifted; and the weight that lifted rows put on the
    very token they are to predict, as the mean over all heads and layers.
    """
    steps = len(lifted.read)
    weights = lifted.weights("masked").mean(axis=(0, 1))  # (T, T)
    on_answer = [float(weights[row, row + 1]) if row + 1 < steps else np.nan for row in range(steps)]
    before, after = (np.exp(trace.target_log_probabilities()) for trace in (trained, lifted))
    return pd.DataFrame(
        {
            "read": [token.text for token in lifted.read],
            "predicts": [token.text for token in lifted.predicted],
            "P as trained": before,
            "P with the mask lifted": after,
            "weight on the answer": on_answer,
        }
    ).map(lambda value: float(f"{value:.4g}") if isinstance(value, float) else value)
