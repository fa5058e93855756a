"""What each head does over a corpus, beside two baselines, and which published findings hold.

python -m model.heads dev.tsv --syntax trees.conllu.xz --align gold.tsv --silence 500 --out weights/en-de/heads.json

With --out the report is written that the app and the card read; `model/report.py` says what is in it.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model import checkpoint, command, data, report, silence, sums, syntax
from model.command import InputError, at_least
from model.config import MAX_PIECES
from model.corpus import usable
from model.evidence import Material, evidence, parsed
from model.findings import findings
from model.gold import Gold, encode_tokens, read_gold
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from model.whole import replacing

TABLE = ("entropy_bits", "entropy_of_uniform", "distance", "previous", "same", "next", "confidence", "special", "marks")
TITLE = "kind    layer head  entropy  /uniform  distance    -1     0    +1  confidence  special  marks"


def read_material(options: argparse.Namespace, tokenizer: Tokenizer) -> tuple[Material, dict[str, Any]]:
    """What to measure on, and what the report says about it: lines that were read, and those that could be used.

    Raises InputError where nothing can be.
    """
    pairs = data.read_pairs(options.file, limit=options.limit)
    encoded = usable(tokenizer, pairs)
    if not encoded:
        raise InputError(f"every sentence pair is beyond {MAX_PIECES} pieces, or empty")
    trees = syntax.read_trees(options.syntax) if options.syntax else []
    gold = read_gold(options.align) if options.align else []
    if len(gold) == 1:
        raise InputError(f"{options.align} has one alignment; two are needed, to choose on one and report on the other")
    silenced = pairs[: options.silence] if options.silence else []
    material = Material(encoded, parsed(tokenizer, trees), gold, usable(tokenizer, silenced))
    sizes = {
        "pairs": (options.file, len(pairs), len(encoded)),
        "trees": (options.syntax, len(trees), len(material.trees)),
        "gold": (options.align, len(gold), sum(fits(tokenizer, pair) for pair in gold)),
        "silence": (options.file, len(silenced), len(material.silence)),
    }
    return material, {
        name: {"file": path.name, "read": read, "used": used} for name, (path, read, used) in sizes.items() if read
    }


def fits(tokenizer: Tokenizer, pair: Gold) -> bool:
    """Whether both sides are within the model's limit."""
    return all(len(encode_tokens(tokenizer, side)[0]) <= MAX_PIECES for side in (pair.source, pair.target))


def made(model: Transformer, folder: Path, material: Material, tokenizer: Tokenizer) -> dict[str, Any]:
    """A report on the weights in a folder, without what it says of its corpus."""
    config = model.config
    depth = {"encoder": config.encoder_layers, "masked": config.decoder_layers, "cross": config.decoder_layers}
    shape = {"layers": depth, "heads": config.n_heads, "parameters": sum(p.numel() for p in model.parameters())}
    return {
        "format": report.FORMAT,
        "weights": {"digest": report.digest(folder)} | shape,
        "n": len(material.pairs),
        "bootstrap": {"resamples": silence.RESAMPLES, "level": silence.LEVEL, "seed": silence.SEED},
        **rounded(evidence(model, tokenizer, material)),
    }


def rounded(value: Any) -> Any:
    """Numbers to four significant digits, all through."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def heads(options: argparse.Namespace) -> None:
    if options.out and not options.out.absolute().parent.is_dir():
        raise InputError(f"the folder {options.out.absolute().parent} does not exist; create it first")
    model, tokenizer = checkpoint.load(options.weights)
    material, corpus = read_material(options, tokenizer)
    content = made(model, options.weights, material, tokenizer) | {"corpus": corpus}
    content["findings"] = rounded(findings(content))
    if options.out:
        with replacing(options.out) as part:
            part.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
        sums.record(options.out)
    if options.json:
        print(json.dumps(content))
    else:
        show(content)


def show(content: dict[str, Any]) -> None:
    """A table for people: a line for each head, then a line for each finding."""
    print(TITLE)
    for row in content["heads"]:
        numbers = ["–" if row["own"][name] is None else f"{row['own'][name]:.2f}" for name in TABLE]
        widths = (9, 10, 10, 6, 6, 6, 12, 9, 7)
        shown = "".join(f"{number:>{width}}" for number, width in zip(numbers, widths, strict=True))
        print(f"{row['kind']:8}{row['layer']:>5}{row['head']:>5}{shown}")
    for finding in content["findings"]:
        print(report.said(finding))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("heads", "Numbers about every head over a corpus of source<TAB>target lines.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="the report as one object: n, heads, layers, findings …")
    parser.add_argument("--out", type=Path, help="also write it to this file; the app reads heads.json beside weights")
    parser.add_argument("--limit", type=at_least(1), help="only the first N lines")
    parser.add_argument("--syntax", type=Path, help="CoNLL-U trees, for the best dependency of each encoder head")
    parser.add_argument("--align", type=Path, help="word alignments, for the error rate of each cross head")
    parser.add_argument("--silence", type=at_least(1), metavar="N", help="silence each head on the first N lines")
    return command.run(heads, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
