"""Translate a sentence: `python -m model.translate "The cat sleeps."` prints the German alone on its line."""

import argparse
import json
import sys
from collections.abc import Sequence

from model import checkpoint, command
from model.capture import prepare, translate_ids
from model.command import WIDEST_BEAM, at_least
from model.config import EOS
from model.decode import LENGTH_PENALTY, Decoding
from model.labels import labels

NUMBERS = ("beam", "length_penalty", "temperature", "top_k", "top_p", "seed")


def decoding_of(options: argparse.Namespace) -> Decoding:
    """The decoding that the command line asks for: --sample, --beam N, or greedy."""
    method = "sample" if options.sample else "beam" if options.beam > 1 else "greedy"
    try:
        return Decoding(method, **{name: getattr(options, name) for name in NUMBERS})
    except ValueError as error:
        raise command.InputError(str(error)) from error


def translate(options: argparse.Namespace) -> None:
    decoding = decoding_of(options)
    model, tokenizer = checkpoint.load_any(options.weights)
    source = prepare(tokenizer, options.sentence)
    found = translate_ids(model, source, decoding)
    if source.left_out:
        print(source.cut_note(), file=sys.stderr)
    target = tokenizer.decode(found.ids)
    if not options.json:
        print(target)
        return
    pieces = labels(tokenizer, [*found.ids, EOS] if found.ended else found.ids)
    steps = [
        {"token": token.text, "log_probability": chance}
        for token, chance in zip(pieces, found.log_probabilities, strict=True)
    ]
    answer = {"text": target, "source": source.text, "target": target}
    print(json.dumps(answer | {"log_probability": found.log_probability, "steps": steps}, ensure_ascii=False))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("translate", "Translate an English sentence to German.")
    parser.add_argument("sentence", help="in English")
    parser.add_argument("--json", action="store_true", help="one object: text, source, target, log_probability, steps")
    parser.add_argument(
        "--beam", type=at_least(1, WIDEST_BEAM), default=1, help="hypotheses kept; 1 (default) is greedy"
    )
    parser.add_argument("--length-penalty", type=float, default=LENGTH_PENALTY, help="exponent, for --beam")
    parser.add_argument("--sample", action="store_true", help="draw each piece instead of taking the likeliest")
    parser.add_argument("--temperature", type=float, default=1.0, help="for --sample")
    parser.add_argument("--top-k", type=at_least(0), default=0, help="for --sample: 0 means all pieces")
    parser.add_argument("--top-p", type=float, default=1.0, help="for --sample")
    parser.add_argument("--seed", type=int, default=1, help="for --sample")
    return command.run(translate, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
