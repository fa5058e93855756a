"""Two runs beside each other: what a canvas is told is what was compared, and no token loses its side."""

from dataclasses import replace

import numpy as np
import pytest

from model.compare import difference, distances, match
from model.tokenizer import Tokenizer
from model.trace import KINDS, LabelError, Trace
from model.transformer import Transformer
from viz import versus
from viz.payload import unpack
from viz.theme import LIGHT


@pytest.fixture(scope="module")
def other(model: Transformer, tokenizer: Tokenizer) -> Trace:
    from model.capture import trace_of

    source, target = "The old dog doesn't hear trees in the garden!", "Hausbaumgarten!"
    return trace_of(model, tokenizer, tokenizer.encode(source), tokenizer.encode(target))


def test_both_texts_stand_word_under_word(trace: Trace, other: Trace) -> None:
    matches = match(trace.source, other.source)
    message = versus.texts([("sentence", trace.source, other.source, matches)], names=("a", "b"), theme=LIGHT)
    header, _ = unpack(message)
    pairs = header["texts"][0]["pairs"]
    assert [one for one, _, _ in pairs if one is not None] == [token.text for token in trace.source]
    assert [two for _, two, _ in pairs if two is not None] == [token.text for token in other.source]
    assert all(same == (one == two) for one, two, same in pairs)


def test_heads_of_all_kinds_stand_in_one_matrix_each_in_its_row(trace: Trace, other: Trace) -> None:
    apart = {kind: distances(trace, other, kind) for kind in KINDS}
    values, places = versus.stacked(apart)
    for (kind, layer), row in zip(places, values, strict=True):
        np.testing.assert_array_equal(row, apart[kind][layer - 1])
    header, arrays = unpack(versus.heads(apart, KINDS, theme=LIGHT, opened=("masked", 2, 4), row=None))
    assert header["rows"][header["pinned"][0]] == "◣ masked 2"
    assert header["pinned"][1] == 3
    np.testing.assert_allclose(arrays["values"], values, rtol=1e-6)
    table = versus.heads_table(apart)
    assert table.shape == values.shape


def test_kinds_that_lack_the_row_are_left_empty(trace: Trace, other: Trace) -> None:
    apart = {kind: distances(trace, other, kind) for kind in KINDS}
    message = versus.heads(apart, ("masked", "cross"), theme=LIGHT, opened=("cross", 1, 1), row="Haus")
    header, arrays = unpack(message)
    encoder = [label.startswith("○") for label in header["rows"]]
    assert (arrays["allowed"].all(axis=1) == ~np.array(encoder)).all()
    assert "looking from ‘Haus’" in header["title"]


def test_unlike_numbers_of_heads_are_refused() -> None:
    apart = {"encoder": np.zeros((2, 3)), "masked": np.zeros((1, 3)), "cross": np.zeros((1, 4))}
    with pytest.raises(LabelError, match="unlike numbers of heads"):
        versus.stacked(apart)


@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_is_drawn_as_it_is_and_a_cell_of_one_run_only_is_empty(
    trace: Trace, other: Trace, kind: str
) -> None:
    one, two = trace.map(kind, 2, 3), other.map(kind, 2, 3)
    found = difference(one, two)
    header, arrays = unpack(versus.subtracted(found, one, two, theme=LIGHT, pinned=(1, None)))
    shared = found.shared
    np.testing.assert_allclose(arrays["values"][shared], found.values[shared].astype(np.float32))
    assert (arrays["allowed"].astype(bool) == shared).all() if "allowed" in arrays else shared.all()
    assert header["pinned"] == [1, None]
    assert header["limit"] >= abs(found.values[shared]).max()
    table = versus.table(found, one, two)
    assert table.shape == shared.shape
    np.testing.assert_array_equal(table.isna().to_numpy(), ~shared)
    np.testing.assert_allclose(table.to_numpy()[shared], found.values[shared])


def test_names_say_which_run_a_token_is_in(trace: Trace, other: Trace) -> None:
    one, two = trace.map("encoder", 1, 1), other.map("encoder", 1, 1)
    matches = match(one.rows, two.rows)
    for m, name in zip(matches, versus.column_names(matches, one, two), strict=True):
        if m.one is None:
            assert name == f"+ {two.columns[m.other or 0].text}"
        elif m.other is None:
            assert name == f"− {one.columns[m.one].text}"
        elif m.same:
            assert name == one.columns[m.one].text
        else:
            assert name == f"{one.columns[m.one].text} | {two.columns[m.other].text}"
    assert {m.one is None for m in matches} | {m.other is None for m in matches} == {True, False}


def test_a_run_against_itself_has_no_difference(trace: Trace) -> None:
    shown = trace.map("cross", 1, 1)
    _, arrays = unpack(versus.subtracted(difference(shown, replace(shown)), shown, shown, theme=LIGHT, pinned=None))
    assert not arrays["values"].any()
