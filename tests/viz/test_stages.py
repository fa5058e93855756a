"""The stages of attention are one another's arithmetic: products, over the root, masked, softmax, times V."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from model.capture import trace_of
from model.config import ModelConfig
from model.selection import select
from model.tokenizer import Tokenizer
from model.trace import KINDS, Trace
from model.transformer import Transformer
from viz.stages import NOTES, STAGES, Stage, stage

CLOSE = {"rtol": 1e-5, "atol": 1e-6}


@pytest.fixture(scope="module")
def wide(build: Callable[..., Transformer], tokenizer: Tokenizer) -> Trace:
    """Heads of width 12, whose root is no whole number; 3 <pad> after 6 rows of target and 9 of source."""
    model = build(ModelConfig(347, d_model=24, n_heads=2, d_ff=37, encoder_layers=2, decoder_layers=3))
    return trace_of(model, tokenizer, list(range(90, 98)), list(range(200, 205)), padding=3)


@pytest.fixture(params=["trace", "wide"])
def any_trace(request: pytest.FixtureRequest) -> Trace:
    found: Trace = request.getfixturevalue(request.param)
    return found


def stages_of(trace: Trace, kind: str, layer: int, head: int) -> dict[str, Stage]:
    return {name: stage(name, trace.map(kind, layer, head), trace) for name in STAGES}


def heads(trace: Trace) -> list[tuple[str, int, int]]:
    return [(kind, layer, head) for kind in KINDS for layer, head in ((1, 2), (2, trace.heads(kind)))]


def test_scores_are_query_times_key_and_scaled_ones_are_divided_by_the_root_of_the_width(any_trace: Trace) -> None:
    for kind, layer, head in heads(any_trace):
        found = stages_of(any_trace, kind, layer, head)
        queries, keys = (any_trace.attention(kind, layer, w)[head - 1].astype(float) for w in ("queries", "keys"))
        for row, column in np.ndindex(found["scores"].values.shape):
            dot = sum(q * k for q, k in zip(queries[row], keys[column], strict=True))
            np.testing.assert_allclose(found["scores"].values[row, column], dot, rtol=1e-5, atol=5e-6)
            np.testing.assert_allclose(found["scaled"].values[row, column], dot / len(keys[column]) ** 0.5, **CLOSE)
        root = queries.shape[1] ** 0.5
        np.testing.assert_allclose(found["scores"].values, found["scaled"].values * root, rtol=1e-6)
        assert found["scaled"].values.tobytes() == any_trace.map(kind, layer, head).scores.tobytes()


def test_before_the_mask_every_cell_is_open_and_after_it_those_that_may_be_looked_at(any_trace: Trace) -> None:
    for kind, layer, head in heads(any_trace):
        rows, columns, _ = any_trace.labels(kind)
        expected = [
            [column.text != "<pad>" and (kind != "masked" or at <= row) for at, column in enumerate(columns)]
            for row in range(len(rows))
        ]
        for name, found in stages_of(any_trace, kind, layer, head).items():
            open_ = np.ones_like(expected) if name in ("scores", "scaled") else expected
            np.testing.assert_array_equal(found.allowed, open_)


def test_the_mask_is_zero_where_a_row_may_look_and_the_masked_scores_plus_it_are_the_scaled_ones(trace: Trace) -> None:
    for kind, layer, head in heads(trace):
        found = stages_of(trace, kind, layer, head)
        assert (found["mask"].values == 0).all()
        np.testing.assert_array_equal(found["masked"].values + found["mask"].values, found["scaled"].values)


def test_the_softmax_of_the_masked_scores_is_the_weights_of_the_map(any_trace: Trace) -> None:
    for kind, layer, head in heads(any_trace):
        found, shown = stages_of(any_trace, kind, layer, head), any_trace.map(kind, layer, head)
        masked = np.where(found["masked"].allowed, found["masked"].values.astype(float), -np.inf)
        exponentials = np.exp(masked)
        np.testing.assert_allclose(
            found["softmax"].values, exponentials / exponentials.sum(axis=1, keepdims=True), **CLOSE
        )
        assert found["softmax"].values.tobytes() == shown.weights.tobytes()


def test_what_is_moved_is_the_weight_times_the_length_of_the_value(any_trace: Trace) -> None:
    for kind, layer, head in heads(any_trace):
        found, shown = stage("moved", any_trace.map(kind, layer, head), any_trace), any_trace.map(kind, layer, head)
        values = any_trace.attention(kind, layer, "values")[head - 1].astype(float)
        for row, column in np.ndindex(found.values.shape):
            length = sum(number**2 for number in values[column]) ** 0.5
            np.testing.assert_allclose(found.values[row, column], shown.weights[row, column] * length, **CLOSE)
        assert (found.values[~found.allowed] == 0).all()


def test_colours_reach_as_far_as_the_largest_value_that_is_shown_and_no_further(any_trace: Trace) -> None:
    for kind, layer, head in heads(any_trace):
        for name, found in stages_of(any_trace, kind, layer, head).items():
            largest = np.abs(found.values[found.allowed]).max()
            if name in ("mask", "softmax"):
                assert found.most == 1  # weights are always drawn from 0 to 1
            else:
                assert found.most == largest
            assert largest <= found.most
            assert found.signed == (name in ("scores", "scaled", "mask", "masked"))


def test_a_row_of_nothing_but_zeros_still_has_a_scale(trace: Trace) -> None:
    shown = trace.map("cross", 1, 1)
    flat = {"decoder.layers.1.cross_attention.values_tap": np.zeros((5, len(trace.source), 4), dtype=np.float32)}
    assert stage("moved", shown, replace(trace, tensors={**trace.tensors, **flat})).most > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [False, True])
def test_a_mean_has_weights_only(trace: Trace, kind: str, words: bool) -> None:
    mean = select(trace, kind, 2, None, words=words, special="shown")
    assert stage("softmax", mean, trace).values.tobytes() == mean.weights.tobytes()
    for name in set(STAGES) - {"softmax"}:
        with pytest.raises(ValueError, match="a mean of heads has weights only"):
            stage(name, mean, trace)


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_says_in_words_what_a_cell_is_except_the_weights_which_have_their_own(
    trace: Trace, name: str
) -> None:
    found = stage(name, trace.map("masked", 2, 3), trace)
    assert NOTES[name]
    assert found.name == name
    said = found.sentence.format(row="Haus", column="Baum", value="1.250")
    if name == "softmax":
        assert said == ""
    else:
        assert "‘Haus’" in said
        assert "‘Baum’" in said
        assert ("1.250" in said) == (name != "mask")
    assert ("÷ √4" in said) == (name in ("scaled", "masked"))
