"""What readers see: no U+2581, a dot where a word goes on, punctuation alone, and every piece in one word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.config import BOS, EOS, PAD, UNK
from model.labels import BARE_SPACE, CONTINUES, alone, labels
from model.tokenizer import SPACE, Tokenizer
from model.words import groups_of


def words_of(tokenizer: Tokenizer, text: str) -> list[str]:
    tokens = labels(tokenizer, tokenizer.encode(text))
    return [tokens[group[0]].word for group in groups_of([t.continues for t in tokens])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat sees the house.", ["The", "cat", "sees", "the", "house", "."]),
        ("She doesn't hear, does she?", ["She", "doesn't", "hear", ",", "does", "she", "?"]),
        ("the child\u2019s book", ["the", "child\u2019s", "book"]),
        ("the dogs' book", ["the", "dogs", "'", "book"]),
        ("a tree-house - in the garden", ["a", "tree-house", "-", "in", "the", "garden"]),
        ("Hausbaumgarten!", ["Hausbaumgarten", "!"]),
        ("“25 keys”!?", ["“", "25", "keys", "”", "!", "?"]),
        ("x", ["x"]),
        ("😀 cat", ["😀", "cat"]),
        ("'cat'", ["'", "cat", "'"]),
        ("don\u2019t — (9%)…", ["don\u2019t", "—", "(", "9", "%", ")", ".", ".", "."]),
        ("«Hund»", ["«", "Hund", "»"]),
    ],
)
def test_words_are_what_a_reader_calls_words(tokenizer: Tokenizer, text: str, words: list[str]) -> None:
    assert words_of(tokenizer, text) == words


def test_a_piece_that_goes_on_with_a_word_begins_with_a_dot_and_no_other_does(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("Hausbaumgarten, oder?")
    tokens = labels(tokenizer, ids)
    assert sum(t.continues for t in tokens) >= 2
    assert not any(t.text.startswith("0x") for t in tokens)
    for token, piece_id in zip(tokens, ids, strict=True):
        shown = tokenizer.piece(piece_id).replace(SPACE, "") or BARE_SPACE
        assert token.text == (CONTINUES + shown if token.continues else shown)
        assert token.id == piece_id
        assert not token.special
    first = [t for t in tokens if t.word == "Hausbaumgarten"]
    assert [t.continues for t in first] == [False] + [True] * (len(first) - 1)
    assert "".join(t.text.removeprefix(CONTINUES) for t in first).removeprefix(BARE_SPACE) == "Hausbaumgarten"


def test_special_tokens_are_words_of_their_own(tokenizer: Tokenizer) -> None:
    cat = tokenizer.encode("cat")
    tokens = labels(tokenizer, [BOS, *cat, UNK, *cat, EOS, PAD])
    special = [t for t in tokens if t.special]
    assert [t.text for t in special] == [t.word for t in special] == ["<s>", "<unk>", "</s>", "<pad>"]
    assert not any(t.continues for t in special)
    assert all(t.word == "cat" for t in tokens if not t.special)


def test_reading_and_predicting_give_a_piece_the_same_label(tokenizer: Tokenizer) -> None:
    """The decoder reads <s> and the target and predicts the target and </s>: one token apart, otherwise alike."""
    for text in ("Hausbaumgarten, oder?", "“'tis 25's", "dogs'", "😀- x"):
        ids = tokenizer.encode(text)
        assert labels(tokenizer, [BOS, *ids])[1:] == labels(tokenizer, [*ids, EOS])[:-1]


def test_no_label_is_empty_even_for_a_space_alone(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("“")
    assert tokenizer.piece(ids[0]) == SPACE
    assert labels(tokenizer, ids)[0].text == BARE_SPACE


def test_a_byte_is_said_as_a_number_and_not_in_the_vocabulary_s_own_signs(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("a😀b")
    spelled = [at for at, piece_id in enumerate(ids) if tokenizer.byte(piece_id) is not None]
    tokens = labels(tokenizer, ids)
    assert [tokens[at].text for at in spelled] == ["0xF0", "0x9F", "0x98", "0x80"]
    assert [alone(tokenizer, ids[at]) for at in spelled] == ["0xF0", "0x9F", "0x98", "0x80"]


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(text=st.text(st.one_of(st.sampled_from("ab '-.,9ß“😀"), st.characters(exclude_categories=["Cs"])), max_size=20))
def test_words_hold_every_piece_once_and_spell_the_text(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    tokens = labels(tokenizer, ids)
    groups = groups_of([t.continues for t in tokens])
    assert [i for group in groups for i in group] == list(range(len(ids)))
    assert all(t.text and SPACE not in t.text for t in tokens)
    spelled = "".join(tokens[group[0]].word for group in groups)
    assert spelled.replace(" ", "") == tokenizer.normalise(text).replace(" ", "")


def test_groups_begin_where_nothing_is_joined() -> None:
    assert groups_of([False, True, True, False, False, True]) == [[0, 1, 2], [3], [4, 5]]
    assert groups_of([True, True, False]) == [[0, 1], [2]]
    assert groups_of([]) == []
