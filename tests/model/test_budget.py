"""Training for a given time ends where two thirds of the time said, and the rate depends on nothing but the step."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model import budget, runs
from model.architectures import build
from model.budget import Budget
from model.config import ModelConfig
from model.data import Pair
from model.recurrent import RecurrentConfig
from model.schedule import Schedule
from model.tokenizer import Tokenizer
from model.train import Watch, fit, main
from model.trainer import Recipe, Trainer


class Clock:
    """CPU time that passes only in optimizer steps: one second each."""

    def __init__(self) -> None:
        self.now = 0.0

    def process_time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(budget, "time", made)
    return made


def trainer(config: ModelConfig | RecurrentConfig, tokenizer: Tokenizer, clock: Clock) -> Trainer:
    torch.manual_seed(3)
    recipe = Recipe(Schedule(20, 3, 0.01, "constant", 1000), 200, seed=4)
    made = Trainer(build(config, dropout=0.2), tokenizer, recipe)
    step = made.step

    def timed(batch: list[tuple[list[int], list[int]]], number: int) -> float:
        clock.now += 1
        return step(batch, number)

    made.step = timed  # type: ignore[method-assign, assignment]
    return made


LSTM = RecurrentConfig("lstm-attention", 347, d_model=20, layers=1)


def test_time_counts_only_inside(tmp_path: Path, clock: Clock) -> None:
    made = Budget(tmp_path, 100, spent=5)
    clock.now += 30
    with made.counting():
        clock.now += 7
    clock.now += 30
    assert made.spent == 12


def test_the_end_is_set_once_two_thirds_are_spent_and_stays(tmp_path: Path) -> None:
    made = Budget(tmp_path, 90, spent=59.9)
    assert made.end(40) is None
    made.spent = 60.1
    assert made.end(41) == {"steps": 61, "cooldown": 20}
    made.spent = 80.0
    assert made.end(50) == {"steps": 61, "cooldown": 20}
    assert Budget(tmp_path, 90).end(0) == {"steps": 61, "cooldown": 20}
    assert Budget(tmp_path, None, spent=1e9).end(50) is None


def test_a_run_ends_when_its_time_is_spent(
    tmp_path: Path, tokenizer: Tokenizer, pairs: list[Pair], clock: Clock
) -> None:
    """The rate is full for two thirds of the time, then falls to zero."""
    rates = []
    made = trainer(LSTM, tokenizer, clock)
    step = made.step

    def noted(batch: list[tuple[list[int], list[int]]], number: int) -> float:
        loss = step(batch, number)
        rates.append(made.optimizer.param_groups[0]["lr"])
        return loss

    made.step = noted  # type: ignore[method-assign, assignment]
    fit(made, pairs[:9], Watch(tmp_path, 1000, 100, cpu_seconds=12))
    assert runs.load_progress(tmp_path / "step-00000012").history[-1]["cpu_seconds"] == 12
    expected = [0.01 / 3, 0.02 / 3, *[0.01] * 6, 0.01, 0.0075, 0.005, 0.0025]
    assert rates == pytest.approx(expected)


@pytest.mark.parametrize("killed_after", [6, 9])
def test_a_run_that_was_killed_goes_on_to_the_same_bits(
    tmp_path: Path, tokenizer: Tokenizer, pairs: list[Pair], clock: Clock, killed_after: int
) -> None:
    """Before or after its end was set: the same as a run that was told the end when it began."""
    for name in ("killed", "told"):
        (tmp_path / name).mkdir()
    fit(trainer(LSTM, tokenizer, clock), pairs[:9], Watch(tmp_path / "killed", killed_after, 3))
    clock.now += 1000
    resumed = Watch(tmp_path / "killed", 1000, 3, cpu_seconds=12)
    fit(trainer(LSTM, tokenizer, clock), pairs[:9], resumed)
    told = trainer(LSTM, tokenizer, clock)
    steps = 12 if killed_after == 6 else 13
    told.recipe = Recipe(Schedule(20, 3, 0.01, "constant", steps, steps // 3), 200, seed=4)
    fit(told, pairs[:9], Watch(tmp_path / "told", steps, 3))
    one, other = (load_file(tmp_path / name / f"step-{steps:08d}" / "model.safetensors") for name in ("killed", "told"))
    assert all(torch.equal(one[name], tensor) for name, tensor in other.items())


def test_the_command_trains_what_came_before_with_a_given_vocabulary(
    tmp_path: Path, weights: Path, pairs: list[Pair]
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs[:40]), encoding="utf-8")
    given = ["--run", str(tmp_path / "run"), "--train", str(file), "--vocabulary", str(weights), "--threads", "1"]
    sizes = ["--preset", "lstm", "--d-model", "12", "--vocab-size", "347", "--positions", "150", "--warmup", "3"]
    assert main([*given, *sizes, "--cpu-seconds", "0.3", "--clip", "inf"]) == 0
    (last,) = (folder for folder in runs.steps(tmp_path / "run"))
    row = runs.load_progress(last).history[-1]
    assert 0.2 < row["cpu_seconds"] < 2
    assert 0 < row["gradient"] <= row["largest_gradient"]
    assert (last / "sentencepiece.model").read_bytes() == (weights / "sentencepiece.model").read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--preset", "rnn", "--n-heads", "3"], "n_heads says nothing about --preset rnn; leave it out"),
        (["--layers", "3"], "layers says nothing about --preset small"),
        (["--vocabulary", "WEIGHTS", "--preset", "rnn"], "has 347 pieces, asked for are 6000"),
        (["--vocabulary", "none"], "none/sentencepiece.model: No such file"),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(
    tmp_path: Path, weights: Path, pairs: list[Pair], capsys: pytest.CaptureFixture[str], change: list[str], said: str
) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(f"{pairs[0].source}\t{pairs[0].target}\n", encoding="utf-8")
    words = [word.replace("WEIGHTS", str(weights)) for word in change]
    assert main(["--run", str(tmp_path / "run"), "--train", str(file), *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
