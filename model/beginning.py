"""What a run of training begins with: the model and the vocabulary, as its command line asks for them."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from model import checkpoint, command, runs
from model.architectures import PRESETS, AnyConfig, build
from model.command import at_least
from model.data import Pair
from model.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer, train_tokenizer

SIZES = ("vocab_size", "d_model", "n_heads", "d_ff", "encoder_layers", "decoder_layers", "layers")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that `begin` reads, apart from --run, --seed and --dropout."""
    parser.add_argument("--init", type=Path, help="start from the weights and vocabulary of this folder")
    parser.add_argument("--vocabulary", type=Path, help="take the vocabulary of this folder instead of a new one")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="small")
    for name in SIZES:
        parser.add_argument(f"--{name.replace('_', '-')}", type=at_least(1), help="instead of the preset's")
    parser.add_argument("--norm", choices=("post", "pre"))
    parser.add_argument("--activation", choices=("relu", "gelu"))
    parser.add_argument("--embed-positions", choices=("sinusoidal", "learned"), dest="positions_kind")


def begin(options: argparse.Namespace, pairs: Sequence[Pair]) -> tuple[EncoderDecoder, Tokenizer]:
    """The model and vocabulary of the run itself, of --init, or new ones. Raises InputError if options do not fit."""
    saved = runs.steps(options.run)
    if saved:
        runs.check(saved[-1])
    folder = saved[-1] if saved else options.init
    if folder is not None:
        loaded, tokenizer = checkpoint.load_any(folder)
        for name, value in _asked_for(options).items():
            if getattr(loaded.config, name, None) != value:
                found = f"{folder} has {name}={getattr(loaded.config, name, None)}"
                raise command.InputError(f"{found}, asked for is {value}; leave that out, or take another --run")
        model = build(loaded.config, dropout=options.dropout)
        model.load_state_dict(loaded.state_dict())
        return model, tokenizer
    config = _new_config(options)
    tokenizer = _vocabulary(options, pairs, config.vocab_size)
    torch.manual_seed(options.seed)
    return build(config, dropout=options.dropout), tokenizer


def _asked_for(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of the configuration that the command line names."""
    asked = {name: getattr(options, name) for name in (*SIZES, "norm", "activation")}
    given = {name: value for name, value in asked.items() if value is not None}
    return given | ({"positions": options.positions_kind} if options.positions_kind else {})


def _new_config(options: argparse.Namespace) -> AnyConfig:
    preset, asked = PRESETS[options.preset], _asked_for(options)
    if unknown := sorted(set(asked) - set(vars(preset))):
        raise command.InputError(f"{unknown[0]} says nothing about --preset {options.preset}; leave it out")
    return replace(preset, **asked)


def _vocabulary(options: argparse.Namespace, pairs: Sequence[Pair], size: int) -> Tokenizer:
    if options.vocabulary is None:
        return train_tokenizer((text for pair in pairs for text in (pair.source, pair.target)), vocab_size=size)
    tokenizer = Tokenizer.load(options.vocabulary / checkpoint.VOCABULARY)
    if len(tokenizer) != size:
        raise command.InputError(f"{options.vocabulary} has {len(tokenizer)} pieces, asked for are {size}")
    return tokenizer
