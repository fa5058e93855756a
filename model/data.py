"""Sentence pairs from files, and the batches that training reads, in an order fixed by (seed, epoch)."""

import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torch
from torch import Tensor

from model.config import BOS, EOS, MAX_PIECES, PAD
from model.tokenizer import Tokenizer


class DataError(ValueError):
    """A file of pairs that cannot be read; the message names file and line."""


@dataclass(frozen=True)
class Pair:
    """An English sentence and a German one that means the same."""

    source: str
    target: str


Encoded = tuple[list[int], list[int]]  # ids of source and target, without specials


def read_pairs(path: Path, *, limit: int | None = None) -> list[Pair]:
    """Read `source<TAB>target` lines, plain or .xz; a column before them (where a pair is from) is passed over.

    Raises DataError for a line with another number of columns or an empty side, with the line's number.
    """
    pairs: list[Pair] = []
    try:
        with _opened(path) as lines:
            for number, line in enumerate(lines, start=1):
                if limit is not None and len(pairs) >= limit:
                    break
                pairs.append(_pair(path, number, line.rstrip("\r\n").split("\t")))
    except (UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise DataError(f"{path}, after line {len(pairs)}: not readable as UTF-8 text ({error})") from error
    if not pairs:
        raise DataError(f"{path} holds no sentence pair")
    return pairs


def _opened(path: Path) -> TextIO:
    return lzma.open(path, "rt", encoding="utf-8-sig") if path.suffix == ".xz" else path.open(encoding="utf-8-sig")


def _pair(path: Path, number: int, columns: list[str]) -> Pair:
    if len(columns) not in (2, 3):
        said = "no tab" if len(columns) == 1 else f"{len(columns) - 1} tabs"
        raise DataError(f"{path}, line {number}: {said}; a line is `source<TAB>target`")
    source, target = columns[-2].strip(), columns[-1].strip()
    if not source or not target:
        raise DataError(f"{path}, line {number}: the {'target' if source else 'source'} is empty")
    return Pair(source, target)


def thin(pairs: Sequence[Pair], *, versions: int, words: int) -> list[Pair]:
    """Keep at most `versions` targets per source, and pairs of at most `words` words a side, not wildly unequal."""
    seen: dict[str, int] = defaultdict(int)
    kept = []
    for pair in pairs:
        longer, shorter = sorted((len(pair.source.split()), len(pair.target.split())), reverse=True)
        if longer <= words and longer <= 2 * shorter + 4 and seen[pair.source] < versions:
            seen[pair.source] += 1
            kept.append(pair)
    return kept


# Given names that are written alike in English and German, and take a plain s in the genitive. Half of all everyday
# pairs are about the same two people; with other names in their place, on both sides alike, the model learns to copy.
FREQUENT_NAMES = {"Tom": "m", "Mary": "f", "Maria": "f"}
OTHER_NAMES = {
    "m": "Adam Ali Ben Daniel David Emil Finn Hassan Ivan Jan Karl Leo Nico Omar Oscar Paul Peter Robert "
    "Samuel Simon Stefan Tim Viktor Walter Yusuf Martin Bob John Bill George Ken".split(),
    "f": "Amina Anna Berta Carla Clara Diana Ella Emma Eva Fatima Greta Hanna Ida Julia Kim Laura Lea Lena "
    "Lisa Mia Nina Nora Olga Paula Rosa Sara Sofia Tina Vera Yara Alice Linda Emily Jane Kate".split(),
}
_NAME = re.compile(r"\b(Tom|Mary|Maria)(s?)\b")


def rename(pair: Pair, rng: random.Random) -> Pair:
    """Swap Tom and Mary for other names, the same on both sides. A pair where the sides disagree stays as it is."""
    source_names = {match[1] for match in _NAME.finditer(pair.source)}
    target_names = {match[1] for match in _NAME.finditer(pair.target)}
    if not source_names or {_english(n) for n in source_names} != {_english(n) for n in target_names}:
        return pair
    new = {name: rng.choice(OTHER_NAMES[sex]) for name, sex in FREQUENT_NAMES.items() if name != "Maria"}

    def replace(match: re.Match[str]) -> str:
        return new[_english(match[1])] + match[2]

    return Pair(_NAME.sub(replace, pair.source), _NAME.sub(replace, pair.target))


def _english(name: str) -> str:
    return "Mary" if name == "Maria" else name


@dataclass(frozen=True)
class Augmentation:
    """How pairs are varied from epoch to epoch; each number is a probability."""

    rename: float = 0.5  # other names for Tom and Mary
    lower: float = 0.03  # both sides in lower case
    join: float = 0.0  # followed by another pair, as one longer example
    bpe_dropout: float = 0.0  # of each merge, on the source side


def epoch_examples(
    pairs: Sequence[Pair], tokenizer: Tokenizer, augmentation: Augmentation, *, seed: int, epoch: int
) -> list[Encoded]:
    """The pairs of one epoch, varied and encoded: the same for the same (seed, epoch), on every machine."""
    rng = random.Random(f"augment {seed} {epoch}")
    order = list(pairs)
    rng.shuffle(order)
    varied = []
    for index, pair in enumerate(order):
        if rng.random() < augmentation.rename:
            pair = rename(pair, rng)
        if rng.random() < augmentation.join:
            other = order[(index + 1) % len(order)]
            pair = Pair(f"{pair.source} {other.source}", f"{pair.target} {other.target}")
        if rng.random() < augmentation.lower:
            pair = Pair(pair.source.lower(), pair.target.lower())
        varied.append(pair)
    dropout = augmentation.bpe_dropout
    encode = tokenizer.encode if not dropout else lambda text: tokenizer.sample(text, rng, dropout=dropout)
    examples = [(encode(pair.source), tokenizer.encode(pair.target)) for pair in varied]
    return [e for e in examples if 0 < len(e[0]) <= MAX_PIECES and 0 < len(e[1]) <= MAX_PIECES]


def batches(examples: Sequence[Encoded], *, positions: int, seed: int, epoch: int) -> list[list[Encoded]]:
    """Group examples into batches of equal source length and at most `positions` positions, both sides counted.

    Equal source lengths leave the encoder without padding; targets of similar length leave the decoder little.
    """
    rng = random.Random(f"batches {seed} {epoch}")
    by_length: dict[int, list[Encoded]] = defaultdict(list)
    for example in examples:
        by_length[len(example[0])].append(example)
    grouped: list[list[Encoded]] = []
    for length in sorted(by_length):
        group = by_length[length]
        rng.shuffle(group)
        group.sort(key=lambda example: len(example[1]) // 2)  # stable: shuffled among near-equal lengths
        grouped.extend(_cut(group, positions))
    rng.shuffle(grouped)
    return grouped


def _cut(group: Sequence[Encoded], positions: int) -> Iterator[list[Encoded]]:
    batch: list[Encoded] = []
    widest = 0
    for example in group:
        widest = max(widest, len(example[1]))
        if batch and (len(batch) + 1) * (len(example[0]) + widest + 2) > positions:
            yield batch
            batch, widest = [], len(example[1])
        batch.append(example)
    if batch:
        yield batch


def pad(sentences: Sequence[Sequence[int]]) -> Tensor:
    """Right-pad sequences of ids to one int64 tensor (B, longest)."""
    longest = max(len(s) for s in sentences)
    return torch.tensor([[*s, *[PAD] * (longest - len(s))] for s in sentences], dtype=torch.long)


def tensors(batch: Sequence[Encoded]) -> tuple[Tensor, Tensor, Tensor]:
    """Source ids and </s> (B, S); <s> and target ids, to be read, and target ids and </s>, to predict, both (B, T)."""
    source = pad([[*s, EOS] for s, _ in batch])
    return source, pad([[BOS, *t] for _, t in batch]), pad([[*t, EOS] for _, t in batch])
