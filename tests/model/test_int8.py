"""What is stored as int8 comes back within half a step of its row, and a folder of it is loaded like any other."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from model import sums
from model.checkpoint import CheckpointError, load, main
from model.int8 import LARGEST, Int8Error, quantised, restored
from model.transformer import Transformer

NAME = "decoder.layers.2.cross_attention.query.weight"


@pytest.fixture
def folder(weights: Path, tmp_path: Path) -> Path:
    """The tiny model, stored as int8 by the command. Without sums: each damage is to be seen for what it is."""
    assert main([str(weights), "--out", str(tmp_path / "small"), "--int8"]) == 0
    (tmp_path / "small" / sums.NAME).unlink()
    return tmp_path / "small"


def change_tensors(folder: Path, change: Callable[[dict[str, Tensor]], object]) -> None:
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors")


def test_each_number_comes_back_within_half_a_step_of_its_row() -> None:
    generator = torch.Generator().manual_seed(3)
    matrix = torch.randn(50, 31, generator=generator) * torch.logspace(-9, 3, 50)[:, None]
    stored = quantised({"matrix": matrix})
    steps = stored["matrix.scale"].float()
    assert stored["matrix"].dtype == torch.int8
    assert steps.shape == (50,)
    apart = (restored(stored)["matrix"].double() - matrix).abs().amax(dim=1)
    assert (apart <= steps / 2 * (1 + 1e-5)).all()
    assert (steps <= matrix.abs().amax(dim=1) / LARGEST * 1.005).all()  # so a step is as small as it can be


def test_rows_have_scales_of_their_own_and_use_all_of_their_range() -> None:
    stored = quantised({"matrix": torch.tensor([[1.0, -0.5, 0.0], [100.0, 0.0, -50.0]])})["matrix"]
    assert stored.abs().amax(dim=1).tolist() == [LARGEST, LARGEST]
    assert stored.tolist()[0][2] == 0


def test_a_row_of_zeros_stays_one_and_what_is_no_matrix_stays_float16() -> None:
    state = {"matrix": torch.zeros(3, 4), "bias": torch.tensor([0.1, -2.0])}
    stored = quantised(state)
    assert stored["bias"].dtype == torch.float16
    assert "bias.scale" not in stored
    back = restored(stored)
    assert torch.equal(back["matrix"], state["matrix"])
    assert torch.equal(back["bias"], state["bias"].half())


def test_weights_without_int8_are_passed_on_untouched() -> None:
    state = {"matrix": torch.ones(3, 4).half(), "matrix.scale": torch.ones(3)}
    assert restored(state) == state


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({"a": torch.zeros(3, 4, dtype=torch.int8)}, "a is int8, but there is no tensor a.scale"),
        ({"a": torch.zeros(3, 4, dtype=torch.int8), "a.scale": torch.ones(4)}, r"shapes \(3, 4\) and \(4,\)"),
        ({"a": torch.zeros(3, dtype=torch.int8), "a.scale": torch.ones(3)}, "for each row of a matrix"),
    ],
)
def test_tensors_that_do_not_belong_together_are_refused(stored: dict[str, Tensor], said: str) -> None:
    with pytest.raises(Int8Error, match=said):
        restored(stored)


def test_a_folder_is_loaded_as_its_numbers_times_their_scales(folder: Path, weights: Path) -> None:
    stored, model = load_file(folder / "model.safetensors"), load(folder)[0]
    original = load(weights)[0].state_dict()
    assert {name for name, tensor in stored.items() if tensor.dtype == torch.int8} == {
        name for name, tensor in original.items() if tensor.dim() == 2
    }
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == torch.float32
        if stored[name].dtype == torch.int8:
            rows = [
                row.float() * float(scale) for row, scale in zip(stored[name], stored[f"{name}.scale"], strict=True)
            ]
            assert torch.equal(tensor, torch.stack(rows))
        else:
            assert torch.equal(tensor, original[name])


def test_a_model_stored_as_int8_predicts_nearly_what_it_did(
    folder: Path, weights: Path, batch: tuple[Tensor, Tensor]
) -> None:
    before, after = (load(path)[0](*batch).softmax(dim=-1) for path in (weights, folder))
    assert 0 < float((before - after).abs().max()) < 0.1


def test_it_takes_little_more_than_half_of_float16(trained: Transformer, folder: Path) -> None:
    def size(state: dict[str, Tensor]) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in state.values())

    whole = sum(tensor.numel() for tensor in trained.state_dict().values())
    assert size(load_file(folder / "model.safetensors")) < 2 * whole * 0.62  # rows of 20 to 37 need a scale each


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.pop(NAME), f"has a tensor {NAME}.scale, which config.json does not ask for|has no tensor {NAME},"),
        (lambda s: s.pop(f"{NAME}.scale"), f"{NAME} is int8, but there is no tensor {NAME}.scale to scale it by"),
        (lambda s: s.update({f"{NAME}.scale": torch.ones(20, 1)}), r"shapes \(20, 20\) and \(20, 1\)"),
        (lambda s: s.update({NAME: torch.zeros(19, 20, dtype=torch.int8)}), r"shapes \(19, 20\) and \(20,\)"),
        (lambda s: s[f"{NAME}.scale"].fill_(torch.nan), "query.weight holds values that are not finite numbers"),
        (lambda s: s.update({NAME: s[NAME].half()}), f"has a tensor {NAME}.scale, which config.json does not ask for"),
    ],
)
def test_a_damaged_folder_is_refused_in_one_sentence(
    folder: Path, change: Callable[[dict[str, Tensor]], object], said: str
) -> None:
    change_tensors(folder, change)
    with pytest.raises(CheckpointError, match=said):
        load(folder)


@pytest.mark.parametrize("keep", [0, 4, 300, -1])
def test_a_file_cut_short_is_refused(folder: Path, keep: int) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match="is damaged or cut short"):
        load(folder)
