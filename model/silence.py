"""What a model loses when heads are silenced: Δ ln P per token over a corpus, with a paired bootstrap interval.

Each head alone, and all heads of one attention at once; by 0 and by the mean of what the head puts out over the corpus.
A negative Δ is harm.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from model.config import PAD
from model.corpus import in_batches
from model.data import Encoded, tensors
from model.editing import Means, edited
from model.edits import Edit, Silence
from model.taps import heard
from model.trace import KINDS, Array
from model.transformer import Transformer

SEED = 1  # of the resampling
RESAMPLES = 2000
LEVEL = 0.95  # of the interval
WAYS = ("zero", "mean")


@dataclass(frozen=True)
class Place:
    """One head, or with head None all heads of one attention."""

    kind: str
    layer: int
    head: int | None

    def edits(self, by: str, n_heads: int) -> list[Silence]:
        heads = range(1, n_heads + 1) if self.head is None else (self.head,)
        return [Silence(self.kind, self.layer, head, by) for head in heads]


def places(model: Transformer) -> list[Place]:
    """Each attention as a whole and each of its heads."""
    depth = {kind: model.config.encoder_layers if kind == "encoder" else model.config.decoder_layers for kind in KINDS}
    return [
        Place(kind, layer, head)
        for kind in KINDS
        for layer in range(1, depth[kind] + 1)
        for head in (None, *range(1, model.config.n_heads + 1))
    ]


def batches(encoded: Sequence[Encoded]) -> Iterator[tuple[list[int], tuple[Tensor, Tensor, Tensor]]]:
    """Indices of the pairs in a batch, and what the model takes and is to predict."""
    for indices in in_batches(encoded):
        yield indices, tensors([encoded[index] for index in indices])


@torch.inference_mode()
def corpus_means(model: Transformer, encoded: Sequence[Encoded]) -> dict[str, Tensor]:
    """What each head puts out, its mean over all positions of the corpus: for each tap of outputs (1, H, 1, K)."""
    sums: dict[str, Tensor] = {}
    rows: dict[str, int] = {}
    for _, (source, read, _) in batches(encoded):

        def listen(name: str, tensor: Tensor, source: Tensor = source, read: Tensor = read) -> None:
            if name.endswith("head_outputs_tap"):
                real = (source if name.startswith("encoder.") else read) != PAD  # (B, T)
                total = (tensor * real[:, None, :, None]).double().sum(dim=(0, 2))  # (H, K)
                sums[name] = sums.get(name, torch.zeros(())) + total
                rows[name] = rows.get(name, 0) + int(real.sum())

        heard(listen, model, source, read)
    return {name: (total / rows[name]).float()[None, :, None, :] for name, total in sums.items()}


@torch.inference_mode()
def log_probabilities(
    model: Transformer, encoded: Sequence[Encoded], lists: Sequence[Sequence[Edit]], means: Means
) -> Array:
    """ln P of each pair's target, </s> included, under each list of edits: (lists, pairs) float64."""
    found = np.zeros((len(lists), len(encoded)))
    shown = tqdm(list(batches(encoded)), desc="silencing", unit=" batches", file=sys.stderr, disable=None)
    for indices, (source, read, predicted) in shown:
        state = model.start(source)  # edits of the decoder leave the encoder as it is
        for row, edits in enumerate(lists):
            listener = edited(edits, means=means)
            if any(isinstance(edit, Silence) and edit.kind != "encoder" for edit in edits) or not edits:
                logits, _ = heard(listener, model.step, read, state)
            else:
                logits = heard(listener, model, source, read)
            found[row, indices] = _of_targets(logits, predicted).numpy()
    return found


def _of_targets(logits: Tensor, predicted: Tensor) -> Tensor:
    """ln P of predicted (B, T), summed over what is not padding: (B,) float64. logits (B, T, V)."""
    chosen = logits.gather(2, predicted[:, :, None])[:, :, 0] - logits.logsumexp(dim=-1)  # (B, T)
    return chosen.double().masked_fill(predicted == PAD, 0.0).sum(dim=1)


def interval(differences: Array, tokens: Array) -> Array:
    """Mean per token, and both ends of its bootstrap interval, pairs resampled together: (N, 3).

    differences (N, pairs) of sums over a pair's tokens, tokens (pairs,). Every N sees the same resamples.
    """
    pairs = len(tokens)
    drawn = np.random.default_rng(SEED).multinomial(pairs, np.full(pairs, 1 / pairs), size=RESAMPLES)
    resampled = (drawn @ differences.T) / (drawn @ tokens)[:, None]  # (R, N)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, (tail, 1 - tail), axis=0)
    return np.stack([differences.sum(axis=1) / tokens.sum(), low, high], axis=1)


def silenced(model: Transformer, encoded: Sequence[Encoded]) -> list[tuple[Place, dict[str, Any]]]:
    """For each place and way Δ ln P per token: `delta`, and from `low` to `high` its interval."""
    means = corpus_means(model, encoded)
    asked = [(place, by) for place in places(model) for by in WAYS]
    lists: list[Sequence[Edit]] = [(), *(place.edits(by, model.config.n_heads) for place, by in asked)]
    scores = log_probabilities(model, encoded, lists, means)
    tokens = np.array([len(target) + 1 for _, target in encoded])
    found: dict[Place, dict[str, Any]] = {place: {} for place, _ in asked}
    for (place, by), (delta, low, high) in zip(asked, interval(scores[1:] - scores[0], tokens), strict=True):
        found[place][by] = {"delta": float(delta), "low": float(low), "high": float(high)}
    return list(found.items())
