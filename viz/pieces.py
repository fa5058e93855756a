"""How texts split into pieces: the payload of canvas/pieces.js, what each piece says, and the same as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from model.pieces import Piece
from model.words import word_groups
from viz.payload import pack
from viz.theme import Theme, for_canvas

HOW_TO_READ = (
    "Each box is a piece, with its number in the vocabulary; pieces of one word stand together. · marks a piece that "
    "goes on with a word. What the vocabulary has no piece for is spelt in bytes, framed above the character they make."
)
TITLES = {"encoder": "What the encoder reads", "decoder": "What the decoder reads"}


def payload(sides: Mapping[str, Sequence[Piece]], *, theme: Theme, side: str, position: int) -> bytes:
    """The pieces of both sides, one of them marked; `position` counts from 1."""
    header = {
        "theme": for_canvas(theme),
        "sides": [_side(name, pieces) for name, pieces in sides.items()],
        "marked": [list(sides).index(side), position - 1],
    }
    return pack(header, {})


def _side(name: str, pieces: Sequence[Piece]) -> dict[str, Any]:
    groups = word_groups([piece.token for piece in pieces])
    title = f"{TITLES[name]}: {len(pieces)} pieces"
    words = [{"word": pieces[g[0]].token.word, "characters": _characters([pieces[i] for i in g])} for g in groups]
    return {"side": name, "title": title, "words": words}


def _characters(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    """Bytes of one character together, every other piece alone."""
    found: list[dict[str, Any]] = []
    for piece in pieces:
        if piece.part > 1:
            found[-1]["pieces"].append(_described(piece))
        else:
            found.append({"character": piece.character, "pieces": [_described(piece)]})
    return found


def _described(piece: Piece) -> dict[str, Any]:
    token = piece.token
    text = piece.hexadecimal if piece.part else token.text
    told = {"text": text, "id": token.id, "says": says(piece)}
    return told | {"byte": piece.part > 0, "special": token.special}


def says(piece: Piece) -> str:
    """One piece as a sentence."""
    token = piece.token
    number = f"number {token.id} of the vocabulary"
    if token.special:
        return f"‘{token.text}’: {number}, a sign that no text contains"
    if piece.part:
        return (
            f"byte {piece.hexadecimal}: {number}, {piece.part} of {piece.parts} that spell ‘{piece.character}’ in UTF-8"
        )
    where = "continues" if token.continues else "is" if token.text == token.word else "begins"
    return f"‘{token.text}’: {number}, {where} the word ‘{token.word}’; bytes {piece.hexadecimal}"


def table(pieces: Sequence[Piece]) -> pd.DataFrame:
    """A row for each piece, in order."""
    return pd.DataFrame(
        {
            "position": range(1, len(pieces) + 1),
            "piece": [piece.token.text for piece in pieces],
            "number": [piece.token.id for piece in pieces],
            "in the vocabulary": [piece.raw for piece in pieces],
            "word": [piece.token.word for piece in pieces],
            "bytes": [piece.hexadecimal for piece in pieces],
            "spells": [f"{p.character} ({p.part} of {p.parts})" if p.part else "" for p in pieces],
        }
    )
