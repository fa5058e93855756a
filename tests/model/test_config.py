"""A configuration says what is wrong with it, and survives its file."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from model.config import PRESETS, ConfigError, ModelConfig


def test_a_width_that_heads_cannot_share_is_refused_with_the_numbers_that_work() -> None:
    with pytest.raises(ConfigError, match=r"d_model=20 cannot be split over n_heads=3; choose 1, 2, 4, 5, 10, 20"):
        ModelConfig(d_model=20, n_heads=3)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("encoder_layers", 0, "encoder_layers=0 must be a whole number"),
        ("vocab_size", -1, "vocab_size=-1 must be"),
        ("d_ff", 2.5, "d_ff=2.5 must be"),
        ("n_heads", True, "n_heads=True must be"),
        ("d_model", "20", "d_model='20' must be"),
        ("activation", "tanh", "choose relu or gelu"),
        ("norm", None, "choose post or pre"),
        ("positions", ["learned"], "choose sinusoidal or learned"),
    ],
)
def test_an_impossible_choice_is_refused_with_its_name(field: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        replace(ModelConfig(), **{field: value})


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ConfigError, match="d_model=15 must be even"):
        ModelConfig(d_model=15, n_heads=5)


def test_a_configuration_comes_back_from_its_file(tmp_path: Path, tiny: ModelConfig) -> None:
    path = tmp_path / "config.json"
    tiny.save(path)
    assert ModelConfig.load(path) == tiny
    assert ModelConfig.load(path).head_width == 4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not readable as JSON"),
        (b"\xff\xfe", "not readable as JSON"),
        (b"[1]", "must hold exactly the fields"),
        (json.dumps({**asdict(ModelConfig()), "colour": 1}).encode(), "must hold exactly the fields"),
        (b'{"d_model": 20}', "must hold exactly the fields"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused_by_name(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as error:
        ModelConfig.load(path)
    assert str(path) in str(error.value)


def test_presets_base_and_big_are_the_papers_table_3() -> None:
    found = {name: (c.d_model, c.n_heads, c.d_ff, c.encoder_layers, c.decoder_layers) for name, c in PRESETS.items()}
    assert found["base"] == (512, 8, 2048, 6, 6)
    assert found["big"] == (1024, 16, 4096, 6, 6)
