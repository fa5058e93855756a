"""The curves of a training, as a table: what its saves and its logs say of loss, rate and dev BLEU, step by step.

python -m model.history runs/en-de runs/en-de2 --logs runs/en-de.log runs/en-de2.log --dev dev.tsv --out history.csv

Of runs that go on where another one stood, name the earlier first. `model.snapshots` reads the table.
"""

import argparse
import csv
import io
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from model import checkpoint, command, data, runs, sums
from model.command import InputError, at_least
from model.data import Pair
from model.evaluate import bleu_of, translate_all
from model.snapshots import COLUMNS, Row
from model.train import dev_loss
from model.whole import replacing

LOGGED = re.compile(r"step (?P<step>\d+) epoch \d+ loss (?P<loss>\S+) tokens (?P<tokens>\d+)\b")


def as_text(rows: Iterable[Row]) -> str:
    """The table as CSV, numbers with six significant digits, whole numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_number(row[name]) if name in row else "" for name in COLUMNS])
    return text.getvalue()


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else f"{value:.6g}"


def rows_of(folders: Sequence[Path], logs: Sequence[Path]) -> list[Row]:
    """What was measured whenever the runs were saved, and the loss in between, up to the last save.

    loss: the mean over the steps since the row before; where there is a log, over the 50 steps before, by the log.
    """
    saved = going_on(row for folder in folders for row in _saved(folder))
    logged = going_on(row for path in logs for row in _logged(path))
    by_step = {row["step"]: row for row in saved}
    last = saved[-1]["step"]
    merged = by_step | {row["step"]: by_step.get(row["step"], {}) | row for row in logged if row["step"] <= last}
    return [merged[step] for step in sorted(merged)]


def _saved(folder: Path) -> list[Row]:
    if not (steps := runs.steps(folder)):
        raise InputError(f"{folder} is no run of model.train: it holds no saved step")
    history = runs.load_progress(steps[-1]).history
    return [{name: float(row[name]) for name in COLUMNS if name in row} for row in history]


def _logged(path: Path) -> list[Row]:
    matches = map(LOGGED.match, path.read_text(encoding="utf-8").splitlines())
    return [{name: float(value) for name, value in match.groupdict().items()} for match in matches if match]


def going_on(rows: Iterable[Row]) -> list[Row]:
    """Rows in order of step. Where steps fall back, training went on from an earlier save: what it left is dropped."""
    kept: list[Row] = []
    for row in rows:
        while kept and kept[-1]["step"] >= row["step"]:
            kept.pop()
        kept.append(row)
    return kept


def with_snapshots(rows: Sequence[Row], folders: Sequence[Path], dev: Sequence[Pair]) -> list[Row]:
    """The rows, and dev loss and BLEU of each snapshot of the runs, up to the last row, that has none yet."""
    merged = {row["step"]: row for row in rows}
    for folder in (path for run in folders for path in sorted(run.glob("snapshot-*"))):
        step = float(folder.name.removeprefix("snapshot-"))
        if step <= rows[-1]["step"] and "dev_bleu" not in merged.get(step, {}):
            merged[step] = merged.get(step, {"step": step}) | measured(folder, dev)
    return [merged[step] for step in sorted(merged)]


@torch.inference_mode()
def measured(folder: Path, dev: Sequence[Pair]) -> Row:
    """Loss of the references (nats a token, no smoothing) and greedy BLEU on dev pairs, as training measures them."""
    model, tokenizer = checkpoint.load(folder)
    translated = translate_all(model, tokenizer, [pair.source for pair in dev])
    bleu = bleu_of(translated, [pair.target for pair in dev])
    return {"dev_loss": dev_loss(model, tokenizer, dev), "dev_bleu": bleu}


def history(options: argparse.Namespace) -> None:
    rows = rows_of(options.runs, options.logs)
    if options.dev:
        rows = with_snapshots(rows, options.runs, data.read_pairs(options.dev, limit=options.dev_limit))
    with replacing(options.out) as path:
        path.write_text(as_text(rows), encoding="utf-8")
    sums.record(options.out)
    print(f"{options.out}: {len(rows)} rows, to step {int(rows[-1]['step'])}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("history", "The table of a training: losses, rate and dev BLEU by step.", weights=False)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of model.train --run, the earlier first")
    parser.add_argument("--logs", type=Path, nargs="*", default=[], help="what it printed, in the same order")
    parser.add_argument("--dev", type=Path, help="pairs on which snapshots are measured that were not when saved")
    parser.add_argument("--dev-limit", type=at_least(1), default=500, help="use the first N pairs of it")
    parser.add_argument("--out", type=Path, required=True, help="where the table goes; its folder must exist")
    return command.run(history, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
