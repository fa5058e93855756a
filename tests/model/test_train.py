"""Training resumes bit for bit, learns, and does the same in two shares as in one."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from model import runs
from model import trainer as shares
from model.config import PAD, ModelConfig
from model.criterion import token_loss
from model.data import Augmentation, Encoded, Pair
from model.schedule import Schedule
from model.score import log_probabilities
from model.tokenizer import Tokenizer
from model.train import Watch, dev_loss, fit, main
from model.trainer import Recipe, Share, Trainer
from model.transformer import Transformer

ROOT = Path(__file__).resolve().parents[2]
ALONE = Share()
EVERYTHING = Augmentation(rename=0.5, lower=0.2, join=0.2, bpe_dropout=0.2)


def trainer(config: ModelConfig, tokenizer: Tokenizer, *, dropout: float = 0.2, share: Share = ALONE) -> Trainer:
    """The same beginning each time."""
    torch.manual_seed(3)
    recipe = Recipe(Schedule(config.d_model, 5, 0.01, steps=20), 200, dropout, seed=4, augmentation=EVERYTHING)
    return Trainer(Transformer(config, dropout=dropout), tokenizer, recipe, share)


def everything_in(folder: Path) -> dict[str, Tensor]:
    """All tensors of a saved step: weights, and the optimizer's."""
    return {
        f"{name}: {key}": tensor
        for name in ("model.safetensors", "optimizer.safetensors")
        for key, tensor in load_file(folder / name).items()
    }


def assert_same_step(one: Path, other: Path) -> None:
    found, expected = everything_in(one), everything_in(other)
    assert found.keys() == expected.keys()
    assert [name for name, tensor in expected.items() if not torch.equal(found[name], tensor)] == []
    seen, wanted = runs.load_progress(one), runs.load_progress(other)
    assert (seen.step, seen.epoch, seen.batch, seen.tokens) == (wanted.step, wanted.epoch, wanted.batch, wanted.tokens)


class KilledError(Exception):
    """Stands in for a kill: nothing of the trainer is used after it."""


@pytest.mark.parametrize(
    ("killed_in", "saved"), [(3, [2, 5, 10, 12]), (6, [2, 4, 5, 10, 12]), (11, [2, 4, 6, 8, 10, 12])]
)
def test_a_run_that_was_killed_and_started_again_equals_an_undisturbed_one_bit_for_bit(
    tiny: ModelConfig,
    tokenizer: Tokenizer,
    pairs: list[Pair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    killed_in: int,
    saved: list[int],
) -> None:
    """With dropout, dropped merges, renaming, joining; 12 steps are several epochs of these pairs."""
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir()
    killed.mkdir()
    fit(trainer(tiny, tokenizer), pairs[:5], Watch(undisturbed, steps=12, save_every=12))
    first = trainer(tiny, tokenizer)
    step = first.step

    def until_killed(batch: Sequence[Encoded], number: int) -> float:
        if number == killed_in:
            raise KilledError
        return step(batch, number)

    monkeypatch.setattr(first, "step", until_killed)
    with pytest.raises(KilledError):
        fit(first, pairs[:5], Watch(killed, steps=12, save_every=2))
    torch.manual_seed(99)
    half = killed / ".step-00000014.1.part"
    half.mkdir()
    fit(trainer(tiny, tokenizer), pairs[:5], Watch(killed, steps=12, save_every=5))
    assert runs.load_progress(killed / "step-00000012").epoch > 1
    assert_same_step(killed / "step-00000012", undisturbed / "step-00000012")
    assert [row["step"] for row in runs.load_progress(killed / "step-00000012").history] == saved


def test_measuring_on_the_way_changes_no_bit_of_the_training(
    tiny: ModelConfig, tokenizer: Tokenizer, pairs: list[Pair], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, dev in (("plain", ()), ("measured", pairs[30:33])):
        (tmp_path / name).mkdir()
        fit(trainer(tiny, tokenizer), pairs[:24], Watch(tmp_path / name, steps=4, save_every=2, dev=dev))
    assert_same_step(tmp_path / "measured" / "step-00000004", tmp_path / "plain" / "step-00000004")
    history = runs.load_progress(tmp_path / "measured" / "step-00000004").history
    assert [set(row) for row in history] == [
        {
            "step",
            "tokens",
            "seconds",
            "cpu_seconds",
            "rate",
            "loss",
            "gradient",
            "largest_gradient",
            "dev_loss",
            "dev_bleu",
        },
    ] * 2
    assert f"{pairs[30].source} -> " in capsys.readouterr().out


def test_a_finished_run_is_left_as_it_is(
    tiny: ModelConfig, tokenizer: Tokenizer, pairs: list[Pair], tmp_path: Path
) -> None:
    for _ in range(2):
        fit(trainer(tiny, tokenizer), pairs[:24], Watch(tmp_path, steps=3, save_every=2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["snapshot-00000000", "step-00000002", "step-00000003"]
    assert len(runs.load_progress(tmp_path / "step-00000003").history) == 2


def test_training_learns(trained: Transformer, tiny: ModelConfig, tokenizer: Tokenizer, pairs: list[Pair]) -> None:
    torch.manual_seed(1)
    before = dev_loss(Transformer(tiny), tokenizer, pairs[:40])
    assert before > 5
    assert dev_loss(trained, tokenizer, pairs[:40]) < before / 4


def test_a_steps_rate_is_the_schedules(tiny: ModelConfig, tokenizer: Tokenizer, pairs: list[Pair]) -> None:
    made = trainer(tiny, tokenizer)
    batch = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in pairs[:3]]
    for number in (1, 5, 17):
        made.step(batch, number)
        assert made.optimizer.param_groups[0]["lr"] == made.recipe.schedule.rate(number)


def test_the_loss_is_cross_entropy_with_smoothed_labels_over_real_tokens() -> None:
    """Vaswani et al. 2017, 5.4: 0.9 on the right piece, and 0.1 shared by all of them."""
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(1))
    predicted = torch.tensor([[4, 6, 3], [5, 3, PAD]])
    chances, expected = logits.double().log_softmax(dim=-1), 0.0
    for row, step in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1)):
        right = chances[row, step, predicted[row, step]]
        expected -= float(0.9 * right + 0.1 * chances[row, step].mean())
    assert float(token_loss(logits, predicted, smoothing=0.1)) == pytest.approx(expected, rel=1e-5)


def test_the_dev_loss_is_the_negative_score_a_token_and_leaves_the_mode_alone(
    trained: Transformer, tokenizer: Tokenizer, pairs: list[Pair]
) -> None:
    tokens = sum(len(tokenizer.encode(pair.target)) + 1 for pair in pairs[:70])
    expected = -sum(log_probabilities(trained, tokenizer, pairs[:70])) / tokens
    for mode in (True, False):
        trained.train(mode)
        assert dev_loss(trained, tokenizer, pairs[:70]) == pytest.approx(expected, abs=1e-5)
        assert trained.training == mode


def test_a_dev_pair_beyond_the_limit_does_not_stop_the_training(trained: Transformer, tokenizer: Tokenizer) -> None:
    assert dev_loss(trained, tokenizer, [Pair("q" * 300, "z" * 300)]) > 0


class Meeting:
    """An all-reduce between two threads: each brings a tensor and leaves with the sum."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(2)
        self.brought: list[Tensor] = []

    def all_reduce(self, tensor: Tensor) -> None:
        self.brought.append(tensor.clone())
        self.barrier.wait(timeout=60)
        tensor.copy_(self.brought[0] + self.brought[1])


@pytest.mark.parametrize("size", [7, 2, 1])
def test_two_shares_of_a_batch_make_the_gradient_of_the_whole(
    tiny: ModelConfig, tokenizer: Tokenizer, pairs: list[Pair], monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """A batch of one sentence leaves the second process with nothing."""
    batch = [(tokenizer.encode(p.source), tokenizer.encode(p.target)) for p in pairs[:size]]
    alone = trainer(tiny, tokenizer, dropout=0.0)
    loss = alone.step(batch, 1)
    monkeypatch.setattr(shares, "dist", SimpleNamespace(all_reduce=Meeting().all_reduce))
    both = [trainer(tiny, tokenizer, dropout=0.0, share=Share(rank, 2)) for rank in range(2)]
    losses: dict[int, float] = {}
    threads = [
        threading.Thread(target=lambda rank=rank: losses.update({rank: both[rank].step(batch, 1)})) for rank in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert losses[0] == losses[1] == pytest.approx(loss, abs=1e-6)
    for expected, one, other in zip(alone.model.parameters(), *(t.model.parameters() for t in both), strict=True):
        torch.testing.assert_close(one.grad, expected.grad, rtol=1e-5, atol=1e-6)
        assert torch.equal(one, other)
        assert expected.grad is not None


@pytest.fixture
def file(tmp_path: Path, pairs: list[Pair]) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")
    return path


SIZES = "--vocab-size 347 --d-model 20 --n-heads 5 --d-ff 37 --encoder-layers 3 --decoder-layers 2".split()
SHORT = "--positions 150 --warmup 3 --peak 0.01 --threads 1 --bpe-dropout 0.1".split()


def test_the_command_killed_for_real_goes_on_to_the_same_weights(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def given(run: str, steps: int, save_every: int) -> list[str]:
        numbers = ["--steps", str(steps), "--save-every", str(save_every)]
        return ["--run", str(tmp_path / run), "--train", str(file), *SIZES, *SHORT, *numbers]

    command = [sys.executable, "-m", "model.train", *given("killed", 100_000, 2)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while len(runs.steps(tmp_path / "killed")) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    last = runs.load_progress(runs.steps(tmp_path / "killed")[-1]).step
    for run in ("killed", "undisturbed"):
        assert main(given(run, last + 3, 100)) == 0
    name = f"step-{last + 3:08d}"
    assert f"going on from {tmp_path / 'killed'}" in capsys.readouterr().out
    assert_same_step(tmp_path / "killed" / name, tmp_path / "undisturbed" / name)


def test_two_processes_under_torchrun_take_the_steps_of_one(file: Path, tmp_path: Path) -> None:
    given = ["--train", str(file), *SIZES, *SHORT, "--dropout", "0", "--steps", "3"]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "-m", "model.train"]
    ran = subprocess.run(
        [*command, "--folder", str(tmp_path / "two"), *given], cwd=ROOT, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert main(["--run", str(tmp_path / "one"), *given]) == 0
    one, two = (tmp_path / run / "step-00000003" for run in ("one", "two"))
    losses = [runs.load_progress(folder).history[0]["loss"] for folder in (one, two)]
    assert losses[1] == pytest.approx(losses[0], abs=1e-6)
    expected, found = (load_file(folder / "model.safetensors") for folder in (one, two))
    for name, tensor in expected.items():
        # Softmax takes no notice of a bias of the keys: its gradient is rounding alone, and Adam makes much of it.
        if not name.endswith("key.bias"):
            torch.testing.assert_close(found[name], tensor, rtol=0, atol=1e-5)


def test_the_command_starts_from_given_weights_and_their_vocabulary(file: Path, tmp_path: Path, weights: Path) -> None:
    run = tmp_path / "run"
    assert main(["--run", str(run), "--train", str(file), *SHORT, "--steps", "1", "--init", str(weights)]) == 0
    vocabularies = [folder / "sentencepiece.model" for folder in (run / "step-00000001", weights)]
    assert vocabularies[0].read_bytes() == vocabularies[1].read_bytes()
    snapshot, given = (load_file(folder / "model.safetensors") for folder in (run / "snapshot-00000000", weights))
    assert all(torch.equal(snapshot[name], tensor) for name, tensor in given.items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--run", "RUN/new/run"], "new/run: No such file or directory"),
        (["--train", "RUN/none.tsv"], "none.tsv: No such file or directory"),
        (["--init", "RUN/none"], "there is no weights folder"),
        (["--words", "1"], "none of the 480 pairs has at most --words 1 words a side"),
        (["--vocab-size", "20000"], "no vocabulary of 20000 pieces"),
        (["--n-heads", "3"], "d_model=20 cannot be split over n_heads=3"),
    ],
)
def test_a_mistake_in_the_command_is_one_line_with_status_two(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: list[str], said: str
) -> None:
    given = ["--run", str(tmp_path / "run"), "--train", str(file), *SIZES, *SHORT, "--steps", "1"]
    assert main([*given, *(word.replace("RUN", str(tmp_path)) for word in change)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "new").exists()
