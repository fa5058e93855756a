"""Every parameter of a model is counted once, in the part that it belongs to."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from torch import nn

from model.config import ModelConfig
from model.parameters import Counts, count
from model.transformer import Transformer


@pytest.mark.parametrize("change", [{}, {"norm": "pre"}, {"positions": "learned"}, {"decoder_layers": 5}], ids=str)
def test_the_parts_sum_to_the_model(build: Callable[..., Transformer], tiny: ModelConfig, change: dict) -> None:
    model = build(replace(tiny, **change))
    found = count(model)
    assert sum(found.parts.values()) == found.total == sum(p.numel() for p in model.parameters())


def test_each_part_is_as_large_as_the_paper_says(model: Transformer, tiny: ModelConfig) -> None:
    D, F, V, E, L = tiny.d_model, tiny.d_ff, tiny.vocab_size, tiny.encoder_layers, tiny.decoder_layers
    attention, feed_forward, norm = 4 * (D * D + D), D * F + F + F * D + D, 2 * D
    assert count(model).parts == {
        "embedding": V * D,
        "encoder_positions": 0,
        "decoder_positions": 0,
        "encoder": E * attention,
        "encoder_feed_forward": E * feed_forward,
        "encoder_norms": E * 2 * norm,
        "masked": L * attention,
        "cross": L * attention,
        "decoder_feed_forward": L * feed_forward,
        "decoder_norms": L * 3 * norm,
    }


def test_a_parameter_that_fits_nowhere_is_named(build: Callable[..., Transformer], tiny: ModelConfig) -> None:
    model = build(tiny)
    model.bridge = nn.Linear(2, 3)
    with pytest.raises(ValueError, match=r"the parameter bridge\.weight belongs to no part"):
        count(model)


def test_parts_that_do_not_sum_up_are_refused() -> None:
    with pytest.raises(ValueError, match="the parts have 3 parameters, the model has 4"):
        Counts({"embedding": 3}, 4)
