"""Traces of many sentences: a folder with one .npz a sentence and an index, which a killed run goes on filling.

out/index.jsonl      one object a line: line (from 1), file, sentence, forced, translation, weights
out/000001.npz       every tensor of the sentence in line 1, under its tap's name
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from model.command import InputError
from model.whole import replacing

INDEX = "index.jsonl"
LONGEST_LINE = 64 * 1024  # bytes; far beyond MAX_PIECES pieces, and no reason to hold more in memory


@dataclass(frozen=True)
class Entry:
    """One line of the index: what was captured, and from which weights."""

    line: int
    file: str
    sentence: str  # as it stands in the input
    forced: str  # the translation that was forced; empty: the model's own was taken
    weights: str  # digest of the weights
    translation: str  # as captured

    def is_of(self, sentence: "Sentence", weights: str) -> bool:
        return (self.sentence, self.forced, self.weights) == (sentence.text, sentence.target, weights)


@dataclass(frozen=True)
class Sentence:
    """One line of the input, or what is wrong with it."""

    line: int
    text: str
    target: str
    mistake: str = ""


def sentences(path: Path) -> Iterator[Sentence]:
    """The lines of a UTF-8 file: a sentence, or sentence<TAB>target. Broken lines come with their mistake."""
    with path.open("rb") as file:
        for number, raw in enumerate(_lines(file), start=1):
            yield _sentence(number, raw)


def count(path: Path) -> int:
    """How many lines a file has."""
    with path.open("rb") as file:
        return sum(1 for _ in _lines(file))


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of any length; of a longer one than LONGEST_LINE only so much is kept that it is known to be too long."""
    while raw := file.readline(LONGEST_LINE + 1):
        rest = raw
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE + 1)
        yield raw


def _sentence(number: int, raw: bytes) -> Sentence:
    def broken(mistake: str) -> Sentence:
        return Sentence(number, "", "", mistake)

    if len(raw) > LONGEST_LINE:
        return broken(f"longer than {LONGEST_LINE} bytes")
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
    except UnicodeDecodeError as error:
        return broken(f"not UTF-8 text (byte {error.start + 1})")
    source, *target = text.split("\t")
    if len(target) > 1:
        return broken(f"{len(target)} tabs; a line is a sentence, or sentence<TAB>target")
    if not source.strip():
        return broken("empty")
    if target and not target[0].strip():
        return broken("nothing stands after the tab")
    return Sentence(number, source, target[0] if target else "")


def read_index(folder: Path) -> dict[int, Entry]:
    """What is there already, by line. A last line that a kill left torn does not count."""
    found: dict[int, Entry] = {}
    index = folder / INDEX
    if not index.exists():
        return found
    with index.open(encoding="utf-8", newline="\n") as lines:  # a sentence may hold other ends of lines
        for text in lines:
            try:
                entry = Entry(**json.loads(text))
            except (ValueError, TypeError) as error:
                if text.endswith("\n"):
                    said = f"{index} has a line that is not an entry of an index; take another folder"
                    raise InputError(said) from error
                break
            found[entry.line] = entry
    return found


def write_index(folder: Path, entries: dict[int, Entry]) -> None:
    """The whole index, in the order of the lines."""
    with replacing(folder / INDEX) as part:
        part.write_text("".join(_said(entries[line]) for line in sorted(entries)), encoding="utf-8")


def fill(
    path: Path,
    folder: Path,
    weights: str,
    write: Callable[[Sentence, Path], str],
    report: Callable[[int, str], None],
) -> Iterator[Sentence]:
    """Write what is missing of `path` into `folder`, yielding each line once it is dealt with.

    write(sentence, file) makes one file and returns the translation in it; report(line, mistake) hears of broken lines.
    """
    known = read_index(folder)
    write_index(folder, known)  # whole again, before anything is added to it
    entries = {}
    with (folder / INDEX).open("a", encoding="utf-8") as index:
        for sentence in sentences(path):
            file = folder / f"{sentence.line:06d}.npz"
            try:
                entry = known.get(sentence.line)
                if entry is None or not entry.is_of(sentence, weights) or not file.exists():
                    entry = _written(sentence, file, weights, write)
                    index.write(_said(entry))
                    index.flush()
                entries[sentence.line] = entry
            except InputError as error:
                file.unlink(missing_ok=True)
                report(sentence.line, str(error))
            yield sentence
    write_index(folder, entries)


def _written(sentence: Sentence, file: Path, weights: str, write: Callable[[Sentence, Path], str]) -> Entry:
    if sentence.mistake:
        raise InputError(sentence.mistake)
    return Entry(sentence.line, file.name, sentence.text, sentence.target, weights, write(sentence, file))


def _said(entry: Entry) -> str:
    return json.dumps(asdict(entry), ensure_ascii=False) + "\n"
