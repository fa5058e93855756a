"""Past the training length: BLEU and the habits of heads on inputs of k joined sentences, and of shifted positions.

python -m model.length pairs.tsv --save      measures, and writes length.json beside the weights
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import sacrebleu
import torch
from torch import Tensor

from model import checkpoint, command, data, sums
from model.capture import trace_of
from model.command import at_least
from model.config import MAX_PIECES, MAX_POSITIONS
from model.data import Pair
from model.evaluate import translate_all
from model.habits import Means, in_order, row_numbers
from model.length_report import REPORT, HeadHabit, Length, LengthReport, Start
from model.report import digest
from model.taps import heard
from model.tokenizer import Tokenizer
from model.trace import KINDS
from model.transformer import Transformer
from model.whole import replacing

JOINED = (1, 2, 3, 4, 6, 8, 10, 12, 16)  # sentences an input
STARTS = (1, 11, 21, 41, 61, 81, 121, 161, 201)  # positions of the first token
TRACED = 40  # inputs of each length that heads are watched on


def places(pairs: int, count: int) -> list[range]:
    """The places of so many pairs in order, `count` to a group; what is left over at the end makes no group."""
    return [range(at, at + count) for at in range(0, pairs - count + 1, count)]


def as_one(group: Sequence[Pair]) -> Pair:
    """One long pair of them, both sides joined in the same order."""
    return Pair(" ".join(pair.source for pair in group), " ".join(pair.target for pair in group))


def measure(
    model: Transformer, tokenizer: Tokenizer, pairs: Sequence[Pair], alone: Sequence[str], count: int
) -> Length | None:
    """Inputs of `count` pairs each, whole, and put together from `alone`, the translation of each pair's source.

    None if no input is within the model's limit.
    """
    groups = [at for at in places(len(pairs), count) if _fits(tokenizer, as_one([pairs[i] for i in at]))]
    if not groups:
        return None
    wholes = [as_one([pairs[i] for i in group]) for group in groups]
    references = [whole.target for whole in wholes]
    at_once = sacrebleu.corpus_bleu(translate_all(model, tokenizer, [whole.source for whole in wholes]), [references])
    put_together = [" ".join(alone[i] for i in group) for group in groups]
    return Length(
        joined=count,
        n=len(groups),
        pieces=round(fmean(len(tokenizer.encode(whole.source)) for whole in wholes), 1),
        words=round(fmean(len(whole.source.split()) for whole in wholes), 1),
        bleu=round(at_once.score, 2),
        apart=round(sacrebleu.corpus_bleu(put_together, [references]).score, 2),
        ratio=round(at_once.sys_len / at_once.ref_len, 3),
        heads=watched(model, tokenizer, wholes[:TRACED]),
    )


def _fits(tokenizer: Tokenizer, pair: Pair) -> bool:
    return max(len(tokenizer.encode(pair.source)), len(tokenizer.encode(pair.target))) <= MAX_PIECES


def watched(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> tuple[HeadHabit, ...]:
    """Every head's habit over these pairs, the target forced."""
    means = {kind: Means() for kind in KINDS}
    for pair in pairs:
        trace = trace_of(model, tokenizer, tokenizer.encode(pair.source), tokenizer.encode(pair.target))
        for kind in KINDS:
            means[kind].add(row_numbers(trace, kind, in_order(kind, len(trace.labels(kind)[0]))))
    return tuple(
        _habit(kind, layer, head, mean.of(layer, head))
        for kind, mean in means.items()
        for layer in range(1, mean.shape[0] + 1)
        for head in range(1, mean.shape[1] + 1)
    )


def _habit(kind: str, layer: int, head: int, numbers: dict[str, float | None]) -> HeadHabit:
    names = {"previous": "previous", "same": "same", "next": "next", "entropy": "entropy_of_uniform"}
    values = {ours: numbers[theirs] for ours, theirs in names.items()}
    rounded = {name: None if value is None else round(value, 4) for name, value in values.items()}
    return HeadHabit(kind, layer, head, **rounded)


def shifted(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[Pair], start: int) -> Start | None:
    """BLEU if the first token of every source has position `start` (from 1), the next one start + 1, and so on.

    None where a source would reach beyond the positions that the model has.
    """
    positions = model.encoder.input.positions
    if start + max(len(tokenizer.encode(pair.source)) for pair in pairs) > MAX_POSITIONS:
        return None

    def listen(name: str, tensor: Tensor) -> Tensor | None:
        if name != "encoder.input.positions_tap":
            return None
        return positions[None, start - 1 : start - 1 + tensor.shape[1]]

    written = heard(listen, translate_all, model, tokenizer, [pair.source for pair in pairs])
    return Start(start, round(sacrebleu.corpus_bleu(written, [[pair.target for pair in pairs]]).score, 2))


def report(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[Pair], **named: object) -> LengthReport:
    """Everything measured on these pairs; `named` are the fields that say of what.

    Raises InputError if not even single sentences are within the model's limit.
    """
    singles = [pair for pair in pairs if _fits(tokenizer, pair)]
    if not singles:
        raise command.InputError(f"every sentence pair is beyond {MAX_PIECES} pieces")
    with torch.inference_mode():
        alone = translate_all(model, tokenizer, [pair.source for pair in singles])
        lengths = [found for count in JOINED if (found := measure(model, tokenizer, singles, alone, count))]
        starts = [moved for start in STARTS if (moved := shifted(model, tokenizer, singles, start))]
    return LengthReport(sentences=len(singles), lengths=tuple(lengths), starts=tuple(starts), **named)  # type: ignore[arg-type]


def length(options: argparse.Namespace) -> None:
    pairs = data.read_pairs(options.file, limit=options.limit)
    model, tokenizer = checkpoint.load(options.weights)
    named = {"weights": digest(options.weights), "file": options.file.name, "trained_words": options.trained}
    found = report(model, tokenizer, pairs, **named)
    print("sentences  inputs  pieces  BLEU  one by one  length  heads that keep their place")
    for row in found.lengths:
        kept, heads = found.kept(row)
        print(f"{row.joined:9} {row.n:7} {row.pieces:7} {row.bleu:5} {row.apart:11} {row.ratio:7}  {kept} of {heads}")
    for moved in found.starts:
        print(f"single sentences from position {moved.start}: BLEU {moved.bleu}")
    if options.save:
        with replacing(options.weights / REPORT) as path:
            found.save(path)
        sums.record(options.weights / REPORT)


def main(arguments: Sequence[str] | None = None) -> int:
    torch.set_num_threads(1)  # on one sentence at a time a second thread mostly waits, at full load
    parser = command.parser("length", "What happens past the training length, on sentences joined to longer ones.")
    parser.add_argument("file", type=Path, help="source<TAB>target lines")
    parser.add_argument("--save", action="store_true", help=f"write {REPORT} into the weights folder")
    parser.add_argument("--limit", type=at_least(1), default=240, help="the first N lines (default: 240)")
    parser.add_argument("--trained", type=at_least(1), default=30, help="longest source in training, in words")
    return command.run(length, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
