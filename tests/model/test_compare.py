"""Two runs are compared token by token: what belongs together, what only one has, and how far the weights are apart."""

from dataclasses import replace

import numpy as np
import pytest

from model.capture import trace_of
from model.compare import Match, difference, distances, furthest, match, row_distances
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, AttentionMap, LabelError, Token, Trace
from model.transformer import Transformer


def tokens(text: str) -> tuple[Token, ...]:
    return tuple(Token(word, word, special=word == "</s>") for word in text.split())


def a_map(rows: str, columns: str, weights: Array, *, allowed: Array | None = None) -> AttentionMap:
    """Kind cross, so that rows and columns may differ; scores play no part."""
    looks = np.ones(weights.shape, dtype=bool) if allowed is None else allowed
    return AttentionMap("cross", 1, 2, weights, weights, looks, tokens(rows), tokens(columns), tokens(rows))


ONE = a_map(
    "das Tier schlief", "the animal slept </s>", np.array([[0.5, 0.25, 0.25, 0], [0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4]])
)
OTHER = a_map(
    "das alte Tier schlief",
    "the old animal woke </s>",
    np.array([[0.25, 0.5, 0, 0.25, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0.1, 0.1, 0.1, 0.4, 0.3]]),
)


def test_equal_tokens_belong_together_and_the_rest_stays_where_it_was() -> None:
    assert match(ONE.rows, OTHER.rows) == (
        Match(0, 0, True), Match(None, 1, False), Match(1, 2, True), Match(2, 3, True),
    )  # fmt: skip
    assert match(OTHER.rows, ONE.rows)[1] == Match(1, None, False)


def test_as_many_tokens_between_equal_ones_belong_together_as_changed() -> None:
    found = match(tokens("it was too tired . </s>"), tokens("it was too wide . </s>"))
    assert [m.same for m in found] == [True, True, True, False, True, True]
    assert all(m.one == m.other == at for at, m in enumerate(found))


def test_a_token_that_is_typed_is_not_the_special_one() -> None:
    typed = Token("</s>", "</s>")
    assert not any(m.same for m in match((typed,), tokens("</s>")))


def test_nothing_in_common_merges_to_both_one_after_the_other() -> None:
    assert match(tokens("a b"), tokens("c")) == (Match(0, None, False), Match(1, None, False), Match(None, 0, False))


@pytest.mark.parametrize(("one", "other"), [("a b a c", "b a a"), ("x", "y z"), ("a a a", "a"), ("p q r s", "s r q p")])
def test_both_sequences_are_whole_and_in_order_in_what_is_merged(one: str, other: str) -> None:
    merged = match(tokens(one), tokens(other))
    assert [m.one for m in merged if m.one is not None] == list(range(len(one.split())))
    assert [m.other for m in merged if m.other is not None] == list(range(len(other.split())))


def test_a_cell_of_the_difference_is_the_weight_there_minus_the_weight_here() -> None:
    found = difference(ONE, OTHER)
    assert [(m.one, m.other) for m in found.columns] == [(0, 0), (None, 1), (1, 2), (2, 3), (3, 4)]
    expected = [[-0.25, 0, -0.25, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, -0.1, 0.1, -0.1]]
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert found.shared.tolist() == [[c != 1 and r != 1 for c in range(5)] for r in range(4)]


def test_a_cell_that_one_run_may_not_look_at_is_not_shared() -> None:
    shut = np.ones(ONE.weights.shape, dtype=bool)
    shut[2, 0] = False
    found = difference(replace(ONE, allowed=shut), OTHER)
    assert not found.shared[3, 0]
    assert difference(OTHER, replace(ONE, allowed=shut)).shared.sum() == found.shared.sum() == 11


def test_distance_of_rows_by_hand() -> None:
    """Row one: |.5-.25| + |.25-0| + |.25-.25| + 0, and .5 on `old`, which only the other has: half of 1."""
    np.testing.assert_allclose(row_distances(ONE, OTHER), [0.5, 0.0, 0.2], atol=1e-12)
    np.testing.assert_allclose(row_distances(OTHER, ONE), [0.5, 0.0, 0.2], atol=1e-12)


def test_distance_is_nothing_for_equal_rows_and_one_for_rows_with_nothing_in_common() -> None:
    apart = a_map("x y", "a b c", np.array([[1.0, 0, 0], [0, 0.5, 0.5]]))
    away = a_map("x y", "a b c", np.array([[0, 0.3, 0.7], [0, 0.5, 0.5]]))
    np.testing.assert_allclose(row_distances(apart, away), [1.0, 0.0], atol=1e-12)


def test_no_rounding_takes_a_distance_below_nothing() -> None:
    """What only the other run has weighs nothing here, and the rest is the same."""
    weights = np.random.default_rng(3).dirichlet(np.ones(40), size=200)
    names = [str(n) for n in range(60)]
    one = a_map(" ".join(f"r{n}" for n in range(200)), " ".join(names[:40]), weights)
    wider = np.hstack([weights, np.zeros((200, 20))])
    other = a_map(" ".join(f"r{n}" for n in range(200)), " ".join(names), wider)
    assert (row_distances(one, other) == 0).all()
    assert (row_distances(other, one) == 0).all()


@pytest.fixture(scope="module")
def runs(model: Transformer, tokenizer: Tokenizer) -> tuple[Trace, Trace]:
    source, other = (
        tokenizer.encode(t) for t in ("The old man draws two trees.", "The old man draws the house today.")
    )
    target, longer = (tokenizer.encode(t) for t in ("Der alte Mann.", "Der alte Mann zeichnet heute."))
    return trace_of(model, tokenizer, source, target), trace_of(model, tokenizer, other, longer)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_head_is_measured_in_its_place(runs: tuple[Trace, Trace], kind: str, words: bool) -> None:
    from model.words import by_words

    apart = distances(*runs, kind, words=words)
    assert apart.shape == (runs[0].layers(kind), runs[0].heads(kind))
    assert (apart > 0).all()
    assert (apart <= 1).all()
    maps = [t.map(kind, 2, 3) for t in runs]
    maps = [by_words(m) for m in maps] if words else maps
    assert apart[1, 2] == pytest.approx(row_distances(*maps).mean())
    assert distances(*runs, kind, words=words, row=1)[1, 2] == pytest.approx(row_distances(*maps)[1])


def test_a_run_is_no_distance_from_itself(runs: tuple[Trace, Trace]) -> None:
    for kind in KINDS:
        assert not distances(runs[0], runs[0], kind).any()
        assert not difference(runs[0].map(kind, 1, 1), runs[0].map(kind, 1, 1)).values.any()


def test_the_most_changed_head_is_further_apart_than_all_others(runs: tuple[Trace, Trace]) -> None:
    every = {kind: distances(*runs, kind) for kind in KINDS}
    kind, layer, head = furthest(every)
    assert every[kind][layer - 1, head - 1] == max(float(found.max()) for found in every.values())


def test_masked_rows_of_the_same_prefix_are_the_same(model: Transformer, tokenizer: Tokenizer) -> None:
    """One source and two targets that part late: what comes later cannot be seen earlier."""
    source = tokenizer.encode("The cat sees the house.")
    start = tokenizer.encode("Die Katze")
    runs = [
        trace_of(model, tokenizer, source, [*start, *tokenizer.encode(end)])
        for end in ("sieht.", "zeichnet Bäume heute.")
    ]
    for kind in ("masked", "cross"):
        apart = row_distances(*(t.map(kind, 2, 1) for t in runs))
        np.testing.assert_allclose(apart[: len(start) + 1], 0, atol=1e-6)


def test_unlike_kinds_and_unlike_models_are_refused(runs: tuple[Trace, Trace]) -> None:
    with pytest.raises(LabelError, match="kind encoder and one of kind cross"):
        row_distances(runs[0].map("encoder", 1, 1), runs[1].map("cross", 1, 1))
    smaller = {name: t for name, t in runs[1].tensors.items() if "layers.2." not in name}
    with pytest.raises(LabelError, match="compare runs of one model"):
        distances(runs[0], replace(runs[1], tensors=smaller), "cross")
