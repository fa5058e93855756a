"""The sizes and choices that make one Transformer differ from another."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

PAD, UNK, BOS, EOS = 0, 1, 2, 3  # ids of <pad>, <unk>, <s>, </s> in every vocabulary of ours
NEVER = (PAD, BOS, UNK)  # not written: a translation is made of pieces and ends with </s>
MAX_PIECES = 256  # longest sentence, in pieces, on either side; <s> and </s> come on top
MAX_POSITIONS = MAX_PIECES + 1


class ConfigError(ValueError):
    """A configuration that no model can have; the message says what to change."""


@dataclass(frozen=True)
class ModelConfig:
    """One Transformer (Vaswani et al. 2017, section 3). The defaults are the paper's choices, at a small size."""

    vocab_size: int = 6000  # pieces in the joint vocabulary, specials included
    d_model: int = 256  # numbers in each token's vector
    n_heads: int = 8  # heads of every attention; d_model / n_heads numbers each
    d_ff: int = 1024  # neurons in the hidden layer of each feed-forward
    encoder_layers: int = 3
    decoder_layers: int = 3
    activation: str = "relu"  # or "gelu"
    norm: str = "post"  # LayerNorm after the residual sum, as in the paper; "pre" puts it before the sub-layer
    positions: str = "sinusoidal"  # or "learned"

    def __post_init__(self) -> None:
        whole_numbers(self, "vocab_size", "d_model", "n_heads", "d_ff", "encoder_layers", "decoder_layers")
        if self.d_model % self.n_heads:
            choices = ", ".join(str(n) for n in range(1, self.d_model + 1) if self.d_model % n == 0)
            raise ConfigError(f"d_model={self.d_model} cannot be split over n_heads={self.n_heads}; choose {choices}")
        if self.d_model % 2:
            raise ConfigError(f"d_model={self.d_model} must be even: sine and cosine come in pairs")
        one_of("activation", self.activation, ("relu", "gelu"))
        one_of("norm", self.norm, ("post", "pre"))
        one_of("positions", self.positions, ("sinusoidal", "learned"))

    @property
    def head_width(self) -> int:
        """K, the numbers in one head's query, key or value (the paper's d_k = d_v)."""
        return self.d_model // self.n_heads

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "ModelConfig":
        """Read config.json. Raises ConfigError naming the file for anything that is not a configuration of ours."""
        return cls(**read_fields(path, cls))


def whole_numbers(config: object, *names: str) -> None:
    """Raises ConfigError if one of these fields is no whole number, 1 or more."""
    for name in names:
        value = getattr(config, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"{name}={value!r} must be a whole number, 1 or more")


def one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name}={value!r} is not known; choose {' or '.join(choices)}")


def read_object(path: Path) -> Any:
    """What a JSON file says. Raises ConfigError naming the file if it says nothing."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ConfigError(f"{path} is not readable as JSON: {error}") from error


def read_fields(path: Path, kind: type[Any]) -> dict[str, Any]:
    """The fields of this dataclass as a JSON file says them. Raises ConfigError if it says others, or fewer."""
    content = read_object(path)
    known = {field.name for field in fields(kind)}
    if not isinstance(content, dict) or set(content) != known:
        found = sorted(content) if isinstance(content, dict) else type(content).__name__
        raise ConfigError(f"{path} must hold exactly the fields {sorted(known)}; found {found}")
    return content


PRESETS = {
    "small": ModelConfig(),
    "base": ModelConfig(37000, d_model=512, n_heads=8, d_ff=2048, encoder_layers=6, decoder_layers=6),
    "big": ModelConfig(37000, d_model=1024, n_heads=16, d_ff=4096, encoder_layers=6, decoder_layers=6),
}
