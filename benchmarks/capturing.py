"""What it costs to look inside: a pass with every tap open, or those of the weights only, against the pass itself.

python -m benchmarks.capturing [--json] [--threads N]     milliseconds a sentence; also against a Hugging Face Marian
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks import peers, texts, told
from benchmarks.clock import interleaved, median, ratio
from benchmarks.told import Bar, Row
from model import checkpoint
from model.capture import WEIGHTS, trace_of
from model.config import BOS, EOS
from model.tokenizer import Tokenizer
from model.transformer import Transformer

Calls = dict[str, Callable[[], object]]

SIZES = (8, 16, 32, 64)  # pieces a side, </s> or <s> included
ROUNDS = 40
AGAINST = {"weights only": 1.10, "everything": 1.25}  # times the pass itself, at most
FASTER = 2.0  # than Marian, at least


def calls(model: Transformer, tokenizer: Tokenizer, other: Any, n: int) -> Calls:
    """What is timed, over n + n pieces."""
    source, target = texts.pieces(tokenizer, texts.ENGLISH, n - 1), texts.pieces(tokenizer, texts.GERMAN, n - 1)
    ids = torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]])

    @torch.inference_mode()
    def marian() -> None:
        other(input_ids=ids[0], decoder_input_ids=ids[1], output_attentions=True)

    made: Calls = {
        "pass": torch.inference_mode()(lambda: model(*ids)),
        "weights only": lambda: trace_of(model, tokenizer, source, target, keep=WEIGHTS),
        "everything": lambda: trace_of(model, tokenizer, source, target),
    }
    return made if other is None else made | {"Marian": marian}


def measured(calls_: Calls, n: int) -> Row:
    times = interleaved(calls_, rounds=ROUNDS, warm=3)
    row: dict[str, float] = {"pieces": n, **{f"{name} ms": round(1000 * median(times, name), 2) for name in calls_}}
    row |= {name: round(ratio(times, name, "pass"), 3) for name in AGAINST}
    if "Marian" in calls_:
        row["Marian / everything"] = round(ratio(times, "Marian", "everything"), 3)
    return row


def bars(rows: Sequence[Row]) -> list[Bar]:
    """At the size where it is worst."""
    found = [Bar(f"{n} / pass", max(r[n] for r in rows), bar, at_most=True) for n, bar in AGAINST.items()]
    name = "Marian / everything"
    if name in rows[0]:
        found.append(Bar(name, min(row[name] for row in rows), FASTER, at_most=False))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = told.parser("capturing", __doc__)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    model, tokenizer = checkpoint.load()
    more = {"threads": options.threads}
    try:
        other = peers.marian(model.config)
    except peers.MissingError as error:
        other, more = None, more | {"missing": str(error)}
    rows = [measured(calls(model, tokenizer, other, n), n) for n in SIZES]
    told.tell("capturing", rows, bars(rows), as_json=options.json, **more)


if __name__ == "__main__":
    main()
