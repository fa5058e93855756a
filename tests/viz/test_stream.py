"""Pictures of the stream: the numbers of model.stream under the names of their places, and what is said of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from model.capture import trace_of
from model.config import ModelConfig
from model.edits import NoResidual, SkipSublayer
from model.stream import QUANTITIES, STATES, Stream, between_tokens, mean_between, measured, stream
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from viz import stream as drawn
from viz.inside import digits, signed
from viz.payload import texts, unpack
from viz.quantities import CHOICES, NO_START, WORDING
from viz.theme import LIGHT

IDS = [70, 71, 72, 73], [140, 141]
ENCODER = ["start", *(f"L{layer} {what}" for layer in (1, 2, 3) for what in ("○ encoder", "feed-forward"))]
DECODER = ["start", *(f"L{layer} {what}" for layer in (1, 2) for what in ("◣ masked", "⇄ cross", "feed-forward"))]


@pytest.fixture(scope="module")
def found(trace: Trace) -> Stream:
    return stream(trace, "decoder")


def test_places_are_named_by_layer_and_kind_in_order_of_flow(trace: Trace, found: Stream) -> None:
    assert drawn.places(stream(trace, "encoder")) == ENCODER
    assert drawn.places(found) == DECODER


def test_every_quantity_can_be_chosen_and_is_worded() -> None:
    assert list(CHOICES) == list(WORDING) == list(QUANTITIES)
    assert len(set(CHOICES.values())) == len(CHOICES)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_picture_holds_a_row_for_each_token_and_a_column_for_each_place(found: Stream, quantity: str) -> None:
    header, arrays = unpack(drawn.over_tokens(found, quantity, theme=LIGHT, position=3, sublayer=4))
    T = len(found.tokens)
    assert (header["rows"], header["columns"]) == (texts(found.tokens), DECODER)
    assert header["pinned"] == [2, 4]
    told = measured(found, quantity)
    if quantity in STATES and quantity != "previous":
        np.testing.assert_array_equal(arrays["values"], told.T.astype(np.float32))
        assert "allowed" not in arrays
    else:
        later = told[1:] if quantity == "previous" else told
        np.testing.assert_array_equal(arrays["values"][:, 1:], later.T.astype(np.float32))
        np.testing.assert_array_equal(arrays["allowed"], np.tile([0, *[1] * 6], (T, 1)))
        assert header["forbidden"] == NO_START
    assert (header["limit"] == 1) or not WORDING[quantity].cosine
    table = drawn.table(found, quantity).to_numpy()
    np.testing.assert_array_equal(table, drawn.values(found, quantity))


@pytest.mark.parametrize("quantity", [q for q in QUANTITIES if not q.endswith(("before", "after"))])
def test_the_lines_are_one_token_the_mean_of_all_and_the_edited_run(
    model: Transformer, tokenizer: Tokenizer, quantity: str
) -> None:
    plain = stream(trace_of(model, tokenizer, *IDS), "encoder")
    other = stream(trace_of(model, tokenizer, *IDS, edits=(NoResidual("encoder", 2),)), "encoder")
    token, mean, edited = drawn.lines(plain, quantity, 3, {"without": other})
    told = drawn.values(plain, quantity)
    np.testing.assert_array_equal(token.y, told[2])
    np.testing.assert_array_equal(edited.y, drawn.values(other, quantity)[2])
    assert (token.name, edited.name) == (f"‘{plain.tokens[2].text}’", "without")
    first = 0 if quantity in STATES and quantity != "previous" else 1
    np.testing.assert_allclose(mean.y, told[:, first:].sum(axis=0) / len(told))
    np.testing.assert_array_equal(mean.x, np.arange(first, 7))
    drawn.line([token, mean, edited], plain, quantity, theme=LIGHT, sublayer=2)


@pytest.mark.parametrize("what", ["mean", "variance"])
def test_a_layer_norm_is_drawn_before_and_after(found: Stream, what: str) -> None:
    before, after = drawn.lines(found, f"{what}_after", 2, {})
    np.testing.assert_array_equal(before.y, measured(found, f"{what}_before")[:, 1])
    np.testing.assert_array_equal(after.y, measured(found, f"{what}_after")[:, 1])
    assert [before.name, after.name] == ["before LayerNorm", "after LayerNorm"]
    np.testing.assert_array_equal(after.x, np.arange(1, 7))


def test_tokens_are_compared_at_the_chosen_place(found: Stream) -> None:
    header, arrays = unpack(drawn.alike(found, 4, theme=LIGHT, position=2))
    np.testing.assert_array_equal(arrays["values"], between_tokens(found.states[4]).astype(np.float32))
    assert header["pinned"] == [1, None]
    assert "2 ◣ masked" in header["title"]
    (line,) = drawn.alike_by_place(found, {})
    np.testing.assert_array_equal(line.y, [mean_between(state) for state in found.states])
    other = replace(found, start=found.start + 1)
    trained, edited = drawn.alike_by_place(found, {"edited": other})
    assert [(run.name, run.dashed) for run in (trained, edited)] == [("as trained", False), ("edited", True)]
    np.testing.assert_array_equal(trained.y, line.y)
    assert edited.y[0] == mean_between(other.start) != line.y[0]


def test_one_token_alone_has_nobody_to_be_compared_with(model: Transformer, tokenizer: Tokenizer) -> None:
    """An empty translation: the decoder reads <s> only."""
    alone = stream(trace_of(model, tokenizer, [70, 71], []), "decoder")
    assert len(alone.tokens) == 1
    assert drawn.alike_by_place(alone, {}) == []
    for quantity in QUANTITIES:
        drawn.over_tokens(alone, quantity, theme=LIGHT, position=1, sublayer=1)
    drawn.alike(alone, 0, theme=LIGHT, position=1)


def test_what_is_left_is_all_before_the_edit_and_what_is_said_is_what_was_computed(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    plain = trace_of(model, tokenizer, *IDS)
    edited = trace_of(model, tokenizer, *IDS, edits=(SkipSublayer("cross", 2),))
    token, mean = drawn.left_of(stream(plain, "decoder"), stream(edited, "decoder"), 2)
    np.testing.assert_allclose(token.y[:5], 1)
    assert token.y[5] < 0.9999
    assert mean.y[5] < 0.9999
    said = drawn.what_is_left(plain, edited, "cross 2 left out")
    before, after = (sum(trace.target_log_probabilities()) for trace in (plain, edited))
    kept = sum(int(row.argmax()) == token.id for row, token in zip(edited.logits, edited.predicted, strict=True))
    assert f"goes from {signed(before)} to {signed(after)}; at {kept} of 3 steps" in said


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_account_of_a_sub_layer_says_its_numbers(
    build: Callable[..., Transformer], tokenizer: Tokenizer, norm: str
) -> None:
    config = ModelConfig(347, d_model=20, n_heads=5, d_ff=37, encoder_layers=1, decoder_layers=2, norm=norm)
    found = stream(trace_of(build(config), tokenizer, *IDS), "decoder")
    sublayer = found.sublayers[4]
    said = drawn.account(sublayer, 2, pre_norm=found.pre_norm)
    lengths = [digits(float(np.sqrt((v[1] ** 2).sum()))) for v in (sublayer.found, sublayer.added, sublayer.total)]
    assert f"found a vector of length {lengths[0]} and added one of length {lengths[1]}" in said
    assert f"Of the sum, of length {lengths[2]}, the sub-layer makes up" in said
    assert ("before the sub-layer" if norm == "pre" else "of the sum: mean") in said
    assert f"variance {digits(sublayer.norm_in[1].var())} → {digits(sublayer.norm_out[1].var())}." in said


def test_what_adds_nothing_is_said_to_have_no_direction(model: Transformer, tokenizer: Tokenizer) -> None:
    skipped = stream(trace_of(model, tokenizer, *IDS, edits=(SkipSublayer("encoder", 1),)), "encoder")
    assert "length 0.000 (nothing to compare)" in drawn.account(skipped.sublayers[0], 1, pre_norm=False)
