"""Which encoder heads follow which dependency: accuracy against the best fixed offset (Voita et al. 2019, section 5.2).

For a relation, a head is right about a word if, of all words, itself included and `</s>` alone left out, the word's row
weighs that one most which stands at the other end. Both directions are tried: from the dependent to its head, and from
the head to its dependent. Where a word is split, weight to it is summed over its pieces and weight from it averaged
(Clark et al. 2019, 4.1), since the paper does not say. The relation of a head, and the offset to beat, are chosen on
every other tree; what is reported is how both do on the rest.
"""

import lzma
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.config import MAX_PIECES
from model.data import DataError
from model.gold import encode_spans, join
from model.tokenizer import Tokenizer
from model.trace import Array

FEWEST = 100  # occurrences of a relation below which its accuracy says little
COMMON = (
    "nsubj",
    "obj",
    "obl",
    "amod",
    "advmod",
    "det",
    "case",
    "aux",
    "mark",
    "nmod",
    "conj",
    "cc",
    "compound",
    "xcomp",
)


@dataclass(frozen=True)
class Tree:
    """One sentence with its dependencies."""

    words: tuple[str, ...]
    glued: tuple[bool, ...]  # no space before this word
    heads: tuple[int, ...]  # of each word, from 0; -1 for the root
    relations: tuple[str, ...]  # without subtypes


def read_trees(path: Path) -> list[Tree]:
    """Read CoNLL-U, plain or .xz. Words that stand for several tokens are skipped in favour of the tokens.

    Raises DataError, with the sentence's number, for what is not CoNLL-U.
    """
    raw = path.read_bytes()
    try:
        text = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8-sig")
    except (UnicodeDecodeError, lzma.LZMAError) as error:
        raise DataError(f"{path} is not readable as UTF-8 text ({error})") from error
    blocks = text.replace("\r\n", "\n").split("\n\n")
    sentences = [lines for block in blocks if (lines := _lines(block))]
    if not sentences:
        raise DataError(f"{path} holds no sentence")
    return [_tree(f"{path}, sentence {number}", lines) for number, lines in enumerate(sentences, start=1)]


def _lines(block: str) -> list[list[str]]:
    return [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]


def _tree(where: str, lines: list[list[str]]) -> Tree:
    if any(len(line) != 10 for line in lines):
        raise DataError(f"{where}: a line without ten columns; is this CoNLL-U?")
    rows = [line for line in lines if line[0].isdigit()]
    try:
        glued, heads = _glued(lines), tuple(int(row[6]) - 1 for row in rows)
    except ValueError as error:
        raise DataError(f"{where}: columns 1 and 7 (a word and its head) must be numbers") from error
    if not rows or any(not -1 <= head < len(rows) for head in heads):
        raise DataError(f"{where}: no word, or one whose head (column 7) is not there")
    return Tree(
        words=tuple(row[1] for row in rows),
        glued=glued,
        heads=heads,
        relations=tuple(row[7].split(":")[0] for row in rows),
    )


def _glued(lines: list[list[str]]) -> tuple[bool, ...]:
    """Whether each word follows the one before it without a space; those of one multiword token ("2-3") do."""
    glued, last, at_once, outer = [], 0, False, False
    for line in lines:
        no_space = "SpaceAfter=No" in line[9].split("|")
        if "-" in line[0]:
            last, outer = int(line[0].split("-")[1]), no_space
        elif line[0].isdigit():
            glued.append(at_once)
            number = int(line[0])
            at_once = outer if number == last else number < last or no_space
    return tuple(glued)


Pairs = dict[str, list[tuple[int, int]]]  # "nsubj" or "nsubj, reversed" -> (row, column) word positions


def encode_tree(tokenizer: Tokenizer, tree: Tree) -> tuple[list[int], list[list[int]]] | None:
    """Ids and the pieces of each word; None where a word leaves no piece or the sentence is too long."""
    text, spans = join([tokenizer.normalise(word) for word in tree.words], tree.glued)
    ids, groups = encode_spans(tokenizer, text, spans)
    return None if len(ids) > MAX_PIECES or not all(groups) else (ids, groups)


def ends(tree: Tree) -> Pairs:
    """Where each relation's ends stand, in both directions."""
    found: Pairs = defaultdict(list)
    for dependent, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head >= 0 and relation in COMMON:
            found[relation].append((dependent, head))
            found[f"{relation}, reversed"].append((head, dependent))
    return found


class RelationCounts:
    """Counts over a corpus: how often each head is right about each relation, and where the other end stands."""

    def __init__(self) -> None:
        self.right: dict[str, Array] = {}  # (L, H) each
        self.total: Counter[str] = Counter()
        self.offsets: dict[str, Counter[int]] = defaultdict(Counter)

    def add(self, strongest: Array, tree: Tree) -> None:
        """strongest (L, H, words): the word that each word's row weighs most."""
        for relation, pairs in ends(tree).items():
            for row, column in pairs:
                self.total[relation] += 1
                self.offsets[relation][column - row] += 1
                self.right[relation] = self.right.get(relation, 0) + (strongest[..., row] == column)

    def accuracy(self, relation: str, layer: int, head: int) -> float:
        """Share of the relation's occurrences about which a head (from 1) is right."""
        return float(self.right[relation][layer - 1, head - 1]) / self.total[relation]

    def share_at(self, relation: str, offset: int) -> float:
        """Share of the relation's occurrences whose other end stands `offset` words on."""
        return self.offsets[relation][offset] / self.total[relation]


def strongest_words(weights: Array, groups: list[list[int]]) -> Array:
    """(L, H, words): which word each word's row weighs most. weights (L, H, S, S) of the encoder over pieces."""
    return np.asarray(_words(weights, groups).argmax(axis=-1))


def best_relation(chosen: RelationCounts, reported: RelationCounts, layer: int, head: int) -> dict[str, Any] | None:
    """The relation in which a head is furthest above the best fixed offset, both chosen on `chosen`.

    With its accuracy and the offset's on `reported`; None if no relation is frequent enough.
    """
    frequent = [name for name, total in chosen.total.items() if total >= FEWEST and reported.total[name]]
    if not frequent:
        return None
    offsets = {name: chosen.offsets[name].most_common(1)[0][0] for name in frequent}
    best = max(frequent, key=lambda n: chosen.accuracy(n, layer, head) - chosen.share_at(n, offsets[n]))
    return {
        "relation": best,
        "accuracy": reported.accuracy(best, layer, head),
        "offset": offsets[best],
        "offset_accuracy": reported.share_at(best, offsets[best]),
        "n": reported.total[best],
    }


def _words(weights: Array, groups: list[list[int]]) -> Array:
    """Over words, (L, H, words, words): columns summed over a word's pieces, rows averaged; </s> is left out."""
    member = np.zeros((len(groups), weights.shape[-1]))
    for word, group in enumerate(groups):
        member[word, group] = 1.0
    rows = member / member.sum(axis=1, keepdims=True)
    return np.asarray(rows @ weights.astype(np.float64) @ member.T)
