"""How many pieces a second are written: greedy and beam search, one sentence and many, against other people's decoders.

python -m benchmarks.decoding [--json] [--threads N]     against Hugging Face `generate` and CTranslate2
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks import peers, texts, told
from benchmarks.clock import interleaved, median, ratio
from benchmarks.ctranslate import Translator, convert
from benchmarks.told import Bar, Row
from model import checkpoint
from model.config import EOS
from model.data import pad
from model.decode import Decoding, beam_search, decode
from model.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer
from model.transformer import Transformer

SOURCE, LENGTH = 15, 24  # pieces read and written in each measurement, without </s>
BATCHES, BEAMS = (1, 32), (1, 4)
ROUNDS = {1: 9, 32: 5}
CHECKED = 32  # sentences whose translations are compared
FASTER, AIM = 3.0, 0.5  # than Hugging Face; of CTranslate2


class Forced(EncoderDecoder):
    """A model that ends every translation after the same number of pieces, whatever it would rather do."""

    def __init__(self, model: Transformer, length: int) -> None:
        super().__init__()
        self.config, self.embedding, self.model, self.length = model.config, model.embedding, model, length

    def start(self, source: Tensor) -> Any:
        return self.model.start(source)

    def step(self, target: Tensor, state: Any) -> tuple[Tensor, Any]:
        logits, state = self.model.step(target, state)
        logits[..., EOS] = float("-inf") if state.length <= self.length else 1e4
        return logits, state


def decoding(beam: int) -> Decoding:
    return Decoding("greedy" if beam == 1 else "beam", beam=beam, length_penalty=0.0)


class Contest:
    """The same sources for everyone, and as many pieces from everyone."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer, folder: Path, threads: int) -> None:
        self.model, self.tokenizer, self.absent = model, tokenizer, ""
        try:
            self.marian: Any = peers.marian(model.config)
            convert(model, tokenizer, folder / "ctranslate2")
            self.fast = Translator(folder / "ctranslate2", tokenizer, threads=threads)
        except peers.MissingError as error:
            self.absent = str(error)

    def calls(self, batch: int, beam: int) -> dict[str, Callable[[], object]]:
        ids = texts.pieces(self.tokenizer, texts.ENGLISH, SOURCE + batch)
        sources = [ids[at : at + SOURCE] for at in range(batch)]
        tensor, forced = pad([[*source, EOS] for source in sources]), Forced(self.model, LENGTH)
        lengths = {"min_new_tokens": LENGTH + 1, "max_new_tokens": LENGTH + 1}  # </s>, or one more piece
        made: dict[str, Callable[[], object]] = {"ours": lambda: decode(forced, tensor, decoding(beam))}
        if self.absent:
            return made
        made["Hugging Face"] = lambda: self.marian.generate(tensor, num_beams=beam, do_sample=False, **lengths)
        made["CTranslate2"] = lambda: self.fast.translate(sources, beam=beam, shortest=LENGTH, longest=LENGTH)
        return made

    def measured(self, batch: int, beam: int) -> Row:
        calls = self.calls(batch, beam)
        times = interleaved(calls, rounds=ROUNDS[batch])
        row: dict[str, Any] = {"batch": batch, "decoder": "greedy" if beam == 1 else f"beam {beam}"}
        row |= {f"{name}, pieces/s": round(batch * LENGTH / median(times, name)) for name in calls}
        return row | {f"of {name}": round(ratio(times, name, "ours"), 2) for name in list(calls)[1:]}

    def agreement(self, beam: int) -> float:
        """Share of sentences with the same translation, piece by piece, left to end where it wants to."""
        sentences = [text for text, _ in zip(texts.sentences(), range(CHECKED), strict=False)]
        sources = [self.tokenizer.encode(text) for text in sentences]
        found = self.fast.translate(sources, beam=beam)
        same = [
            list(beam_search(self.model, torch.tensor([[*source, EOS]]), decoding(beam))[0][0].ids) == other
            for source, other in zip(sources, found, strict=True)
        ]
        return sum(same) / len(same)


def measured(options: argparse.Namespace) -> tuple[list[Row], list[Bar], dict[str, Any]]:
    model, tokenizer = checkpoint.load()
    more: dict[str, Any] = {"threads": options.threads}
    with tempfile.TemporaryDirectory() as folder:
        contest = Contest(model, tokenizer, Path(folder), options.threads)
        rows = [contest.measured(batch, beam) for batch in BATCHES for beam in BEAMS]
        if contest.absent:
            return rows, [], more | {"missing": contest.absent}
        more |= {f"same translations as CTranslate2, beam {beam}": contest.agreement(beam) for beam in BEAMS}
    bars = [
        Bar(f"{row['decoder']}, batch {row['batch']}, times {name}", row[f"of {name}"], bar, at_most=False)
        for name, bar in (("Hugging Face", FASTER), ("CTranslate2", AIM))
        for row in rows
    ]
    return rows, bars, more


def main(arguments: Sequence[str] | None = None) -> None:
    parser = told.parser("decoding", __doc__)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    rows, bars, more = measured(options)
    told.tell("decoding", rows, bars, as_json=options.json, **more)


if __name__ == "__main__":
    main()
