"""How near attention comes to an aligner: error rates of eflomal, trained on the same corpora and the gold sentences.

python -m benchmarks.eflomal_aer --gold gold.tsv --train a.tsv.xz b.tsv.xz [--eflomal PATH] [--json]

eflomal is no requirement of ours: `pip install eflomal` into an environment of its own, and name its `eflomal-align`.
Text is lower-cased and cut into words and punctuation marks, as the gold is.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from model.alignment import Links, aer
from model.data import read_pairs
from model.gold import Gold, read_gold

TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
READINGS = ("forward", "reverse", "intersection")
CHOICE = 30  # first lines of the gold: where the reading of attention was chosen, so its rate is that of the rest


def tokens(text: str) -> str:
    """Words and punctuation marks of a text, spaced."""
    return " ".join(TOKEN.findall(text.lower()))


def corpus(gold: Sequence[Gold], train: Iterable[Path]) -> list[str]:
    """`source ||| target` lines, those of the gold first."""
    lines = [f"{' '.join(pair.source)} ||| {' '.join(pair.target)}".lower() for pair in gold]
    for path in train:
        lines += [f"{tokens(pair.source)} ||| {tokens(pair.target)}" for pair in read_pairs(path)]
    return lines


def links_of(line: str) -> Links:
    return frozenset((int(source), int(target)) for source, target in (link.split("-") for link in line.split()))


def aligned(program: str, lines: Sequence[str], count: int) -> dict[str, list[Links]]:
    """The links of the first `count` lines: a source word for each target word, the reverse, and those in both."""
    with tempfile.TemporaryDirectory() as folder:
        text, *found = (Path(folder) / name for name in ("text", "forward", "reverse"))
        text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        subprocess.run([program, "-i", text, "-f", found[0], "-r", found[1]], check=True)
        forward, reverse = ([links_of(line) for line in path.read_text().splitlines()[:count]] for path in found)
    both = [there & back for there, back in zip(forward, reverse, strict=True)]
    return dict(zip(READINGS, (forward, reverse, both), strict=True))


def error_rate(found: Sequence[Links], gold: Sequence[Gold]) -> float:
    """AER in percent, counted as `model.align` counts."""
    counts = [aer(links, pair.sure, pair.possible) for links, pair in zip(found, gold, strict=True)]
    both, all_ = np.sum(counts, axis=0)
    return round(float(100 * (1 - both / all_)), 2)


def missing(options: argparse.Namespace) -> str:
    """What is not there to measure with, as a sentence; empty if nothing is missing."""
    if options.gold is None or not options.train:
        return "Not measured: name the alignments with --gold and the corpora with --train."
    if absent := [path for path in (options.gold, *options.train) if not path.is_file()]:
        return f"Not measured: there is no file {absent[0]}."
    if shutil.which(options.eflomal) is None:
        return f"Not measured: {options.eflomal} is not installed; `pip install eflomal` in an environment of its own."
    return ""


def measured(options: argparse.Namespace) -> dict[str, Any]:
    gold = read_gold(options.gold)
    lines = corpus(gold, options.train)
    found = aligned(options.eflomal, lines, len(gold))
    parts = {"all": slice(None), f"from line {CHOICE + 1}": slice(CHOICE, None)}
    rates = {
        name: {part: error_rate(links[lines_], gold[lines_]) for part, lines_ in parts.items() if gold[lines_]}
        for name, links in found.items()
    }
    return {"pairs": len(lines), "gold": len(gold), "aer": rates}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eflomal_aer", description=__doc__.splitlines()[0])
    parser.add_argument("--gold", type=Path, help="source<TAB>target<TAB>0-0 1-2 … lines")
    parser.add_argument("--train", type=Path, nargs="*", default=[], help="source<TAB>target lines, plain or .xz")
    parser.add_argument("--eflomal", default="eflomal-align", help="its program, by name or path")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if why := missing(options):
        print(json.dumps({"missing": why}) if options.json else why)
        return
    found = measured(options)
    if options.json:
        print(json.dumps(found))
        return
    for name, rates in found["aer"].items():
        print(f"{name:13}" + "   ".join(f"AER {rate:5.2f} % ({part})" for part, rate in rates.items()))
    print(f"trained on {found['pairs']} pairs, the {found['gold']} of the gold among them")


if __name__ == "__main__":
    main()
