"""What readers see of a piece: no U+2581, a middle dot where a word goes on, and the word it is part of."""

import re
from collections.abc import Sequence

import numpy as np

from model.config import BOS, EOS, PAD, UNK
from model.tokenizer import SPACE, Tokenizer
from model.trace import Candidate, Token, Trace
from model.words import groups_of

CONTINUES = "\u00b7"  # middle dot
BARE_SPACE = "\u2423"  # open box: the space before a character that is no piece of its own
SPECIAL = (PAD, UNK, BOS, EOS)
# Apostrophes and hyphens join letters and digits; any other character stands alone.
WORD = re.compile(r"\w+(?:['\u2019\u2010\u2011-]\w+)*|\S")


def labels(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[Token, ...]:
    """One Token for each id. Ids of <s> and </s> become special tokens."""
    joined = _joined(tokenizer, ids)
    words = {}
    for group in groups_of(joined):
        text = tokenizer.decode([ids[i] for i in group]).strip()
        words.update(dict.fromkeys(group, text))
    tokens = []
    for index, piece_id in enumerate(ids):
        special = piece_id in SPECIAL
        shown = readable(tokenizer, piece_id) or BARE_SPACE
        text = CONTINUES + shown if joined[index] and tokenizer.byte(piece_id) is None else shown
        word = shown if special else words[index] or shown
        tokens.append(Token(text, word, joined[index], special, int(piece_id)))
    return tuple(tokens)


def readable(tokenizer: Tokenizer, piece_id: int) -> str:
    """A piece without U+2581; a single byte as 0xC3."""
    byte = tokenizer.byte(piece_id)
    return tokenizer.piece(piece_id).replace(SPACE, "") if byte is None else f"0x{byte:02X}"


def _joined(tokenizer: Tokenizer, ids: Sequence[int]) -> list[bool]:
    """Whether each piece belongs to the word of the piece before it."""
    said = spelling(tokenizer, ids)
    text = "".join(said)
    word_at = {i: match.start() for match in WORD.finditer(text) for i in range(*match.span())}
    joined, end = [], 0
    for piece in said:
        start, end = end, end + len(piece)
        if start == 0 or piece[:1].isspace():
            joined.append(False)
        else:  # the rest of a character, or what follows a bare space, or the inside of a word
            inside = start in word_at and word_at[start] == word_at.get(start - 1)
            joined.append(piece == "" or text[start - 1] == " " or inside)
    return joined


def spelling(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """The text of each piece, a special one as a line break. The first byte of a character says it, the others ""."""
    said = ["\n" if i in SPECIAL else tokenizer.piece(i).replace(SPACE, " ") for i in ids]
    spelled = bytearray()  # of the character whose first byte is at `first`
    first = 0
    for index, value in enumerate(tokenizer.byte(i) for i in ids):
        if value is None:
            spelled.clear()
            continue
        if not spelled or value & 0b1100_0000 != 0b1000_0000:  # no continuation byte
            spelled.clear()
            first = index
        spelled.append(value)
        said[index] = ""
        said[first] = spelled.decode("utf-8", "replace")
    return said


def candidates(tokenizer: Tokenizer, trace: Trace, count: int) -> list[list[Candidate]]:
    """For each step its `count` likeliest pieces, likeliest first, and the written one in any case."""
    found = []
    for chances, token in zip(np.exp(trace.log_probabilities()), trace.predicted, strict=True):
        best = [int(i) for i in np.argsort(-chances, kind="stable")[:count]]
        if token.id not in best:
            best[-1] = int(token.id or 0)
        found.append([Candidate(alone(tokenizer, i), float(chances[i]), i == token.id) for i in best])
    return found


def alone(tokenizer: Tokenizer, piece_id: int) -> str:
    """A piece without its neighbours: it continues a word if it has letters and no space before it."""
    core = readable(tokenizer, piece_id)
    apart = tokenizer.begins_word(piece_id) or piece_id in SPECIAL or tokenizer.byte(piece_id) is not None
    goes_on = not apart and any(c.isalnum() for c in core)
    return CONTINUES + core if goes_on else core or BARE_SPACE
