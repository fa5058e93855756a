"""Pieces and their bytes: together they are the text, and bytes know which character they spell."""

import pytest

from model.config import BOS, EOS
from model.labels import labels
from model.pieces import Piece, pieces
from model.tokenizer import Tokenizer


def split(tokenizer: Tokenizer, text: str) -> tuple[Piece, ...]:
    return pieces(tokenizer, labels(tokenizer, [BOS, *tokenizer.encode(text), EOS]))


@pytest.mark.parametrize("text", ["The old man sees.", "Ærø, naïve 🐴s! a🐴b", "x", "Øé", "25 „Bäume“"])
def test_the_bytes_of_all_pieces_are_the_text(tokenizer: Tokenizer, text: str) -> None:
    found = split(tokenizer, text)
    assert b"".join(piece.encoded for piece in found).decode() == " " + tokenizer.normalise(text)
    assert [piece.encoded for piece in (found[0], found[-1])] == [b"", b""]
    assert [piece.raw for piece in found] == [tokenizer.piece(piece.token.id or 0) for piece in found]


def test_bytes_know_their_character_and_their_place_in_it(tokenizer: Tokenizer) -> None:
    spelled = [p for p in split(tokenizer, "a🐴ØØ") if p.part]
    assert [(p.character, p.part, p.parts, p.hexadecimal) for p in spelled] == [
        ("🐴", 1, 4, "F0"),
        ("🐴", 2, 4, "9F"),
        ("🐴", 3, 4, "90"),
        ("🐴", 4, 4, "B4"),
        ("Ø", 1, 2, "C3"),
        ("Ø", 2, 2, "98"),
        ("Ø", 1, 2, "C3"),
        ("Ø", 2, 2, "98"),
    ]


def test_bytes_that_spell_nothing_stand_together_as_well(tokenizer: Tokenizer) -> None:
    stray = next(i for i in range(len(tokenizer)) if tokenizer.byte(i) == 0x98)
    found = pieces(tokenizer, labels(tokenizer, [stray, stray]))
    assert [(p.part, p.parts, p.character) for p in found] == [(n, 2, 2 * "\N{REPLACEMENT CHARACTER}") for n in (1, 2)]


def test_a_piece_of_letters_spells_nothing_together(tokenizer: Tokenizer) -> None:
    for piece in split(tokenizer, "The old man"):
        assert (piece.character, piece.part, piece.parts) == ("", 0, 0)
