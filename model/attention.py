"""Attention: who looks at whom, and what is taken from there (Vaswani et al. 2017, section 3.2)."""

import torch
from torch import Tensor, nn

from model.config import PAD, ModelConfig
from model.dropout import Dropout
from model.taps import Tap


class MaskError(ValueError):
    """A mask with a row that may look nowhere: its softmax would be 0/0."""


def padding_mask(ids: Tensor) -> Tensor:
    """Which columns hold a real token. ids (B, S) -> bool (B, 1, 1, S), True = may be looked at."""
    real = ids != PAD
    if not real.any(dim=-1).all():
        raise MaskError(f"sentence {int((~real.any(dim=-1)).nonzero()[0]) + 1} of the batch holds nothing but padding")
    return real[:, None, None, :]


def causal_mask(rows: int, *, first: int = 0) -> Tensor:
    """No row sees its future (3.2.3). bool (1, 1, rows, first + rows); row i is absolute position first + i."""
    return torch.ones(rows, first + rows, dtype=torch.bool).tril(diagonal=first)[None, None]


def target_mask(ids: Tensor) -> Tensor:
    """No row sees its future, or padding. ids (B, T), right-padded -> bool (B, 1, T, T)."""
    if (ids[:, 0] == PAD).any():
        sentence = int((ids[:, 0] == PAD).nonzero()[0]) + 1
        raise MaskError(f"sentence {sentence} of the batch begins with padding, where its first row may look nowhere")
    return causal_mask(ids.shape[1]) & padding_mask(ids)


class Attention(nn.Module):
    """Multi-head attention (3.2.2): the same class for encoder self-attention, masked and cross-attention.

    Where the keys and values come from is the caller's choice: `keys_values` projects them, `forward` looks.
    """

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        D = config.d_model
        self.n_heads = config.n_heads
        self.query, self.key, self.value, self.output = (nn.Linear(D, D) for _ in range(4))
        self.dropout = Dropout(dropout)
        self.queries_tap = Tap()  # (B, H, T, K)
        self.keys_tap = Tap()  # (B, H, S, K)
        self.values_tap = Tap()  # (B, H, S, K)
        self.scores_tap = Tap()  # (B, H, T, S), divided by sqrt(K), before the mask
        self.may_look_tap = Tap()  # (B or 1, 1, T or 1, S) bool
        self.weights_tap = Tap()  # (B, H, T, S), before dropout
        self.head_outputs_tap = Tap()  # (B, H, T, K)

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, S, D) -> keys and values, each (B, H, S, K)."""
        return self.keys_tap(self._split(self.key(x))), self.values_tap(self._split(self.value(x)))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, may_look: Tensor) -> Tensor:
        """Look from x (B, T, D) at keys and values (B, H, S, K) where may_look bool (B or 1, 1, T or 1, S) allows it.

        returns (B, T, D)
        """
        B, T, D = x.shape
        queries = self.queries_tap(self._split(self.query(x)))  # (B, H, T, K)
        head_outputs = self.attend(queries, keys, values, may_look)  # (B, H, T, K)
        side_by_side = head_outputs.transpose(1, 2).reshape(B, T, D)
        return self.output(side_by_side)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, may_look: Tensor) -> Tensor:
        """Scaled dot-product attention (3.2.1), each head for itself.

        queries (B, H, T, K), keys and values (B, H, S, K), may_look bool (B or 1, 1, T or 1, S)
        returns the mixed values (B, H, T, K)
        """
        K = queries.shape[-1]
        if may_look.shape[-1] != keys.shape[-2]:
            raise ValueError(f"the mask has {may_look.shape[-1]} columns, but there are {keys.shape[-2]} keys")
        # Divide by sqrt(K), or softmax saturates as heads get wider.
        scores = self.scores_tap(queries @ keys.transpose(-2, -1) / K**0.5)  # (B, H, T, S)
        may_look = self.may_look_tap(may_look)
        weights = self.weights_tap(scores.masked_fill(~may_look, float("-inf")).softmax(dim=-1))
        return self.head_outputs_tap(self.dropout(weights) @ values)

    def _split(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        return x.view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)  # (B, H, T, K)
