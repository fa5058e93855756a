"""Rollout: rows sum to 1, nothing comes out of the future, and by hand the same comes out."""

import numpy as np
import pytest

from model.capture import trace_of
from model.measures import rolled_out
from model.rollout import of_trace, rollout, to_source
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, Trace
from model.transformer import Transformer


def random_weights(*shape: int, seed: int = 3) -> Array:
    numbers = np.random.default_rng(seed).random(shape)
    return numbers / numbers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_1_after_every_layer(trace: Trace, kind: str) -> None:
    rows, columns, _ = trace.labels(kind)
    found = of_trace(trace, kind)
    assert found.shape == (trace.layers(kind), len(rows), len(columns))
    np.testing.assert_allclose(found.sum(axis=-1), 1)
    assert (found >= 0).all()


def test_one_layer_is_half_attention_and_half_the_token_itself() -> None:
    weights = random_weights(1, 4, 4)
    np.testing.assert_allclose(rollout(weights)[0], 0.5 * weights[0] + 0.5 * np.eye(4))


def test_layers_multiply_the_later_from_the_left() -> None:
    """Row t of the last layer takes from positions whose own sources the layer before says."""
    first, second = random_weights(2, 4, 4)
    expected = np.zeros((4, 4))
    for t in range(4):
        for middle in range(4):
            share = 0.5 * second[t, middle] + 0.5 * (t == middle)
            for s in range(4):
                expected[t, s] += share * (0.5 * first[middle, s] + 0.5 * (middle == s))
    np.testing.assert_allclose(rollout(np.stack([first, second]))[1], expected)


def test_masked_rollout_never_looks_ahead(trace: Trace) -> None:
    found = of_trace(trace, "masked")
    ahead = np.triu(np.ones(found.shape[1:], dtype=bool), k=1)
    assert (found[:, ahead] == 0).all()
    assert (found[:, ~ahead] > 0).all()


def test_what_a_target_row_is_made_of_sums_to_1_over_both_sides() -> None:
    masked, cross = random_weights(3, 5, 5), random_weights(3, 5, 7, seed=4)
    own, source = to_source(masked, cross, random_weights(7, 7, seed=5))
    assert (own.shape, source.shape) == ((3, 5, 5), (3, 5, 7))
    np.testing.assert_allclose(own.sum(axis=-1) + source.sum(axis=-1), 1)
    np.testing.assert_allclose(own.sum(axis=-1)[:, 0], [0.5, 0.25, 0.125])  # each cross-attention takes half of it away


def test_the_first_decoder_layer_takes_half_from_the_encoder_s_rollout() -> None:
    masked, cross, memory = random_weights(1, 5, 5), random_weights(1, 5, 7, seed=4), random_weights(7, 7, seed=5)
    own, source = to_source(masked, cross, memory)
    np.testing.assert_allclose(source[0], 0.5 * cross[0] @ memory)
    np.testing.assert_allclose(own[0], 0.5 * (0.5 * masked[0] + 0.5 * np.eye(5)))


def test_what_was_taken_from_the_source_moves_on_with_masked_attention() -> None:
    """In layer 2 row 1 looks at row 0 only, which has taken from source token 0 in layer 1."""
    masked = np.stack([np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]])])
    cross = np.stack([np.eye(2), np.array([[0.0, 1.0], [0.0, 1.0]])])
    _, source = to_source(masked, cross, np.eye(2))
    np.testing.assert_allclose(source[0], [[0.5, 0], [0, 0.5]])
    np.testing.assert_allclose(source[1, 1], [0.5 * 0.5 * 0.5, 0.5 * 0.5 * 0.5 + 0.5])


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_has_the_labels_of_its_kind_and_belongs_to_no_head(trace: Trace, kind: str) -> None:
    found = rolled_out(trace, kind, 2)
    assert (found.kind, found.layer, found.head, found.measure) == (kind, 2, None, "rollout")
    assert (found.rows, found.columns, found.predicts) == trace.labels(kind)
    np.testing.assert_array_equal(found.weights, of_trace(trace, kind)[1])


def test_padding_gives_nothing(model: Transformer, tokenizer: Tokenizer, trace: Trace) -> None:
    ids = [token.id or 0 for token in trace.source[:-1]], [token.id or 0 for token in trace.read[1:]]
    padded = trace_of(model, tokenizer, *ids, padding=3)
    for kind in KINDS:
        rows, columns, _ = trace.labels(kind)
        found = of_trace(padded, kind)[:, : len(rows)]
        np.testing.assert_allclose(found[..., : len(columns)], of_trace(trace, kind), atol=1e-6)
        assert (found[..., len(columns) :] == 0).all()


def test_from_target_to_source_the_way_leads_through_the_whole_encoder(trace: Trace) -> None:
    """The first decoder layer's row is its cross-attention times the encoder's last rollout."""
    encoder, cross = (trace.weights(kind).astype(np.float64).mean(axis=1) for kind in ("encoder", "cross"))
    np.testing.assert_allclose(of_trace(trace, "cross")[0], cross[0] @ rollout(encoder)[-1])
