"""Axes of tokens: words are means over their pieces, specials are hidden, and every place leads back to a piece."""

import numpy as np
import pytest

from model.axis import axis, shown_steps, steps, vectors
from model.capture import trace_of
from model.stream import stream, tokens
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer

WAYS = [(words, special) for words in (False, True) for special in ("shown", "hidden", "renormalised")]


def by_hand(trace: Trace, side: str, *, words: bool, special: str) -> list[list[int]]:
    """The positions (from 0) that stand together, one list a place."""
    found: list[list[int]] = []
    for index, token in enumerate(tokens(trace, side)):
        if words and token.continues:
            found[-1].append(index)
        else:
            found.append([index])
    return [group for group in found if special == "shown" or not tokens(trace, side)[group[0]].special]


@pytest.mark.parametrize("side", ["encoder", "decoder"])
@pytest.mark.parametrize(("words", "special"), WAYS)
def test_what_stands_there_is_what_a_loop_finds(trace: Trace, side: str, words: bool, special: str) -> None:
    found, expected = (
        axis(tokens(trace, side), words=words, special=special),
        by_hand(trace, side, words=words, special=special),
    )
    assert [list(group) for group in found.groups] == expected
    pieces = tokens(trace, side)
    assert [token.text for token in found.tokens] == [
        pieces[g[0]].word if words else pieces[g[0]].text for g in expected
    ]
    for place, group in enumerate(expected, start=1):
        assert found.position(place) == group[0] + 1
        assert {found.place(index + 1) for index in group} == {place}
    hidden = set(range(len(pieces))) - {index for group in expected for index in group}
    assert {found.place(index + 1) for index in hidden} <= {None}
    assert len(hidden) == (special != "shown")


@pytest.mark.parametrize("side", ["encoder", "decoder"])
@pytest.mark.parametrize(("words", "special"), WAYS)
def test_vectors_are_means_over_pieces_and_the_stream_still_adds_up(
    trace: Trace, side: str, words: bool, special: str
) -> None:
    seen, groups = vectors(trace, words=words, special=special), by_hand(trace, side, words=words, special=special)
    assert len(trace.source) != len(trace.read)
    for name, tensor in trace.tensors.items():
        if name.startswith(f"{side}.") and tensor.ndim == 2:
            assert seen.tensors[name].shape == (len(groups), tensor.shape[1])
            expected = [np.mean([tensor[index].astype(float) for index in group], axis=0) for group in groups]
            np.testing.assert_allclose(seen.tensors[name], expected, rtol=1e-6, atol=1e-7)
    flow = stream(seen, side)
    assert len(flow.tokens) == len(groups)
    for sublayer in flow.sublayers:
        np.testing.assert_allclose(sublayer.found + sublayer.added, sublayer.total, atol=1e-5)


def test_as_captured_it_is_the_very_trace(trace: Trace) -> None:
    assert vectors(trace, words=False, special="shown") is trace


def test_only_the_step_that_ends_the_translation_is_hidden(trace: Trace) -> None:
    assert shown_steps(trace, special="shown") == list(range(len(trace.predicted)))
    seen = steps(trace, special="hidden")
    assert (seen.read, seen.predicted) == (trace.read[:-1], trace.predicted[:-1])
    np.testing.assert_array_equal(seen.target_log_probabilities(), trace.target_log_probabilities()[:-1])


def test_where_nothing_else_is_left_specials_stay(model: Transformer, tokenizer: Tokenizer) -> None:
    nothing_written = trace_of(model, tokenizer, [70, 71, 72], [])
    for words in (False, True):
        assert len(axis(nothing_written.read, words=words, special="hidden").tokens) == 1
        assert len(vectors(nothing_written, words=words, special="hidden").read) == 1
    assert len(steps(nothing_written, special="hidden").predicted) == 1
