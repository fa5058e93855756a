"""Other people's libraries that ours is measured against. They are no requirements of the app: see requirements.txt."""

import importlib
from types import ModuleType
from typing import Any

from model.config import BOS, EOS, MAX_POSITIONS, PAD, ModelConfig


class MissingError(RuntimeError):
    """A library that is not installed; the message says how it is."""


def peer(name: str) -> ModuleType:
    """The library of this name. Raises MissingError if it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingError(
            f"Not measured: {name} is not installed. benchmarks/README.md says how to install "
            "benchmarks/requirements.txt into an environment of its own."
        ) from error


def marian(config: ModelConfig) -> Any:
    """A Hugging Face Marian of the same shape: random weights, eager attention, eval mode."""
    transformers = peer("transformers")
    transformers.logging.set_verbosity_error()
    sizes = {f"{side}_attention_heads": config.n_heads for side in ("encoder", "decoder")}
    sizes |= {f"{side}_ffn_dim": config.d_ff for side in ("encoder", "decoder")}
    return transformers.MarianMTModel(
        transformers.MarianConfig(
            **sizes,
            vocab_size=config.vocab_size,
            d_model=config.d_model,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            activation_function=config.activation,
            scale_embedding=True,
            max_position_embeddings=MAX_POSITIONS,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
            forced_eos_token_id=None,
            attn_implementation="eager",
        )
    ).eval()
