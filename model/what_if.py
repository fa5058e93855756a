"""Runs under edits: the translation that is written under them, and what they make of a given one, many at once."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.config import BOS, EOS, MAX_PIECES, PAD
from model.decode import EXTRA_PIECES, NEVER, Decoding, Hypothesis, decode, next_log_probabilities
from model.editing import Means, edited, edited_rows
from model.edits import Edit, LiftMask
from model.taps import heard
from model.trace import Array
from model.transformer import Transformer

BATCH_PIECES = 2048  # rows times pieces of one batch of edits; keeps the logits of all rows below 200 MB


@torch.inference_mode()
def head_means(model: Transformer, source: Tensor, read: Tensor) -> dict[str, Tensor]:
    """What each head puts out in the unedited run: the mean over the positions of each sentence, padding left out.

    source (B, S) and read (B, T), as the model takes them -> for each tap of head outputs (B, H, 1, K)
    """
    found = {}

    def listen(name: str, tensor: Tensor) -> None:
        if name.endswith("head_outputs_tap"):
            counts = ((source if name.startswith("encoder.") else read) != PAD)[:, None, :, None]  # (B, 1, T, 1)
            found[name] = (tensor * counts).sum(dim=2, keepdim=True) / counts.sum(dim=2, keepdim=True)

    heard(listen, model, source, read)
    return found


def means_of(model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int]) -> dict[str, Tensor]:
    """The head means of one sentence and its translation (ids without specials)."""
    return head_means(model, torch.tensor([[*source_ids, EOS]]), torch.tensor([[BOS, *target_ids]]))


def write_edited(
    model: Transformer,
    source_ids: Sequence[int],
    edits: Sequence[Edit],
    *,
    decoding: Decoding = Decoding(),
    means: Means | None = None,
) -> Hypothesis:
    """The translation of source ids (without </s>) under edits. Under a lifted mask it is written anew, greedily."""
    if LiftMask() in edits:
        return write_anew(model, source_ids, edits, means=means)
    source = torch.tensor([[*source_ids, EOS]])
    return heard(edited(edits, means=means), decode, model, source, decoding)[0]


def write_anew(
    model: Transformer, source_ids: Sequence[int], edits: Sequence[Edit], *, means: Means | None = None
) -> Hypothesis:
    """Greedy translation under edits with every row computed anew at each step: no cache.

    A lifted mask changes earlier rows whenever a token is added, so nothing could be kept.
    """
    source = torch.tensor([[*source_ids, EOS]])
    limit = min(MAX_PIECES, len(source_ids) + EXTRA_PIECES)
    ids: list[int] = []
    chances: list[float] = []
    with torch.inference_mode():
        while len(ids) < limit:
            logits = heard(edited(edits, means=means), model, source, torch.tensor([[BOS, *ids]]))  # (1, T, V)
            chance = next_log_probabilities(logits[0, -1:])[0]  # (V,)
            chance[list(NEVER)] = float("-inf")
            piece = int(chance.argmax())
            chances.append(float(chance[piece]))
            if piece == EOS:
                return Hypothesis(tuple(ids), tuple(chances), ended=True)
            ids.append(piece)
    return Hypothesis(tuple(ids), tuple(chances), ended=False)


@torch.inference_mode()
def log_probabilities(
    model: Transformer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    lists: Sequence[Sequence[Edit]],
    *,
    means: Means | None = None,
) -> Array:
    """ln P of each piece of a given translation, </s> last, unedited and under each of N lists of edits.

    ids without specials -> (1 + N, T) float64; row 0 is the unedited run, and a row of the same batch.
    """
    source, read = torch.tensor([*source_ids, EOS]), torch.tensor([BOS, *target_ids])
    predicted = torch.tensor([*target_ids, EOS])
    at_once = max(1, BATCH_PIECES // max(len(source), len(read)) - 1)
    found = []
    for start in range(0, max(len(lists), 1), at_once):
        batch = [(), *lists[start : start + at_once]]
        N, T = len(batch), len(read)
        logits = heard(edited_rows(batch, means=means), model, source.expand(N, -1), read.expand(N, -1))  # (N, T, V)
        chosen = logits.gather(2, predicted.expand(N, T)[:, :, None])[:, :, 0]  # (N, T)
        chances = chosen - logits.logsumexp(dim=-1)
        found.append(chances if start == 0 else chances[1:])
    return torch.cat(found).numpy().astype(np.float64)
