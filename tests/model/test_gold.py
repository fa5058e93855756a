"""Alignments are read or refused with their line, and each token of theirs gets the pieces that spell it."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.data import DataError
from model.gold import Gold, encode_spans, encode_tokens, join, piece_spans, read_gold, rejoin
from model.tokenizer import SPACE, Tokenizer

CHARACTERS = st.sampled_from([*"aeinstTB .,!?'’n%()25äöüßé€…½ﬁ漢", "😀", "e\u0301", "\u200b", "\u2028", "\ufdfa"])
TEXTS = st.lists(CHARACTERS, max_size=25).map("".join)
TOKENS = st.lists(st.lists(CHARACTERS, min_size=1, max_size=5).map("".join), max_size=9)


def written(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_line_is_two_sentences_of_spaced_tokens_and_links_from_source_to_target(tmp_path: Path) -> None:
    path = written(tmp_path, "the old house .\tdas alte haus .\t0-0 2-2 2-1 3-3\nno\tnein\t\n")
    assert read_gold(path) == [
        Gold(("the", "old", "house", "."), ("das", "alte", "haus", "."), frozenset({(0, 0), (2, 2), (2, 1), (3, 3)})),
        Gold(("no",), ("nein",), frozenset()),
    ]


def test_links_may_be_possible_and_words_may_stand_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "the old house .\tein haus .\t0p0 1-_ 2-1 3-2\nno\tach nein\t0-1 _-0\n")
    assert read_gold(path) == [
        Gold(
            ("the", "old", "house", "."),
            ("ein", "haus", "."),
            frozenset({(2, 1), (3, 2)}),
            possible=frozenset({(0, 0)}),
            alone_source=frozenset({1}),
        ),
        Gold(("no",), ("ach", "nein"), frozenset({(0, 1)}), alone_target=frozenset({0})),
    ]


def test_a_line_that_begins_with_a_hash_and_has_no_tab_is_a_comment(tmp_path: Path) -> None:
    path = written(tmp_path, "# by hand\n# 5 keys\t5 schlüssel\t0-0\n#\nno\tnein\t0-0\n")
    assert [pair.source for pair in read_gold(path)] == [("#", "5", "keys"), ("no",)]
    path = written(tmp_path, "# by hand\nno\tnein\t1-0\n")
    with pytest.raises(DataError, match="line 2: a link leads to a word that is not there"):
        read_gold(path)
    with pytest.raises(DataError, match="holds no alignment"):
        read_gold(written(tmp_path, "# nothing\n"))


def test_a_mark_of_byte_order_and_line_ends_of_windows_are_no_part_of_a_line(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfno\tnein\t0-0\r\nyes\tja\t0-0\r\n")
    assert [pair.source for pair in read_gold(path)] == [("no",), ("yes",)]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("no tab here", "0 tabs; a line is `source<TAB>target<TAB>0-0 1-2`"),
        ("no\tnein", "1 tabs; "),
        ("no\tnein\t0-0\tx", "3 tabs; "),
        ("", "0 tabs; "),
        ("\tnein\t", "the source is empty"),
        ("no\t \t", "the target is empty"),
        ("no\tnein\t00", "a link is two numbers and a hyphen, such as 3-4"),
        ("no\tnein\t0-0-0", "a link is two numbers and a hyphen"),
        ("no\tnein\t0-x", "a link is two numbers and a hyphen"),
        ("no\tnein\t0-", "a link is two numbers and a hyphen"),
        ("no\tnein\t-1-0", "a link is two numbers and a hyphen"),
        ("oh no\tnein\t0-0 1-1", "a link leads to a word that is not there; words count from 0"),
        ("no\tach nein\t1-0", "a link leads to a word that is not there"),
        ("no\tach nein\t0p2", "a link leads to a word that is not there"),
        ("no\tach nein\t1-_", "a link leads to a word that is not there"),
        ("no\tach nein\t_-2", "a link leads to a word that is not there"),
        ("no\tnein\t_-_", "a link is two numbers and a hyphen"),
        ("no\tnein\t0p_", "a link is two numbers and a hyphen"),
        ("no\tnein\t_p0", "a link is two numbers and a hyphen, such as 3-4; '_p0' is not"),
    ],
)
def test_what_is_no_alignment_is_said_with_its_line(line: str, complaint: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"well\u2028then\tna\x85ja\t0-0\n{line}\nno\tnein\t0-0\n")
    with pytest.raises(DataError) as raised:
        read_gold(path)
    assert str(raised.value).startswith(f"{path}, line 2: {complaint}")


def test_a_file_without_a_line_or_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no alignment"):
        read_gold(written(tmp_path, ""))
    with pytest.raises(DataError, match="not readable as UTF-8"):
        read_gold(written(tmp_path, b"f\xfcr\tno\t0-0\n"))


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("the house is old .", "the house is old."),
        ("well , no : why ? ah ! oh ; so ...", "well, no: why? ah! oh; so..."),
        ("a [ small ] ( old ) house", "a [small] (old) house"),
        ("5 % of ( 20 % )", "5% of (20%)"),
        ("tom 's dogs ' house is n't mary ’s", "tom's dogs' house isn't mary’s"),
        ("we 're , i 'm , he 'd , they 've , you 'll", "we're, i'm, he'd, they've, you'll"),
        (", he said", ", he said"),
        ("eu-haushalts – ja", "eu-haushalts – ja"),
        ("", ""),
    ],
)
def test_punctuation_moves_to_where_it_is_written(tokens: str, text: str) -> None:
    found, spans = rejoin(tokens.split())
    assert found == text
    assert [text[first:last] for first, last in spans] == tokens.split()


def test_a_word_is_glued_to_the_one_before_it_where_that_is_asked_for() -> None:
    assert join(["a", "b", "", "cd"], [True, True, False, False]) == ("ab cd", [(0, 1), (1, 2), (2, 2), (3, 5)])


@given(TOKENS)
def test_a_span_holds_its_token(tokens: list[str]) -> None:
    text, spans = rejoin(tokens)
    assert [text[first:last] for first, last in spans] == tokens


@settings(max_examples=150)
@given(TEXTS)
@example("")
@example("The child's 25 Bäume: 😀😀 (漢字) é ä😀ß 😀")
def test_the_place_of_a_piece_holds_its_letters_and_the_places_hold_all_of_the_text(
    tokenizer: Tokenizer, text: str
) -> None:
    ids = tokenizer.encode(text)
    spans = piece_spans(tokenizer, ids)
    spelt = tokenizer.decode(ids)
    assert len(spans) == len(ids)
    bytes_at: dict[tuple[int, int], bytes] = {}
    for piece_id, (first, last) in zip(ids, spans, strict=True):
        byte = tokenizer.byte(piece_id)
        if byte is None:
            assert spelt[first:last] == tokenizer.piece(piece_id).replace(SPACE, "")
        else:
            bytes_at[first, last] = bytes_at.get((first, last), b"") + bytes([byte])
    assert all(spelt[first:last].encode() == said for (first, last), said in bytes_at.items())
    assert spans == sorted(spans)
    assert "".join(spelt[first:last] for first, last in dict.fromkeys(spans)) == spelt.replace(" ", "")


def test_the_bytes_of_one_character_share_its_place(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("a 😀€ß")
    assert [tokenizer.byte(i) is not None for i in ids] == [False, False, *[True] * 7, False]
    assert piece_spans(tokenizer, ids) == [(0, 1), (2, 2), *[(2, 3)] * 4, *[(3, 4)] * 3, (4, 5)]


@settings(max_examples=150)
@given(TOKENS)
@example(["(", "\u200b", "the", ")", "…", "'s"])
@example(["!", "\u200b", "!"])
def test_every_piece_belongs_to_a_token_and_tokens_stand_in_order(tokenizer: Tokenizer, tokens: list[str]) -> None:
    ids, groups = encode_tokens(tokenizer, tokens)
    normal = [tokenizer.normalise(token) for token in tokens]
    assert tokenizer.decode(ids) == rejoin(normal)[0]
    assert {index for group in groups for index in group} == set(range(len(ids)))
    assert [bool(group) for group in groups] == [bool(token) for token in normal]
    there = [group for group in groups if group]
    assert all(group == list(range(group[0], group[-1] + 1)) for group in there)
    for before, after in pairwise(there):
        assert before[0] <= after[0] <= before[-1] + 1
        assert before[-1] <= after[-1]
    for token, group in zip(normal, groups, strict=True):
        assert token.replace(" ", "") in "".join(tokenizer.decode([ids[index] for index in group]).split())


def test_tokens_get_the_pieces_that_spell_them(tokenizer: Tokenizer) -> None:
    tokens = "The old man does n't see ( 25 trees ) !".split()
    ids, groups = encode_tokens(tokenizer, tokens)
    assert ids == tokenizer.encode("The old man doesn't see (25 trees)!")
    spelt = ["".join(tokenizer.decode([ids[index]]) for index in group) for group in groups]
    assert spelt == ["The", "old", "man", "doesn", "doesn't", "see", "(", "25", "trees", ")", "!"]


def test_a_piece_that_spans_two_tokens_belongs_to_both(tokenizer: Tokenizer) -> None:
    ids, (does, not_) = encode_tokens(tokenizer, ["does", "n't"])
    assert [tokenizer.piece(i) for i in ids] == [f"{SPACE}doesn", "'", "t"]
    assert (does, not_) == ([0], [0, 1, 2])


def test_a_space_that_is_a_piece_counts_to_the_word_after_it(tokenizer: Tokenizer) -> None:
    ids, groups = encode_tokens(tokenizer, ["the", "25", "😀"])
    assert [i for i, piece_id in enumerate(ids) if tokenizer.piece(piece_id) == SPACE] == [1, 4]
    assert groups == [[0], [1, 2, 3], [4, 5, 6, 7, 8]]


def test_a_token_that_nothing_is_left_of_has_no_piece_even_inside_one(tokenizer: Tokenizer) -> None:
    assert encode_tokens(tokenizer, ["the", "\u200b", "old"])[1][1] == []
    ids, groups = encode_spans(tokenizer, "doesn", [(0, 4), (4, 4), (4, 5)])
    assert len(ids) == 1
    assert groups == [[0], [], [0]]


def test_three_dots_follow_at_once_whichever_way_they_are_typed(tokenizer: Tokenizer) -> None:
    for dots in ("…", "..."):
        assert tokenizer.decode(encode_tokens(tokenizer, ["the", "tree", dots])[0]) == "the tree..."
