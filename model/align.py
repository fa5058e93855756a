"""How well cross-attention aligns words: alignment error rate of every head and layer, in percent.

python -m model.align gold.tsv --json      one object: heads, best, selected
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from model import checkpoint, command, sums
from model.alignment import BY, ROWS, Reading, aer, head_strengths, links_of_heads, of_pieces
from model.checkpoint import CheckpointError
from model.command import at_least
from model.config import MAX_PIECES
from model.corpus import weights_over
from model.gold import Gold, encode_tokens, read_gold
from model.inside import OutputProjection, output_projection
from model.sums import SumsError
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer

SEED = 1  # of the shuffling
READ = ("cross_attention.weights_tap", "cross_attention.values_tap")  # what an alignment is read off
SELECTED = "alignment.json"  # in a weights folder: the way of reading alignments that its card names


def readings(model: Transformer) -> Iterator[Reading]:
    """All ways of reading: each layer as a whole and each of its heads, by weight and norm, rows read and predicted."""
    for layer in range(1, model.config.decoder_layers + 1):
        for head in (None, *range(1, model.config.n_heads + 1)):
            for by in BY:
                for rows in ROWS:
                    yield Reading(layer, head, by, rows)


Sides = tuple[tuple[list[int], list[list[int]]], ...]  # of a pair: ids and each word's pieces, of both sides


def agreements(model: Transformer, tokenizer: Tokenizer, gold: Sequence[Gold]) -> Iterator[dict[Reading, Array]]:
    """For each pair, and each reading, both counts of `aer`; and, as a baseline, those with the target's rows shuffled.

    (2, 2): own and shuffled, then the two counts. All readings of a pair are shuffled alike. A pair beyond the model's
    limit counts nothing.
    """
    rng = np.random.default_rng(SEED)
    projections = {n: output_projection(model, "cross", n) for n in range(1, model.config.decoder_layers + 1)}
    encoded = [tuple(encode_tokens(tokenizer, side) for side in (pair.source, pair.target)) for pair in gold]
    traces = _traces(model, tokenizer, encoded)
    for number, (pair, sides) in enumerate(zip(gold, encoded, strict=True)):
        if number in traces:
            order = rng.permutation(len(sides[1][0]))
            counts = _agreements(traces[number], projections, pair, sides, order)
        else:
            counts = {}
        yield {reading: counts.get(reading, np.zeros((2, 2))) for reading in readings(model)}


def _traces(model: Transformer, tokenizer: Tokenizer, encoded: Sequence[Sides]) -> dict[int, Trace]:
    """By its number, each pair that is within the model's limit; in batches, since one at a time takes three times as
    long.
    """
    within = [number for number, sides in enumerate(encoded) if max(len(ids) for ids, _ in sides) <= MAX_PIECES]
    ids = [(encoded[number][0][0], encoded[number][1][0]) for number in within]
    return {within[index]: trace for index, trace in weights_over(model, tokenizer, ids, keep=READ)}


def _agreements(
    trace: Trace, projections: dict[int, OutputProjection], pair: Gold, sides: Sides, order: Array
) -> dict[Reading, Array]:
    """All readings of one pair; order (target pieces,): whose row stands where once they are shuffled."""
    (_, source), (_, target) = sides
    counts = {}
    for layer, by, rows in product(projections, BY, ROWS):  # all heads at once: there are many readings
        heads = of_pieces(head_strengths(trace, projections[layer], layer, by, source), rows)
        found = [links_of_heads(each, source, target) for each in (heads, heads[:, order])]
        for head, both in zip((*range(1, len(heads)), None), zip(*found, strict=True), strict=True):
            agreed = [aer(each, pair.sure, pair.possible) for each in both]
            counts[Reading(layer, head, by, rows)] = np.array(agreed, dtype=np.float64)
    return counts


def error_rate(counts: Array) -> float:
    """AER in percent of counts summed over a corpus. Raises InputError if nothing was counted."""
    both, all_ = counts
    if not all_:
        raise command.InputError(f"no pair of words to compare: every sentence is beyond {MAX_PIECES} pieces, or empty")
    return float(100.0 * (1.0 - both / all_))


def error_rates(model: Transformer, tokenizer: Tokenizer, gold: Sequence[Gold]) -> dict[Reading, float]:
    """Alignment error rate of each reading over the corpus, in percent. Pairs beyond the model's limit are left out.

    Raises InputError if that leaves nothing.
    """
    total = {reading: np.zeros((2, 2)) for reading in readings(model)}
    for counts in agreements(model, tokenizer, gold):
        total = {reading: total[reading] + count for reading, count in counts.items()}
    return {reading: error_rate(own) for reading, (own, _) in total.items()}


def named(model: Transformer, folder: Path) -> Reading | None:
    """The reading that a weights folder names; None if it names none. Raises CheckpointError if it names no one."""
    path = folder / SELECTED
    if not path.is_file():
        return None
    try:
        sums.check(folder, [SELECTED])
        said = json.loads(path.read_text(encoding="utf-8"))
    except SumsError as error:
        raise CheckpointError(str(error)) from error
    except ValueError as error:
        raise CheckpointError(f"{path} is not readable as JSON: {error}") from error
    found = [
        reading for reading in readings(model) if isinstance(said, dict) and said.items() <= asdict(reading).items()
    ]
    if len(found) != 1:
        raise CheckpointError(f"{path} must name layer, head, by and rows of one reading; {len(found)} fit {said}")
    return found[0]


def align(options: argparse.Namespace) -> None:
    gold = read_gold(options.file)[options.skip :][: options.limit]
    if not gold:
        raise command.InputError(f"--skip {options.skip} leaves nothing of {options.file}")
    model, tokenizer = checkpoint.load(options.weights)
    rates = error_rates(model, tokenizer, gold)
    chosen = named(model, options.weights)
    rows: dict[Reading, dict[str, Any]] = {
        reading: {"kind": "cross", **asdict(reading), "aer": round(rate, 2)} for reading, rate in rates.items()
    }
    best_first = sorted(rows.values(), key=lambda row: row["aer"])
    if options.json:
        selected = None if chosen is None else rows[chosen]
        found = {"n": len(gold), "heads": list(rows.values()), "best": best_first[0], "selected": selected}
        print(json.dumps(found))
        return
    for row in best_first[:15]:
        where = "all heads" if row["head"] is None else f"head {row['head']}"
        print(f"AER {row['aer']:6.2f}   cross layer {row['layer']}, {where:9}  by {row['by']:6}  rows {row['rows']}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("align", "Alignment error rate of cross-attention on hand-made alignments.")
    parser.add_argument("file", type=Path, help="source<TAB>target<TAB>links such as 0-0 1-2, possible ones 3p4")
    parser.add_argument("--json", action="store_true", help="one object: heads, best, selected")
    parser.add_argument("--skip", type=at_least(0), default=0, help="leave out the first N lines")
    parser.add_argument("--limit", type=at_least(1), help="then use N lines")
    return command.run(align, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
