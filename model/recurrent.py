"""What came before the Transformer: encoder–decoders that read one token after the other, and carry a state along.

"rnn"             tanh cells (Elman 1990)
"lstm"            long short-term memory (Hochreiter & Schmidhuber 1997) as in Sutskever et al. 2014
"lstm-attention"  an LSTM that looks back at every source position (Bahdanau et al. 2015)

The first two read the source backwards (Sutskever et al. 2014, 3.3) and hand over their last state, nothing else.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.additive import AttentiveDecoder, AttentiveState
from model.attention import padding_mask
from model.config import PAD, ConfigError, one_of, read_fields, whole_numbers
from model.dropout import Dropout
from model.encoder_decoder import EncoderDecoder
from model.taps import Tap, name_taps

ARCHITECTURES = ("rnn", "lstm", "lstm-attention")


@dataclass(frozen=True)
class RecurrentConfig:
    """One recurrent encoder–decoder."""

    architecture: str  # one of ARCHITECTURES
    vocab_size: int = 6000  # pieces in the joint vocabulary, specials included
    d_model: int = 256  # numbers in each token's vector and in each layer's state
    layers: int = 2  # of the encoder, and as many of the decoder

    def __post_init__(self) -> None:
        one_of("architecture", self.architecture, ARCHITECTURES)
        whole_numbers(self, "vocab_size", "d_model", "layers")
        if self.architecture == "lstm-attention" and self.layers != 1:
            raise ConfigError(f"layers={self.layers} must be 1 for lstm-attention, as in Bahdanau et al. 2015")

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "RecurrentConfig":
        """Read config.json. Raises ConfigError naming the file for anything that is not a configuration of ours."""
        return cls(**read_fields(path, cls))


# Of 3.8 to 3.9 million parameters each, so that they differ in how they are built and not in how large they are.
PRESETS = {
    "rnn": RecurrentConfig("rnn", d_model=416),
    "lstm": RecurrentConfig("lstm", d_model=264),
    "lstm-attention": RecurrentConfig("lstm-attention", d_model=248, layers=1),
}


class Input(nn.Module):
    """Embeddings times sqrt(D): one table serves as input, with unit variance, and as output projection."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.embeddings_tap = Tap()  # (B, T, D), in the order of reading

    def forward(self, embedded: Tensor) -> Tensor:
        return self.dropout(self.embeddings_tap(embedded * embedded.shape[-1] ** 0.5))


class Encoder(nn.Module):
    """Source tokens to a state for each, and the states of all layers after the last token."""

    def __init__(self, layers: nn.RNNBase, dropout: float) -> None:
        super().__init__()
        self.input = Input(dropout)
        self.layers = layers
        self.memory_tap = Tap()  # (B, S, D), or (B, S, 2 D) if read in both directions

    def forward(self, embedded: Tensor, lengths: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """embedded (B, S, D), lengths (B,) without padding -> memory (B, S, D), states (layers, B, D) each."""
        # Packed: nothing is read beyond the end of a sentence, in either direction.
        read = pack_padded_sequence(self.input(embedded), lengths, batch_first=True, enforce_sorted=False)
        packed, states = self.layers(read)
        memory, _ = pad_packed_sequence(packed, batch_first=True, total_length=embedded.shape[1])
        return self.memory_tap(memory), _as_tuple(states)


@dataclass(frozen=True)
class RecurrentState:
    """All that is known of the source and of the target so far."""

    states: tuple[Tensor, ...]  # each (layers, B, D): of an RNN one, of an LSTM two, its output and its cell

    def select(self, rows: Tensor, *, same_sources: bool = False) -> "RecurrentState":
        """The same state for these rows of the batch, in this order (repeats allowed); rows (N,) of indices."""
        return RecurrentState(tuple(state[:, rows] for state in self.states))


class Decoder(nn.Module):
    """Goes on from the encoder's last states."""

    def __init__(self, layers: nn.RNNBase, dropout: float) -> None:
        super().__init__()
        self.input = Input(dropout)
        self.layers = layers
        self.output_tap = Tap()  # (B, T, D)

    def forward(self, embedded: Tensor, state: RecurrentState) -> tuple[Tensor, RecurrentState]:
        """embedded (B, T, D) -> (B, T, D) and the state after them."""
        one_or_two = state.states if len(state.states) > 1 else state.states[0]
        vectors, after = self.layers(self.input(embedded), one_or_two)
        return self.output_tap(vectors), RecurrentState(_as_tuple(after))


class Recurrent(EncoderDecoder):
    """An encoder–decoder of one of the ARCHITECTURES."""

    config: RecurrentConfig

    def __init__(self, config: RecurrentConfig, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.config, D = config, config.d_model
        self.embedding = nn.Embedding(config.vocab_size, D)
        self.encoder = Encoder(_layers(config, dropout, bidirectional=self.attentive), dropout)
        if self.attentive:
            self.decoder: AttentiveDecoder | Decoder = AttentiveDecoder(D, Input(dropout))
        else:
            self.decoder = Decoder(_layers(config, dropout), dropout)
        self.dropout = Dropout(dropout)
        self.logits_tap = Tap()  # (B, T, V)
        self._initialise()
        name_taps(self)

    @property
    def attentive(self) -> bool:
        return self.config.architecture == "lstm-attention"

    def start(self, source: Tensor) -> RecurrentState | AttentiveState:
        """Read source ids (B, S), </s> included, right-padded. returns the state before the first target position."""
        may_look = padding_mask(source)[:, 0, 0]  # (B, S)
        lengths = may_look.sum(dim=1)
        if isinstance(self.decoder, AttentiveDecoder):
            memory, _ = self.encoder(self.embedding(source), lengths)
            return self.decoder.start(memory, may_look)
        _, states = self.encoder(self.embedding(backwards(source, lengths)), lengths)
        return RecurrentState(states)

    def step(
        self, target: Tensor, state: RecurrentState | AttentiveState
    ) -> tuple[Tensor, RecurrentState | AttentiveState]:
        """Read target ids (B, T) that follow what `state` has read. returns logits (B, T, V) and the state after."""
        vectors, state = self.decoder(self.embedding(target), state)
        return self.logits_tap(F.linear(self.dropout(vectors), self.embedding.weight)), state

    def _initialise(self) -> None:
        nn.init.normal_(self.embedding.weight, std=self.config.d_model**-0.5)
        for name, parameter in self.named_parameters():
            if "bias_ih" in name and self.config.architecture != "rnn":
                # Forget gates begin open, or gradients die before anything is learned (Jozefowicz et al. 2015, 3.1).
                _, forget, _, _ = parameter.data.chunk(4)
                forget.fill_(1.0)


def _layers(config: RecurrentConfig, dropout: float, *, bidirectional: bool = False) -> nn.RNNBase:
    kind = nn.RNN if config.architecture == "rnn" else nn.LSTM
    between = dropout if config.layers > 1 else 0.0
    D = config.d_model
    return kind(D, D, config.layers, batch_first=True, dropout=between, bidirectional=bidirectional)


def backwards(ids: Tensor, lengths: Tensor) -> Tensor:
    """Each sentence from its last token to its first, padding still on the right. ids (B, S), lengths (B,)."""
    B, S = ids.shape
    from_end = lengths[:, None] - 1 - torch.arange(S)[None]  # (B, S), negative in the padding
    return ids.gather(1, from_end.clamp(min=0)).masked_fill(from_end < 0, PAD)


def _as_tuple(states: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    return states if isinstance(states, tuple) else (states,)
