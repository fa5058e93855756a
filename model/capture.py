"""Run a sentence through the model with every tap open.

python -m model.capture "The cat sleeps." --out trace.npz      every tensor under its tap's name, with labels
python -m model.capture --file sentences.txt --out traces       the same for each line, into a folder (see archive.py)
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from model import archive, checkpoint, command
from model.command import InputError
from model.config import BOS, EOS, MAX_PIECES, PAD
from model.decode import Decoding, Hypothesis, decode
from model.edits import Edit, edited
from model.labels import labels
from model.taps import heard
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer


@dataclass(frozen=True)
class Prepared:
    """A text as ids, and what of it did not fit."""

    ids: tuple[int, ...]  # without specials, at most MAX_PIECES
    text: str  # what those ids say
    left_out: str  # what came after them; empty unless the text was cut

    def cut_note(self) -> str:
        """For a shell: what was cut."""
        return f"note: cut to {len(self.ids)} pieces; left out: “{self.left_out[:60]}…”"


def prepare(tokenizer: Tokenizer, text: str, *, what: str = "sentence") -> Prepared:
    """Encode a text, cut to MAX_PIECES pieces. Raises InputError if nothing readable is in it."""
    ids = tokenizer.encode(text)
    if not ids:
        raise InputError(f"the {what} is empty; type at least one word")
    kept = ids[:MAX_PIECES]
    return Prepared(tuple(kept), tokenizer.decode(kept), tokenizer.decode(ids[MAX_PIECES:]))


def translate_ids(model: Transformer, source: Prepared, decoding: Decoding = Decoding()) -> Hypothesis:
    """The model's own translation of one sentence."""
    return decode(model, torch.tensor([[*source.ids, EOS]]), decoding)[0]


def trace_of(
    model: Transformer,
    tokenizer: Tokenizer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    *,
    edits: Sequence[Edit] = (),
    padding: int = 0,
) -> Trace:
    """One teacher-forced pass over these ids (without specials), with every tap open.

    What is kept is what came out of the edits. `padding` adds that many <pad> to both sides, as if a longer sentence
    stood in the same batch.

    Raises ValueError if the model is in training mode: dropout would be in the numbers.
    """
    if model.training:
        raise ValueError("the model is in training mode, so dropout would change what is captured; call model.eval()")
    kept: dict[str, np.ndarray] = {}

    def listen(name: str, tensor: Tensor) -> None:
        kept[name] = tensor[0].numpy().copy()  # the positions are a view of the model's own

    tail = [PAD] * padding
    source, read, predicted = ([*source_ids, EOS, *tail], [BOS, *target_ids, *tail], [*target_ids, EOS, *tail])
    with torch.inference_mode():
        heard(edited(edits, then=listen), model, torch.tensor([source]), torch.tensor([read]))
    return Trace(
        source_text=tokenizer.decode(source_ids),
        target_text=tokenizer.decode(target_ids),
        source=labels(tokenizer, source),
        read=labels(tokenizer, read),
        predicted=labels(tokenizer, predicted),
        tensors=kept,
    )


def capture(
    model: Transformer,
    tokenizer: Tokenizer,
    sentence: str,
    *,
    target: str | None = None,
    decoding: Decoding = Decoding(),
) -> Trace:
    """Translate a sentence, or take `target` as its translation, and capture every tap of one pass over both."""
    source = prepare(tokenizer, sentence)
    if target is None:
        target_ids = translate_ids(model, source, decoding).ids
    else:
        target_ids = prepare(tokenizer, target, what="target").ids
    return trace_of(model, tokenizer, source.ids, target_ids)


def save(trace: Trace, path: Path) -> None:
    """Write an .npz: each tensor under its tap's name, and the labels as one JSON string under `labels`."""
    shown: dict[str, object] = {"source_text": trace.source_text, "target_text": trace.target_text}
    shown |= {name: [t.text for t in getattr(trace, name)] for name in ("source", "read", "predicted")}
    with checkpoint.replacing(path) as part, part.open("wb") as file:
        named: dict[str, Any] = {**trace.tensors, "labels": np.array(json.dumps(shown, ensure_ascii=False))}
        np.savez_compressed(file, **named)


def _run(options: argparse.Namespace) -> None:
    if (options.sentence is None) == (options.file is None):
        raise InputError("give one sentence, or --file with a sentence in each line")
    if options.file is not None and options.target is not None:
        raise InputError("--target goes with one sentence; in a --file a translation stands after a tab")
    if not options.out.absolute().parent.is_dir():
        raise InputError(f"the folder {options.out.absolute().parent} does not exist; create it first")
    capture_one = _capture_sentence if options.file is None else _capture_file
    capture_one(options)


def _capture_sentence(options: argparse.Namespace) -> None:
    model, tokenizer = checkpoint.load(options.weights)
    for text in filter(None, (options.sentence, options.target)):
        prepared = prepare(tokenizer, text)
        if prepared.left_out:
            print(prepared.cut_note(), file=sys.stderr)
    trace = capture(model, tokenizer, options.sentence, target=options.target)
    save(trace, options.out)
    print(f"{options.out}: {len(trace.tensors)} tensors of “{trace.source_text}” → “{trace.target_text}”")


def _capture_file(options: argparse.Namespace) -> None:
    total = archive.count(options.file)
    model, tokenizer = checkpoint.load(options.weights)
    options.out.mkdir(exist_ok=True)
    broken = 0

    def write(sentence: archive.Sentence, file: Path) -> str:
        trace = capture(model, tokenizer, sentence.text, target=sentence.target or None)
        save(trace, file)
        return trace.target_text

    def report(line: int, mistake: str) -> None:
        nonlocal broken
        broken += 1
        tqdm.write(f"{options.file}, line {line}: {mistake}", file=sys.stderr)

    filled = archive.fill(options.file, options.out, archive.digest(options.weights), write, report)
    for _ in tqdm(filled, total=total, unit=" lines", file=sys.stderr, disable=None):
        pass
    print(f"{options.out}: {total - broken} of {total} lines, listed in {options.out / archive.INDEX}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("capture", "Write every tensor of a translation to an .npz file.")
    parser.add_argument("sentence", nargs="?", help="in English")
    parser.add_argument("--file", type=Path, help="lines of sentence or sentence<TAB>translation")
    parser.add_argument("--out", type=Path, required=True, help="the .npz file to write; with --file the folder")
    parser.add_argument("--target", help="force this German translation instead of the model's own")
    return command.run(_run, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
