"""A run's folder holds whole steps only, the last of them, and snapshots that are kept for good."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model import checkpoint, runs
from model.checkpoint import CheckpointError
from model.config import ModelConfig
from model.runs import Progress
from model.tokenizer import Tokenizer
from model.transformer import Transformer


def taught(config: ModelConfig, *, seed: int) -> tuple[Transformer, torch.optim.Adam]:
    """A model and an optimizer that has taken two steps, so that it has a state."""
    torch.manual_seed(seed)
    model = Transformer(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7]])).square().sum().backward()
        optimizer.step()
    return model, optimizer


def progress(step: int) -> Progress:
    history = ({"step": 2, "loss": 1.5}, {"step": step, "loss": 1.25})
    return Progress(step, epoch=2, batch=7, tokens=900, history=history)


def test_snapshots_are_taken_at_step_zero_and_at_doubling_distances() -> None:
    assert [step for step in range(4100) if runs.is_snapshot(step)] == [0, 125, 250, 500, 1000, 2000, 4000]


def test_a_saved_step_brings_back_weights_optimizer_and_progress_bit_for_bit(
    tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model, optimizer = taught(tiny, seed=1)
    runs.save_step(tmp_path, model, tokenizer, optimizer, progress(30))
    other, other_optimizer = taught(tiny, seed=2)
    assert runs.load_step(runs.steps(tmp_path)[-1], other, other_optimizer) == progress(30)
    for name, tensor in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], tensor)
    states = [o.state_dict()["state"] for o in (optimizer, other_optimizer)]
    assert states[0].keys() == states[1].keys()
    for number, entry in states[0].items():
        assert set(entry) == {"step", "exp_avg", "exp_avg_sq"}
        assert all(torch.equal(tensor, states[1][number][name]) for name, tensor in entry.items())


def test_a_saved_step_is_a_weights_folder_with_an_optimizer(
    tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    model, optimizer = taught(tiny, seed=1)
    runs.save_step(tmp_path, model, tokenizer, optimizer, progress(30))
    folder = tmp_path / "step-00000030"
    found, _ = checkpoint.load(folder)
    assert torch.equal(found.embedding.weight, model.embedding.weight)
    assert load_file(folder / "optimizer.safetensors").keys() == {
        f"{number}.{name}"
        for number in range(len(list(model.parameters())))
        for name in ("step", "exp_avg", "exp_avg_sq")
    }


def test_only_the_last_steps_are_kept(tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path) -> None:
    model, optimizer = taught(tiny, seed=1)
    for step in (9, 10, 100, 1000):
        runs.save_step(tmp_path, model, tokenizer, optimizer, progress(step))
    assert [path.name for path in runs.steps(tmp_path)] == ["step-00000100", "step-00001000"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000100", "step-00001000"]


def test_a_half_written_step_is_not_one(tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path) -> None:
    model, optimizer = taught(tiny, seed=1)
    runs.save_step(tmp_path, model, tokenizer, optimizer, progress(5))
    half = tmp_path / ".step-00000010.4242.part"
    half.mkdir()
    (half / "config.json").write_text("{")
    assert [path.name for path in runs.steps(tmp_path)] == ["step-00000005"]


def test_a_step_that_fails_to_be_written_leaves_the_one_before(
    tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, optimizer = taught(tiny, seed=1)
    runs.save_step(tmp_path, model, tokenizer, optimizer, progress(5))

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(runs, "_flat", full)
    with pytest.raises(OSError, match="no space left"):
        runs.save_step(tmp_path, model, tokenizer, optimizer, progress(10))
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000005"]


def test_a_step_of_another_model_is_refused(tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path) -> None:
    model, optimizer = taught(tiny, seed=1)
    runs.save_step(tmp_path, model, tokenizer, optimizer, progress(5))
    other, other_optimizer = taught(replace(tiny, decoder_layers=1), seed=1)
    with pytest.raises(CheckpointError, match=r"was trained as ModelConfig.*asked for is ModelConfig.*another --run"):
        runs.load_step(tmp_path / "step-00000005", other, other_optimizer)


def test_a_snapshot_is_a_float16_weights_folder_that_is_never_written_over(
    tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    first, second = taught(tiny, seed=1)[0], taught(tiny, seed=2)[0]
    runs.save_snapshot(tmp_path, first, tokenizer, 125)
    runs.save_snapshot(tmp_path, second, tokenizer, 125)
    stored = load_file(tmp_path / "snapshot-00000125" / "model.safetensors")
    assert torch.equal(stored["embedding.weight"], first.embedding.weight.detach().half())
    assert checkpoint.load(tmp_path / "snapshot-00000125")[0].config == tiny


def test_the_command_prints_what_was_measured_and_says_when_there_is_nothing(
    tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, optimizer = taught(tiny, seed=1)
    runs.save_step(tmp_path, model, tokenizer, optimizer, progress(30))
    assert runs.main([str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out) == [{"step": 2, "loss": 1.5}, {"step": 30, "loss": 1.25}]
    assert runs.main([str(tmp_path / "none")]) == 2
    assert "none has no saved step" in capsys.readouterr().err
