"""The alignments of our own: every word is linked or said to stand alone, and words are those on the screen."""

from collections import Counter
from itertools import chain

import pytest

from model.alignment import aer, diagonal, one_each
from model.gold import EVERYDAY, Gold, encode_tokens, read_gold, rejoin
from model.labels import WORD, labels
from model.tokenizer import Tokenizer
from model.words import words

GOLD = read_gold(EVERYDAY)
EACH = pytest.mark.parametrize("pair", GOLD, ids=[rejoin(pair.source)[0] for pair in GOLD])


def test_there_are_enough_and_none_twice() -> None:
    assert len(GOLD) >= 40
    for side in ("source", "target"):
        assert len({getattr(pair, side) for pair in GOLD}) == len(GOLD)


@EACH
def test_every_word_is_linked_or_said_to_stand_alone_and_not_both(pair: Gold) -> None:
    linked = pair.sure | pair.possible
    for words_, linked_here, alone in (
        (pair.source, {s for s, _ in linked}, pair.alone_source),
        (pair.target, {t for _, t in linked}, pair.alone_target),
    ):
        assert linked_here | alone == set(range(len(words_)))
        assert not linked_here & alone
    assert not pair.sure & pair.possible


@EACH
def test_words_are_those_that_a_reader_sees(pair: Gold, tokenizer: Tokenizer) -> None:
    for side in (pair.source, pair.target):
        text, _ = rejoin(side)
        assert tuple(WORD.findall(text)) == side
        assert tokenizer.normalise(text) == text
        ids, groups = encode_tokens(tokenizer, side)
        assert all(groups)
        assert tuple(word.text for word in words(labels(tokenizer, ids))) == side


@EACH
def test_marks_are_linked_to_marks_and_words_to_words(pair: Gold) -> None:
    marks = ".,!?"
    assert all((pair.source[s] in marks) == (pair.target[t] in marks) for s, t in pair.sure | pair.possible)
    ends = len(pair.source) - 1, len(pair.target) - 1
    assert ends in pair.sure
    assert pair.source[ends[0]] == pair.target[ends[1]]


@EACH
def test_one_word_has_few_sure_counterparts(pair: Gold) -> None:
    """More than three would be a whole phrase, whose links are possible only."""
    assert max(Counter(s for s, _ in pair.sure).values()) <= 3
    assert max(Counter(t for _, t in pair.sure).values()) <= 3


def test_english_is_on_the_left_and_german_on_the_right() -> None:
    english, german = (Counter(chain.from_iterable(getattr(p, side) for p in GOLD)) for side in ("source", "target"))
    assert english["the"] > 10 and not english["die"]  # noqa: PT018
    assert german["die"] + german["der"] > 10
    assert not german["the"]


def test_the_pairs_are_no_word_for_word_translations() -> None:
    """Linking words at the same place is wrong often, and one link for each word cannot be always right."""
    blind = [aer(diagonal(len(p.source), len(p.target)), p.sure, p.possible) for p in GOLD]
    best = [aer(one_each(len(p.target), p.sure, p.possible), p.sure, p.possible) for p in GOLD]
    wrong, least = (1 - sum(a for a, _ in counts) / sum(n for _, n in counts) for counts in (blind, best))
    assert wrong > 0.3
    assert 0 < least < 0.1
