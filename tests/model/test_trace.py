"""A map cannot exist with labels that do not fit, and a trace hands out the head that was asked for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model.config import BOS, EOS
from model.tokenizer import Tokenizer
from model.trace import KINDS, AttentionMap, LabelError, Token, Trace

ROWS, COLUMNS = tuple(Token(t, t) for t in "ab"), tuple(Token(t, t) for t in "xyz")
FITTING: Mapping[str, Any] = {
    "kind": "cross",
    "layer": 1,
    "head": 1,
    "weights": np.full((2, 3), 1 / 3),
    "scores": np.zeros((2, 3)),
    "allowed": np.ones((2, 3), dtype=bool),
    "rows": ROWS,
    "columns": COLUMNS,
    "predicts": ROWS,
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": COLUMNS, "predicts": COLUMNS}, r"weights has shape \(2, 3\), .* 3 rows and 3 columns"),
        ({"rows": COLUMNS, "columns": ROWS, "predicts": COLUMNS}, "3 rows and 2 columns"),
        ({"weights": np.zeros((3, 2))}, r"weights has shape \(3, 2\)"),
        ({"scores": np.zeros((5, 2, 3))}, r"scores has shape \(5, 2, 3\)"),
        ({"allowed": np.ones((1, 3), dtype=bool)}, r"allowed has shape \(1, 3\)"),
        ({"predicts": None}, "decoder rows need a second label"),
        ({"predicts": COLUMNS}, "2 rows read a token, but 3 predict one"),
        ({"kind": "encoder"}, "encoder rows have none"),
        ({"kind": "self"}, "kind 'self' is not known; choose encoder, masked or cross"),
        ({"layer": 0}, "layer 0 does not exist: layers count from 1"),
        ({"head": -1}, "head -1 does not exist: heads count from 1"),
    ],
)
def test_a_map_whose_labels_do_not_fit_is_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    AttentionMap(**FITTING)
    with pytest.raises(LabelError, match=said):
        AttentionMap(**{**FITTING, **change})


@pytest.mark.parametrize(
    ("kind", "side", "attention"),
    [("encoder", "encoder", "self"), ("masked", "decoder", "self"), ("cross", "decoder", "cross")],
)
def test_a_map_is_the_captured_head_of_its_kind_layer_and_number(
    trace: Trace, kind: str, side: str, attention: str
) -> None:
    for layer in range(1, trace.layers(kind) + 1):
        for head in range(1, 6):
            prefix, found = f"{side}.layers.{layer}.{attention}_attention.", trace.map(kind, layer, head)
            np.testing.assert_array_equal(found.weights, trace.tensors[prefix + "weights_tap"][head - 1])
            np.testing.assert_array_equal(found.scores, trace.tensors[prefix + "scores_tap"][head - 1])
            assert (found.kind, found.layer, found.head) == (kind, layer, head)
            assert (found.weights[~found.allowed] == 0).all()
            assert (found.weights[found.allowed] > 0).all()


def test_layers_are_counted_for_each_kind_of_attention(trace: Trace) -> None:
    assert [trace.layers(kind) for kind in KINDS] == [3, 2, 2]
    assert [trace.heads(kind) for kind in KINDS] == [5, 5, 5]


def test_columns_of_cross_attention_are_the_source_and_all_other_decoder_labels_the_target(
    trace: Trace, tokenizer: Tokenizer
) -> None:
    source, target = tokenizer.encode(trace.source_text), tokenizer.encode(trace.target_text)
    assert len(source) != len(target)

    def ids(tokens: tuple[Token, ...] | None) -> list[int | None]:
        return [token.id for token in tokens or ()]

    encoder, masked, cross = (trace.map(kind, 1, 1) for kind in KINDS)
    assert ids(encoder.rows) == ids(encoder.columns) == ids(cross.columns) == [*source, EOS]
    assert ids(masked.rows) == ids(masked.columns) == ids(cross.rows) == [BOS, *target]
    assert ids(masked.predicts) == ids(cross.predicts) == [*target, EOS]
    assert encoder.predicts is None


def test_only_masked_attention_has_a_staircase(trace: Trace) -> None:
    encoder, masked, cross = (trace.map(kind, 2, 3) for kind in KINDS)
    assert np.array_equal(masked.allowed, np.tril(np.ones_like(masked.allowed)))
    assert encoder.allowed.all()
    assert cross.allowed.all()


@pytest.mark.parametrize(
    ("kind", "layer", "head", "said"),
    [
        ("masked", 0, 1, "layer 0 does not exist: layers count from 1"),
        ("masked", 1, 0, "head 0 does not exist: heads count from 1"),
        ("masked", 3, 1, "no weights of masked layer 3 in this trace; it has layers 1 to 2"),
        ("encoder", 4, 1, "it has layers 1 to 3"),
        ("cross", 1, 6, "cross layer 1 has no head 6; it has heads 1 to 5"),
        ("self", 1, 1, "kind 'self' is not known"),
    ],
)
def test_a_head_that_is_not_there_is_an_error_that_says_which_are(
    trace: Trace, kind: str, layer: int, head: int, said: str
) -> None:
    with pytest.raises(LabelError, match=said):
        trace.map(kind, layer, head)


def test_all_weights_of_a_kind_are_stacked_layer_by_layer(trace: Trace) -> None:
    T, S = len(trace.read), len(trace.source)
    assert trace.weights("cross").shape == (2, 5, T, S)
    np.testing.assert_array_equal(trace.weights("cross")[1, 3], trace.map("cross", 2, 4).weights)


def test_probabilities_sum_to_one_at_each_step_and_follow_from_the_logits(trace: Trace) -> None:
    found = trace.log_probabilities()
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found - found[:, :1], trace.logits - trace.logits[:, :1].astype(float), atol=1e-5)


def test_the_targets_probabilities_are_those_of_the_predicted_tokens(trace: Trace) -> None:
    everything = trace.log_probabilities()
    expected = [everything[step, token.id] for step, token in enumerate(trace.predicted)]
    assert trace.target_log_probabilities().tolist() == expected


def test_no_idea_at_all_is_an_entropy_of_the_vocabularys_bits(trace: Trace) -> None:
    flat = replace(trace, tensors={**trace.tensors, "logits_tap": np.zeros_like(trace.logits)})
    np.testing.assert_allclose(flat.entropy(), np.log2(347))
    sure = np.zeros_like(trace.logits)
    sure[:, 7] = 1000
    np.testing.assert_allclose(replace(trace, tensors={**trace.tensors, "logits_tap": sure}).entropy(), 0, atol=1e-9)


def test_a_trace_with_as_many_tokens_read_as_predicted_is_asked_for(trace: Trace) -> None:
    with pytest.raises(LabelError, match="but predicts"):
        replace(trace, predicted=trace.predicted[:-1])


def test_a_trace_without_weights_is_refused(trace: Trace) -> None:
    with pytest.raises(LabelError, match="needs the attention weights"):
        replace(trace, tensors={"logits_tap": trace.logits})


def test_anyones_weights_become_a_map_with_their_labels() -> None:
    weights = np.array([[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]])
    shown = AttentionMap.of(
        weights, ["a", "b"], ["x", "[SEP]", "x"], predicts=["b", "c"], kind="cross", layer=4, head=7
    )
    assert [token.text for token in shown.columns] == ["x", "[SEP]", "x"]
    assert [token.special for token in shown.columns] == [False, True, False]
    assert (shown.layer, shown.head, shown.allowed.all()) == (4, 7, True)
    np.testing.assert_allclose(np.exp(shown.scores), weights)


def test_anyones_masked_weights_may_look_left_only() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.2, 0.2, 0.6]])
    shown = AttentionMap.of(weights, ["<s>", "a", "b"], predicts=["a", "b", "</s>"], kind="masked")
    assert shown.allowed.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert shown.columns == shown.rows


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([[0.5, 1.5]], "from 0 to 1"),
        ([[0.5, float("nan")]], "from 0 to 1"),
        ([[-0.1, 0.5]], "from 0 to 1"),
        ([[0.5], [0.5]], "labels for 1 rows and 2 columns"),
    ],
)
def test_weights_that_are_none_or_do_not_fit_are_refused(weights: list[list[float]], said: str) -> None:
    with pytest.raises(LabelError, match=said):
        AttentionMap.of(np.array(weights), ["a"], ["x", "y"])


def test_a_weight_where_nothing_may_be_looked_at_is_refused() -> None:
    with pytest.raises(LabelError, match="may not be looked at has a weight"):
        AttentionMap.of(np.array([[0.5, 0.5]]), ["a"], ["x", "y"], allowed=np.array([[True, False]]))
