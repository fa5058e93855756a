"""The report on a model's heads that lies beside its weights, `heads.json`, as `python -m model.heads --out` writes it.

python -m model.report                  which published findings hold
python -m model.report --markdown       the table of all heads and the findings, for the card

`heads` and `layers` are lists of rows: kind, layer, head (None for a layer), then `own`, `shuffled` and `untrained`
with the same numbers in each (habits; `relation` of encoder heads; `aer` in percent of cross heads, by half of the gold
and by reading), and `silenced`: Δ ln P per token by zero and by mean, with the ends of its interval. `findings` say
what holds, and `weights` whose report this is. No torch.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import sums
from model.sums import SumsError

NAME = "heads.json"
FORMAT = 1
COLUMNS = ("own", "shuffled", "untrained")
HALVES = ("first", "last")  # of the gold alignments: to choose on, and to report on
TENSORS = "model.safetensors"
NEEDED = ("format", "weights", "n", "corpus", "heads", "layers", "findings")


class ReportError(ValueError):
    """A report that is missing, damaged or of other weights; the message says what to do."""


def digest(folder: Path) -> str:
    """Whose report it is: SHA-256 of the tensors in a weights folder."""
    return sums.digest(folder / TENSORS)


@dataclass(frozen=True)
class Report:
    """A report that fits its weights."""

    content: dict[str, Any]

    @property
    def heads(self) -> list[dict[str, Any]]:
        return list(self.content["heads"])

    @property
    def layers(self) -> list[dict[str, Any]]:
        return list(self.content["layers"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        return list(self.content["findings"])

    def head(self, kind: str, layer: int, head: int) -> dict[str, Any]:
        """The row of one head, counted from 1. Raises ReportError if it is not there."""
        for row in self.heads:
            if (row["kind"], row["layer"], row["head"]) == (kind, layer, head):
                return row
        raise ReportError(f"the report has no {kind} layer {layer}, head {head}")

    def layer(self, kind: str, layer: int) -> dict[str, Any]:
        """The row of all heads of one attention together. Raises ReportError if it is not there."""
        for row in self.layers:
            if (row["kind"], row["layer"]) == (kind, layer):
                return row
        raise ReportError(f"the report has no {kind} layer {layer}")


def load(folder: Path) -> Report:
    """The report on the weights in a folder. Raises ReportError if there is none, or one of other weights."""
    path = folder / NAME
    content = _read(path)
    whose = content["weights"]
    if not isinstance(whose, dict) or whose.get("digest") != digest(folder):
        raise ReportError(f"{path} was made from other weights than those beside it; {_again(folder)}")
    return Report(content)


def _read(path: Path) -> dict[str, Any]:
    again = _again(path.parent)
    try:
        sums.check(path.parent, [path.name])
        content = json.loads(path.read_text(encoding="utf-8"))
    except SumsError as error:
        raise ReportError(str(error)) from error
    except FileNotFoundError:
        raise ReportError(f"there is no report {path}; {again}") from None
    except ValueError as error:
        raise ReportError(f"{path} is damaged ({error}); {again}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ReportError(f"{path} is no report of format {FORMAT}; {again}")
    if missing := [name for name in NEEDED if name not in content]:
        raise ReportError(f"{path} has no {missing[0]}; {again}")
    return content


def _again(folder: Path) -> str:
    return f"make it with `python -m model.heads … --weights {folder} --out {folder / NAME}`"


def _print(options: argparse.Namespace) -> None:
    from model import card, command  # the one reads this module, the other loads torch

    folders = [options.weights, *options.beside]
    try:
        reports = [load(folder) for folder in folders]
    except ReportError as error:
        raise command.InputError(str(error)) from error
    if options.markdown:
        print(card.heads_table(reports[0]))
        print(card.layers_table(reports[0]))
        print(card.findings_table(reports, [folder.name for folder in folders]))
        return
    for finding in reports[0].findings:
        print(said(finding))


def said(finding: dict[str, Any]) -> str:
    """A finding as one line of text."""
    return f"{'holds' if finding['holds'] else 'does not hold':14}{finding['claim']} {finding['said']}"


def main(arguments: Sequence[str] | None = None) -> int:
    from model import command  # it loads torch, which readers of reports can do without

    parser = command.parser("report", "What is known about the heads of a model.")
    parser.add_argument("--markdown", action="store_true", help="as tables for the card")
    parser.add_argument("--beside", type=Path, nargs="*", default=[], help="more weights folders, to compare findings")
    return command.run(_print, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
