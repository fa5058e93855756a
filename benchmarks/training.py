"""How many pieces a second training reads and predicts, against torch.nn.Transformer in the same loop.

python -m benchmarks.training [--json] [--threads N] [--profile]     and how much of what matrix products alone could do
"""

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import told
from benchmarks.clock import Times, interleaved, median, ratio
from benchmarks.told import Bar, Row
from model import checkpoint
from model.config import PAD, ModelConfig
from model.data import Encoded, batches
from model.encoder_decoder import EncoderDecoder
from model.schedule import Schedule
from model.tokenizer import Tokenizer
from model.trainer import Recipe, Trainer
from model.transformer import Transformer, sinusoids

POSITIONS = 2300  # in a batch: what the shipped model was trained with
LENGTHS = (5, 25)  # pieces of a side
ROUNDS = 8
SIDE = 1024  # of the square matrices whose product is this machine's rate
FASTER, SHARE = 1.2, 0.55  # than torch.nn.Transformer; of the rate


class Peer(EncoderDecoder):
    """torch.nn.Transformer of the same shape between our embeddings, positions and output matrix."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        D = config.d_model
        self.config, self.embedding, self.dropout = config, nn.Embedding(config.vocab_size, D), nn.Dropout(0.1)
        nn.init.normal_(self.embedding.weight, std=D**-0.5)
        self.positions = sinusoids(512, D)
        # Its dropout is 0.1 by default, as ours is.
        layer = nn.TransformerEncoderLayer(D, config.n_heads, config.d_ff, batch_first=True)
        encoder = nn.TransformerEncoder(layer, config.encoder_layers, enable_nested_tensor=False)
        self.inner = nn.Transformer(
            D,
            config.n_heads,
            num_decoder_layers=config.decoder_layers,
            dim_feedforward=config.d_ff,
            custom_encoder=encoder,
            batch_first=True,
        )
        self.inner.decoder.norm = None  # post-norm as in the paper needs no other at the end

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding, T = source == PAD, target.shape[1]
        future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
        vectors = self.inner(
            self._vectors(source),
            self._vectors(target),
            tgt_mask=future,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return F.linear(vectors, self.embedding.weight)

    def _vectors(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * self.config.d_model**0.5 + self.positions[: ids.shape[1]])


def examples(vocabulary: int, count: int = 3000) -> list[Encoded]:
    """Random pieces in sentences of everyday lengths, targets about as long as sources."""
    rng = random.Random(1)

    def ids(length: int) -> list[int]:
        return [rng.randrange(4, vocabulary) for _ in range(length)]

    lengths = [rng.randint(*LENGTHS) for _ in range(count)]
    return [(ids(length), ids(max(1, length + rng.randint(-2, 3)))) for length in lengths]


class Runner:
    """One trainer, which takes the same batches in the same order as the others."""

    def __init__(
        self, model: EncoderDecoder, tokenizer: Tokenizer, data: Sequence[list[Encoded]], precision: str
    ) -> None:
        schedule = Schedule(model.config.d_model, 1000, 1e-3, "paper", 100_000, 0)
        self.trainer = Trainer(model.train(), tokenizer, Recipe(schedule, POSITIONS, precision=precision))
        self.data, self.taken = data, 0

    def step(self) -> None:
        batch = self.data[self.taken % len(self.data)]
        self.taken += 1
        self.trainer.step(batch, self.taken)


def matrix_products(precision: str) -> Callable[[], object]:
    """A known number of operations, and nothing else."""
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    one, other = torch.randn(SIDE, SIDE).to(kind), torch.randn(SIDE, SIDE).to(kind)
    return lambda: [one @ other for _ in range(10)]


def operations(call: Callable[[], object]) -> int:
    """Floating-point operations of the matrix products in it, backward pass included."""
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


def measured(config: ModelConfig, tokenizer: Tokenizer, precision: str) -> Row:
    grouped = batches(examples(config.vocab_size), positions=POSITIONS, seed=1, epoch=1)
    ours, peer = (Runner(made, tokenizer, grouped, precision) for made in (Transformer(config), Peer(config)))
    products = matrix_products(precision)
    work = [operations(ours.step) for _ in range(ROUNDS + 2)][1:]  # one step to warm up, and the number of each other
    ours.taken = peer.taken = 1
    calls = {"ours": ours.step, "torch": peer.step, "products": products}
    times = interleaved(calls, rounds=ROUNDS)
    pieces = [sum(len(target) + 1 for _, target in batch) for batch in grouped[2 : ROUNDS + 2]]
    rate = 20 * SIDE**3 / median(times, "products")
    return {
        "precision": precision,
        "ours, pieces/s": round(sum(pieces) / sum(times["ours"])),
        "torch.nn, pieces/s": round(sum(pieces) / sum(times["torch"])),
        "of torch.nn": round(ratio(times, "torch", "ours"), 3),
        "GFLOP/s of products": round(rate / 1e9, 1),
        "ours, share of it": round(share(times, work[1:], "ours"), 3),
    }


def share(times: Times, work: Sequence[int], name: str) -> float:
    """Median over rounds: how fast this step multiplied, of how fast products alone went in the same round."""
    return statistics.median(
        (done / taken) / (20 * SIDE**3 / products)
        for done, taken, products in zip(work, times[name], times["products"], strict=False)
    )


def where_time_goes(config: ModelConfig, tokenizer: Tokenizer, precision: str) -> str:
    """What torch's profiler says of five steps of ours."""
    grouped = batches(examples(config.vocab_size), positions=POSITIONS, seed=1, epoch=1)
    ours = Runner(Transformer(config), tokenizer, grouped, precision)
    ours.step()
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        for _ in range(5):
            ours.step()
    return str(seen.key_averages().table(sort_by="self_cpu_time_total", row_limit=25, max_name_column_width=50))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = told.parser("training", __doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="print where the time goes instead")
    options: argparse.Namespace = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)  # as model.train does
    model, tokenizer = checkpoint.load()
    kinds = ("float32", "bfloat16")
    if options.profile:
        print("\n".join(where_time_goes(model.config, tokenizer, precision) for precision in kinds))
        return
    rows: list[Any] = [measured(model.config, tokenizer, precision) for precision in kinds]
    bars = [Bar(f"{row['precision']}, times torch.nn", row["of torch.nn"], FASTER, at_most=False) for row in rows]
    name = "ours, share of it"
    bars += [Bar(f"{row['precision']}, share of products", row[name], SHARE, at_most=False) for row in rows]
    told.tell("training", rows, bars, as_json=options.json, threads=options.threads)


if __name__ == "__main__":
    main()
