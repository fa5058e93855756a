"""Every number inside a head follows from what was captured and, computed apart from it, from the weights."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import nn

from model.capture import trace_of
from model.config import ModelConfig
from model.inside import (
    Cell,
    Row,
    cell,
    entropy_bits,
    most_telling_cell,
    output_projection,
    softmax,
    softmax_gradient,
    without_scaling,
)
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, AttentionMap, LabelError, Token, Trace
from model.transformer import Transformer

H, K, D = 5, 4, 20
CLOSE = {"rtol": 1e-5, "atol": 1e-6}
# The encoder has a layer more than the decoder.
PLACES = [("encoder", 1), ("encoder", 2), ("encoder", 3), ("masked", 1), ("masked", 2), ("cross", 1), ("cross", 2)]


@dataclass(frozen=True)
class Run:
    """A model and what it did: 7 rows of target, 10 of source."""

    model: Transformer
    trace: Trace

    def cell(self, kind: str, layer: int, head: int, row: int, column: int) -> Cell:
        return cell(self.trace, output_projection(self.model, kind, layer), kind, layer, head, row, column)

    def captured(self, kind: str, layer: int, what: str) -> Array:
        return self.trace.attention(kind, layer, what).astype(np.float64)


@pytest.fixture(scope="module", params=["post", "pre"])
def run(request: pytest.FixtureRequest, build: Callable[..., Transformer], tokenizer: Tokenizer) -> Run:
    model = build(
        ModelConfig(347, d_model=D, n_heads=H, d_ff=37, encoder_layers=3, decoder_layers=2, norm=request.param)
    )
    source, target = list(range(70, 79)), list(range(140, 146))
    return Run(model, trace_of(model, tokenizer, source, target))


def sublayer(kind: str, layer: int) -> str:
    side, attention = ("encoder", "self") if kind == "encoder" else ("decoder", "cross" if kind == "cross" else "self")
    return f"{side}.layers.{layer}.{attention}_attention"


def read_by(run: Run, kind: str, layer: int) -> tuple[Array, Array]:
    """What an attention was given, as captured: x (T, D) that looks, and what is looked at (S, D)."""
    if run.model.config.norm == "pre":
        name = f"{sublayer(kind, layer)}_residual.norm_tap"
    elif kind == "cross":
        name = f"{sublayer('masked', layer)}_residual.norm_tap"
    else:
        side = sublayer(kind, layer).split(".")[0]
        name = f"{side}.layers.{layer - 1}.feed_forward_residual.norm_tap" if layer > 1 else f"{side}.input.sum_tap"
    x = run.trace.tensors[name].astype(np.float64)
    return x, run.trace.tensors["encoder.memory_tap"].astype(np.float64) if kind == "cross" else x


def of_head(linear: nn.Linear, x: Array, head: int) -> Array:
    """x W + b of one head: K neighbouring columns of the whole. (T, D) -> (T, K)"""
    whole = x @ linear.weight.double().numpy().T + linear.bias.double().numpy()
    return whole[:, K * (head - 1) : K * head]


def moved_by(model: Transformer, kind: str, layer: int, head: int, mixed: Array) -> Array:
    """What W^O makes of one head's numbers when all other heads are silent. (N, K) -> (N, D)"""
    silent = np.zeros((len(mixed), D))
    silent[:, K * (head - 1) : K * head] = mixed
    return silent @ model.attention(kind, layer).output.weight.double().numpy().T


def naive_softmax(scores: list[float], allowed: list[bool]) -> list[float]:
    exponentials = [math.exp(score) if may else 0.0 for score, may in zip(scores, allowed, strict=True)]
    return [one / sum(exponentials) for one in exponentials]


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_products_sum_to_the_dot_product_and_that_over_the_root_of_the_width_is_the_captured_score(
    run: Run, kind: str, layer: int
) -> None:
    queries, keys, scores = (run.captured(kind, layer, what) for what in ("queries", "keys", "scores"))
    T, S = scores.shape[1:]
    for row, column in np.ndindex(T, S):
        head = (row + column) % H
        found = run.cell(kind, layer, head + 1, row, column)
        assert (found.width, found.column) == (K, column)
        np.testing.assert_array_equal(found.query, queries[head, row])
        np.testing.assert_array_equal(found.key, keys[head, column])
        np.testing.assert_array_equal(found.products, [q * k for q, k in zip(found.query, found.key, strict=True)])
        assert found.dot == pytest.approx(sum(found.products), rel=1e-12)
        np.testing.assert_allclose(found.dot / K**0.5, scores[head, row, column], **CLOSE)
        np.testing.assert_allclose(found.row.scores[column], found.dot / K**0.5, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_a_row_is_the_captured_one_and_what_the_mask_forbids_gets_nothing(run: Run, kind: str, layer: int) -> None:
    scores, weights = run.captured(kind, layer, "scores"), run.captured(kind, layer, "weights")
    T, S = weights.shape[1:]
    for head, row in np.ndindex(H, T):
        found = run.cell(kind, layer, head + 1, row, S - 1).row
        allowed = np.arange(S) <= row if kind == "masked" else np.ones(S, dtype=bool)
        np.testing.assert_array_equal(found.allowed, allowed)
        np.testing.assert_allclose(found.scores, scores[head, row], **CLOSE)
        np.testing.assert_allclose(found.exponentials / found.total, weights[head, row], **CLOSE)
        np.testing.assert_allclose(found.weights, weights[head, row], **CLOSE)
        assert found.total == pytest.approx(sum(found.exponentials), rel=1e-12)
        assert found.exponentials.max() == 1
        assert found.weights.sum() == pytest.approx(1, abs=1e-12)
        for nothing in (found.exponentials, found.weights, found.moved_norms):
            assert (nothing[~allowed] == 0).all()
            assert (nothing[allowed] > 0).all()


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_what_is_moved_sums_to_the_heads_output_through_its_slice_and_all_heads_to_the_sublayers(
    run: Run, kind: str, layer: int
) -> None:
    head_outputs = run.captured(kind, layer, "head_outputs")
    added = run.trace.tensors[f"{sublayer(kind, layer)}_residual.output_tap"]
    bias = run.model.attention(kind, layer).output.bias.double().numpy()
    for row in range(head_outputs.shape[1]):
        total = np.zeros(D)
        for head in range(1, H + 1):
            found = run.cell(kind, layer, head, row, 0)
            moved = sum(weight * vector for weight, vector in zip(found.row.weights, found.row.moved, strict=True))
            expected = moved_by(run.model, kind, layer, head, head_outputs[None, head - 1, row])[0]
            np.testing.assert_allclose(moved, expected, **CLOSE)
            np.testing.assert_allclose(found.head_norms[head - 1], math.hypot(*expected), **CLOSE)
            np.testing.assert_allclose(found.output, added[row], **CLOSE)
            total += moved
        np.testing.assert_allclose(total + bias, added[row], **CLOSE)
        assert np.linalg.norm(added[row] - total) > 0.1  # b_O is there, and counts once


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_every_figure_follows_from_the_weights_and_what_the_sublayer_was_given(run: Run, kind: str, layer: int) -> None:
    attention = run.model.attention(kind, layer)
    looks, looked = read_by(run, kind, layer)
    T, S = len(looks), len(looked)
    for head, row in np.ndindex(H, T):
        head, column = head + 1, (3 * row + head) % S
        found = run.cell(kind, layer, head, row, column)
        query = of_head(attention.query, looks, head)[row]
        keys, values = of_head(attention.key, looked, head), of_head(attention.value, looked, head)
        scores = [sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(K) for key in keys]
        weights = naive_softmax(scores, [kind != "masked" or column <= row for column in range(S)])
        moved = moved_by(run.model, kind, layer, head, values)
        np.testing.assert_allclose(found.query, query, **CLOSE)
        np.testing.assert_allclose(found.key, keys[column], **CLOSE)
        np.testing.assert_allclose(found.products, query * keys[column], **CLOSE)
        np.testing.assert_allclose(found.row.scores, scores, **CLOSE)
        np.testing.assert_allclose(found.row.weights, weights, **CLOSE)
        np.testing.assert_allclose(found.row.moved, moved, **CLOSE)
        np.testing.assert_allclose(found.row.norms, [math.hypot(*vector) for vector in moved], **CLOSE)
        lengths = [math.hypot(*(weight * vector)) for weight, vector in zip(weights, moved, strict=True)]
        np.testing.assert_allclose(found.row.moved_norms, lengths, **CLOSE)
        mixed = np.array(weights) @ values
        np.testing.assert_allclose(
            found.head_norms[head - 1], math.hypot(*moved_by(run.model, kind, layer, head, mixed[None])[0]), **CLOSE
        )


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_the_slices_of_the_output_projection_put_together_are_the_output_projection(
    run: Run, kind: str, layer: int
) -> None:
    found = output_projection(run.model, kind, layer)
    assert (found.slices.shape, found.bias.shape) == ((H, K, D), (D,))
    mixed = torch.randn(3, H, K, generator=torch.Generator().manual_seed(2)).double()
    apart = sum(mixed[:, head].numpy() @ found.slices[head] for head in range(H)) + found.bias
    output = run.model.attention(kind, layer).output
    whole = nn.functional.linear(mixed.reshape(3, D), output.weight.double(), output.bias.double())
    np.testing.assert_allclose(apart, whole.numpy(), rtol=1e-12, atol=1e-12)


def test_the_output_projection_of_a_model_that_could_be_trained_can_be_looked_at(tiny: ModelConfig) -> None:
    learning = Transformer(tiny).eval()
    assert learning.attention("cross", 2).output.weight.requires_grad
    assert output_projection(learning, "cross", 2).slices.shape == (H, K, D)


def test_padding_is_forbidden_to_every_row_and_changes_none_of_its_figures(run: Run, tokenizer: Tokenizer) -> None:
    source, target = ([token.id for token in tokens] for tokens in (run.trace.source[:-1], run.trace.predicted[:-1]))
    padded = Run(run.model, trace_of(run.model, tokenizer, source, target, padding=3))
    for kind in KINDS:
        alone, found = run.cell(kind, 2, 4, 5, 2), padded.cell(kind, 2, 4, 5, 2)
        columns = len(alone.row.scores)
        assert len(found.row.scores) == columns + 3
        assert not found.row.allowed[columns:].any()
        assert (found.row.weights[columns:] == 0).all()
        for name in ("scores", "exponentials", "weights", "norms", "moved_norms"):
            np.testing.assert_allclose(getattr(found.row, name)[:columns], getattr(alone.row, name), **CLOSE)
        np.testing.assert_allclose(found.output, alone.output, **CLOSE)


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (0, -1), (7, 0), (0, 10), (9, 6)])
def test_a_cell_that_is_not_there_is_an_error_in_one_sentence(run: Run, row: int, column: int) -> None:
    with pytest.raises(LabelError) as raised:
        run.cell("cross", 1, 1, row, column)
    assert str(raised.value) == f"there is no cell in row {row + 1}, column {column + 1}; the map has 7 × 10"
    assert run.cell("cross", 1, 1, 6, 9).column == 9


def test_a_head_that_is_not_there_is_an_error_that_says_which_are(run: Run) -> None:
    with pytest.raises(LabelError, match="cross layer 2 has no head 6; it has heads 1 to 5"):
        run.cell("cross", 2, 6, 0, 0)


def a_map(kind: str, weights: Array, rows: str, columns: str) -> AttentionMap:
    """Tokens are letters; `<` and `>` are special."""
    looks, looked = (tuple(Token(t, t, special=t in "<>") for t in text) for text in (rows, columns))
    predicts = None if kind == "encoder" else looks
    return AttentionMap(kind, 1, 1, weights, weights, np.ones(weights.shape, dtype=bool), looks, looked, predicts)


def test_the_most_telling_cell_is_the_heaviest_off_special_tokens() -> None:
    weights = np.full((3, 4), 0.01)
    weights[0, 1] = 0.9  # from <
    weights[1, 3] = 0.8  # to >
    weights[1, 1] = 0.7
    weights[2, 0] = 0.6
    assert most_telling_cell(a_map("cross", weights, "<ab", "wxy>")) == (1, 1)


@pytest.mark.parametrize("kind", ["encoder", "masked"])
def test_looking_at_oneself_is_not_telling(kind: str) -> None:
    weights = np.full((4, 4), 0.01)
    weights[2, 2] = 0.9
    weights[3, 1] = 0.6
    weights[1, 3] = 0.5
    assert most_telling_cell(a_map(kind, weights, "<abc", "<abc")) == (3, 1)


def test_where_no_cell_tells_anything_the_first_is_taken() -> None:
    assert most_telling_cell(a_map("masked", np.ones((1, 1)), "<", "<")) == (0, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_telling_cell_of_a_trace_may_be_looked_at_and_none_is_heavier(trace: Trace, kind: str) -> None:
    for head in range(1, H + 1):
        shown = trace.map(kind, 2, head)
        at = most_telling_cell(shown)
        assert shown.allowed[at]
        for row, column in np.ndindex(shown.weights.shape):
            telling = not shown.rows[row].special and not shown.columns[column].special
            if telling and (kind == "cross" or row != column):
                assert shown.weights[row, column] <= shown.weights[at]


SCORES = np.random.default_rng(3).normal(size=(6, 9)) * 3


@pytest.mark.parametrize("scores", SCORES)
def test_the_gradient_is_the_norm_of_the_softmaxs_jacobian(scores: Array) -> None:
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=0), torch.tensor(scores))
    weights, _ = softmax(scores, np.ones(9, dtype=bool))
    assert softmax_gradient(weights) == pytest.approx(float(torch.linalg.matrix_norm(jacobian)), rel=1e-12)


def test_the_gradient_vanishes_where_one_column_has_everything() -> None:
    assert softmax_gradient(np.array([0.0, 1.0, 0.0])) == 0
    assert softmax_gradient(np.array([0.5, 0.5])) == pytest.approx(0.5)


@pytest.mark.parametrize("scores", SCORES)
def test_entropy_is_the_mean_surprise_in_bits(scores: Array) -> None:
    weights = naive_softmax(list(scores), [column != 4 for column in range(9)])
    expected = sum(-w * math.log(w) / math.log(2) for w in weights if w)
    assert entropy_bits(np.array(weights)) == pytest.approx(expected, rel=1e-12)


def test_entropy_runs_from_no_choice_to_all_alike() -> None:
    assert str(entropy_bits(np.array([0.0, 1.0, 0.0]))) == "0.0"  # and not -0.0, which would be shown
    assert entropy_bits(np.full(8, 1 / 8)) == pytest.approx(3)
    assert entropy_bits(np.array([0.5, 0.25, 0.25, 0.0])) == pytest.approx(1.5)


def test_a_softmax_of_large_scores_neither_overflows_nor_looks_at_what_is_forbidden() -> None:
    weights, exponentials = softmax(np.array([1e4, 1e4 - 1, 3e4]), np.array([True, True, False]))
    np.testing.assert_allclose(weights, [math.e / (1 + math.e), 1 / (1 + math.e), 0], rtol=1e-12)
    np.testing.assert_allclose(exponentials, [1, math.exp(-1), 0], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_scaling_a_row_is_the_softmax_of_the_products_themselves(run: Run, kind: str) -> None:
    dots = run.captured(kind, 2, "queries")[2] @ run.captured(kind, 2, "keys")[2].T
    for row in range(1, len(dots)):
        found = run.cell(kind, 2, 3, row, 0)
        told = without_scaling(found.row, found.width)
        for name, scores in (("", dots[row] / math.sqrt(K)), ("_unscaled", dots[row])):
            weights = np.array(naive_softmax(list(scores), list(found.row.allowed)))
            assert getattr(told, f"entropy{name}") == pytest.approx(entropy_bits(weights), rel=1e-9)
            assert getattr(told, f"gradient{name}") == pytest.approx(softmax_gradient(weights), rel=1e-9)
        assert told.entropy_unscaled < told.entropy


def test_in_a_wide_head_the_gradient_is_lost_without_the_scaling(run: Run) -> None:
    row = run.cell("encoder", 1, 1, 2, 3).row
    wide: Row = replace(row, scores=np.arange(10.0), weights=softmax(np.arange(10.0), row.allowed)[0])
    told = without_scaling(wide, 400)
    assert told.gradient > 0.2
    assert told.gradient_unscaled < 1e-8
    assert told.entropy_unscaled < 1e-6
