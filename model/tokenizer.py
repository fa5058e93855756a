"""Text to pieces and back: SentencePiece BPE, one joint vocabulary for both languages, byte fallback."""

import io
import random
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import sentencepiece

from model.config import BOS, EOS, PAD, UNK

SPACE = "\u2581"  # how SentencePiece writes the space before a word
NOT_TEXT = dict.fromkeys([0x00, *range(0x80, 0x85), *range(0x86, 0xA0)])  # control characters that its rules let pass


class TokenizerError(ValueError):
    """A vocabulary file that cannot be used; the message says why."""


class Tokenizer:
    """A trained vocabulary. Ids 0 to 3 are <pad>, <unk>, <s>, </s>; text never produces them, whatever it says."""

    def __init__(self, serialized: bytes) -> None:
        """serialized: the bytes of a sentencepiece.model. Raises TokenizerError if they are not one of ours."""
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(serialized)
        except RuntimeError as error:
            raise TokenizerError("the vocabulary is not a SentencePiece model, or a damaged one") from error
        specials = [self._processor.pad_id(), self._processor.unk_id(), self._processor.bos_id()]
        if [*specials, self._processor.eos_id()] != [PAD, UNK, BOS, EOS]:
            raise TokenizerError("the vocabulary must have <pad>, <unk>, <s>, </s> as its pieces 0 to 3")
        self.serialized = serialized

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        return cls(path.read_bytes())

    def __len__(self) -> int:
        return int(self._processor.GetPieceSize())

    def normalise(self, text: str) -> str:
        """The text as the model reads it: Unicode NFKC, runs of white space as one space, control characters gone."""
        clean = text.encode("utf-8", "replace").decode("utf-8").translate(NOT_TEXT)
        # Once is not always enough: what is taken out between a letter and its accent leaves them to be composed.
        while (again := self._normalise_once(clean)) != clean:
            clean = again
        return clean

    def _normalise_once(self, text: str) -> str:
        return " ".join(self._processor.Normalize(text.replace(SPACE, " ")).replace(SPACE, " ").split())

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces of normalise(text), without <s> and </s>."""
        return list(self._processor.EncodeAsIds(self.normalise(text)))

    def sample(self, text: str, rng: random.Random, *, dropout: float) -> list[int]:
        """Like encode, each merge passed over with probability `dropout` (Provilkov et al. 2020, algorithm 1).

        Not by SentencePiece's own sampling, which draws differently in each process whatever its seed.
        """
        return [i for word in self.normalise(text).split() for i in self._merge(SPACE + word, rng, dropout)]

    def _merge(self, word: str, rng: random.Random, dropout: float) -> list[int]:
        ids, pieces = self._id_of, list(word)
        while True:
            both = [left + right for left, right in pairwise(pieces)]
            possible = [(ids[p], at) for at, p in enumerate(both) if p in ids and rng.random() >= dropout]
            if not possible:
                break
            _, at = min(possible)  # a piece learned earlier has the lower id
            pieces[at : at + 2] = [both[at]]
        return [i for p in pieces for i in ([ids[p]] if p in ids else [self._id_of_byte[b] for b in p.encode()])]

    @cached_property
    def _id_of(self) -> dict[str, int]:
        """Ids of the pieces that text can be merged to."""
        return {self.piece(i): i for i in range(EOS + 1, len(self)) if self.byte(i) is None}

    @cached_property
    def _id_of_byte(self) -> dict[int, int]:
        return {byte: i for i in range(len(self)) if (byte := self.byte(i)) is not None}

    def decode(self, ids: Sequence[int]) -> str:
        """Text of these ids; <pad>, <s> and </s> leave no trace."""
        return str(self._processor.DecodeIds([int(i) for i in ids if i not in (PAD, BOS, EOS)]))

    def piece(self, piece_id: int) -> str:
        """The piece as the vocabulary writes it: U+2581 where a word begins, `<0xE2>` for a single byte."""
        return str(self._processor.IdToPiece(int(piece_id)))

    def begins_word(self, piece_id: int) -> bool:
        return self.piece(piece_id).startswith(SPACE)

    def byte(self, piece_id: int) -> int | None:
        """The byte that a fallback piece stands for, or None."""
        return int(self.piece(piece_id)[1:-1], 16) if self._processor.IsByte(int(piece_id)) else None


def train_tokenizer(sentences: Iterable[str], *, vocab_size: int) -> Tokenizer:
    """Learn a vocabulary (Sennrich et al. 2016) of `vocab_size` pieces from the sentences of both languages.

    Raises TokenizerError if so many pieces, or so few, cannot be made of them.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type="bpe",
            vocab_size=vocab_size,
            byte_fallback=True,
            character_coverage=0.9995,  # below 1, so that rare characters train the byte pieces
            split_digits=True,
            pad_id=PAD,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            pad_piece="<pad>",
            num_threads=1,  # the same vocabulary on every machine
            minloglevel=2,
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2]  # without the place in the library's own code
        raise TokenizerError(f"no vocabulary of {vocab_size} pieces can be learned: {reason}") from error
    return Tokenizer(model.getvalue())
