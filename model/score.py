"""How probable given translations are: `python -m model.score pairs.tsv --json`, one object a line, in order."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from model import checkpoint, command, data
from model.config import MAX_PIECES, PAD
from model.data import Pair
from model.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer

BATCH = 64


@torch.inference_mode()
def log_probabilities(model: EncoderDecoder, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> list[float]:
    """ln P(target | source) of each pair, summed over the target's pieces and </s>."""
    encoded = [(tokenizer.encode(p.source)[:MAX_PIECES], tokenizer.encode(p.target)[:MAX_PIECES]) for p in pairs]
    order = sorted(range(len(encoded)), key=lambda i: (len(encoded[i][0]), len(encoded[i][1])))
    found = [0.0] * len(encoded)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        source, read, predicted = data.tensors([encoded[i] for i in batch])
        chances = model(source, read).double().log_softmax(dim=-1)  # (B, T, V)
        gained = chances.gather(2, predicted[:, :, None])[:, :, 0].masked_fill(predicted == PAD, 0.0)  # (B, T)
        for i, total in zip(batch, gained.sum(dim=1).tolist(), strict=True):
            found[i] = total
    return found


def score(options: argparse.Namespace) -> None:
    pairs = data.read_pairs(options.file)
    model, tokenizer = checkpoint.load_any(options.weights)
    for pair, total in zip(pairs, log_probabilities(model, tokenizer, pairs), strict=True):
        if options.json:
            print(json.dumps({"log_probability": total}))
        else:
            print(f"{total:10.3f}  {pair.source} → {pair.target}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("score", "Log-probability of each source<TAB>target line, natural logarithm.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="one object a line")
    return command.run(score, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
