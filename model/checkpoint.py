"""A folder is a model: config.json, model.safetensors, sentencepiece.model.

python -m model.checkpoint runs/en-de/step-004000 --out weights/en-de     float16, ready to ship; several are averaged
python -m model.checkpoint STEP --out FOLDER --int8                       half of that again, see int8.py
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import sums
from model.architectures import AnyConfig, build, read_config
from model.config import ConfigError
from model.encoder_decoder import Config, EncoderDecoder
from model.int8 import Int8Error, quantised, restored
from model.sums import SumsError
from model.tokenizer import Tokenizer, TokenizerError
from model.transformer import Transformer
from model.whole import replacing_files, replacing_folder

WEIGHTS = Path(__file__).resolve().parent.parent / "weights" / "en-de"  # the shipped model
FILES = CONFIG, TENSORS, VOCABULARY = "config.json", "model.safetensors", "sentencepiece.model"


class CheckpointError(ValueError):
    """A weights folder that is missing, incomplete or damaged; the message says what and where."""


def load(folder: Path = WEIGHTS) -> tuple[Transformer, Tokenizer]:
    """A Transformer, in eval mode and float32, and its tokenizer. Raises CheckpointError in one sentence."""
    model, tokenizer = load_any(folder)
    if not isinstance(model, Transformer):
        raise CheckpointError(f"the weights folder {folder} holds no Transformer, so it has no heads to look at")
    return model, tokenizer


def load_any(folder: Path) -> tuple[EncoderDecoder, Tokenizer]:
    """The same for a model of any architecture that we know."""
    if not folder.is_dir():
        raise CheckpointError(f"there is no weights folder {folder}")
    for name in FILES:
        if not (folder / name).is_file():
            raise CheckpointError(
                f"the weights folder {folder} has no {name}; it needs {CONFIG}, {TENSORS}, {VOCABULARY}"
            )
    try:
        sums.check(folder, FILES)
        config = read_config(folder / CONFIG)
        tokenizer = Tokenizer.load(folder / VOCABULARY)
        state = restored(load_file(folder / TENSORS))
    except (ConfigError, SumsError, TokenizerError) as error:
        raise CheckpointError(f"the weights folder {folder} cannot be used: {error}") from error
    except OSError as error:
        raise CheckpointError(f"the weights folder {folder} cannot be read: {error.strerror or error}") from error
    except Int8Error as error:
        raise CheckpointError(f"{folder / TENSORS}: {error}") from error
    except SafetensorError as error:
        raise CheckpointError(f"{folder / TENSORS} is damaged or cut short: {error}") from error
    if len(tokenizer) != config.vocab_size:
        raise CheckpointError(
            f"{folder}: {VOCABULARY} has {len(tokenizer)} pieces, but {CONFIG} says vocab_size={config.vocab_size}"
        )
    return _filled(folder, config, state), tokenizer


def _filled(folder: Path, config: AnyConfig, state: dict[str, Tensor]) -> EncoderDecoder:
    _fits(folder, config, state)
    model = build(config).eval()
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return model.requires_grad_(False)


def _fits(folder: Path, config: AnyConfig, state: dict[str, Tensor]) -> None:
    """Raises CheckpointError unless these are the tensors of such a model. What is asked for takes no memory yet."""
    layers = sum(number for name, number in vars(config).items() if name.endswith("layers"))
    if layers > len(state):
        raise CheckpointError(f"{folder / CONFIG} asks for {layers} layers, but {TENSORS} has {len(state)} tensors")
    with torch.device("meta"):
        needed = {name: tensor.shape for name, tensor in build(config).state_dict().items()}
    for name, shape in needed.items():
        if name not in state:
            raise CheckpointError(f"{folder / TENSORS} has no tensor {name}, which {CONFIG} asks for")
        if state[name].shape != shape:
            found = tuple(state[name].shape)
            raise CheckpointError(f"{folder / TENSORS}: {name} has shape {found}, {CONFIG} asks for {tuple(shape)}")
        if not state[name].isfinite().all():
            raise CheckpointError(f"{folder / TENSORS}: {name} holds values that are not finite numbers")
    if extra := sorted(set(state) - set(needed)):
        raise CheckpointError(f"{folder / TENSORS} has a tensor {extra[0]}, which {CONFIG} does not ask for")


def save(folder: Path, config: Config, state: dict[str, Tensor], tokenizer: Tokenizer) -> None:
    """Write a weights folder: a new one is whole or absent, in an old one files are replaced once all are written.

    If that is cut short between two of them, what is there does not fit SHA256SUMS, and `load` says so. The parent
    must exist.
    """
    if not folder.exists():
        with replacing_folder(folder) as part:
            fill(part, config, state, tokenizer)
            sums.write(part)
        return
    with replacing_files(folder) as part:
        fill(part, config, state, tokenizer)
    if (folder / sums.NAME).is_file():
        sums.record(*(folder / name for name in FILES))
    else:
        sums.write(folder)


def fill(folder: Path, config: Config, state: dict[str, Tensor], tokenizer: Tokenizer) -> None:
    """Write the files of a weights folder into a new one that somebody else makes whole."""
    config.save(folder / CONFIG)
    (folder / VOCABULARY).write_bytes(tokenizer.serialized)
    save_tensors(folder / TENSORS, state)


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write safetensors. Raises OSError where that library has an error of its own, as on a full disk."""
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        raise (OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(str(error))) from error


def average(folders: Sequence[Path]) -> tuple[Config, dict[str, Tensor], Tokenizer]:
    """Mean of the weights of several checkpoints of one run, float32 (Vaswani et al. 2017, 6.1)."""
    loaded = [load_any(folder) for folder in folders]
    (first, tokenizer), rest = loaded[0], loaded[1:]
    if any(model.config != first.config for model, _ in rest):
        raise CheckpointError("only checkpoints with one and the same configuration can be averaged")
    states = [model.state_dict() for model, _ in loaded]
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    return first.config, mean, tokenizer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m model.checkpoint", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="weights folders; more than one are averaged")
    parser.add_argument("--out", required=True, type=Path, help="where the float16 weights go; its parent must exist")
    parser.add_argument("--int8", action="store_true", help="store matrices as int8 with a scale a row, not float16")
    options = parser.parse_args(arguments)
    try:
        config, state, tokenizer = average(options.folders)
        halves = {name: tensor.half() for name, tensor in state.items()}
        save(options.out, config, quantised(state) if options.int8 else halves, tokenizer)
    except (CheckpointError, SumsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    size = sum(tensor.numel() for tensor in state.values())
    print(f"{options.out}: {size / 1e6:.2f} M parameters, {(options.out / TENSORS).stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
