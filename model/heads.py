"""What each head does over a corpus: numbers that tell positional, syntactic and alignment heads apart.

python -m model.heads pairs.tsv --json --syntax trees.conllu --align gold.tsv
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model import align, checkpoint, command, data, syntax
from model.capture import trace_of
from model.command import at_least
from model.config import MAX_PIECES
from model.gold import Gold, read_gold
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, Trace
from model.transformer import Transformer

SEED = 1  # of the untrained model and of the shuffling


@dataclass
class Counts:
    """Sums over all rows of a corpus for the heads of one kind; each (L, H)."""

    sums: dict[str, Array] = field(default_factory=dict)

    def add(self, trace: Trace, kind: str, order: Array) -> None:
        """Row t of the trace's maps has the label of row order[t], with what it looked at and could have looked at."""
        rows, columns, _ = trace.labels(kind)
        weights = trace.weights(kind).astype(np.float64)[..., order, :]  # (L, H, T, S)
        allowed = trace.attention(kind, 1, "may_look")[0]
        possible = np.broadcast_to(allowed, (len(rows), len(columns))).sum(axis=-1)[order]
        special = np.array([token.special for token in columns])
        words = np.array([not token.special for token in rows])[order]
        marks = np.array([token.is_punctuation for token in columns])
        logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
        entropy = -(weights * logs).sum(axis=-1)  # (L, H, T)
        wide = possible > 1  # a row with one column to look at has no choice, so it says nothing about entropy
        ratio = entropy[..., wide] / np.log2(possible[wide])
        best = weights.argmax(axis=-1)
        offset = np.arange(len(columns))[None, :] - np.arange(len(rows))[:, None]
        found = {
            "rows": np.full(entropy.shape[:2], float(len(rows))),
            "wide_rows": np.full(entropy.shape[:2], float(wide.sum())),
            "word_rows": np.full(entropy.shape[:2], float(words.sum())),
            "entropy": entropy.sum(axis=-1),
            "ratio": ratio.sum(axis=-1),
            "distance": (weights * np.abs(offset)).sum(axis=(-2, -1)),
            "previous": (best - np.arange(len(rows)) == -1).sum(axis=-1),
            "same": (best - np.arange(len(rows)) == 0).sum(axis=-1),
            "next": (best - np.arange(len(rows)) == 1).sum(axis=-1),
            "confidence": np.where(special, 0.0, weights).max(axis=-1)[..., words].sum(axis=-1),
            "special": weights[..., special].sum(axis=(-2, -1)),
            "marks": weights[..., marks].sum(axis=(-2, -1)),
        }
        self.sums = {name: self.sums.get(name, 0.0) + total for name, total in found.items()}

    def rows(self, kind: str) -> list[dict[str, Any]]:
        """One dict a head: means over rows. Distances and offsets only where rows and columns are the same tokens.

        confidence: the largest weight, special tokens neither looking nor looked at (Voita et al. 2019, section 4).
        """
        means = {name: total / self.sums["rows"] for name, total in self.sums.items()}
        means["ratio"] = self.sums["ratio"] / self.sums["wide_rows"]
        means["confidence"] = self.sums["confidence"] / self.sums["word_rows"]
        layers, heads = means["ratio"].shape
        found = []
        for layer in range(layers):
            for head in range(heads):
                row: dict[str, Any] = {"kind": kind, "layer": layer + 1, "head": head + 1}
                row["entropy_bits"] = round(float(means["entropy"][layer, head]), 4)
                row["entropy_of_uniform"] = round(float(means["ratio"][layer, head]), 4)
                for name in ("distance", "previous", "same", "next"):
                    row[name] = None if kind == "cross" else round(float(means[name][layer, head]), 4)
                for name in ("confidence", "special", "marks"):
                    row[name] = round(float(means[name][layer, head]), 4)
                found.append(row)
        return found


def traces(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[data.Pair]) -> Iterable[Trace]:
    """Teacher-forced passes over the pairs; those beyond the model's limit are left out."""
    for pair in pairs:
        source, target = tokenizer.encode(pair.source), tokenizer.encode(pair.target)
        if source and target and max(len(source), len(target)) <= MAX_PIECES:
            yield trace_of(model, tokenizer, source, target)


def statistics(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[data.Pair]) -> dict[str, list[dict[str, Any]]]:
    """`heads`: every head's numbers; `shuffled`: with each map's rows in random order, which moves what is looked at.

    Raises InputError if no pair is within the model's limit.
    """
    rng = np.random.default_rng(SEED)
    counts, shuffled = ({kind: Counts() for kind in KINDS} for _ in range(2))
    for trace in traces(model, tokenizer, pairs):
        for kind in KINDS:
            rows = len(trace.labels(kind)[0])
            counts[kind].add(trace, kind, np.arange(rows))
            shuffled[kind].add(trace, kind, rng.permutation(rows))
    if not counts["encoder"].sums:
        raise command.InputError(f"every sentence pair is beyond {MAX_PIECES} pieces, or empty")
    return {
        "heads": [row for kind in KINDS for row in counts[kind].rows(kind)],
        "shuffled": [row for kind in KINDS for row in shuffled[kind].rows(kind)],
    }


def untrained(model: Transformer) -> Transformer:
    """A model of the same shape before its first step."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(SEED)
        return Transformer(model.config).eval().requires_grad_(False)


def relations(model: Transformer, tokenizer: Tokenizer, trees: Sequence[syntax.Tree]) -> syntax.RelationCounts:
    """How often each encoder head is right about each dependency."""
    counts = syntax.RelationCounts()
    for tree in trees:
        encoded = syntax.encode_tree(tokenizer, tree)
        if encoded is not None:
            ids, groups = encoded
            counts.add(trace_of(model, tokenizer, ids, ()).weights("encoder"), groups, tree)
    return counts


def _described(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[data.Pair],
    trees: Sequence[syntax.Tree],
    gold: Sequence[Gold],
) -> dict[str, Any]:
    found: dict[str, Any] = statistics(model, tokenizer, pairs)
    if trees:
        counts = relations(model, tokenizer, trees)
        for row in found["heads"]:
            row["relation"] = counts.best(row["layer"], row["head"]) if row["kind"] == "encoder" else None
    if gold:
        rates = align.error_rates(model, tokenizer, gold)
        for row in found["heads"]:
            if row["kind"] == "cross":
                here = {r: rate for r, rate in rates.items() if (r.layer, r.head) == (row["layer"], row["head"])}
                row["aer"] = {f"{r.by}, rows {r.rows}": round(rate, 2) for r, rate in here.items()}
    return found


def heads(options: argparse.Namespace) -> None:
    pairs = data.read_pairs(options.file, limit=options.limit)
    trees = syntax.read_trees(options.syntax) if options.syntax else []
    gold = read_gold(options.align) if options.align else []
    model, tokenizer = checkpoint.load(options.weights)
    found = _described(model, tokenizer, pairs, trees, gold)
    found["untrained"] = _described(untrained(model), tokenizer, pairs, trees, gold)["heads"]
    if options.json:
        print(json.dumps({"n": len(pairs), **found}))
        return
    print("kind    layer head  entropy  /uniform  distance     -1      0     +1  confidence  special  marks")
    for row in found["heads"]:
        position = [row[name] for name in ("distance", "previous", "same", "next")]
        shown = ["     –" if value is None else f"{value:6.2f}" for value in position]
        print(
            f"{row['kind']:8}{row['layer']:>5}{row['head']:>5}{row['entropy_bits']:9.2f}{row['entropy_of_uniform']:10.2f}"
            f"    {' '.join(shown)}{row['confidence']:12.2f}{row['special']:9.2f}{row['marks']:7.2f}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("heads", "Numbers about every head over a corpus of source<TAB>target lines.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="one object: n, heads, shuffled, untrained")
    parser.add_argument("--limit", type=at_least(1), help="only the first N lines")
    parser.add_argument("--syntax", type=Path, help="CoNLL-U trees, for the best dependency of each encoder head")
    parser.add_argument("--align", type=Path, help="word alignments, for the error rate of each cross head")
    return command.run(heads, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
