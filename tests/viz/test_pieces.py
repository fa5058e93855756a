"""What a split text carries to its canvas: words, characters spelt in bytes, and a sentence for each piece."""

import pytest

from model.capture import trace_of
from model.pieces import Piece, pieces
from model.tokenizer import Tokenizer
from model.trace import Token
from model.transformer import Transformer
from viz import pieces as drawn
from viz.payload import unpack
from viz.theme import LIGHT


@pytest.fixture(scope="module")
def both(model: Transformer, tokenizer: Tokenizer) -> dict[str, tuple[Piece, ...]]:
    trace = trace_of(model, tokenizer, tokenizer.encode("The old Ærø doesn't."), tokenizer.encode("Haus 🐴"))
    return {"encoder": pieces(tokenizer, trace.source), "decoder": pieces(tokenizer, trace.read)}


def test_every_piece_stands_once_in_its_word_and_in_order(both: dict[str, tuple[Piece, ...]]) -> None:
    header, _ = unpack(drawn.payload(both, theme=LIGHT, side="decoder", position=2))
    assert header["marked"] == [1, 1]
    for side, expected in zip(header["sides"], both.values(), strict=True):
        words = [[piece for c in word["characters"] for piece in c["pieces"]] for word in side["words"]]
        flat = [piece for word in words for piece in word]
        assert [piece["id"] for piece in flat] == [piece.token.id for piece in expected]
        assert [piece["says"] for piece in flat] == [drawn.says(piece) for piece in expected]
        assert [word["word"] for word in side["words"]] == [p.token.word for p in expected if not p.token.continues]
        assert f"{len(expected)} pieces" in side["title"]


def test_bytes_of_one_character_stand_together_above_it(both: dict[str, tuple[Piece, ...]]) -> None:
    header, _ = unpack(drawn.payload(both, theme=LIGHT, side="encoder", position=1))
    spelled = [
        (c["character"], [piece["text"] for piece in c["pieces"]])
        for side in header["sides"]
        for word in side["words"]
        for c in word["characters"]
        if c["character"]
    ]
    assert spelled == [("Æ", ["C3", "86"]), ("ø", ["C3", "B8"]), ("🐴", ["F0", "9F", "90", "B4"])]


def test_a_piece_says_what_it_is(both: dict[str, tuple[Piece, ...]]) -> None:
    said = [drawn.says(piece) for pieces_ in both.values() for piece in pieces_]
    assert any("byte C3: number" in one and "1 of 2 that spell ‘Æ’ in UTF-8" in one for one in said)
    assert any("a sign that no text contains" in one for one in said)
    assert any("continues the word ‘doesn't’" in one for one in said)
    whole = Piece(Token("The", "The", id=7), "▁The", b" The")
    assert drawn.says(whole) == "‘The’: number 7 of the vocabulary, is the word ‘The’; bytes 20 54 68 65"


def test_the_table_has_a_row_for_each_piece(both: dict[str, tuple[Piece, ...]]) -> None:
    made = drawn.table(both["encoder"])
    assert list(made["number"]) == [piece.token.id for piece in both["encoder"]]
    assert list(made["position"]) == list(range(1, len(made) + 1))
    assert "Æ (2 of 2)" in list(made["spells"])
