"""The folder of one training run: steps to go on from, snapshots to look back at.

runs/<name>/step-00004000/       a weights folder (float32) with optimizer.safetensors and state.json: whole, or absent
runs/<name>/snapshot-00004000/   a weights folder (float16), kept for good, at steps 0, 125, 250, 500, 1000, 2000 …

python -m model.runs runs/<name>     what was measured on the way: a JSON list with a row for each save
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from model import checkpoint, command, sums
from model.architectures import read_config
from model.checkpoint import CheckpointError
from model.config import ConfigError
from model.encoder_decoder import EncoderDecoder
from model.sums import SumsError
from model.tokenizer import Tokenizer
from model.whole import replacing_folder

OPTIMIZER, STATE = "optimizer.safetensors", "state.json"  # of a saved step, beside the files of every weights folder
FIRST_SNAPSHOT = 125
KEPT = 2  # steps to go on from; the one before the last is there in case a disk loses the last


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    step: int  # optimizer steps taken
    epoch: int
    batch: int  # batches of this epoch already seen
    tokens: int  # target tokens predicted so far
    history: tuple[dict[str, Any], ...]  # a row at each save: step, tokens, seconds, rate, losses, BLEU


def is_snapshot(step: int) -> bool:
    """Step 0, then geometric: each 125 · 2^n."""
    return step == 0 or (step % FIRST_SNAPSHOT == 0 and (step // FIRST_SNAPSHOT).bit_count() == 1)


def save_snapshot(run: Path, model: EncoderDecoder, tokenizer: Tokenizer, step: int) -> None:
    folder = run / f"snapshot-{step:08d}"
    if not folder.exists():
        half = {name: tensor.half() for name, tensor in model.state_dict().items()}
        checkpoint.save(folder, model.config, half, tokenizer)


def save_step(
    run: Path, model: EncoderDecoder, tokenizer: Tokenizer, optimizer: torch.optim.Optimizer, progress: Progress
) -> None:
    """Write everything that the next step depends on, then drop all but the last steps."""
    folder = run / f"step-{progress.step:08d}"
    if not folder.exists():
        with replacing_folder(folder) as part:
            checkpoint.fill(part, model.config, model.state_dict(), tokenizer)
            checkpoint.save_tensors(part / OPTIMIZER, _flat(optimizer))
            (part / STATE).write_text(json.dumps(progress.__dict__), encoding="utf-8")
            sums.write(part)
    for old in steps(run)[:-KEPT]:
        shutil.rmtree(old)


def sweep(run: Path) -> None:
    """Remove what killed runs left half-written."""
    for part in run.glob(".*.part"):
        shutil.rmtree(part, ignore_errors=True)


def steps(run: Path) -> list[Path]:
    """The saved steps of a run, oldest first."""
    return sorted(path for path in run.glob("step-*") if path.is_dir())


def check(folder: Path) -> None:
    """Raises CheckpointError if a file of a saved step is not what it was when it was written."""
    try:
        sums.check(folder)
    except (OSError, SumsError) as error:
        raise _damaged(folder, error) from error


def load_progress(folder: Path) -> Progress:
    """Where a saved step stands. Raises CheckpointError if its file is missing or damaged."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        return Progress(**{**state, "history": tuple(state["history"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, error) from error


def load_step(folder: Path, model: EncoderDecoder, optimizer: torch.optim.Optimizer) -> Progress:
    """Fill model and optimizer from a saved step. Raises CheckpointError if it is damaged, or of another model."""
    check(folder)
    try:
        config = read_config(folder / checkpoint.CONFIG)
        state, moments = (load_file(folder / name) for name in (checkpoint.TENSORS, OPTIMIZER))
    except (ConfigError, OSError, SafetensorError) as error:
        raise _damaged(folder, error) from error
    if config != model.config:
        raise CheckpointError(f"{folder} was trained as {config}, asked for is {model.config}; take another --run")
    model.load_state_dict(state)
    _fill(optimizer, moments)
    return load_progress(folder)


def _damaged(folder: Path, error: Exception) -> CheckpointError:
    earlier = [step for step in steps(folder.parent) if step.name < folder.name]
    there = f"the run goes on from {earlier[-1].name}" if earlier else "the run begins anew"
    return CheckpointError(f"the saved step {folder} is damaged ({error}); remove it, and {there}")


def _flat(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    state = optimizer.state_dict()["state"]
    return {f"{index}.{name}": tensor for index, entry in state.items() for name, tensor in entry.items()}


def _fill(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".")
        state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _show(options: argparse.Namespace) -> None:
    saved = steps(options.run)
    if not saved:
        raise CheckpointError(f"the run {options.run} has no saved step")
    rows = ",\n".join(json.dumps(row) for row in load_progress(saved[-1]).history)
    print(f"[\n{rows}\n]")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("runs", "What was measured in a run of training, as JSON.", weights=False)
    parser.add_argument("run", type=Path, help="folder of the run")
    return command.run(_show, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
