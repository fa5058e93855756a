"""Run a sentence through the model with every tap open.

python -m model.capture "The cat sleeps." --out trace.npz      every tensor under its tap's name, with labels
python -m model.capture --file sentences.txt --out traces       the same for each line, into a folder (see archive.py)
"""

import argparse
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from model import archive, checkpoint, command, report
from model.command import InputError
from model.config import BOS, EOS, MAX_PIECES, PAD
from model.decode import Decoding, Hypothesis, decode
from model.editing import Means, edited
from model.edits import Edit
from model.encoder_decoder import EncoderDecoder
from model.labels import labels
from model.taps import heard
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from model.what_if import means_of, write_edited
from model.whole import replacing

LONGEST_TEXT = 100_000  # characters; the limit in pieces lies far below, but a million take seconds to cut
EVERYTHING = ("",)  # endings of the names of the taps to keep: every name ends with nothing
WEIGHTS = ("weights_tap", "may_look_tap")  # enough for maps over a corpus, and much cheaper


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
    """Encode a text, cut to MAX_PIECES pieces. Raises InputError if nothing readable is in it, or a book."""
    if len(text) > LONGEST_TEXT:
        raise InputError(f"the {what} has {len(text)} characters; no more than {LONGEST_TEXT} are looked at")
    ids = tokenizer.encode(text)
    if not ids:
        raise InputError(f"the {what} is empty; type at least one word")
    kept = ids[:MAX_PIECES]
    return Prepared(tuple(kept), tokenizer.decode(kept), tokenizer.decode(ids[MAX_PIECES:]))


def translate_ids(model: EncoderDecoder, source: Prepared, decoding: Decoding = Decoding()) -> Hypothesis:
    """The model's own translation of one sentence."""
    return decode(model, torch.tensor([[*source.ids, EOS]]), decoding)[0]


def trace_of(
    model: Transformer,
    tokenizer: Tokenizer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    *,
    edits: Sequence[Edit] = (),
    means: Means | None = None,
    padding: int = 0,
    keep: tuple[str, ...] = EVERYTHING,
) -> Trace:
    """One teacher-forced pass over these ids (without specials), with every tap open whose name ends as `keep` says.

    What is kept is what came out of the edits. `padding` adds that many <pad> to both sides, as if a longer sentence
    stood in the same batch.

    Raises ValueError if the model is in training mode: dropout would be in the numbers.
    """
    refuse_training(model)
    kept: dict[str, np.ndarray] = {}

    def listen(name: str, tensor: Tensor) -> None:
        if name.endswith(keep):
            kept[name] = tensor[0].numpy().copy()  # the positions are a view of the model's own

    tail = [PAD] * padding
    source, read = [*source_ids, EOS, *tail], [BOS, *target_ids, *tail]
    with torch.inference_mode():
        listener = edited(edits, then=listen, means=means) if edits else listen
        heard(listener, model, torch.tensor([source]), torch.tensor([read]))
    return labelled(tokenizer, source_ids, target_ids, kept, tail=tail)


def refuse_training(model: Transformer) -> None:
    """Raise ValueError in training mode."""
    if model.training:
        raise ValueError("the model is in training mode, so dropout would change what is captured; call model.eval()")


def labelled(
    tokenizer: Tokenizer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    tensors: Mapping[str, np.ndarray],
    *,
    tail: Sequence[int] = (),
) -> Trace:
    """What was heard over these ids (without specials) as a Trace; `tail` is what stood behind both sides."""
    target = labels(tokenizer, [BOS, *target_ids, EOS, *tail])  # a word is the same whether read or predicted
    end = len(target_ids) + 1
    return Trace(
        source_text=tokenizer.decode(source_ids),
        target_text=tokenizer.decode(target_ids),
        source=labels(tokenizer, [*source_ids, EOS, *tail]),
        read=target[:end] + target[end + 1 :],
        predicted=target[1:],
        tensors=tensors,
    )


def capture(
    model: Transformer,
    tokenizer: Tokenizer,
    sentence: str,
    *,
    target: str | None = None,
    decoding: Decoding = Decoding(),
    edits: Sequence[Edit] = (),
) -> Trace:
    """Translate a sentence, or take `target` as its translation, and capture every tap of one pass over both.

    Under edits the translation is written anew, unless it is forced.
    """
    source = prepare(tokenizer, sentence)
    if target is None:
        target_ids = translate_ids(model, source, decoding).ids
    else:
        target_ids = prepare(tokenizer, target, what="target").ids
    if not edits:
        return trace_of(model, tokenizer, source.ids, target_ids)
    means = means_of(model, source.ids, target_ids)
    if target is None:
        target_ids = write_edited(model, source.ids, edits, decoding=decoding, means=means).ids
    return trace_of(model, tokenizer, source.ids, target_ids, edits=edits, means=means)


def save(trace: Trace, path: Path) -> None:
    """Write an .npz: each tensor under its tap's name, and the labels as one JSON string under `labels`."""
    with replacing(path) as part, part.open("wb") as file:
        _write(trace, file)


def packed(trace: Trace) -> bytes:
    """The bytes of the file that `save` writes."""
    file = io.BytesIO()
    _write(trace, file)
    return file.getvalue()


def _write(trace: Trace, file: BinaryIO) -> None:
    shown: dict[str, object] = {"source_text": trace.source_text, "target_text": trace.target_text}
    shown |= {name: [t.text for t in getattr(trace, name)] for name in ("source", "read", "predicted")}
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

    def complain(line: int, mistake: str) -> None:
        nonlocal broken
        broken += 1
        tqdm.write(f"{options.file}, line {line}: {mistake}", file=sys.stderr)

    filled = archive.fill(options.file, options.out, report.digest(options.weights), write, complain)
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
