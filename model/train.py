"""Train a model on files of sentence pairs; start it again after a kill and it goes on from the last save.

python -m model.train --run runs/en-de --train a.tsv.xz b.tsv --dev dev.tsv
torchrun --nproc_per_node=2 -m model.train --folder runs/en-de …       each process takes its share of every batch
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

import torch
import torch.distributed as dist

from model import beginning, command, data, runs
from model.budget import Budget
from model.command import at_least
from model.config import MAX_PIECES, PAD
from model.criterion import token_loss
from model.data import Augmentation, Encoded, Pair
from model.encoder_decoder import EncoderDecoder
from model.evaluate import bleu_of, translate_all
from model.runs import Progress
from model.schedule import Schedule
from model.tokenizer import Tokenizer
from model.trainer import LARGEST_GRADIENT, DivergedError, Recipe, Share, Trainer


def batches_from(
    pairs: Sequence[Pair], tokenizer: Tokenizer, recipe: Recipe, epoch: int, batch: int
) -> Iterator[tuple[int, int, list[Encoded]]]:
    """Batches for ever, from batch number `batch` of `epoch` on, each with the (epoch, batch) that follows it."""
    while True:
        examples = data.epoch_examples(pairs, tokenizer, recipe.augmentation, seed=recipe.seed, epoch=epoch)
        grouped = data.batches(examples, positions=recipe.positions, seed=recipe.seed, epoch=epoch)
        if not grouped:
            raise command.InputError("none of the pairs leaves any piece on both sides; there is nothing to train on")
        for index in range(batch, len(grouped)):
            yield epoch, index + 1, grouped[index]
        epoch, batch = epoch + 1, 0


@torch.inference_mode()
def dev_loss(model: EncoderDecoder, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> float:
    """Cross-entropy of the references, nats a token, without label smoothing. Leaves the training mode as it was."""
    training = model.training
    model.eval()
    encoded = [(tokenizer.encode(p.source)[:MAX_PIECES], tokenizer.encode(p.target)[:MAX_PIECES]) for p in pairs]
    encoded.sort(key=lambda example: len(example[0]))
    total, tokens = 0.0, 0
    for start in range(0, len(encoded), 64):
        source, read, predicted = data.tensors(encoded[start : start + 64])
        total += float(token_loss(model(source, read), predicted, smoothing=0.0))
        tokens += int((predicted != PAD).sum())
    model.train(training)
    return total / tokens


@dataclass(frozen=True)
class Watch:
    """When to stop, to save, and on what to measure."""

    run: Path
    steps: int
    save_every: int
    dev: Sequence[Pair] = ()
    log_every: int = 50
    cpu_seconds: float | None = None  # instead of steps; see budget.py


def fit(trainer: Trainer, pairs: Sequence[Pair], watch: Watch) -> None:
    """Go on from the last saved step of the run, or from the start, until watch.steps are taken."""
    saved = runs.steps(watch.run)
    progress = Progress(0, 0, 0, 0, ())
    if saved:
        progress = runs.load_step(saved[-1], trainer.model, trainer.optimizer)
        _say(trainer, f"going on from {saved[-1]}")
    elif trainer.share.rank == 0:
        runs.save_snapshot(watch.run, trainer.model, trainer.tokenizer, 0)
    if trainer.share.rank == 0:
        runs.sweep(watch.run)
    trainer.model.train()
    last: dict[str, float] = progress.history[-1] if progress.history else {}
    losses, norms, began, spent = [], [], time.monotonic(), last.get("seconds", 0.0)
    budget = Budget(watch.run, watch.cpu_seconds, spent=last.get("cpu_seconds", 0.0))
    stream = batches_from(pairs, trainer.tokenizer, trainer.recipe, progress.epoch, progress.batch)
    while progress.step < (steps := _last_step(trainer, watch, budget, progress.step)):
        epoch, batch_number, batch = next(stream)
        step = progress.step + 1
        with budget.counting():
            losses.append(trainer.step(batch, step))
        norms.append(trainer.norm)
        tokens = progress.tokens + sum(len(target) + 1 for _, target in batch)
        progress = replace(progress, step=step, epoch=epoch, batch=batch_number, tokens=tokens)
        if step % watch.log_every == 0:
            recent = sum(losses[-watch.log_every :]) / len(losses[-watch.log_every :])
            _say(
                trainer, f"step {step} epoch {epoch} loss {recent:.3f} tokens {tokens} {time.monotonic() - began:.0f} s"
            )
        if trainer.share.rank == 0 and runs.is_snapshot(step):
            runs.save_snapshot(watch.run, trainer.model, trainer.tokenizer, step)
        if trainer.share.rank == 0 and (step % watch.save_every == 0 or step == steps):
            row = _measured(trainer, watch, progress, losses, spent + time.monotonic() - began)
            row |= {"cpu_seconds": round(budget.spent, 1), "gradient": mean(norms), "largest_gradient": max(norms)}
            progress = replace(progress, history=(*progress.history, row))
            runs.save_step(watch.run, trainer.model, trainer.tokenizer, trainer.optimizer, progress)
        if step % watch.save_every == 0:
            losses, norms = [], []


def _last_step(trainer: Trainer, watch: Watch, budget: Budget, step: int) -> int:
    """Where the run ends, as far as can be said after `step` steps. The trainer's schedule is told, too."""
    end = budget.end(step)
    if end is None:
        return watch.steps
    schedule = replace(trainer.recipe.schedule, steps=end["steps"], cooldown=end["cooldown"])
    trainer.recipe = replace(trainer.recipe, schedule=schedule)
    return end["steps"]


def _measured(
    trainer: Trainer, watch: Watch, progress: Progress, losses: Sequence[float], seconds: float
) -> dict[str, float]:
    rate = trainer.recipe.schedule.rate(progress.step)
    row: dict[str, float] = {"step": progress.step, "tokens": progress.tokens, "seconds": round(seconds), "rate": rate}
    row["loss"] = sum(losses) / len(losses)
    if watch.dev:
        row["dev_loss"] = dev_loss(trainer.model, trainer.tokenizer, watch.dev)
        sources = [pair.source for pair in watch.dev]
        trainer.model.eval()
        translated = translate_all(trainer.model, trainer.tokenizer, sources)
        trainer.model.train()
        row["dev_bleu"] = bleu_of(translated, [pair.target for pair in watch.dev])
        for source, text in list(zip(sources, translated, strict=True))[:3]:
            _say(trainer, f"    {source} -> {text}")
    _say(trainer, "saved " + " ".join(f"{name} {value:.5g}" for name, value in row.items()))
    return row


def _say(trainer: Trainer, line: str) -> None:
    if trainer.share.rank == 0:
        print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = command.parser("train", "Train a model; go on from the last save if there is one.", weights=False)
    # torchrun cannot hand --run on: it takes it for a beginning of its own --run-path.
    names = ("--run", "--folder")
    parser.add_argument(*names, type=Path, required=True, help="folder of this run; its parent must exist")
    parser.add_argument("--train", type=Path, nargs="+", required=True, help="files of source<TAB>target lines, or .xz")
    parser.add_argument("--dev", type=Path, help="pairs to measure loss and BLEU on at each save")
    parser.add_argument("--dev-limit", type=at_least(1), default=500, help="use the first N pairs of it")
    beginning.add_options(parser)
    parser.add_argument("--steps", type=at_least(1), default=100_000, help="optimizer steps in all")
    parser.add_argument("--cpu-seconds", type=float, help="end when steps took so long, see budget.py")
    parser.add_argument("--schedule", choices=("paper", "constant"), default="paper", help="after the warm-up")
    parser.add_argument("--warmup", type=at_least(1), default=4000, help="steps of linearly rising rate")
    parser.add_argument("--peak", type=float, help="rate at the end of the warm-up (default: the paper's)")
    parser.add_argument("--cooldown", type=at_least(0), default=0, help="last steps, over which the rate falls to 0")
    parser.add_argument("--positions", type=at_least(8), default=4096, help="positions in a batch")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--smoothing", type=float, default=0.1, help="label smoothing")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32", help="of matrix products")
    parser.add_argument("--clip", type=float, default=LARGEST_GRADIENT, help="longest gradient; inf for any")
    parser.add_argument("--versions", type=at_least(1), default=3, help="targets kept for one source")
    parser.add_argument("--words", type=at_least(1), default=30, help="pairs with a longer side are left out")
    for name, value in Augmentation().__dict__.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value, help="probability, see data.py")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=at_least(1), help="torch threads (default: torch's choice)")
    parser.add_argument("--save-every", type=at_least(1), default=500, help="steps")
    return parser


def train(options: argparse.Namespace) -> None:
    torch.set_flush_denormal(True)  # sums of tiny numbers are many times slower
    try:
        _train(options)
    finally:
        torch.set_flush_denormal(False)  # it holds for the whole process


def _train(options: argparse.Namespace) -> None:
    if options.threads:
        torch.set_num_threads(options.threads)
    everything = [pair for path in options.train for pair in data.read_pairs(path)]
    pairs = data.thin(everything, versions=options.versions, words=options.words)
    if not pairs:
        raise command.InputError(
            f"none of the {len(everything)} pairs has at most --words {options.words} words a side"
        )
    dev = data.read_pairs(options.dev, limit=options.dev_limit) if options.dev else []
    options.run.mkdir(exist_ok=True)
    share = Share.from_environment()
    if share.world > 1 and options.cpu_seconds:
        raise command.InputError("--cpu-seconds counts one process; leave it out under torchrun")
    model, tokenizer = beginning.begin(options, pairs)
    augmentation = Augmentation(**{name: getattr(options, name) for name in Augmentation().__dict__})
    schedule = Schedule(
        model.config.d_model, options.warmup, options.peak, options.schedule, options.steps, options.cooldown
    )
    recipe = Recipe(
        schedule,
        options.positions,
        options.dropout,
        options.smoothing,
        options.seed,
        options.precision,
        augmentation,
        options.clip,
    )
    trainer = Trainer(model, tokenizer, recipe, share)
    parameters = sum(p.numel() for p in model.parameters())
    _say(trainer, f"{len(pairs)} of {len(everything)} pairs, {parameters / 1e6:.2f} M parameters, {model.config}")
    if share.rank == 0:
        (options.run / "pid").write_text(f"{os.getpid()}\n")
    try:
        watch = Watch(options.run, options.steps, options.save_every, dev, cpu_seconds=options.cpu_seconds)
        fit(trainer, pairs, watch)
    except DivergedError as error:
        raise command.InputError(str(error)) from error
    if share.world > 1:
        dist.destroy_process_group()


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run(train, _parser(), arguments)


if __name__ == "__main__":
    sys.exit(main())
