"""A folder comes back as the model it was, or is refused in one sentence; nothing half-written is left or loaded."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import checkpoint, sums
from model.checkpoint import CheckpointError, average, load, main, save
from model.config import ModelConfig
from model.data import Pair
from model.tokenizer import Tokenizer, train_tokenizer
from model.transformer import Transformer
from model.whole import replacing, replacing_folder

Batch = tuple[Tensor, Tensor]
FILES = ["config.json", "model.safetensors", "sentencepiece.model"]
WHOLE = ["SHA256SUMS", *FILES]


@pytest.fixture
def folder(weights: Path, tmp_path: Path) -> Path:
    """A weights folder to damage, without sums: each damage is to be seen for what it is."""
    return Path(shutil.copytree(weights, tmp_path / "damaged", ignore=shutil.ignore_patterns(sums.NAME)))


def change_tensors(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors")


@pytest.mark.parametrize(
    "change", [{}, {"norm": "pre", "positions": "learned", "activation": "gelu"}], ids=["paper", "other"]
)
def test_a_saved_model_comes_back_bit_for_bit(
    build: Callable[..., Transformer],
    tiny: ModelConfig,
    tokenizer: Tokenizer,
    batch: Batch,
    tmp_path: Path,
    change: dict[str, Any],
) -> None:
    model = build(replace(tiny, **change), seed=5)
    save(tmp_path / "saved", model.config, model.state_dict(), tokenizer)
    found, vocabulary = load(tmp_path / "saved")
    assert found.config == model.config
    assert torch.equal(found(*batch), model(*batch))
    assert vocabulary.serialized == tokenizer.serialized
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == WHOLE


def test_a_loaded_model_is_float32_in_eval_mode_without_gradients(weights: Path, trained: Transformer) -> None:
    model, _ = load(weights)
    assert not any(module.training for module in model.modules())
    assert not any(parameter.requires_grad for parameter in model.parameters())
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, trained.state_dict()[name].half().float())


def test_the_tied_matrix_is_stored_once_and_tied_again_on_load(folder: Path) -> None:
    """Another embedding of </s> in the file changes what it means to read it and how likely it is to be written."""
    stored = load_file(folder / "model.safetensors")
    assert [name for name, tensor in stored.items() if 347 in tensor.shape] == ["embedding.weight"]
    source, target = torch.tensor([[5, 6]]), torch.tensor([[2]])
    before = load(folder)[0]
    change_tensors(folder, lambda state: state["embedding.weight"][3].mul_(-2))
    after = load(folder)[0]
    logits = [model(source, target)[0, 0] for model in (before, after)]
    assert float(logits[1][3]) == pytest.approx(-2 * float(logits[0][3]), rel=1e-5)
    assert torch.equal(logits[1][4:], logits[0][4:])
    read = torch.tensor([[5, 3]])
    assert torch.allclose(after.embedding(read)[0, 1], -2 * before.embedding(read)[0, 1])


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_said_by_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=rf"has no {name}; it needs config\.json, model\.safetensors, sent"):
        load(folder)


def test_a_missing_folder_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"there is no weights folder .*/none$"):
        load(tmp_path / "none")


@pytest.mark.parametrize("keep", [0, 4, 300, -1])
@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_is_refused(folder: Path, name: str, keep: int) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[: keep if name != "config.json" else min(keep, 9) - 2])
    with pytest.raises(CheckpointError) as error:
        load(folder)
    assert str(folder) in str(error.value)


NAME = "decoder.layers.2.cross_attention.query.bias"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.pop(NAME), f"has no tensor {NAME}, which config.json asks for"),
        (lambda s: s.update(more=torch.zeros(1)), "has a tensor more, which config.json does not ask for"),
        (lambda s: s.update({NAME: torch.zeros(20, 1)}), r"query.bias has shape \(20, 1\), .* asks for \(20,\)"),
        (lambda s: s[NAME].fill_(torch.nan), "query.bias holds values that are not finite numbers"),
        (lambda s: s["embedding.weight"][3:4].fill_(torch.inf), "embedding.weight holds values that are not finite"),
    ],
)
def test_tensors_that_do_not_fit_the_configuration_are_said_by_name(
    folder: Path, change: Callable[[dict[str, Tensor]], object], said: str
) -> None:
    change_tensors(folder, change)
    with pytest.raises(CheckpointError, match=said):
        load(folder)


def test_a_vocabulary_of_another_size_is_refused_with_both_sizes(folder: Path, pairs: list[Pair]) -> None:
    other = train_tokenizer((pair.source for pair in pairs), vocab_size=301)
    (folder / "sentencepiece.model").write_bytes(other.serialized)
    with pytest.raises(CheckpointError, match=r"has 301 pieces, but config\.json says vocab_size=347"):
        load(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{broken", "not readable as JSON"),
        ("[]", "must hold exactly the fields"),
        ('{"d_model": 20}', "must hold exactly the fields"),
        (None, "d_model=20 cannot be split over n_heads=3"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(folder: Path, content: str | None, said: str) -> None:
    path = folder / "config.json"
    path.write_text(content or path.read_text().replace('"n_heads": 5', '"n_heads": 3'))
    with pytest.raises(CheckpointError, match=rf"the weights folder .*damaged cannot be used: .*{said}"):
        load(folder)


@pytest.mark.parametrize("damage", ["none", "config.json", "model.safetensors", "sentencepiece.model"])
def test_every_refusal_is_one_line(folder: Path, damage: str) -> None:
    if damage == "none":
        folder = folder / "none"
    else:
        (folder / damage).write_bytes(b"\n\x00 broken \n")
    with pytest.raises(CheckpointError) as error:
        load(folder)
    assert "\n" not in str(error.value)


def test_saving_again_replaces_a_model_and_leaves_no_other_file(
    model: Transformer, tokenizer: Tokenizer, weights: Path, folder: Path
) -> None:
    save(folder, model.config, model.state_dict(), tokenizer)
    assert sorted(path.name for path in folder.iterdir()) == WHOLE
    assert torch.equal(load(folder)[0].embedding.weight, model.embedding.weight)


def test_saving_creates_no_missing_parent(model: Transformer, tokenizer: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "new" / "model", model.config, model.state_dict(), tokenizer)
    assert not list(tmp_path.iterdir())


def write_half(path: Path) -> None:
    path.write_text("half")
    raise RuntimeError("stop")


def test_a_file_keeps_its_old_content_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="stop"), replacing(path) as part:
        write_half(part)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_folder_has_its_name_only_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "step-1"
    with pytest.raises(RuntimeError, match="stop"), replacing_folder(path) as part:
        write_half(part / "half")
    assert not list(tmp_path.iterdir())
    with replacing_folder(path) as part:
        (part / "whole").write_text("whole")
        assert not path.exists()
    assert [p.name for p in tmp_path.iterdir()] == ["step-1"]
    assert (path / "whole").read_text() == "whole"


def test_what_a_killed_process_of_the_same_number_left_behind_is_no_obstacle(tmp_path: Path) -> None:
    """In a container every run may have one and the same process number."""
    left = tmp_path / f".step-1.{os.getpid()}.part"
    left.mkdir()
    (left / "half").write_text("half")
    with replacing_folder(tmp_path / "step-1") as part:
        (part / "whole").write_text("whole")
    assert [p.name for p in (tmp_path / "step-1").iterdir()] == ["whole"]
    assert [p.name for p in tmp_path.iterdir()] == ["step-1"]


def test_an_average_is_the_mean_of_each_weight(
    build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    models = [build(tiny, seed=seed) for seed in (1, 2, 3)]
    folders = [tmp_path / str(number) for number in range(3)]
    for folder, model in zip(folders, models, strict=True):
        save(folder, tiny, model.state_dict(), tokenizer)
    config, state, vocabulary = average(folders)
    assert (config, vocabulary.serialized) == (tiny, tokenizer.serialized)
    for name, tensor in state.items():
        expected = sum(model.state_dict()[name].double() for model in models) / 3
        torch.testing.assert_close(tensor.double(), expected, rtol=1e-6, atol=1e-7)
    assert all(torch.equal(average(folders[:1])[1][n], models[0].state_dict()[n]) for n in state)


def test_models_of_unlike_configurations_cannot_be_averaged(
    build: Callable[..., Transformer], tiny: ModelConfig, tokenizer: Tokenizer, weights: Path, tmp_path: Path
) -> None:
    other = build(replace(tiny, decoder_layers=1))
    save(tmp_path / "other", other.config, other.state_dict(), tokenizer)
    with pytest.raises(CheckpointError, match="one and the same configuration"):
        average([weights, tmp_path / "other"])


def test_the_command_ships_float16_and_says_its_size(
    model: Transformer, tokenizer: Tokenizer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "step", model.config, model.state_dict(), tokenizer)
    assert main([str(tmp_path / "step"), "--out", str(tmp_path / "out")]) == 0
    shipped = load_file(tmp_path / "out" / "model.safetensors")
    assert all(torch.equal(shipped[name], tensor.half()) for name, tensor in model.state_dict().items())
    assert f"{sum(t.numel() for t in shipped.values()) / 1e6:.2f} M parameters" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["out", "new/out"])
def test_the_command_refuses_missing_folders_in_one_line(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    given = weights if out == "new/out" else tmp_path / "none"
    assert main([str(given), "--out", str(tmp_path / out)]) == 2
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("error: ")
    assert not list(tmp_path.iterdir())


def test_the_shipped_model_is_what_is_loaded_by_default() -> None:
    root = Path(__file__).resolve().parents[2]
    assert root / "weights" / "en-de" == checkpoint.WEIGHTS
