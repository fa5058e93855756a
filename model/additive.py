"""Additive attention, and the LSTM decoder that looks at the source with it (Bahdanau et al. 2015)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from model.taps import Tap


@dataclass(frozen=True)
class AttentiveState:
    """Everything needed to go on decoding."""

    hidden: Tensor  # (B, D), the paper's s
    cell: Tensor  # (B, D)
    memory: Tensor  # (B, S, 2 D), the paper's annotations h: the same at every step
    keys: Tensor  # (B, S, D), what the scores need of them
    may_look: Tensor  # (B, S) bool, True = a real token

    def select(self, rows: Tensor, *, same_sources: bool = False) -> "AttentiveState":
        """The same state for these rows of the batch, in this order (repeats allowed); rows (N,) of indices."""
        if same_sources:
            return replace(self, hidden=self.hidden[rows], cell=self.cell[rows])
        return AttentiveState(*(tensor[rows] for tensor in vars(self).values()))


class AdditiveAttention(nn.Module):
    """How well source position s fits what was written so far: v · tanh(W s + U h), then a softmax (A.1.2)."""

    def __init__(self, width: int, memory_width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(memory_width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)
        self.scores_tap = Tap()  # (B, 1, S), before the mask
        self.weights_tap = Tap()  # (B, 1, S); shown once for each target position, in order

    def forward(self, hidden: Tensor, state: AttentiveState) -> Tensor:
        """Look from hidden (B, D) at the memory. returns the paper's context c (B, 2 D)."""
        queries = self.query(hidden)[:, None]  # (B, 1, D)
        scores = self.scores_tap(self.score(torch.tanh(queries + state.keys)).transpose(1, 2))  # (B, 1, S)
        weights = self.weights_tap(scores.masked_fill(~state.may_look[:, None], float("-inf")).softmax(dim=-1))
        return (weights @ state.memory)[:, 0]


class AttentiveDecoder(nn.Module):
    """An LSTM that looks at the source anew before it reads each target token (3.1, A.2.2).

    The paper's cell is a GRU, and its output layer a maxout; here an LSTM and a tanh stand in their place.
    """

    def __init__(self, width: int, entry: nn.Module) -> None:
        """entry: what the embeddings of target tokens pass through first."""
        super().__init__()
        memory_width = 2 * width
        self.input = entry
        self.first = nn.Linear(width, width)
        self.cross_attention = AdditiveAttention(width, memory_width)
        self.cell = nn.LSTMCell(width + memory_width, width)
        self.output = nn.Linear(width + memory_width, width)
        self.output_tap = Tap()  # (B, T, D)

    def start(self, memory: Tensor, may_look: Tensor) -> AttentiveState:
        """The state before the first target position. memory (B, S, 2 D), may_look bool (B, S)."""
        D = memory.shape[-1] // 2
        read_backwards = memory[:, 0, D:]  # the whole sentence, its first token last
        hidden = torch.tanh(self.first(read_backwards))
        return AttentiveState(hidden, torch.zeros_like(hidden), memory, self.cross_attention.key(memory), may_look)

    def forward(self, embedded: Tensor, state: AttentiveState) -> tuple[Tensor, AttentiveState]:
        """Read embedded (B, T, D), one position after the other. returns (B, T, D) and the state after them."""
        seen = []
        for read in self.input(embedded).unbind(dim=1):
            context = self.cross_attention(state.hidden, state)
            hidden, cell = self.cell(torch.cat([read, context], dim=-1), (state.hidden, state.cell))
            state = replace(state, hidden=hidden, cell=cell)
            seen.append(torch.cat([hidden, context], dim=-1))
        vectors = torch.tanh(self.output(torch.stack(seen, dim=1)))  # (B, T, D)
        return self.output_tap(vectors), state
