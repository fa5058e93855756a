"""What training would make of each token: cross-entropy against a smoothed target, in nats. No torch.

The target puts 1 - smoothing on the right piece and spreads smoothing over the whole vocabulary, the right piece
included (Szegedy et al. 2016, section 7; Vaswani et al. 2017, 5.4). That is torch's definition, with which
model.criterion.token_loss trains; a test holds them together.
"""

from dataclasses import dataclass

import numpy as np

from model.trace import Array, Trace


@dataclass(frozen=True)
class Losses:
    """Both parts of every token's loss; any smoothing is a mixture of them."""

    surprise: Array  # (T,) -ln p of the token
    spread: Array  # (T,) the mean of -ln p over the whole vocabulary
    vocabulary: int

    def at(self, smoothing: float) -> Array:
        """(T,) the loss of each token: (1 - smoothing) * surprise + smoothing * spread."""
        return (1 - smoothing) * self.surprise + smoothing * self.spread


def losses(trace: Trace) -> Losses:
    """The losses of a trace's tokens, </s> included."""
    log_probabilities = trace.log_probabilities()
    return Losses(-trace.target_log_probabilities(), -log_probabilities.mean(axis=1), log_probabilities.shape[1])


def target(written: int, vocabulary: int, smoothing: float) -> Array:
    """(V,) what the model is to put out where the id `written` is right. It sums to 1."""
    wanted = np.full(vocabulary, smoothing / vocabulary)
    wanted[written] += 1 - smoothing
    return wanted


def least(vocabulary: int, smoothing: float) -> float:
    """Nats below which no model comes: the entropy of the target itself."""
    wanted = target(0, vocabulary, smoothing)
    positive = wanted[wanted > 0]
    return float(-(positive * np.log(positive)).sum()) + 0.0
