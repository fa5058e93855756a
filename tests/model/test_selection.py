"""The map that was asked for, what is hidden in it, and the way back from a drawn cell to a cell of pieces."""

from dataclasses import replace

import numpy as np
import pytest

from model.capture import trace_of
from model.selection import SPECIAL, entropy_bits, piece_cell, select, share_on_marks, without_special
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, AttentionMap, Token, Trace
from model.transformer import Transformer

WAYS = [(words, special) for words in (False, True) for special in SPECIAL]


@pytest.fixture(scope="module")
def numbered(model: Transformer, tokenizer: Tokenizer) -> Trace:
    """A trace with a text of its own for each piece, and for each word: none can be taken for another."""
    made = trace_of(model, tokenizer, tokenizer.encode("The man draws trees!"), tokenizer.encode("Haus, oder?"))
    return replace(made, **{name: _numbered(getattr(made, name)) for name in ("source", "read", "predicted")})


def _numbered(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    word, named = 0, []
    for index, token in enumerate(tokens):
        word += not token.continues
        named.append(replace(token, text=f"piece {index}", word=f"word {word}"))
    return tuple(named)


def groups(tokens: tuple[Token, ...], *, words: bool) -> list[list[int]]:
    """Positions that are drawn as one, in order."""
    found: list[list[int]] = []
    for index, token in enumerate(tokens):
        if words and token.continues:
            found[-1].append(index)
        else:
            found.append([index])
    return found


def a_map(weights: Array) -> AttentionMap:
    """Four rows that read `<s>`, `a`, `.` and `b`, over six columns `a`, `·b`, `,`, `c`, `</s>` and `!`."""
    rows = tuple(Token(t, t, special=t == "<s>") for t in ("<s>", "a", ".", "b"))
    columns = tuple(
        Token(t, w, continues=t == "·b", special=t == "</s>")
        for t, w in (("a", "ab"), ("·b", "ab"), (",", ","), ("c", "c"), ("</s>", "</s>"), ("!", "!"))
    )
    allowed = np.ones(weights.shape, dtype=bool)
    return AttentionMap("cross", 1, 1, weights, np.log(weights + 1), allowed, rows, columns, rows)


BY_HAND = a_map(
    np.array(
        [
            [0.5, 0.25, 0.0, 0.25, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            [0.125, 0.125, 0.25, 0.0, 0.25, 0.25],
            [0.1, 0.1, 0.2, 0.2, 0.1, 0.3],
        ]
    )
)


@pytest.mark.parametrize("kind", KINDS)
def test_one_head_over_pieces_with_all_its_columns_is_the_captured_one(trace: Trace, kind: str) -> None:
    found, captured = select(trace, kind, 2, 4, words=False, special="shown"), trace.map(kind, 2, 4)
    assert (found.head, found.rows, found.columns) == (4, captured.rows, captured.columns)
    assert found.weights.tobytes() == captured.weights.tobytes()
    assert found.scores.tobytes() == captured.scores.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_is_the_mean_of_the_layers_heads(trace: Trace, kind: str) -> None:
    for layer in range(1, trace.layers(kind) + 1):
        found = select(trace, kind, layer, None, words=False, special="shown")
        heads = [trace.map(kind, layer, head) for head in range(1, 6)]
        np.testing.assert_allclose(found.weights, sum(m.weights.astype(np.float64) for m in heads) / 5, atol=1e-7)
        np.testing.assert_allclose(found.scores, sum(m.scores.astype(np.float64) for m in heads) / 5, atol=1e-6)
        np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-6)
        assert (found.kind, found.layer, found.head) == (kind, layer, None)
        assert (found.weights[~found.allowed] == 0).all()


@pytest.mark.parametrize(("words", "special"), WAYS)
@pytest.mark.parametrize("head", [3, None])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_for_is_what_loops_over_the_captured_weights_give(
    numbered: Trace, kind: str, head: int | None, words: bool, special: str
) -> None:
    found = select(numbered, kind, 2, head, words=words, special=special)
    whole = numbered.attention(kind, 2, "weights").astype(np.float64)
    whole = whole.mean(axis=0) if head is None else whole[head - 1]
    rows, columns, _ = numbered.labels(kind)
    looks = groups(rows, words=words)
    looked = [g for g in groups(columns, words=words) if special == "shown" or not columns[g[0]].special]
    said = "word" if words else "text"
    assert [token.text for token in found.rows] == [getattr(rows[g[0]], said) for g in looks]
    assert [token.text for token in found.columns] == [getattr(columns[g[0]], said) for g in looked]
    for row, down in enumerate(looks):
        sums = [sum(whole[i, j] for i in down for j in across) / len(down) for across in looked]
        if special == "renormalised" and sum(sums):
            sums = [one / sum(sums) for one in sums]
        np.testing.assert_allclose(found.weights[row], sums, rtol=1e-5, atol=1e-6)
        may_look = [any(kind != "masked" or j <= i for i in down for j in across) for across in looked]
        np.testing.assert_array_equal(found.allowed[row], may_look)
    assert found.scores.shape == found.weights.shape


@pytest.mark.parametrize("renormalise", [False, True])
def test_the_columns_of_special_tokens_and_no_others_are_hidden_and_rows_stay(renormalise: bool) -> None:
    found = without_special(BY_HAND, renormalise=renormalise)
    assert [token.text for token in found.columns] == ["a", "·b", ",", "c", "!"]
    assert (found.rows, found.predicts) == (BY_HAND.rows, BY_HAND.predicts)
    np.testing.assert_array_equal(found.scores, BY_HAND.scores[:, [0, 1, 2, 3, 5]])
    rest = BY_HAND.weights[:, [0, 1, 2, 3, 5]]
    np.testing.assert_allclose(found.weights, rest / [[1], [1], [0.75], [0.9]] if renormalise else rest, rtol=1e-12)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_renormalised_rows_sum_to_one_again_or_stay_all_zero(trace: Trace, kind: str, words: bool) -> None:
    found = select(trace, kind, 1, 5, words=words, special="renormalised")
    hidden = select(trace, kind, 1, 5, words=words, special="hidden")
    sums = hidden.weights.sum(axis=1)
    np.testing.assert_allclose(found.weights.sum(axis=1), sums > 0, atol=1e-6)
    np.testing.assert_allclose(found.weights * sums[:, None], hidden.weights, atol=1e-7)
    assert (sums < 1).all()
    assert (sums == 0).sum() == (kind == "masked")  # the row of <s>, which may look at itself only


def test_padding_is_hidden_with_the_other_special_tokens(model: Transformer, tokenizer: Tokenizer) -> None:
    alone, padded = (trace_of(model, tokenizer, [70, 71, 72, 73], [80, 81], padding=n) for n in (0, 3))
    for kind in KINDS:
        one, other = (select(t, kind, 2, 1, words=False, special="hidden") for t in (alone, padded))
        assert one.columns == other.columns
        np.testing.assert_allclose(other.weights[: len(one.rows)], one.weights, atol=1e-6)


def test_where_every_column_is_special_none_is_left(model: Transformer, tokenizer: Tokenizer) -> None:
    nothing_written = trace_of(model, tokenizer, [70, 71, 72], [])
    for special in ("hidden", "renormalised"):
        found = select(nothing_written, "masked", 1, 2, words=False, special=special)
        assert found.weights.shape == (1, 0)
        assert (entropy_bits(found).tolist(), share_on_marks(found).tolist()) == ([0.0], [0.0])


@pytest.mark.parametrize(("words", "special"), WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_behind_a_drawn_cell_stands_the_heaviest_of_its_cells_of_pieces(
    numbered: Trace, kind: str, words: bool, special: str
) -> None:
    rows, columns, _ = numbered.labels(kind)
    said = "word" if words else "text"
    for head in (1, 4):
        drawn = select(numbered, kind, 1, head, words=words, special=special)
        pieces = numbered.map(kind, 1, head)
        for row, column in np.ndindex(drawn.weights.shape):
            down, across = piece_cell(numbered, kind, 1, head, row, column, words=words, special=special)
            looks, looked = drawn.rows[row].text, drawn.columns[column].text
            assert (getattr(rows[down], said), getattr(columns[across], said)) == (looks, looked)
            behind = [
                pieces.weights[i, j]
                for i in range(len(rows))
                for j in range(len(columns))
                if (getattr(rows[i], said), getattr(columns[j], said)) == (looks, looked)
            ]
            assert pieces.weights[down, across] == max(behind)
            assert pieces.allowed[down, across] == drawn.allowed[row, column]


def test_over_pieces_with_all_columns_a_drawn_cell_is_its_own(trace: Trace) -> None:
    for place in [(0, 0), (17, 31), (5, 30), (9, 2)]:
        assert piece_cell(trace, "cross", 2, 5, *place, words=False, special="shown") == place


def test_entropy_is_in_bits_and_a_row_without_choice_has_none() -> None:
    np.testing.assert_allclose(entropy_bits(BY_HAND)[:3], [1.5, 0, 2.25], atol=1e-12)
    assert not np.signbit(entropy_bits(BY_HAND)).any()  # a -0.0 would be shown with its sign


@pytest.mark.parametrize("kind", KINDS)
def test_entropy_of_captured_rows_lies_between_one_column_and_all_alike(trace: Trace, kind: str) -> None:
    shown = trace.map(kind, 2, 2)
    found = entropy_bits(shown)
    for row, weights in enumerate(shown.weights.astype(np.float64)):
        assert found[row] == pytest.approx(sum(-w * np.log2(w) for w in weights if w), abs=1e-5)
    assert (found >= 0).all()
    assert (found <= np.log2(shown.allowed.sum(axis=1)) + 1e-6).all()


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_entropy_is_that_of_the_columns_shown_and_never_above_what_they_allow(
    trace: Trace, kind: str, words: bool
) -> None:
    """Hidden columns take weight along: what is left is no distribution, and -Σ w log w of it could be any number."""
    hidden, rescaled = (select(trace, kind, 1, 2, words=words, special=s) for s in ("hidden", "renormalised"))
    np.testing.assert_allclose(entropy_bits(hidden), entropy_bits(rescaled), atol=1e-6)
    possible = np.maximum(hidden.allowed.sum(axis=1), 1)
    assert (entropy_bits(hidden) <= np.log2(possible) + 1e-6).all()


def test_the_share_on_marks_is_the_weight_on_special_tokens_and_punctuation_of_what_is_shown() -> None:
    np.testing.assert_allclose(share_on_marks(BY_HAND), [0, 1, 0.75, 0.6], atol=1e-12)
    np.testing.assert_allclose(share_on_marks(without_special(BY_HAND, renormalise=False)), [0, 0, 0.5, 0.5])
    np.testing.assert_allclose(
        share_on_marks(without_special(BY_HAND, renormalise=True)), [0, 0, 0.5 / 0.75, 0.5 / 0.9]
    )


def test_marks_of_a_sentence_are_its_punctuation_and_its_ends(trace: Trace) -> None:
    for kind, marks in (("cross", ["!", "</s>"]), ("masked", ["<s>", ",", "?"])):
        shown = select(trace, kind, 2, None, words=True, special="shown")
        at = [index for index, token in enumerate(shown.columns) if token.text in marks]
        assert len(at) == len(marks)
        np.testing.assert_allclose(share_on_marks(shown), shown.weights[:, at].sum(axis=1), atol=1e-7)
