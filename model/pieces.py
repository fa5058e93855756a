"""How a text splits: each piece with its number, word and bytes, and what byte pieces spell together. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.trace import Token

if TYPE_CHECKING:
    from model.tokenizer import Tokenizer


@dataclass(frozen=True)
class Piece:
    """One piece of a text."""

    token: Token
    raw: str  # as the vocabulary writes it: ▁ for a space, <0xC3> for a byte
    encoded: bytes  # what it stands for, in UTF-8; nothing for <s> and </s>
    character: str = ""  # that this byte is a part of; empty for a piece of letters
    part: int = 0  # which of the character's bytes, from 1; 0 for a piece of letters
    parts: int = 0  # how many pieces spell the character

    @property
    def hexadecimal(self) -> str:
        """Its bytes as two digits each: E2 80 99."""
        return self.encoded.hex(" ").upper()


def pieces(tokenizer: "Tokenizer", tokens: Sequence[Token]) -> tuple[Piece, ...]:
    """The pieces behind these tokens, which must have ids."""
    from model.labels import spelling  # needs SentencePiece, which a Piece does not

    ids = [int(token.id) for token in tokens if token.id is not None]
    said = spelling(tokenizer, ids)
    made: list[Piece] = []
    for index, token in enumerate(tokens):
        byte = tokenizer.byte(ids[index])
        if byte is None:
            made.append(Piece(token, tokenizer.piece(ids[index]), b"" if token.special else said[index].encode()))
            continue
        first = max(at for at in range(index + 1) if said[at])
        after = [at for at in range(index, len(ids)) if at == len(ids) - 1 or said[at + 1]]
        place = (said[first], index - first + 1, after[0] - first + 1)
        made.append(Piece(token, tokenizer.piece(ids[index]), bytes([byte]), *place))
    return tuple(made)
