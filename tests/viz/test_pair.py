"""Masked and cross-attention side by side: the same rows, their own columns, and the encoder behind them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model.selection import select
from model.trace import Array, Token, Trace
from viz.pair import Pair, answers, leaning, payload
from viz.payload import texts, unpack
from viz.stages import STAGES, stage
from viz.theme import LIGHT


def a_pair(trace: Trace, *, words: bool = False, special: str = "shown", name: str = "softmax") -> Pair:
    masked, cross = (
        select(trace, kind, 1, head, words=words, special=special) for kind, head in (("masked", 2), ("cross", 5))
    )
    encoder = select(trace, "encoder", 3, None, words=words, special=special)
    chances = np.linspace(0.1, 0.9, len(masked.rows))
    stages = stage(name, masked, trace), stage(name, cross, trace)
    return Pair(masked, cross, encoder, *stages, probabilities=chances, leans=leaning(cross, encoder))


def drawn(pair: Pair, **changes: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    options = {"theme": LIGHT, "step": 3, "linear": True, "pinned": None, "lifted": False, "width": 4}
    return unpack(payload(pair, **(options | changes)))


def test_the_pair_shares_its_rows_and_looks_back_at_the_target_and_across_at_the_source(trace: Trace) -> None:
    pair = a_pair(trace)
    header, found = drawn(pair)
    for name in ("masked", "cross"):
        assert header[name]["rows"] == texts(trace.read)
        assert header[name]["predicts"] == texts(trace.predicted)
        assert found[f"{name}_weights"].tobytes() == getattr(pair, name).weights.tobytes()
        assert found[f"{name}_shown"].tobytes() == getattr(pair, name).weights.tobytes()
    assert header["masked"]["columns"] == texts(trace.read)
    assert header["cross"]["columns"] == texts(trace.source)
    assert (header["encoder"]["rows"], header["encoder"]["columns"]) == (texts(trace.source), texts(trace.source))
    assert (header["step"], header["linear"], header["pinned"]) == (3, True, None)
    np.testing.assert_array_equal(found["masked_allowed"], np.tri(len(trace.read)))
    assert found["cross_allowed"].all()
    np.testing.assert_allclose(found["probabilities"], pair.probabilities, rtol=1e-6)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", ["shown", "hidden", "renormalised"])
def test_the_encoder_is_shown_for_the_word_that_a_row_leans_on(trace: Trace, words: bool, special: str) -> None:
    pair = a_pair(trace, words=words, special=special)
    header, found = drawn(pair)
    heaviest = [header["cross"]["columns"][at] for at in pair.cross.weights.argmax(axis=1)]
    assert [header["encoder"]["rows"][row] for row in found["leans"]] == heaviest
    assert found["leans"].dtype == np.uint16


@pytest.mark.parametrize("name", STAGES)
def test_each_stage_is_drawn_with_its_numbers_and_its_open_cells(trace: Trace, name: str) -> None:
    pair = a_pair(trace, name=name)
    header, found = drawn(pair)
    for kind, shown in (("masked", pair.masked_stage), ("cross", pair.cross_stage)):
        np.testing.assert_allclose(found[f"{kind}_shown"], shown.values, rtol=1e-6)
        np.testing.assert_array_equal(found[f"{kind}_open"], shown.allowed)
        assert header[kind]["stage"]["name"] == name
        assert np.abs(shown.values[shown.allowed]).max() <= header[kind]["stage"]["most"] + 1e-6
    assert found["cross_open"].all()
    assert found["masked_open"].all() == (name in ("scores", "scaled"))


def test_pieces_with_rows_of_two_sentences_are_refused(trace: Trace) -> None:
    pair = a_pair(trace)
    other = replace(pair.cross, rows=(Token("x", "x"), *pair.cross.rows[1:]))
    with pytest.raises(ValueError, match="must share their rows"):
        replace(pair, cross=other)
    with pytest.raises(ValueError, match="must share their rows"):
        replace(pair, masked=a_pair(trace, words=True).masked)


@pytest.mark.parametrize("special", ["shown", "hidden"])
def test_with_the_mask_lifted_a_dot_stands_on_the_token_that_the_row_must_predict(trace: Trace, special: str) -> None:
    pair = a_pair(trace, special=special)
    at = answers(pair.masked)
    assert drawn(pair, lifted=True)[0]["next"] == at
    assert drawn(pair, lifted=False)[0]["next"] == []
    said = [None if column < 0 else pair.masked.columns[column].id for column in at]
    assert said == [*(token.id for token in trace.predicted[:-1]), None]


def test_the_titles_say_where_queries_keys_and_values_come_from(trace: Trace) -> None:
    header, _ = drawn(a_pair(trace))
    T, S = len(trace.read), len(trace.source)
    assert header["masked"]["title"] == f"masked: Q, K, V from the decoder, {T} × 4 each"
    assert header["cross"]["title"] == f"cross: Q from the decoder, {T} × 4; K, V from the encoder, {S} × 4"
