"""Pairs are read or refused with their line, varied alike on both sides, and each is in one batch an epoch."""

import lzma
import random
from collections import Counter
from pathlib import Path

import pytest
import torch

from model.config import BOS, EOS, MAX_PIECES, PAD
from model.data import (
    FREQUENT_NAMES,
    Augmentation,
    DataError,
    Encoded,
    Pair,
    batches,
    epoch_examples,
    pad,
    read_pairs,
    rename,
    tensors,
    thin,
)
from model.tokenizer import Tokenizer

LINES = "A tree.\tEin Baum.\nHouses, too.\tAuch Häuser.\n"
PAIRS = [Pair("A tree.", "Ein Baum."), Pair("Houses, too.", "Auch Häuser.")]


@pytest.mark.parametrize(
    "lines",
    [
        LINES,
        LINES.replace("\n", "\r\n"),
        LINES.rstrip("\n"),
        LINES.replace("\t", " \t "),
        "42\tA tree.\tEin Baum.\nx\tHouses, too.\tAuch Häuser.\n",
    ],
    ids=["plain", "Windows", "no last line end", "spaces", "three columns"],
)
@pytest.mark.parametrize("suffix", [".tsv", ".tsv.xz"])
def test_pairs_are_the_last_two_columns_of_each_line(tmp_path: Path, lines: str, suffix: str) -> None:
    path = tmp_path / f"pairs{suffix}"
    path.write_bytes(lzma.compress(lines.encode()) if suffix.endswith("xz") else lines.encode())
    assert read_pairs(path) == PAIRS
    assert read_pairs(path, limit=1) == PAIRS[:1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a\tb\nno tab here\n", "line 2: no tab; a line is `source<TAB>target`"),
        ("a\tb\n\nc\td\n", "line 2: no tab"),
        ("a\tb\nc\td\n1\t2\t3\t4\n", "line 3: 3 tabs"),
        ("a\tb\n \tc\n", "line 2: the source is empty"),
        ("a\t\n", "line 1: the target is empty"),
        ("", "holds no sentence pair"),
    ],
)
def test_a_line_that_is_no_pair_is_said_with_its_number(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said) as error:
        read_pairs(path)
    assert str(path) in str(error.value)


def test_a_bad_line_after_the_limit_is_not_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\nno tab here\n", encoding="utf-8")
    assert read_pairs(path, limit=1) == [Pair("a", "b")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("latin.tsv", "a\tb\nä\tö\n".encode("latin-1")),
        ("cut.tsv.xz", lzma.compress(LINES.encode())[:-20]),
        ("broken.tsv.xz", b"\x00" * 99),
        ("plain.tsv.xz", LINES.encode()),
        ("packed.tsv", lzma.compress(LINES.encode())),
        ("empty.tsv.xz", b""),
    ],
)
def test_a_file_that_cannot_be_read_as_text_is_said_by_name(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_pairs(path)


def test_thinning_keeps_some_versions_of_a_source_and_leaves_out_what_is_long_or_lopsided() -> None:
    versions = [Pair("a b", f"x y{n}") for n in range(4)]
    long, lopsided = Pair("a " * 6, "x " * 5), Pair("a", "x " * 7)
    fits = Pair("a b c d e", "x")
    assert thin([*versions, long, lopsided, fits], versions=3, words=5) == [*versions[:3], fits]
    assert thin([lopsided, Pair("a", "x " * 6)], versions=1, words=9) == [Pair("a", "x " * 6)]


def test_renaming_puts_one_and_the_same_other_name_on_both_sides() -> None:
    pair = Pair("Tom's dog likes Mary, and Tom likes it.", "Toms Hund mag Maria, und Tom mag ihn.")
    found = [rename(pair, random.Random(seed)) for seed in range(40)]
    for new in found:
        he, she = new.source.split("'")[0], new.source.split("likes ")[1].split(",")[0]
        assert new.source == f"{he}'s dog likes {she}, and {he} likes it."
        assert new.target == f"{he}s Hund mag {she}, und {he} mag ihn."
        assert not {he, she} & set(FREQUENT_NAMES)
    assert len(set(found)) > 20
    assert found == [rename(pair, random.Random(seed)) for seed in range(40)]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Tom sleeps.", "Er schläft."),
        ("He sees Tom.", "Maria sieht Tom."),
        ("A dog sleeps.", "Ein Hund schläft."),
        ("Tomatoes are red.", "Tomaten sind rot."),
    ],
)
def test_a_pair_whose_sides_do_not_name_the_same_people_stays_as_it_is(source: str, target: str) -> None:
    assert rename(Pair(source, target), random.Random(1)) == Pair(source, target)


ALL_OF_IT = Augmentation(rename=0.5, lower=0.3, join=0.3, bpe_dropout=0.2)
PLAIN = Augmentation(rename=0.0, lower=0.0, join=0.0, bpe_dropout=0.0)


def test_an_epochs_examples_depend_on_seed_and_epoch_and_on_nothing_else(
    pairs: list[Pair], tokenizer: Tokenizer
) -> None:
    def examples(seed: int, epoch: int) -> list[Encoded]:
        return epoch_examples(pairs[:60], tokenizer, ALL_OF_IT, seed=seed, epoch=epoch)

    first = examples(1, 0)
    random.random()
    assert examples(1, 0) == first
    assert examples(1, 1) != first
    assert examples(2, 0) != first


def test_without_variation_an_epoch_is_the_pairs_in_another_order(pairs: list[Pair], tokenizer: Tokenizer) -> None:
    encoded = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in pairs]
    found = epoch_examples(pairs, tokenizer, PLAIN, seed=1, epoch=0)
    assert found != encoded
    assert sorted(found) == sorted(encoded)


def test_merges_are_dropped_on_the_source_side_only(pairs: list[Pair], tokenizer: Tokenizer) -> None:
    found = epoch_examples(pairs[:50], tokenizer, Augmentation(0.0, 0.0, 0.0, 0.5), seed=1, epoch=0)
    plain = epoch_examples(pairs[:50], tokenizer, PLAIN, seed=1, epoch=0)
    assert [t for _, t in found] == [t for _, t in plain]
    assert sum(len(s) for s, _ in found) > sum(len(s) for s, _ in plain)
    assert [tokenizer.decode(s) for s, _ in found] == [tokenizer.decode(s) for s, _ in plain]


def test_joined_pairs_are_two_neighbours_in_one_on_both_sides(pairs: list[Pair], tokenizer: Tokenizer) -> None:
    texts = {tokenizer.normalise(p.source): p.target for p in pairs[:9]}
    for source, target in epoch_examples(pairs[:9], tokenizer, Augmentation(0.0, 0.0, 1.0, 0.0), seed=1, epoch=0):
        said = tokenizer.decode(source)
        first = next(text for text in texts if said.startswith(text))
        second = said.removeprefix(first).strip()
        assert tokenizer.decode(target) == f"{texts[first]} {texts[second]}"


def test_a_side_without_pieces_or_with_too_many_is_left_out(tokenizer: Tokenizer) -> None:
    pairs = [Pair("a", "x"), Pair("\u200b", "x"), Pair("a", "\u200b"), Pair("q" * (MAX_PIECES + 9), "x")]
    assert len(epoch_examples(pairs, tokenizer, PLAIN, seed=1, epoch=0)) == 1


@pytest.fixture(scope="module")
def examples() -> list[Encoded]:
    """800 pairs of unlike lengths, each with a number of its own as its first target piece."""
    rng = random.Random(3)
    return [([7] * rng.randint(1, 9), [number, *[8] * rng.randint(0, 19)]) for number in range(10, 810)]


def test_each_example_is_in_exactly_one_batch_of_an_epoch(examples: list[Encoded]) -> None:
    found = [tuple(target) for batch in batches(examples, positions=90, seed=1, epoch=0) for _, target in batch]
    assert Counter(found) == Counter(tuple(target) for _, target in examples)


def test_sources_in_a_batch_are_of_equal_length_so_that_the_encoder_sees_no_padding(examples: list[Encoded]) -> None:
    for batch in batches(examples, positions=90, seed=1, epoch=0):
        assert len({len(source) for source, _ in batch}) == 1
        assert (tensors(batch)[0] != PAD).all()


@pytest.mark.parametrize("positions", [60, 90, 400])
def test_a_batch_holds_at_most_its_positions_and_is_not_much_smaller_than_it_could_be(
    examples: list[Encoded], positions: int
) -> None:
    found = batches(examples, positions=positions, seed=1, epoch=0)
    sizes = []
    for batch in found:
        source, read, _ = tensors(batch)
        sizes.append(source.numel() + read.numel())
    assert max(sizes) <= positions
    assert sum(sizes) / len(sizes) > positions / 2


def test_an_example_larger_than_a_batch_is_a_batch_of_its_own() -> None:
    long, short = ([7] * 30, [8] * 30), ([7] * 30, [9])
    assert sorted(batches([long, short], positions=40, seed=1, epoch=0)) == [[long], [short]]


def test_the_order_of_batches_depends_on_seed_and_epoch(examples: list[Encoded]) -> None:
    first = batches(examples, positions=90, seed=1, epoch=0)
    assert batches(examples, positions=90, seed=1, epoch=0) == first
    assert batches(examples, positions=90, seed=1, epoch=1) != first
    assert batches(examples, positions=90, seed=2, epoch=0) != first
    lengths = [len(batch[0][0]) for batch in first]
    assert lengths != sorted(lengths)


def test_what_the_decoder_predicts_is_what_it_reads_one_position_on() -> None:
    source, read, predicted = tensors([([5, 6, 7], [8, 9]), ([5, 6, 7], [4, 4, 4, 4])])
    assert source.tolist() == [[5, 6, 7, EOS]] * 2
    assert read.tolist() == [[BOS, 8, 9, PAD, PAD], [BOS, 4, 4, 4, 4]]
    assert predicted.tolist() == [[8, 9, EOS, PAD, PAD], [4, 4, 4, 4, EOS]]
    assert torch.equal(read[1, 1:], predicted[1, :-1])


def test_padding_is_on_the_right() -> None:
    assert pad([[5], [6, 7, 8]]).tolist() == [[5, PAD, PAD], [6, 7, 8]]
    assert pad([[5]]).dtype == torch.int64
