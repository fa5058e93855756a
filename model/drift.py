"""How far apart two models of one shape are in what their heads look at, over the sentences of a file.

python -m model.drift pairs.tsv --weights weights/en-de-history/step-00001000 --against runs/en-de/snapshot-00001000

Says what storing weights as int8 does to the maps, or how much they changed from one step of training to another.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from model import checkpoint, command, data
from model.command import InputError, at_least
from model.config import MAX_PIECES
from model.corpus import usable, weights_over
from model.data import Pair
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array
from model.transformer import Transformer


def drift(model: Transformer, other: Transformer, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> dict[str, Any]:
    """For each kind, over all layers, heads and rows of both models' maps:

    largest, mean: of |difference| of two weights, the mean over cells that may be looked at
    moved: mean share of a row's weight that lies elsewhere, half the sum of |difference|
    other_maximum: share of rows whose largest weight is on another token

    Raises InputError if no pair is within the models' limit.
    """
    encoded = usable(tokenizer, pairs)
    if not encoded:
        raise InputError(f"every sentence pair is beyond {MAX_PIECES} pieces, or empty")
    sums = {kind: np.zeros(5) for kind in KINDS}
    largest = dict.fromkeys(KINDS, 0.0)
    both = zip(weights_over(model, tokenizer, encoded), weights_over(other, tokenizer, encoded), strict=True)
    for (_, one), (_, two) in both:
        for kind in KINDS:
            ours, theirs = (trace.weights(kind).astype(np.float64) for trace in (one, two))  # (L, H, T, S)
            apart = np.abs(ours - theirs)
            cells = np.broadcast_to(one.attention(kind, 1, "may_look")[0], apart.shape).sum()
            elsewhere = ours.argmax(axis=-1) != theirs.argmax(axis=-1)  # (L, H, T)
            sums[kind] += [apart.sum(), cells, apart.sum() / 2, elsewhere.sum(), elsewhere.size]
            largest[kind] = max(largest[kind], float(apart.max()))
    return {"n": len(encoded), **{kind: _means(largest[kind], sums[kind]) for kind in KINDS}}


def _means(largest: float, sums: Array) -> dict[str, float]:
    apart, cells, moved, elsewhere, rows = sums
    means = {"mean": apart / cells, "moved": moved / rows, "other_maximum": elsewhere / rows}
    return {"largest": round(largest, 5), **{name: round(float(mean), 6) for name, mean in means.items()}}


def measure(options: argparse.Namespace) -> None:
    pairs = data.read_pairs(options.file, limit=options.limit)
    (model, tokenizer), (other, vocabulary) = checkpoint.load(options.weights), checkpoint.load(options.against)
    if model.config != other.config or tokenizer.serialized != vocabulary.serialized:
        raise InputError(f"{options.weights} and {options.against} differ in configuration or vocabulary")
    found = drift(model, other, tokenizer, pairs)
    if options.json:
        print(json.dumps(found))
        return
    print(f"kind       largest |Δ|   mean |Δ|   moved a row   other maximum     ({found['n']} pairs)")
    for kind in KINDS:
        row = found[kind]
        print(f"{kind:8}{row['largest']:14.4f}{row['mean']:11.5f}{row['moved']:14.2%}{row['other_maximum']:16.2%}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("drift", "How far two models are apart in their attention weights.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", type=Path, required=True, help="the other weights folder")
    parser.add_argument("--json", action="store_true", help="one object: n, and largest, mean … for each kind")
    parser.add_argument("--limit", type=at_least(1), help="only the first N lines")
    return command.run(measure, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
