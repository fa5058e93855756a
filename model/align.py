"""How well cross-attention aligns words: alignment error rate of every head and layer, in percent.

python -m model.align gold.tsv --json      one object: heads, best, selected
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model import checkpoint, command
from model.capture import trace_of
from model.checkpoint import CheckpointError
from model.command import at_least
from model.config import MAX_PIECES
from model.gold import Gold, Links, encode_tokens, read_gold
from model.inside import OutputProjection, output_projection
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer

SELECTED = "alignment.json"  # in a weights folder: the way of reading alignments that its card names


@dataclass(frozen=True)
class Reading:
    """One way of reading an alignment off cross-attention."""

    layer: int
    head: int | None  # None: all heads of the layer together
    by: str  # "weight", or "norm" of weight times f(x) (Kobayashi et al. 2020)
    rows: str  # "read" or "predicted": which token of the target stands for a row


def aer(found: Links, sure: Links) -> tuple[int, int]:
    """Twice the links that agree, and all links of both: summed over a corpus, AER = 1 - first / second."""
    return 2 * len(found & sure), len(found) + len(sure)


def strengths(trace: Trace, projection: OutputProjection, reading: Reading, source: list[list[int]]) -> Array:
    """(target pieces, source words): how strongly each target piece holds to each source word, given its pieces.

    Weights and vectors are summed over a word's pieces and over heads, vectors before their norm is taken.
    """
    weights = trace.attention("cross", reading.layer, "weights").astype(np.float64)  # (H, T, S)
    values = trace.attention("cross", reading.layer, "values").astype(np.float64)  # (H, S, K)
    heads = slice(None) if reading.head is None else slice(reading.head - 1, reading.head)
    rows = weights[heads, :-1] if reading.rows == "predicted" else weights[heads, 1:]  # (h, target pieces, S)
    member = np.array([[float(s in group) for group in source] for s in range(weights.shape[-1])])  # (S, words)
    if reading.by == "weight":
        return np.einsum("hts,sw->tw", rows, member)
    moved = np.einsum("hsk,hkd->hsd", values[heads], projection.slices[heads])
    vectors = np.einsum("hts,hsd,sw->twd", rows, moved, member, optimize=True)
    return np.linalg.norm(vectors, axis=-1)


def links(strength: Array, source: list[list[int]], target: list[list[int]]) -> Links:
    """Each target word to its strongest source word. strength (target pieces, source words), averaged over pieces."""
    real = [word for word, group in enumerate(source) if group]
    found = set()
    for word, group in enumerate(target):
        if group and real:
            mean = strength[group].mean(axis=0)[real]
            found.add((real[int(mean.argmax())], word))
    return frozenset(found)


def readings(model: Transformer) -> Iterator[Reading]:
    """All ways of reading: each layer as a whole and each of its heads, by weight and norm, rows read and predicted."""
    for layer in range(1, model.config.decoder_layers + 1):
        for head in (None, *range(1, model.config.n_heads + 1)):
            for by in ("weight", "norm"):
                for rows in ("read", "predicted"):
                    yield Reading(layer, head, by, rows)


def error_rates(model: Transformer, tokenizer: Tokenizer, gold: Sequence[Gold]) -> dict[Reading, float]:
    """Alignment error rate of each reading over the corpus, in percent. Pairs beyond the model's limit are left out.

    Raises InputError if that leaves nothing.
    """
    agreed = {reading: np.zeros(2) for reading in readings(model)}
    projections = {n: output_projection(model, "cross", n) for n in range(1, model.config.decoder_layers + 1)}
    for pair in gold:
        source_ids, source = encode_tokens(tokenizer, pair.source)
        target_ids, target = encode_tokens(tokenizer, pair.target)
        if max(len(source_ids), len(target_ids)) > MAX_PIECES:
            continue
        trace = trace_of(model, tokenizer, source_ids, target_ids)
        for reading in agreed:
            strength = strengths(trace, projections[reading.layer], reading, source)
            agreed[reading] += aer(links(strength, source, target), pair.sure)
    if not all(all_ for _, all_ in agreed.values()):
        raise command.InputError(f"no pair of words to compare: every sentence is beyond {MAX_PIECES} pieces, or empty")
    return {reading: 100.0 * (1.0 - both / all_) for reading, (both, all_) in agreed.items()}


def selected(rows: Sequence[dict[str, Any]], folder: Path) -> dict[str, Any] | None:
    """The row that a weights folder names; None if it names none. Raises CheckpointError if it names no one row."""
    path = folder / SELECTED
    if not path.is_file():
        return None
    try:
        named = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} is not readable as JSON: {error}") from error
    found = [row for row in rows if isinstance(named, dict) and named.items() <= row.items()]
    if len(found) != 1:
        raise CheckpointError(f"{path} must name layer, head, by and rows of one reading; {len(found)} fit {named}")
    return found[0]


def align(options: argparse.Namespace) -> None:
    gold = read_gold(options.file)[options.skip :][: options.limit]
    if not gold:
        raise command.InputError(f"--skip {options.skip} leaves nothing of {options.file}")
    model, tokenizer = checkpoint.load(options.weights)
    rates = error_rates(model, tokenizer, gold)
    rows: list[dict[str, Any]] = [
        {"kind": "cross", **asdict(reading), "aer": round(rate, 2)} for reading, rate in rates.items()
    ]
    chosen = selected(rows, options.weights)
    best_first = sorted(rows, key=lambda row: row["aer"])
    if options.json:
        print(json.dumps({"n": len(gold), "heads": rows, "best": best_first[0], "selected": chosen}))
        return
    for row in best_first[:15]:
        where = "all heads" if row["head"] is None else f"head {row['head']}"
        print(f"AER {row['aer']:6.2f}   cross layer {row['layer']}, {where:9}  by {row['by']:6}  rows {row['rows']}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("align", "Alignment error rate of cross-attention on hand-made alignments.")
    parser.add_argument("file", type=Path, help="source<TAB>target<TAB>links such as 0-0 1-2")
    parser.add_argument("--json", action="store_true", help="one object: heads, best, selected")
    parser.add_argument("--skip", type=at_least(0), default=0, help="leave out the first N lines")
    parser.add_argument("--limit", type=at_least(1), help="then use N lines")
    return command.run(align, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
