"""Hand-made word alignments: `source<TAB>target<TAB>0-0 1-2 3p3 4-_ _-5`, tokens spaced, indices from 0.

`1-2` is a sure link, `3p3` a possible one; `4-_` and `_-5` say that a source or target word has no counterpart. A line
that begins with # and has no tab is a comment.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.alignment import Links
from model.data import DataError
from model.tokenizer import SPACE, Tokenizer

CONTRACTED = ("", "s", "d", "m", "re", "ve", "ll")
NO_SPACE_BEFORE = {*".,;:!?)]%", "...", "n't", "n’t"} | {mark + end for mark in "'’" for end in CONTRACTED}
NO_SPACE_AFTER = set("([")
LINK = re.compile("[0-9]+[-p][0-9]+|[0-9]+-_|_-[0-9]+")

EVERYDAY = Path(__file__).with_name("everyday_gold.tsv")  # sentences written and aligned for this project


@dataclass(frozen=True)
class Gold:
    """One sentence pair whose words somebody linked."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links  # (source, target), from 0
    possible: Links = frozenset()  # as good as sure ones when found, but not missed
    alone_source: frozenset[int] = frozenset()  # words that are said to have no counterpart
    alone_target: frozenset[int] = frozenset()


def read_gold(path: Path) -> list[Gold]:
    """Read a file of alignments. Raises DataError with the line's number for a line that is not one."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            numbered = [(number, line.rstrip("\n")) for number, line in enumerate(lines, start=1)]
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not readable as UTF-8 text ({error})") from error
    found = [_gold(path, number, line.split("\t")) for number, line in numbered if not _is_comment(line)]
    if not found:
        raise DataError(f"{path} holds no alignment")
    return found


def _is_comment(line: str) -> bool:
    return line.startswith("#") and "\t" not in line


def _gold(path: Path, number: int, columns: list[str]) -> Gold:
    where = f"{path}, line {number}"
    if len(columns) != 3:
        raise DataError(f"{where}: {len(columns) - 1} tabs; a line is `source<TAB>target<TAB>0-0 1-2`")
    source, target = tuple(columns[0].split()), tuple(columns[1].split())
    if not source or not target:
        raise DataError(f"{where}: the {'target' if source else 'source'} is empty")
    said = columns[2].split()
    if strange := [link for link in said if not LINK.fullmatch(link)]:
        raise DataError(f"{where}: a link is two numbers and a hyphen, such as 3-4; {strange[0]!r} is not")
    found = Gold(
        source,
        target,
        sure=_links(said, "-"),
        possible=_links(said, "p"),
        alone_source=frozenset(int(link[:-2]) for link in said if link.endswith("-_")),
        alone_target=frozenset(int(link[2:]) for link in said if link.startswith("_-")),
    )
    linked = [*found.sure, *found.possible]
    sources, targets = {s for s, _ in linked} | found.alone_source, {t for _, t in linked} | found.alone_target
    if not (sources <= set(range(len(source))) and targets <= set(range(len(target)))):
        raise DataError(f"{where}: a link leads to a word that is not there; words count from 0")
    return found


def _links(said: Sequence[str], sign: str) -> Links:
    """The links with this sign between two numbers."""
    halves = [link.partition(sign) for link in said if "_" not in link]
    return frozenset((int(s), int(t)) for s, found, t in halves if found)


def encode_tokens(tokenizer: Tokenizer, tokens: Sequence[str]) -> tuple[list[int], list[list[int]]]:
    """Ids of the rejoined sentence (punctuation moved to where it is written), and the pieces of each token.

    A piece that spans two tokens belongs to both; a token that leaves nothing after normalisation has no piece.
    """
    return encode_spans(tokenizer, *rejoin([tokenizer.normalise(token) for token in tokens]))


def encode_spans(tokenizer: Tokenizer, text: str, spans: list[tuple[int, int]]) -> tuple[list[int], list[list[int]]]:
    """Ids of a normalised text, and the pieces that stand in each span of its characters.

    A space that is a piece of its own counts to the word after it, as if it were that word's first character.
    """
    ids = tokenizer.encode(text)
    places = [range(begin, max(end, begin + 1)) for begin, end in piece_spans(tokenizer, ids)]
    groups = [
        [index for index, place in enumerate(places) if not set(place).isdisjoint(range(first, last))]
        for first, last in spans
    ]
    return ids, groups


def rejoin(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The sentence as it is written, and from where to where (in characters) each token stands in it."""
    before = ["", *tokens]
    glued = [token in NO_SPACE_BEFORE or before[index] in NO_SPACE_AFTER for index, token in enumerate(tokens)]
    return join(tokens, glued)


def join(tokens: Sequence[str], glued: Sequence[bool]) -> tuple[str, list[tuple[int, int]]]:
    """Tokens as one text, with a space before each that is not glued to the one before it; and where each stands."""
    text, spans = "", []
    for token, follows_at_once in zip(tokens, glued, strict=True):
        if text and token and not follows_at_once:
            text += " "
        spans.append((len(text), len(text) + len(token)))
        text += token
    return text, spans


def piece_spans(tokenizer: Tokenizer, ids: Sequence[int]) -> list[tuple[int, int]]:
    """From where to where (in characters of the text) each piece of an encoded text stands, spaces left out.

    The bytes of one character all have the place of that character.
    """
    spans: list[tuple[int, int]] = []
    at = -1  # the first piece begins with a space that the text does not have
    for piece_id in ids:
        byte = tokenizer.byte(piece_id)
        if byte is not None and byte & 0b1100_0000 == 0b1000_0000:  # goes on with the character before it
            spans.append(spans[-1])
            continue
        piece = tokenizer.piece(piece_id) if byte is None else "?"  # one character, whichever
        begin = at + len(piece) - len(piece.lstrip(SPACE))
        at += len(piece)
        spans.append((begin, at))
    return spans
