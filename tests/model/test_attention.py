"""Attention is PyTorch's, row by row, and masks hide what they are to hide."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from model.attention import Attention, MaskError, causal_mask, padding_mask
from model.config import ModelConfig
from model.taps import heard
from model.transformer import Transformer

B, H, T, S, K = 6, 5, 8, 11, 4
Batch = tuple[Tensor, Tensor]


@pytest.fixture
def attention(tiny: ModelConfig) -> Attention:
    torch.manual_seed(2)
    return Attention(tiny, dropout=0.3).eval().requires_grad_(False)


@pytest.fixture
def looked() -> tuple[Tensor, Tensor, Tensor]:
    """Queries (B, H, T, K), keys and values (B, H, S, K)."""
    generator = torch.Generator().manual_seed(3)
    queries, keys, values = (torch.randn(B, H, n, K, generator=generator) for n in (T, S, S))
    return queries, keys, values


@pytest.fixture
def may_look() -> Tensor:
    """(B, 1, T, S): another mask in each sentence and each row, with at least one column open."""
    open_ = torch.rand(B, 1, T, S, generator=torch.Generator().manual_seed(4)) < 0.4
    open_[..., 2] = True
    return open_


def weights_of(attention: Attention, looked: tuple[Tensor, Tensor, Tensor], may_look: Tensor) -> Tensor:
    seen: list[Tensor] = []
    attention.weights_tap.register_forward_hook(lambda module, args, output: seen.append(output))
    attention.attend(*looked, may_look)
    return seen[0]


def test_attend_equals_pytorchs_scaled_dot_product(
    attention: Attention, looked: tuple[Tensor, Tensor, Tensor], may_look: Tensor
) -> None:
    queries, keys, values = (tensor.double() for tensor in looked)
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=may_look)
    torch.testing.assert_close(attention.attend(*looked, may_look).double(), expected, rtol=1e-5, atol=1e-6)


def test_the_module_equals_pytorchs_multi_head_attention(attention: Attention) -> None:
    torch.manual_seed(5)
    theirs = torch.nn.MultiheadAttention(20, H, batch_first=True).eval().requires_grad_(False)
    three = (attention.query, attention.key, attention.value)
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in three]))
    theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in three]))
    theirs.out_proj.weight.copy_(attention.output.weight)
    theirs.out_proj.bias.copy_(attention.output.bias)
    x, memory = torch.randn(B, T, 20), torch.randn(B, S, 20)
    hidden = torch.rand(B, S) < 0.3
    hidden[:, 1] = False
    expected, weights = theirs(x, memory, memory, key_padding_mask=hidden, average_attn_weights=False)
    seen: list[Tensor] = []
    attention.weights_tap.register_forward_hook(lambda module, args, output: seen.append(output))
    found = attention(x, *attention.keys_values(memory), ~hidden[:, None, None, :])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(seen[0], weights, rtol=1e-5, atol=1e-6)


def test_each_row_of_weights_sums_to_one_and_forbidden_cells_are_exactly_zero(
    attention: Attention, looked: tuple[Tensor, Tensor, Tensor], may_look: Tensor
) -> None:
    weights = weights_of(attention, looked, may_look)
    assert weights.shape == (B, H, T, S)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(B, H, T), rtol=0, atol=1e-6)
    assert (weights[~may_look.expand_as(weights)] == 0).all()
    assert (weights[may_look.expand_as(weights)] > 0).all()


def test_the_mask_holds_however_large_a_forbidden_score_is(
    attention: Attention, looked: tuple[Tensor, Tensor, Tensor], may_look: Tensor
) -> None:
    queries, keys, values = looked
    assert not weights_of(attention, (queries * 1e6, keys, values), may_look)[~may_look.expand(B, H, T, S)].any()


def test_weights_are_tapped_before_dropout(attention: Attention, looked: tuple[Tensor, Tensor, Tensor]) -> None:
    everywhere = torch.ones(1, 1, T, S, dtype=torch.bool)
    still = weights_of(attention, looked, everywhere)
    assert torch.equal(weights_of(attention.train(), looked, everywhere), still)


def test_a_mask_of_another_width_is_refused_with_both_widths(
    attention: Attention, looked: tuple[Tensor, Tensor, Tensor]
) -> None:
    with pytest.raises(ValueError, match="the mask has 1 columns, but there are 11 keys"):
        attention.attend(*looked, torch.ones(B, 1, T, 1, dtype=torch.bool))


def test_padding_is_what_the_padding_mask_closes() -> None:
    found = padding_mask(torch.tensor([[5, 3, 0], [5, 6, 3]]))
    assert found.shape == (2, 1, 1, 3)
    assert found[:, 0, 0].tolist() == [[True, True, False], [True, True, True]]


def test_a_sentence_of_nothing_but_padding_is_an_error_that_says_which() -> None:
    with pytest.raises(MaskError, match="sentence 2 of the batch holds nothing but padding"):
        padding_mask(torch.tensor([[5, 3], [0, 0], [6, 3]]))


def test_a_target_row_that_may_look_nowhere_is_an_error(model: Transformer) -> None:
    with pytest.raises(MaskError, match="sentence 2"):
        model(torch.tensor([[5, 3], [6, 3]]), torch.tensor([[2, 7, 8], [0, 2, 7]]))


def test_the_causal_mask_is_a_staircase() -> None:
    assert causal_mask(3)[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_the_causal_mask_of_later_rows_is_the_bottom_of_the_whole_one() -> None:
    assert causal_mask(3, first=4).shape == (1, 1, 3, 7)
    assert torch.equal(causal_mask(3, first=4), causal_mask(7)[:, :, 4:])


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_future_is_invisible(build: Callable[..., Transformer], tiny: ModelConfig, batch: Batch, norm: str) -> None:
    model = build(replace(tiny, norm=norm))
    source, target = batch[0], torch.randint(4, 347, (6, 8), generator=torch.Generator().manual_seed(6))
    before = model(source, target)
    for position in range(1, 8):
        changed = target.clone()
        changed[:, position:] = (changed[:, position:] + 9).clamp(4, 346)
        after = model(source, changed)
        assert torch.equal(after[:, :position], before[:, :position])
        assert not torch.equal(after[:, position], before[:, position])


def test_padding_is_invisible_on_both_sides(model: Transformer, batch: Batch) -> None:
    """A sentence alone gives, in every tensor of every attention, what it gives in a padded batch."""
    source, target = batch
    together = seen_in(model, source, target)
    for row in range(6):
        S, T = int((source[row] != 0).sum()), int((target[row] != 0).sum())
        alone = seen_in(model, source[row : row + 1, :S], target[row : row + 1, :T])
        for name, tensor in alone.items():
            if "may_look" in name or "positions" in name:
                continue
            corner = together[name][row : row + 1][tuple(slice(n) for n in tensor.shape)]
            torch.testing.assert_close(corner, tensor, rtol=0, atol=1e-5)
        for kind, end in (("encoder.layers.3.self", S), ("decoder.layers.2.self", T), ("decoder.layers.1.cross", S)):
            assert not together[f"{kind}_attention.weights_tap"][row, :, :, end:].any()


def seen_in(model: Transformer, source: Tensor, target: Tensor) -> dict[str, Tensor]:
    """What each tap showed in one call."""
    seen: dict[str, Tensor] = {}

    def listen(name: str, tensor: Tensor) -> None:
        seen[name] = tensor

    heard(listen, model, source, target)
    return seen
