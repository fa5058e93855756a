"""Each number about a head is what loops over rows and columns count, for all three kinds and unequal lengths."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import trace_of
from model.config import ModelConfig
from model.corpus import usable, weights_over
from model.data import Pair
from model.habits import NUMBERS, Means, habits, in_order, row_numbers, shuffling
from model.tokenizer import Tokenizer
from model.trace import KINDS, Array, Trace
from model.transformer import Transformer

LAYERS = {"encoder": 3, "masked": 2, "cross": 2}
H = 5
PAIRS = [
    Pair("The old man, doesn't he hear two green trees?", "Der alte Mann, oder?"),
    Pair("Tom sees!", "Tom sieht heute im Garten 25 (oder zwei) grüne Bäume."),
    Pair("q", "x"),
]
POSITIONS = ("distance", "previous", "same", "next")
SPECIAL = ("<s>", "</s>")


def mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def loop_numbers(corpus: Sequence[Trace], kind: str, layer: int, head: int) -> dict[str, float | None]:
    """Everything that is said of a head, from its maps, row by row."""
    rows: dict[str, list[float]] = {name: [] for name in NUMBERS}
    for trace in corpus:
        shown = trace.map(kind, layer, head)
        for t, looks in enumerate(shown.rows):
            weights = [float(weight) for weight in shown.weights[t]]
            entropy = -sum(w * math.log2(w) for w in weights if w > 0)
            rows["entropy_bits"].append(entropy)
            rows["largest"].append(max(weights))
            possible = t + 1 if kind == "masked" else len(weights)
            if possible > 1:
                rows["entropy_of_uniform"].append(entropy / math.log2(possible))
            named = list(zip(weights, shown.columns, strict=True))
            rows["special"].append(sum(w for w, token in named if token.text in SPECIAL))
            rows["marks"].append(sum(w for w, token in named if token.word in list(".,!?()")))
            if looks.text not in SPECIAL:
                rows["confidence"].append(max(w for w, token in named if token.text not in SPECIAL))
            if kind == "cross":
                continue
            rows["distance"].append(sum(w * abs(s - t) for s, w in enumerate(weights)))
            for name, s in (("previous", t - 1), ("same", t), ("next", t + 1)):
                words = [i for i, token in enumerate(shown.rows) if token.text not in SPECIAL]
                if t in words and s in words and not (kind == "masked" and s > t):
                    rows[name].append(float(weights.index(max(weights)) == s))
    return {name: mean(found) for name, found in rows.items()}


@pytest.fixture(scope="module")
def sharp(tiny: ModelConfig) -> Transformer:
    """A random model whose heads differ: most weight of a row is on few columns."""
    with torch.random.fork_rng():
        torch.manual_seed(4)
        made = Transformer(tiny).eval().requires_grad_(False)
        for kind, layers in LAYERS.items():
            for layer in range(1, layers + 1):
                made.attention(kind, layer).query.weight.mul_(4)
    return made


@pytest.fixture(scope="module")
def corpus(sharp: Transformer, tokenizer: Tokenizer) -> list[Trace]:
    return [trace_of(sharp, tokenizer, *both) for both in usable(tokenizer, PAIRS)]


def test_the_corpus_is_worth_counting_over(corpus: list[Trace]) -> None:
    lengths = [(len(trace.source), len(trace.read)) for trace in corpus]
    assert len({length for both in lengths for length in both}) == 5
    for trace in corpus[:2]:
        for kind in KINDS:
            assert any(token.is_punctuation for token in trace.labels(kind)[1])


def test_every_number_of_every_head_is_what_loops_count(
    sharp: Transformer, tokenizer: Tokenizer, corpus: list[Trace]
) -> None:
    found = habits(trace for _, trace in weights_over(sharp, tokenizer, usable(tokenizer, PAIRS)))
    places = [(kind, layer, head) for kind in KINDS for layer in range(1, LAYERS[kind] + 1) for head in range(1, H + 1)]
    assert list(found) == places
    for place, rows in found.items():
        assert rows["own"] == pytest.approx(loop_numbers(corpus, *place), abs=2e-6)
    for name in NUMBERS:
        assert len({rows["own"][name] for rows in found.values()}) > 3
    assert all(rows["own"]["next"] is None for (kind, _, _), rows in found.items() if kind == "masked")
    assert all(rows["own"][name] is None for (kind, *_), rows in found.items() if kind == "cross" for name in POSITIONS)


def test_a_head_that_looks_everywhere_alike_has_the_entropy_of_a_uniform_row(
    tiny: ModelConfig, tokenizer: Tokenizer
) -> None:
    """In masked attention too, where the first row has no choice and later ones have more and more."""
    model = Transformer(tiny).eval().requires_grad_(False)
    for kind, layers in LAYERS.items():
        for layer in range(1, layers + 1):
            model.attention(kind, layer).query.weight.zero_()
            model.attention(kind, layer).query.bias.zero_()
    corpus = [trace_of(model, tokenizer, *both) for both in usable(tokenizer, PAIRS)]
    sizes = {"encoder": [len(t.source) for t in corpus], "masked": [len(t.read) for t in corpus]}
    for (kind, _, _), rows in habits(corpus).items():
        assert rows["own"]["entropy_of_uniform"] == pytest.approx(1, abs=1e-6)
        assert rows["shuffled"]["entropy_of_uniform"] == pytest.approx(1, abs=1e-6)  # of the row that is shown
        if kind == "encoder":
            words = sum(size - 1 for size in sizes["encoder"])
            assert rows["own"]["confidence"] == pytest.approx(sum((s - 1) / s for s in sizes["encoder"]) / words)
            assert rows["own"]["special"] == pytest.approx(len(PAIRS) / sum(sizes["encoder"]))
        if kind == "masked":
            to_start = sum(1 / (t + 1) for size in sizes["masked"] for t in range(size)) / sum(sizes["masked"])
            assert rows["own"]["special"] == pytest.approx(to_start)


def with_weights(trace: Trace, kind: str, weights: Array) -> Trace:
    """The trace with these weights (T, S) in every head of every layer of one kind."""
    name = {"encoder": "encoder.layers.{}.self", "masked": "decoder.layers.{}.self", "cross": "decoder.layers.{}.cross"}
    given = np.broadcast_to(weights, (H, *weights.shape)).astype(np.float32)
    layers = range(1, LAYERS[kind] + 1)
    changed = {f"{name[kind].format(layer)}_attention.weights_tap": given for layer in layers}
    return replace(trace, tensors={**trace.tensors, **changed})


def counted(trace: Trace, kind: str, weights: Array, order: Array | None = None) -> dict[str, float | None]:
    means = Means()
    rows = np.arange(len(weights)) if order is None else order
    means.add(row_numbers(with_weights(trace, kind, weights), kind, rows))
    return means.of(2, 3)


@pytest.mark.parametrize(("name", "offset"), [("previous", -1), ("same", 0), ("next", 1)])
def test_a_head_that_always_looks_at_one_place_beside_itself_has_all_of_its_share(
    trace: Trace, name: str, offset: int
) -> None:
    """The first word has no word before it, and the last none after it: they are not asked."""
    rows = len(trace.source)
    beside = np.eye(rows)[np.clip(np.arange(rows) + offset, 0, rows - 1)]  # at the edge, itself
    found = counted(trace, "encoder", beside)
    at_the_edge = 1 / (rows - 1) if name == "previous" else 0.0  # the first word looks at itself; `</s>` is no word
    expected = {"previous": 0.0, "same": at_the_edge, "next": 0.0, name: 1.0}
    assert {each: found[each] for each in expected} == pytest.approx(expected)
    assert found["distance"] == pytest.approx(abs(offset) * (1 - abs(offset) / rows))
    assert found["entropy_bits"] == 0


def test_a_head_that_parks_on_a_special_token_is_not_positional(trace: Trace) -> None:
    """Though of the words, the one before has the most weight."""
    rows = len(trace.source)
    weights = 0.3 * np.eye(rows)[np.clip(np.arange(rows) - 1, 0, rows - 1)]
    weights[:, -1] += 0.7
    found = counted(trace, "encoder", weights)
    assert (found["previous"], found["same"], found["next"]) == (0, 0, 0)
    assert found["confidence"] == pytest.approx(0.3)
    assert found["largest"] == pytest.approx((0.7 * (rows - 1) + 0.7) / rows)


@pytest.mark.parametrize("kind", KINDS)
def test_confidence_is_about_words_that_look_at_words(trace: Trace, kind: str) -> None:
    """Special rows look sharply at a word, other rows most of all at a special column: neither is confidence."""
    rows, columns, _ = trace.labels(kind)
    weights = np.full((len(rows), len(columns)), 0.01)
    weights[:, [token.special for token in columns]] = 0.7
    weights[:, 2] = 0.2
    weights[[token.special for token in rows], 2] = 1.0
    found = counted(trace, kind, weights)
    assert found["confidence"] == pytest.approx(0.2)
    assert found["largest"] == pytest.approx((0.7 * (len(rows) - 1) + 1.0) / len(rows))


@pytest.mark.parametrize("kind", ["encoder", "cross"])
def test_rows_in_random_order_keep_what_they_are_and_lose_where_they_look(corpus: list[Trace], kind: str) -> None:
    for (found, _, _), rows in habits(corpus).items():
        if found == kind:
            for name in set(NUMBERS) - set(POSITIONS):
                assert rows["shuffled"][name] == pytest.approx(rows["own"][name]), name
            if kind == "encoder":
                assert [rows["shuffled"][n] for n in POSITIONS] != [rows["own"][n] for n in POSITIONS]


def test_a_shuffled_order_is_one_of_all_rows_but_in_masked_attention_never_looks_ahead() -> None:
    order = shuffling(np.random.default_rng(3))
    for kind in ("encoder", "cross"):
        assert sorted(order(kind, 50)) == list(range(50))
        assert list(order(kind, 50)) != list(range(50))
    drawn = np.array([order("masked", 50) for _ in range(400)])
    assert (drawn <= np.arange(50)).all()
    for row in (1, 2, 49):  # each of the rows up to itself, about as often
        counts = np.bincount(drawn[:, row], minlength=row + 1)
        assert counts.min() > 0 if row < 5 else (counts > 0).mean() > 0.95
        assert drawn[:, row].mean() == pytest.approx(row / 2, abs=0.15 * row + 0.05)
    assert list(in_order("masked", 4)) == [0, 1, 2, 3]


def test_shuffled_masked_rows_see_nothing_that_the_mask_hides(corpus: list[Trace]) -> None:
    """Weights that are shown at row t come from columns that row t may look at, and still sum to one."""
    order = shuffling(np.random.default_rng(3))
    for trace in corpus:
        rows = order("masked", len(trace.read))
        shown = trace.weights("masked")[..., rows, :]
        may_look = np.tril(np.ones((len(rows), len(rows)), dtype=bool))
        assert (shown[..., ~may_look] == 0).all()
        np.testing.assert_allclose(shown.sum(axis=-1), 1, atol=1e-6)


def test_shuffling_takes_a_positional_head_for_none(trace: Trace) -> None:
    rows = len(trace.source)
    order = np.random.default_rng(2).permutation(rows)
    found = counted(trace, "encoder", np.eye(rows), order)
    assert found["same"] == pytest.approx(mean([order[t] == t for t in range(rows - 1)]))
    assert found["same"] is not None
    assert found["same"] < 0.3


def test_a_masked_head_that_always_looks_at_the_start_does_so_shuffled_too(trace: Trace) -> None:
    """What the columns explain stays; what the row explains does not."""
    rows = len(trace.read)
    order = shuffling(np.random.default_rng(1))("masked", rows)
    sink = np.zeros((rows, rows))
    sink[:, 0] = 1
    assert counted(trace, "masked", sink, order)["special"] == 1
    before = np.eye(rows)[np.clip(np.arange(rows) - 1, 0, rows - 1)]
    own, shuffled = (counted(trace, "masked", before, each)["previous"] for each in (None, order))
    assert own == 1
    assert shuffled is not None
    assert shuffled < 1


def test_the_same_corpus_always_gives_the_same_numbers(corpus: list[Trace]) -> None:
    assert habits(corpus) == habits(corpus)


def test_without_a_trace_there_is_nothing_to_say() -> None:
    with pytest.raises(ValueError, match="no trace"):
        habits([])


def test_the_rows_of_a_padded_map_have_as_many_columns_as_they_may_look_at(
    sharp: Transformer, tokenizer: Tokenizer
) -> None:
    """Padding is no choice: the entropy of a uniform row is that of the columns that the mask allows."""
    source, target = tokenizer.encode(PAIRS[0].source), tokenizer.encode(PAIRS[0].target)
    padded = trace_of(sharp, tokenizer, source, target, padding=3)
    for kind in KINDS:
        rows, columns, _ = padded.labels(kind)
        allowed = np.broadcast_to(padded.attention(kind, 1, "may_look")[0], (len(rows), len(columns)))
        even = allowed / allowed.sum(axis=1, keepdims=True)
        assert counted(padded, kind, even)["entropy_of_uniform"] == pytest.approx(1)
