"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), with a tap at every tensor worth seeing.

Layers count from 1, in module paths as on the screen: `encoder.layers.1.self_attention.weights_tap`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.attention import Attention, causal_mask, padding_mask, target_mask
from model.config import MAX_POSITIONS, ModelConfig
from model.dropout import Dropout
from model.encoder_decoder import EncoderDecoder
from model.taps import Tap, name_taps


def sinusoids(length: int, width: int) -> Tensor:
    """Positional encoding (3.5): sines in the even columns, cosines in the odd ones. (length, width), float32."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angle = position / 10000 ** (even / width)  # (length, width / 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, width).float()


class Input(nn.Module):
    """Embeddings times sqrt(D) plus positions (3.4, 3.5). The table itself is shared, so it is handed in."""

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(MAX_POSITIONS, config.d_model))
        else:
            self.register_buffer("positions", sinusoids(MAX_POSITIONS, config.d_model), persistent=False)
        self.dropout = Dropout(dropout)
        self.embeddings_tap = Tap()  # (B, T, D)
        self.positions_tap = Tap()  # (1, T, D)
        self.sum_tap = Tap()  # (B, T, D)

    def forward(self, embedded: Tensor, *, first: int = 0) -> Tensor:
        """embedded (B, T, D), the first of them at absolute position `first` -> (B, T, D)."""
        B, T, D = embedded.shape
        if first + T > MAX_POSITIONS:
            raise ValueError(f"{first + T} positions asked for, {MAX_POSITIONS} are there; shorten the text")
        embeddings = self.embeddings_tap(embedded * D**0.5)
        positions = self.positions_tap(self.positions[None, first : first + T])
        return self.dropout(self.sum_tap(embeddings + positions))


class Residual(nn.Module):
    """A sub-layer's way back into the stream (3.1): LayerNorm(x + sub-layer(x)), or x + sub-layer(LayerNorm(x))."""

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        self.pre_norm = config.norm == "pre"
        self.norm = nn.LayerNorm(config.d_model, eps=1e-5)
        self.dropout = Dropout(dropout)
        self.output_tap = Tap()  # (B, T, D), what the sub-layer adds
        self.residual_tap = Tap()  # (B, T, D), the sum
        self.norm_tap = Tap()  # (B, T, D), out of LayerNorm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            return self._add(x, sublayer(self.norm_tap(self.norm(x))))
        return self.norm_tap(self.norm(self._add(x, sublayer(x))))

    def _add(self, x: Tensor, output: Tensor) -> Tensor:
        output = output.to(x.dtype)  # bfloat16 training: adding unlike types is ten times slower than this
        return self.residual_tap(x + self.dropout(self.output_tap(output)))


class FeedForward(nn.Module):
    """Two linear maps with a non-linearity between them, at each position alike (3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.hidden = nn.Linear(config.d_model, config.d_ff)
        self.output = nn.Linear(config.d_ff, config.d_model)
        self.activation: Callable[[Tensor], Tensor] = F.relu if config.activation == "relu" else F.gelu
        self.hidden_tap = Tap()  # (B, T, F), before the activation
        self.active_tap = Tap()  # (B, T, F), after it

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.active_tap(self.activation(self.hidden_tap(self.hidden(x)))))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (3.1)."""

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        self.self_attention = Attention(config, dropout)
        self.self_attention_residual = Residual(config, dropout)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config, dropout)

    def forward(self, x: Tensor, may_look: Tensor) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            keys, values = self.self_attention.keys_values(x)
            return self.self_attention(x, keys, values, may_look)

        x = self.self_attention_residual(x, attend)
        return self.feed_forward_residual(x, self.feed_forward)


@dataclass(frozen=True)
class LayerState:
    """What one decoder layer keeps from step to step; each tensor (B, H, length, K)."""

    keys: Tensor | None  # of the target so far; None before the first step
    values: Tensor | None
    memory_keys: Tensor  # of the source: the same at every step
    memory_values: Tensor

    def select(self, rows: Tensor, *, same_sources: bool) -> "LayerState":
        keys = None if self.keys is None else self.keys[rows]
        values = None if self.values is None else self.values[rows]
        if same_sources:
            return LayerState(keys, values, self.memory_keys, self.memory_values)
        return LayerState(keys, values, self.memory_keys[rows], self.memory_values[rows])


@dataclass(frozen=True)
class DecoderState:
    """Everything needed to go on decoding after `length` target positions."""

    length: int
    layers: tuple[LayerState, ...]
    source_may_look: Tensor  # (B, 1, 1, S) bool

    def select(self, rows: Tensor, *, same_sources: bool = False) -> "DecoderState":
        """The same state for these rows of the batch, in this order (repeats allowed); rows (N,) of indices.

        same_sources: row i of both states has the same source, so what is kept of it need not be copied.
        """
        layers = tuple(layer.select(rows, same_sources=same_sources) for layer in self.layers)
        return DecoderState(self.length, layers, self.source_may_look if same_sources else self.source_may_look[rows])


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the memory, feed-forward (3.1)."""

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        self.self_attention = Attention(config, dropout)
        self.self_attention_residual = Residual(config, dropout)
        self.cross_attention = Attention(config, dropout)
        self.cross_attention_residual = Residual(config, dropout)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config, dropout)

    def start(self, memory: Tensor) -> LayerState:
        """The keys and values of memory (B, S, D), before any target position."""
        keys, values = self.cross_attention.keys_values(memory)
        return LayerState(None, None, keys.contiguous(), values.contiguous())  # or every step would copy them for bmm

    def forward(
        self, x: Tensor, state: LayerState, may_look: Tensor, source_may_look: Tensor
    ) -> tuple[Tensor, LayerState]:
        grown = state

        def look_back(x: Tensor) -> Tensor:
            nonlocal grown
            keys, values = self.self_attention.keys_values(x)
            if state.keys is not None and state.values is not None:
                keys, values = torch.cat([state.keys, keys], dim=2), torch.cat([state.values, values], dim=2)
            grown = LayerState(keys, values, state.memory_keys, state.memory_values)
            return self.self_attention(x, keys, values, may_look)

        def look_across(x: Tensor) -> Tensor:
            return self.cross_attention(x, state.memory_keys, state.memory_values, source_may_look)

        x = self.self_attention_residual(x, look_back)
        x = self.cross_attention_residual(x, look_across)
        return self.feed_forward_residual(x, self.feed_forward), grown


class Encoder(nn.Module):
    """Source tokens to memory."""

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        self.input = Input(config, dropout)
        self.layers = nn.ModuleDict({str(n): EncoderLayer(config, dropout) for n in _counted(config.encoder_layers)})
        self.final_norm = _final_norm(config)
        self.memory_tap = Tap()  # (B, S, D)

    def forward(self, embedded: Tensor, may_look: Tensor) -> Tensor:
        """embedded (B, S, D), may_look bool (B, 1, 1, S) -> memory (B, S, D)."""
        x = self.input(embedded)
        for layer in self.layers.values():
            x = layer(x, may_look)
        return self.memory_tap(self.final_norm(x))


class Decoder(nn.Module):
    """Target tokens and memory to one vector a position, from which the next token is read."""

    def __init__(self, config: ModelConfig, dropout: float) -> None:
        super().__init__()
        self.input = Input(config, dropout)
        self.layers = nn.ModuleDict({str(n): DecoderLayer(config, dropout) for n in _counted(config.decoder_layers)})
        self.final_norm = _final_norm(config)
        self.output_tap = Tap()  # (B, T, D)

    def start(self, memory: Tensor, source_may_look: Tensor) -> DecoderState:
        """The state before the first target position. memory (B, S, D), source_may_look bool (B, 1, 1, S)."""
        layers = tuple(layer.start(memory) for layer in self.layers.values() if isinstance(layer, DecoderLayer))
        return DecoderState(0, layers, source_may_look)

    def forward(self, embedded: Tensor, may_look: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """embedded (B, T, D) at absolute positions from state.length on -> (B, T, D) and the state after them."""
        x = self.input(embedded, first=state.length)
        grown = []
        for layer, layer_state in zip(self.layers.values(), state.layers, strict=True):
            x, after = layer(x, layer_state, may_look, state.source_may_look)
            grown.append(after)
        length = state.length + embedded.shape[1]
        return self.output_tap(self.final_norm(x)), DecoderState(length, tuple(grown), state.source_may_look)


class Transformer(EncoderDecoder):
    """Encoder, decoder, and one matrix that is source embedding, target embedding and output projection (3.4)."""

    config: ModelConfig

    def __init__(self, config: ModelConfig, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = Encoder(config, dropout)
        self.decoder = Decoder(config, dropout)
        self.logits_tap = Tap()  # (B, T, V)
        self._initialise()
        name_taps(self)

    def encode(self, source: Tensor) -> Tensor:
        """source ids (B, S), right-padded -> memory (B, S, D)."""
        return self.encoder(self.embedding(source), padding_mask(source))

    def start(self, source: Tensor) -> DecoderState:
        """Encode source ids (B, S) and get ready to decode from them."""
        return self.decoder.start(self.encode(source), padding_mask(source))

    def step(self, target: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Read target ids (B, T) that follow the positions in `state`.

        returns logits (B, T, V), row t for the token after target[:, t], and the state after them
        """
        B, T = target.shape
        # Later steps hold padding only in rows that have ended, which nobody reads.
        may_look = causal_mask(T, first=state.length) if state.length else target_mask(target)
        vectors, state = self.decoder(self.embedding(target), may_look, state)
        return self.logits_tap(F.linear(vectors, self.embedding.weight)), state

    def attention(self, kind: str, layer: int) -> Attention:
        """The module of encoder, masked or cross-attention in this layer (from 1)."""
        layers = (self.encoder if kind == "encoder" else self.decoder).layers
        module = layers[str(layer)].get_submodule("cross_attention" if kind == "cross" else "self_attention")
        if not isinstance(module, Attention):
            raise TypeError(f"{kind} layer {layer} holds a {type(module).__name__}, not an Attention")
        return module

    def _initialise(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        # Multiplied by sqrt(D) at the input, these have unit variance there, like the positions added to them.
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)


def _counted(n: int) -> range:
    return range(1, n + 1)


def _final_norm(config: ModelConfig) -> nn.Module:
    """Pre-norm leaves the stream un-normalised at the end, so one more LayerNorm follows; post-norm needs none."""
    return nn.LayerNorm(config.d_model, eps=1e-5) if config.norm == "pre" else nn.Identity()
