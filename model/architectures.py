"""Every architecture that a weights folder can hold: its configuration, and the model that is built from it."""

from pathlib import Path

from model.config import PRESETS as TRANSFORMERS
from model.config import ModelConfig, read_object
from model.encoder_decoder import Config, EncoderDecoder
from model.recurrent import PRESETS as RECURRENT
from model.recurrent import Recurrent, RecurrentConfig
from model.transformer import Transformer

AnyConfig = ModelConfig | RecurrentConfig
PRESETS: dict[str, AnyConfig] = {**TRANSFORMERS, **RECURRENT}


def read_config(path: Path) -> AnyConfig:
    """Read config.json. One that names an architecture is recurrent. Raises ConfigError naming the file."""
    return (RecurrentConfig if "architecture" in read_object(path) else ModelConfig).load(path)


def build(config: Config, *, dropout: float = 0.1) -> EncoderDecoder:
    """A new model, with random weights, in training mode."""
    if isinstance(config, RecurrentConfig):
        return Recurrent(config, dropout=dropout)
    if isinstance(config, ModelConfig):
        return Transformer(config, dropout=dropout)
    raise TypeError(f"{type(config).__name__} is the configuration of no model that we know")
