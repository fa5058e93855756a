"""What a step may write: the distribution over the vocabulary, and what temperature, top-k and top-p leave of it.

The same as model.decode.sampling_distribution, on numpy arrays; canvas/sampling.js does it a third time, under the
reader's hand. Tests hold the three together. No torch.
"""

from dataclasses import dataclass

import numpy as np

from model.config import NEVER
from model.trace import Array, Trace


@dataclass(frozen=True)
class Settings:
    """How a piece is drawn: temperature first, then top-k, then top-p (Holtzman et al. 2020)."""

    temperature: float = 1.0
    top_k: int = 0  # 0 = all
    top_p: float = 1.0


@dataclass(frozen=True)
class Ordered:
    """Every step's whole vocabulary, likeliest piece first."""

    ids: Array  # (T, V)
    gaps: Array  # (T, V) float32, how far each log-probability is below the step's largest: 0 first, then rising
    best: Array  # (T,) the largest log-probability
    never: Array  # (T, n) the places, in this order, of pieces that are never written
    written: Array  # (T,) the place of the piece in the translation; 0 if it was the likeliest


def ordered(trace: Trace) -> Ordered:
    """The distributions of a trace, sorted. Equal probabilities stay in the vocabulary's order.

    Gaps instead of probabilities: a small gap is exact in float32, and a large one does not matter at any temperature.
    """
    log_probabilities = trace.log_probabilities()
    ids = np.argsort(-log_probabilities, axis=1, kind="stable")
    sorted_ = np.take_along_axis(log_probabilities, ids, axis=1)
    places = np.argsort(ids, axis=1)  # (T, V) the place of each id
    predicted = np.array([token.id for token in trace.predicted], dtype=np.intp)
    return Ordered(
        ids=ids,
        gaps=(sorted_[:, :1] - sorted_).astype(np.float32),
        best=sorted_[:, 0],
        never=places[:, list(NEVER)],
        written=places[np.arange(len(places)), predicted],
    )


def sampled(log_probabilities: Array, settings: Settings) -> Array:
    """What is sampled from at each step. log_probabilities (T, V) of the model itself -> probabilities (T, V).

    Pieces that are never written are left out first. Of equal pieces at the edge of top-p, the earlier are kept.
    """
    allowed = log_probabilities.astype(np.float64)  # a copy
    allowed[:, list(NEVER)] = -np.inf
    scaled = allowed / settings.temperature
    if settings.top_k:
        least = np.sort(scaled, axis=1)[:, -min(settings.top_k, scaled.shape[1]), None]
        scaled = np.where(scaled < least, -np.inf, scaled)
    probabilities = _softmax(scaled)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    likeliest_first = np.take_along_axis(probabilities, order, axis=1)
    before = likeliest_first.cumsum(axis=1) - likeliest_first  # probability of all likelier pieces
    kept = np.where(before < settings.top_p, likeliest_first, 0.0)
    found = np.zeros_like(probabilities)
    np.put_along_axis(found, order, kept / kept.sum(axis=1, keepdims=True), axis=1)
    return found


def entropy_bits(probabilities: Array) -> Array:
    """(T, V) -> (T,): log2 of how many equally likely pieces would be as uncertain."""
    logs = np.log2(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return -(probabilities * logs).sum(axis=1) + 0.0


def _softmax(scaled: Array) -> Array:
    exponentials = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))
