"""One set of pieces in two orders through the encoder: with positions two sentences, without them one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.config import EOS
from model.editing import edited
from model.edits import Edit, NoPositions
from model.stream import cosines
from model.taps import heard
from model.trace import Array, Token
from model.transformer import Transformer
from model.words import word_groups

MEMORY = "encoder.memory_tap"


def backwards(tokens: Sequence[Token]) -> list[int]:
    """The places (from 0) of the tokens with their words in reverse order, pieces of a word together.

    What closes the sentence stays where it is: punctuation and </s>.
    """
    groups = word_groups(tokens)
    closing = len(groups)
    while closing and (tokens[groups[closing - 1][0]].special or tokens[groups[closing - 1][0]].is_punctuation):
        closing -= 1
    return [place for group in (*reversed(groups[:closing]), *groups[closing:]) for place in group]


@dataclass(frozen=True)
class Orders:
    """What the encoder makes of the same tokens in two orders; row i of both belongs to token i of the first."""

    first: Array  # (S, D)
    second: Array  # (S, D), its rows put back into the first order

    @property
    def cosines(self) -> Array:
        """(S,): how like a token's vectors in both orders are."""
        return cosines(self.first.astype(np.float64), self.second.astype(np.float64))

    @property
    def largest_difference(self) -> float:
        """Of any number of any vector."""
        return float(np.abs(self.first.astype(np.float64) - self.second).max())


def in_two_orders(model: Transformer, ids: Sequence[int], order: Sequence[int], *, positions: bool) -> Orders:
    """ids without </s>, which stays last. `order` as from `backwards`. Without positions, zeros stand in their place.

    Raises ValueError if the order does not hold every place once and </s> last.
    """
    if sorted(order) != list(range(len(ids) + 1)) or order[-1] != len(ids):
        raise ValueError(f"an order of {len(ids)} pieces and </s> holds each place once and </s> last, not {order}")
    edits = () if positions else (NoPositions("encoder"),)
    first = _memory(model, ids, edits)
    second = np.empty_like(first)
    second[list(order)] = _memory(model, [ids[place] for place in order[:-1]], edits)
    return Orders(first, second)


def _memory(model: Transformer, ids: Sequence[int], edits: Sequence[Edit]) -> Array:
    kept: dict[str, Array] = {}

    def listen(name: str, tensor: Tensor) -> None:
        if name == MEMORY:
            kept[name] = tensor[0].numpy().copy()

    with torch.inference_mode():
        heard(edited(edits, then=listen), model.encode, torch.tensor([[*ids, EOS]]))
    return kept[MEMORY]
