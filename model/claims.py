"""Why the Transformer replaced what came before it, measured: how far gradients reach, and how long training takes.

python -m model.claims --json      one object: reach, exploding, pace (reach.py and pace.py say what is measured)
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from model import checkpoint, command, data
from model.architectures import build
from model.checkpoint import WEIGHTS
from model.data import Encoded
from model.encoder_decoder import EncoderDecoder
from model.pace import EQUALLY_LARGE, LENGTHS, POSITIONS, batch_of, seconds_per_token
from model.reach import DIRECTIONS, WAYS, curve, with_radius
from model.recurrent import ARCHITECTURES
from model.schedule import Schedule
from model.tokenizer import Tokenizer
from model.trainer import Recipe, Trainer

SENTENCES = Path(__file__).with_name("long_sentences.tsv")  # our own
RECURRENT = WEIGHTS.with_name("recurrent")
PIECES = 40  # of each sentence are read, on either side, so that every distance is measured as often
RADII = (0.5, 1.0, 1.5, 2.0, 3.0)
SEED = 1  # of the untrained models

Rows = list[dict[str, Any]]


def folders(options: argparse.Namespace) -> dict[str, Path]:
    """Where each model's weights are, the oldest architecture first."""
    return {name: options.recurrent / name for name in ARCHITECTURES} | {"transformer": options.weights}


def untrained(model: EncoderDecoder) -> EncoderDecoder:
    """A new one of the same configuration, as training begins with it."""
    torch.manual_seed(SEED)
    return build(model.config).eval().requires_grad_(False)


def examples_of(path: Path, tokenizer: Tokenizer) -> list[Encoded]:
    """The sentences, each side cut to PIECES pieces. Raises InputError if one has fewer."""
    pairs = data.read_pairs(path)
    encoded = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in pairs]
    for number, sides in enumerate(encoded, start=1):
        if (shortest := min(map(len, sides))) < PIECES:
            raise command.InputError(f"{path}, line {number}: a side has {shortest} pieces, needed are {PIECES}")
    return [(source[:PIECES], target[:PIECES]) for source, target in encoded]


def reach_of(name: str, model: EncoderDecoder, examples: Sequence[Encoded]) -> Rows:
    """A row for each kind, trained and untrained: the gain at distance `nearest`, `nearest` + 1, …"""
    rows = []
    for trained, one in ((True, model), (False, untrained(model))):
        for kind, way in WAYS.items():
            gain = curve(one, examples, way)
            rows.append({"model": name, "trained": trained, "kind": kind, "nearest": way.nearest, "gain": gain})
    return rows


def exploding(rnn: EncoderDecoder, examples: Sequence[Encoded]) -> Rows:
    """The reach through the encoder of an untrained RNN, by the spectral radius of its recurrent matrices."""
    way = WAYS["encoder"]
    curves = {radius: curve(with_radius(rnn, radius), examples, way) for radius in RADII}
    return [{"radius": radius, "nearest": way.nearest, "gain": gain} for radius, gain in curves.items()]


def pace(tokenizer: Tokenizer) -> Rows:
    """Seconds per token of new models, all equally large, by the length of the sentences."""
    rows = []
    for name, config in EQUALLY_LARGE.items():
        torch.manual_seed(SEED)
        recipe = Recipe(Schedule(config.d_model, warmup=1000), POSITIONS, precision="bfloat16")
        trainer = Trainer(build(config), tokenizer, recipe)
        batches = [batch_of(length, vocab_size=config.vocab_size) for length in LENGTHS]
        seconds = [seconds_per_token(trainer, batch) for batch in batches]
        size = sum(parameter.numel() for parameter in trainer.model.parameters())
        rows.append({"model": name, "parameters": size, "seconds_per_token": seconds})
    return rows


def measure(options: argparse.Namespace) -> dict[str, Any]:
    loaded = {name: checkpoint.load_any(folder) for name, folder in folders(options).items()}
    examples = {name: examples_of(options.file, tokenizer) for name, (_, tokenizer) in loaded.items()}
    rnn, tokenizer = loaded["rnn"]
    return {
        "sentences": len(examples["rnn"]),
        "pieces": PIECES,
        "directions": DIRECTIONS,
        "reach": [row for name, (model, _) in loaded.items() for row in reach_of(name, model, examples[name])],
        "exploding": exploding(untrained(rnn), examples["rnn"]),
        "pace": {"positions": POSITIONS, "lengths": LENGTHS, "models": pace(tokenizer)},
    }


def show(found: dict[str, Any]) -> None:
    """The same as tables, at distances that double."""
    print(f"gain, geometric mean over {found['sentences']} sentences, at distances 1, 2, 4, 8, 16, 32")
    for row in found["reach"]:
        trained = "trained" if row["trained"] else "new"
        print(f"    {row['model']:15} {trained:8} {row['kind']:8} {_doubling(row)}")
    print("the same through the encoder of a new RNN, by spectral radius")
    for row in found["exploding"]:
        print(f"    {row['radius']:<33} {_doubling(row)}")
    print(f"microseconds of training for each token, sentences of {', '.join(map(str, LENGTHS))} pieces")
    for row in found["pace"]["models"]:
        print(f"    {row['model']:33} " + " ".join(f"{1e6 * s:8.0f}" for s in row["seconds_per_token"]))


def _doubling(row: dict[str, Any]) -> str:
    return " ".join(f"{row['gain'][distance - row['nearest']]:8.1e}" for distance in (1, 2, 4, 8, 16, 32))


def claims(options: argparse.Namespace) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # or CPU seconds would count what a second thread waits
    torch.set_flush_denormal(True)  # as in training
    try:
        found = measure(options)
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser(
        "claims", "How far gradients reach, and how long training takes, before attention and after."
    )
    parser.add_argument("file", type=Path, nargs="?", default=SENTENCES, help="long source<TAB>target lines")
    parser.add_argument("--recurrent", type=Path, default=RECURRENT, help="folder that holds rnn, lstm, lstm-attention")
    parser.add_argument("--json", action="store_true", help="one object")
    return command.run(claims, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
