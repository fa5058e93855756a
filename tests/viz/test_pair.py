"""Masked and cross-attention side by side: the same rows, their own columns, and the encoder behind them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from model.capture import trace_of
from model.edits import LiftMask
from model.selection import entropy_bits, select, share_on_marks
from model.tokenizer import Tokenizer
from model.trace import Array, Token, Trace
from model.transformer import Transformer
from viz import phrases
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


def numbered(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same tokens, each with an id and, piece or word, a text that no other has."""
    word, named = 0, []
    for index, token in enumerate(tokens):
        word += not token.continues
        named.append(replace(token, text=f"piece {index}", word=f"word {word}", id=index))
    return tuple(named)


def drawn(pair: Pair, **changes: Any) -> tuple[dict[str, Any], dict[str, Array]]:
    options = {"theme": LIGHT, "step": 3, "linear": True, "pinned": None, "lifted": False, "door": True}
    options["shape"] = (9, 14, 4)
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
    assert len(found["leans"]) == len(pair.cross.rows)
    assert found["leans"].dtype == np.uint16


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", ["shown", "hidden", "renormalised"])
@pytest.mark.parametrize("padding", [0, 3])
def test_equal_tokens_are_not_taken_for_one_another_wherever_columns_are_hidden(
    model: Transformer, tokenizer: Tokenizer, words: bool, special: str, padding: int
) -> None:
    source, target = tokenizer.encode("the the the dog the dog hears."), tokenizer.encode("die die Katze")
    trace = trace_of(model, tokenizer, source, target, padding=padding)
    within = [replace(token, special=token.special or token.word == "dog") for token in trace.source]
    trace = replace(trace, source=numbered(tuple(within)))
    for head in range(1, 6):
        cross, encoder = (select(trace, kind, 2, head, words=words, special=special) for kind in ("cross", "encoder"))
        for row, leans in enumerate(leaning(cross, encoder)):
            column = max(range(len(cross.columns)), key=lambda at: cross.weights[row, at])
            assert encoder.rows[leans].text == cross.columns[column].text


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


@pytest.mark.parametrize("name", STAGES)
def test_each_stage_says_how_it_is_coloured_and_what_a_cell_means(trace: Trace, name: str) -> None:
    pair = a_pair(trace, name=name)
    header, _ = drawn(pair)
    for kind, shown in (("masked", pair.masked_stage), ("cross", pair.cross_stage)):
        assert header[kind]["stage"] == {"name": name, "signed": shown.signed, "most": shown.most}
        assert header[kind]["sentence"] == (shown.sentence or phrases.SENTENCES[kind])


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", ["shown", "hidden", "renormalised"])
def test_each_side_and_the_encoder_travel_with_weights_mask_entropy_and_share_on_marks(
    trace: Trace, words: bool, special: str
) -> None:
    pair = a_pair(trace, words=words, special=special)
    header, found = drawn(pair)
    shapes = set()
    for shown in (pair.masked, pair.cross, pair.encoder):
        numbers = {
            "weights": shown.weights,
            "allowed": shown.allowed,
            "entropy": entropy_bits(shown),
            "marks": share_on_marks(shown),
        }
        for name, expected in numbers.items():
            array = found[f"{shown.kind}_{name}"]
            assert array.shape == expected.shape
            np.testing.assert_allclose(array, expected, rtol=1e-6)
        assert (header[shown.kind]["rows"], header[shown.kind]["columns"]) == (texts(shown.rows), texts(shown.columns))
        shapes.add(shown.weights.shape)
    assert len(shapes) == 3


def test_a_pinned_cell_says_its_side(trace: Trace) -> None:
    pair = a_pair(trace)
    for shown in (pair.masked, pair.cross):
        header, _ = drawn(pair, pinned=(shown, 5, 2))
        assert header["pinned"] == {"kind": shown.kind, "row": 5, "column": 2}


def test_a_translation_of_nothing_with_special_tokens_hidden_is_drawn_without_columns(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    nothing = trace_of(model, tokenizer, tokenizer.encode("The dog."), [])
    header, found = drawn(a_pair(nothing, special="hidden"), step=1, lifted=True)
    assert (header["masked"]["rows"], header["masked"]["columns"], header["next"]) == (["<s>"], [], [-1])
    assert found["masked_shown"].shape == (1, 0)


def test_pieces_with_rows_of_two_sentences_are_refused(trace: Trace) -> None:
    pair = a_pair(trace)
    other = replace(pair.cross, rows=(Token("x", "x"), *pair.cross.rows[1:]))
    with pytest.raises(ValueError, match="must share their rows"):
        replace(pair, cross=other)
    with pytest.raises(ValueError, match="must share their rows"):
        replace(pair, masked=a_pair(trace, words=True).masked)
    with pytest.raises(ValueError, match="must share their rows"):
        replace(pair, masked=replace(pair.masked, predicts=pair.masked.rows))


@pytest.mark.parametrize("special", ["shown", "hidden"])
def test_with_the_mask_lifted_a_dot_stands_on_the_token_that_the_row_must_predict(trace: Trace, special: str) -> None:
    pair = a_pair(trace, special=special)
    at = answers(pair.masked)
    assert drawn(pair, lifted=True)[0]["next"] == at
    assert drawn(pair, lifted=False)[0]["next"] == []
    said = [None if column < 0 else pair.masked.columns[column].id for column in at]
    assert said == [*(token.id for token in trace.predicted[:-1]), None]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", ["shown", "hidden", "renormalised"])
def test_the_dot_stands_on_that_very_token_even_where_the_translation_repeats_itself(
    model: Transformer, tokenizer: Tokenizer, words: bool, special: str
) -> None:
    source, target = tokenizer.encode("The dog."), tokenizer.encode("Haus Haus, Haus Haus!")
    trace = trace_of(model, tokenizer, source, target, edits=(LiftMask(),))
    written = numbered((*trace.read, trace.predicted[-1]))
    masked = select(
        replace(trace, read=written[:-1], predicted=written[1:]), "masked", 2, 3, words=words, special=special
    )
    assert masked.predicts is not None
    columns = texts(masked.columns)
    expected = [columns.index(token.text) if token.text in columns else -1 for token in masked.predicts]
    assert answers(masked) == expected
    assert expected.index(-1) == len(expected) - 1  # </s> alone is nowhere among what is read
    ids = [masked.columns[column].id for column in expected[:-1]]
    assert ids == [token.id for token in masked.predicts[:-1]]


def test_the_titles_count_pieces_whatever_is_drawn(trace: Trace) -> None:
    T, S, K = trace.shape
    assert trace.shape == (len(trace.read), len(trace.source), 4)
    for drawn_as in ({}, {"special": "hidden"}, {"special": "renormalised"}, {"words": True}):
        header, _ = drawn(a_pair(trace, **drawn_as), shape=trace.shape)
        assert header["masked"]["title"] == f"masked: Q, K, V from the decoder, {T} × {K} each"
        assert header["cross"]["title"] == f"cross: Q from the decoder, {T} × {K}; K, V from the encoder, {S} × {K}"


def test_the_share_on_marks_says_whether_specials_are_among_them(trace: Trace) -> None:
    assert drawn(a_pair(trace))[0]["marks"] == "<s>, </s> and punctuation"
    assert drawn(a_pair(trace, special="hidden"))[0]["marks"] == "punctuation"


def test_the_door_is_open_only_where_the_arithmetic_is_that_of_the_picture(trace: Trace) -> None:
    assert drawn(a_pair(trace))[0]["door"] is True
    assert drawn(a_pair(trace), lifted=True, door=False)[0]["door"] is False
