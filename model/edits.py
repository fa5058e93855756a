"""What-if: values that say what to change in a run, and the listener that changes it. The weights stay as they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.config import BOS, EOS, MAX_PIECES
from model.decode import EXTRA_PIECES, NEVER, Hypothesis, next_log_probabilities
from model.taps import Listener, heard
from model.transformer import Transformer


@dataclass(frozen=True)
class LiftMask:
    """Let masked self-attention look ahead, in every decoder layer. The model was never trained that way."""


Edit = LiftMask


def edited(edits: Sequence[Edit], then: Callable[[str, Tensor], None] | None = None) -> Listener:
    """A listener that carries out the edits, and shows `then` each tensor as it comes out of them."""

    def listen(name: str, tensor: Tensor) -> Tensor | None:
        changed = tensor
        for edit in edits:
            changed = _apply(edit, name, changed)
        if then is not None:
            then(name, changed)
        return None if changed is tensor else changed

    return listen


def _apply(edit: Edit, name: str, tensor: Tensor) -> Tensor:
    if isinstance(edit, LiftMask) and name.startswith("decoder.") and name.endswith("self_attention.may_look_tap"):
        return tensor.any(dim=-2, keepdim=True).expand_as(tensor)  # columns of padding stay hidden from every row
    return tensor


def write_edited(model: Transformer, source_ids: Sequence[int], edits: Sequence[Edit]) -> Hypothesis:
    """Greedy translation of source ids (without </s>) under edits. Every row is computed anew at each step: no cache.

    A lifted mask changes earlier rows whenever a token is added, so nothing could be kept.
    """
    source = torch.tensor([[*source_ids, EOS]])
    limit = min(MAX_PIECES, len(source_ids) + EXTRA_PIECES)
    ids: list[int] = []
    chances: list[float] = []
    with torch.inference_mode():
        while len(ids) < limit:
            logits = heard(edited(edits), model, source, torch.tensor([[BOS, *ids]]))  # (1, T, V)
            chance = next_log_probabilities(logits[0, -1:])[0]  # (V,)
            chance[list(NEVER)] = float("-inf")
            piece = int(chance.argmax())
            chances.append(float(chance[piece]))
            if piece == EOS:
                return Hypothesis(tuple(ids), tuple(chances), ended=True)
            ids.append(piece)
    return Hypothesis(tuple(ids), tuple(chances), ended=False)
