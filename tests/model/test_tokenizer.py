"""Text comes back from its pieces, whatever it is; no text can say a special token; damage is said plainly."""

import random
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from model.config import BOS, EOS, PAD, UNK
from model.data import Pair
from model.tokenizer import Tokenizer, TokenizerError, train_tokenizer

AWKWARD = [
    "",
    " ",
    "a",
    "😀",
    "👩\u200d👩\u200d👧 🇩🇪",
    "מה שלומך היום",
    "مرحبا بالعالم",
    "a\x00b",
    "\x00",
    "tab\tand\nnewline\r\nand\u2028more",
    "</s>",
    "<s> <pad> <unk>",
    "<0xE2>",
    "</script><img src=x onerror=alert(1)>",
    "**bold** $x^2$",
    "\u2581",
    "a\u2581b \u2581c",
    "\ud800",
    "lone \udfff surrogate",
    "cafe\u0301 and caf\u00e9",
    "ﬁ\u0323",  # what a ligature stands for, and then an accent that belongs to its last letter
    "e\x07\u0301",  # a control character between a letter and its accent
    "\u0344",
    "ﷺ",
    "\ufeffbyte order mark",
    "  many   spaces  ",
    "Grüße aus Köln, süß!",
    "The cat sees the house.",
    "word " * 200,
]
MARKS = st.sampled_from(["\u0301", "\u0323", "\u2581", "\x00", "\x85", "\u200b", "ﬁ", "\ud800", "</s>", "<pad>"])
anything = st.lists(st.one_of(st.characters(), MARKS, st.text(max_size=4)), max_size=12).map("".join)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_text_comes_back_normalised(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == tokenizer.normalise(text)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(text=anything)
def test_any_text_comes_back_normalised_and_never_yields_a_special_id(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == tokenizer.normalise(text)
    assert tokenizer.normalise(tokenizer.normalise(text)) == tokenizer.normalise(text)
    assert not {PAD, UNK, BOS, EOS} & set(ids)


@pytest.mark.parametrize("text", AWKWARD)
def test_dropped_merges_change_the_pieces_but_not_the_text(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.sample(text, random.Random(1), dropout=0.5)
    assert tokenizer.decode(ids) == tokenizer.normalise(text)
    assert not {PAD, UNK, BOS, EOS} & set(ids)


def test_dropped_merges_repeat_with_their_seed(tokenizer: Tokenizer) -> None:
    def drawn(seed: int) -> list[list[int]]:
        rng = random.Random(seed)
        return [tokenizer.sample("The cat sees the house.", rng, dropout=0.5) for _ in range(9)]

    assert drawn(4) == drawn(4)
    assert drawn(4) != drawn(5)


def test_the_same_seed_drops_the_same_merges_on_every_machine(tokenizer: Tokenizer) -> None:
    """SentencePiece's own sampling does not: it draws differently in each process."""
    ids = tokenizer.sample("The cat sees", random.Random(3), dropout=0.5)
    assert [tokenizer.piece(i) for i in ids] == ["▁", "T", "he", "▁", "c", "a", "t", "▁s", "e", "e", "s"]


def test_every_merge_dropped_leaves_characters_and_none_dropped_the_usual_pieces(
    tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    for text in [*AWKWARD, *(p.source + p.target for p in pairs[:50]), "2025 Hausbaumgartenbücher"]:
        assert tokenizer.sample(text, random.Random(1), dropout=0.0) == tokenizer.encode(text)
    characters = tokenizer.sample("the house", random.Random(1), dropout=1.0)
    assert [tokenizer.piece(i) for i in characters] == list("\u2581the\u2581house")


def test_a_merge_is_dropped_as_often_as_asked(tokenizer: Tokenizer) -> None:
    """A word of one space and one letter has one merge."""
    piece = next(i for i in range(len(tokenizer)) if tokenizer.piece(i) == "\u2581a")
    rng = random.Random(2)
    kept = sum(tokenizer.sample("a", rng, dropout=0.3) == [piece] for _ in range(2000))
    assert abs(kept / 2000 - 0.7) < 0.04


def test_normalising_composes_and_unifies_spaces_and_takes_out_what_is_no_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.normalise(" a\t\nb\u3000c\u2581d ") == "a b c d"
    assert tokenizer.normalise("cafe\u0301 ﬁne") == "café fine"
    assert tokenizer.normalise("\ud800x") == "?x"
    controls = "".join(chr(c) for c in (*range(0x20), *range(0x7F, 0xA0)))
    assert tokenizer.normalise(controls) == ""


def test_special_tokens_leave_no_trace_in_the_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("The cat")
    assert tokenizer.decode([BOS, *ids, EOS, PAD, PAD]) == "The cat"
    assert [tokenizer.piece(i) for i in (PAD, UNK, BOS, EOS)] == ["<pad>", "<unk>", "<s>", "</s>"]


def test_the_bytes_of_fallback_pieces_spell_the_character(tokenizer: Tokenizer) -> None:
    found = [tokenizer.byte(i) for i in tokenizer.encode("😀")]
    assert bytes(b for b in found if b is not None) == "😀".encode()


def test_only_the_256_fallback_pieces_have_a_byte(tokenizer: Tokenizer) -> None:
    found = [b for i in range(len(tokenizer)) if (b := tokenizer.byte(i)) is not None]
    assert sorted(found) == list(range(256))
    assert [tokenizer.byte(i) for i in (PAD, UNK, BOS, EOS)] == [None] * 4


def test_as_many_pieces_begin_a_word_as_there_are_words(tokenizer: Tokenizer) -> None:
    for text in ("The cat sees the house.", "My sister, catgarden", "x"):
        assert sum(tokenizer.begins_word(i) for i in tokenizer.encode(text)) == len(text.split())


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_damaged_bytes_are_refused(tokenizer: Tokenizer, keep: int) -> None:
    with pytest.raises(TokenizerError, match="not a SentencePiece model, or a damaged one"):
        Tokenizer(tokenizer.serialized[:keep])
    with pytest.raises(TokenizerError):
        Tokenizer(b"\x00garbage" * 50)


def test_a_vocabulary_with_other_special_pieces_is_refused(tmp_path: Path, pairs: list[Pair]) -> None:
    other = tmp_path / "other"
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(p.source for p in pairs), model_prefix=str(other), vocab_size=60, minloglevel=2
    )
    with pytest.raises(TokenizerError, match="must have <pad>, <unk>, <s>, </s> as its pieces 0 to 3"):
        Tokenizer.load(other.with_suffix(".model"))


def test_the_same_sentences_make_the_same_vocabulary(tokenizer: Tokenizer, pairs: list[Pair]) -> None:
    again = train_tokenizer((text for p in pairs for text in (p.source, p.target)), vocab_size=347)
    assert again.serialized == tokenizer.serialized
    assert len(again) == 347


@pytest.mark.parametrize("vocab_size", [30, 5000])
def test_a_vocabulary_that_the_text_cannot_give_is_an_error_with_its_size(vocab_size: int, pairs: list[Pair]) -> None:
    with pytest.raises(TokenizerError, match=f"no vocabulary of {vocab_size} pieces"):
        train_tokenizer((p.source for p in pairs), vocab_size=vocab_size)
