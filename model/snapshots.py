"""The shipped model at several steps of its training, each a model of its own, and the table of its curves.

`weights/en-de-history` holds folders named step-00001000 and history.csv, which `python -m model.history` writes.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from model import sums
from model.checkpoint import WEIGHTS, CheckpointError
from model.sums import SumsError

HISTORY = WEIGHTS.with_name(f"{WEIGHTS.name}-history")
TABLE = "history.csv"
COLUMNS = ("step", "tokens", "seconds", "rate", "loss", "dev_loss", "dev_bleu")

Row = dict[str, float]  # a column that is not known at a step is missing


@dataclass(frozen=True)
class Snapshot:
    """The model at one step of its training."""

    step: int
    folder: Path  # for checkpoint.load


def snapshots(history: Path = HISTORY, *, final: Path = WEIGHTS) -> list[Snapshot]:
    """The snapshots by step; the last is the shipped model, at the table's last step. CheckpointError if none."""
    stored = [Snapshot(int(folder.name[5:]), folder) for folder in sorted(history.glob("step-" + "[0-9]" * 8))]
    if not stored:
        raise CheckpointError(f"{history} holds no snapshot; they are folders with names such as step-00001000")
    return [*stored, Snapshot(int(read_table(history / TABLE)[-1]["step"]), final)]


def read_table(path: Path) -> list[Row]:
    """The rows of a table that this module wrote. Raises CheckpointError if it is missing or something else."""
    if not path.is_file():
        raise CheckpointError(f"there is no table of the training {path}")
    try:
        sums.check(path.parent, [path.name])
    except SumsError as error:
        raise CheckpointError(str(error)) from error
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    try:
        rows = [{n: float(v) for n, v in zip(COLUMNS, line, strict=True) if v} for line in lines[1:]]
    except ValueError:
        rows = []
    if not rows or lines[0] != list(COLUMNS) or not all("step" in row for row in rows):
        raise CheckpointError(f"{path} is no table of a training; its columns must be {', '.join(COLUMNS)}")
    return rows
