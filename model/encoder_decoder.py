"""What training, decoding and scoring ask of a model, whatever is inside it: to read a source, then a target."""

from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn


class Config(Protocol):
    """What every configuration has."""

    @property
    def vocab_size(self) -> int: ...

    @property
    def d_model(self) -> int: ...

    def save(self, path: Path) -> None: ...


class EncoderDecoder(nn.Module):
    """A model with a memory of the source, which goes on from what it has read of the target."""

    config: Config
    embedding: nn.Embedding  # of both languages, and the output projection: one matrix (Press & Wolf 2017)

    def start(self, source: Tensor) -> Any:
        """Read source ids (B, S), </s> included, right-padded. returns the state before the first target position.

        A state has `select(rows, same_sources=False)`: the same state for these rows of the batch, in this order,
        repeats allowed. same_sources: row i of both has the same source, so what is kept of it need not be copied.
        """
        raise NotImplementedError

    def step(self, target: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Read target ids (B, T) that follow what `state` has read.

        returns logits (B, T, V), row t for the token after target[:, t], and the state after them
        """
        raise NotImplementedError

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Teacher-forced: source ids (B, S), target ids (B, T) beginning with <s> -> logits (B, T, V)."""
        logits, _ = self.step(target, self.start(source))
        return logits
