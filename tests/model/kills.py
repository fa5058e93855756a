"""Kill a training with signal 9 at random moments, start it again each time, and compare with one left in peace.

python -m tests.model.kills --kills 30 [--seed 1]     one line at the end; status 1 if anything is not as it should be

Torch is loaded once: each run of the trainer is a fork of this process.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import torch

from model import checkpoint, runs, sums, train

SIZES = "--vocab-size 300 --d-model 12 --n-heads 3 --d-ff 17 --encoder-layers 2 --decoder-layers 1".split()
RECIPE = "--positions 90 --warmup 3 --peak 0.01 --threads 1 --bpe-dropout 0.1 --save-every 2".split()
WORDS = ["sun moon star sky rain".split(), "Sonne Mond Stern Himmel Regen".split()]


class BrokenError(AssertionError):
    """What a kill must never leave behind."""


def sentences() -> str:
    """Pairs of our own: which of five things stands beside which."""
    english, german = WORDS
    places = [(a, b) for a in range(5) for b in range(5)]
    return "".join(f"The {english[a]}, then the {english[b]}.\t{german[a]}, dann {german[b]}.\n" for a, b in places)


def go_on(run: Path, pairs: Path, steps: int) -> int:
    """Train in this process. returns the exit status."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        return train.main(["--run", str(run), "--train", str(pairs), *SIZES, *RECIPE, "--steps", str(steps)])


def start(run: Path, pairs: Path, steps: int) -> int:
    """The process number of a trainer that goes on with this run."""
    if (child := os.fork()) == 0:
        os._exit(go_on(run, pairs, steps))
    return child


def saves(run: Path) -> int:
    """The number of the last saved step, those half-written included; -1 before the first."""
    names = [path.name for path in run.glob("*step-*")] if run.is_dir() else []
    return max((int(name.split("step-")[1][:8]) for name in names), default=-1)


def wait_for(run: Path, step: int) -> None:
    """Wait until the trainer has begun to save this step, or a later one."""
    end = time.monotonic() + 120
    while saves(run) < step:
        if time.monotonic() > end:
            raise BrokenError(f"the trainer did not come to step {step} within two minutes")
        time.sleep(0.002)


def finish(run: Path, pairs: Path, steps: int) -> None:
    _, status = os.waitpid(start(run, pairs, steps), 0)
    if status != 0:
        raise BrokenError(f"{run} did not go on: status {status}")


def inspect(run: Path) -> bool:
    """Whether something half-written lies about. Raises BrokenError, or what loading does, if it has a final name."""
    for folder in [*run.glob("step-*"), *run.glob("snapshot-*")]:
        if not (folder / sums.NAME).is_file():
            raise BrokenError(f"{folder} was never finished")
        sums.check(folder)
        checkpoint.load(folder)
    return any(run.glob(".*.part"))


def disturbed(run: Path, pairs: Path, kills: int, rng: random.Random) -> tuple[int, int]:
    """Kill the run so often. returns the step it has come to, and how many kills left something half-written."""
    torn = 0
    for _ in range(kills):
        begun = saves(run)
        child = start(run, pairs, 1_000_000)
        wait_for(run, begun + rng.randrange(5))
        time.sleep(rng.uniform(0.0, 0.06))  # about as long as a step and its save take
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        torn += inspect(run)
    saved = runs.steps(run)
    return (runs.load_progress(saved[-1]).step if saved else 0), torn


def differences(one: Path, other: Path) -> list[str]:
    """Files of two saved steps that are not the same, bit for bit; of the progress what no clock tells."""
    names = [*checkpoint.FILES, runs.OPTIMIZER]
    found = [name for name in names if (one / name).read_bytes() != (other / name).read_bytes()]
    progress = [runs.load_progress(folder) for folder in (one, other)]
    places = [(found.step, found.epoch, found.batch, found.tokens) for found in progress]
    losses = [[(row["step"], row["loss"]) for row in found.history] for found in progress]
    return [*found, *(["state.json"] if places[0] != places[1] or losses[0] != losses[1] else [])]


def killed(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Raises BrokenError if the killed run does not end as the undisturbed one does."""
    pairs = folder / "pairs.tsv"
    pairs.write_text(sentences(), encoding="utf-8")
    go_on(folder / "first", pairs, 1)  # what torch loads at the first step is loaded once
    step, torn = disturbed(folder / "killed", pairs, kills, random.Random(seed))
    last = step + 4
    for name in ("killed", "undisturbed"):
        finish(folder / name, pairs, last)
    if left := list((folder / "killed").glob(".*")):
        raise BrokenError(f"{left[0]} is still there")
    if found := differences(*(folder / name / f"step-{last:08d}" for name in ("killed", "undisturbed"))):
        raise BrokenError(f"after {last} steps {', '.join(found)} differ from those of an undisturbed run")
    return {"kills": kills, "half_written": torn, "steps": last}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.model.kills", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # before the forks: threads do not survive them
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(json.dumps(killed(Path(folder), options.kills, options.seed)))
        except (BrokenError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
