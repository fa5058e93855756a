"""What is put together of each head: its own numbers beside both baselines, and alignments by halves of the gold."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from model.align import agreements, error_rates
from model.alignment import aer, links, strengths
from model.capture import trace_of
from model.config import ModelConfig
from model.corpus import usable
from model.data import Pair
from model.evidence import Material, described, evidence, parsed, untrained
from model.gold import Gold, encode_tokens
from model.inside import output_projection
from model.silence import Place, places
from model.syntax import Tree
from model.tokenizer import Tokenizer
from model.transformer import Transformer

PAIRS = [Pair("The old man hears Tom.", "Der alte Mann hört, oder?"), Pair("Tom sees!", "Tom sieht zwei grüne Bäume.")]
GOLD = [
    Gold(tuple("Tom sees two green trees .".split()), tuple("Tom sieht grüne Bäume .".split()), frozenset({(0, 0)})),
    Gold(("q" * 300,), ("x",), frozenset({(0, 0)})),
    Gold(("Mary", "draws"), ("Maria", "zeichnet", "heute"), frozenset({(0, 0), (1, 1)}), frozenset({(1, 2)})),
    Gold(
        tuple("The old man does n't hear two green trees !".split()),
        tuple("Der alte Mann hört zwei grüne Bäume nicht !".split()),
        frozenset({(s, t) for s in range(10) for t in range(9) if (s + t) % 3}),
    ),
]
TREE = Tree(("Tom", "sees", "Mary"), (False,) * 3, (1, -1, 1), ("nsubj", "root", "obj"))
WAYS = ["weight, rows read", "weight, rows predicted", "norm, rows read", "norm, rows predicted"]


def material(tokenizer: Tokenizer) -> Material:
    pairs = usable(tokenizer, PAIRS)
    return Material(pairs, parsed(tokenizer, [TREE] * 220), GOLD, pairs)


def test_each_pair_of_the_gold_is_counted_for_itself(model: Transformer, tokenizer: Tokenizer) -> None:
    counted = list(agreements(model, tokenizer, GOLD))
    assert len(counted) == len(GOLD)
    assert not any(count.any() for count in counted[1].values())  # too long
    for index in (0, 2, 3):
        source_ids, source = encode_tokens(tokenizer, GOLD[index].source)
        target_ids, target = encode_tokens(tokenizer, GOLD[index].target)
        trace = trace_of(model, tokenizer, source_ids, target_ids)
        for reading, (own, shuffled) in counted[index].items():
            strength = strengths(trace, output_projection(model, "cross", reading.layer), reading, source)
            found = links(strength, source, target)
            assert tuple(own) == aer(found, GOLD[index].sure, GOLD[index].possible)
            assert own[1] == shuffled[1]  # as many links
    assert any((own != shuffled).any() for own, shuffled in counted[3].values())


def test_where_every_row_looks_alike_nothing_is_lost_by_shuffling(model: Transformer, tokenizer: Tokenizer) -> None:
    uniform = Transformer(model.config).eval().requires_grad_(False)
    uniform.load_state_dict(model.state_dict())
    for parameter in uniform.attention("cross", 1).query.parameters():
        parameter.zero_()
    counts = list(agreements(uniform, tokenizer, GOLD))[3]
    assert all((own == shuffled).all() for reading, (own, shuffled) in counts.items() if reading.layer == 1)
    assert any((own != shuffled).any() for reading, (own, shuffled) in counts.items() if reading.layer == 2)


def test_error_rates_are_those_of_the_sums(model: Transformer, tokenizer: Tokenizer) -> None:
    rates = error_rates(model, tokenizer, GOLD)
    for reading, rate in rates.items():
        own = sum(count[reading][0] for count in agreements(model, tokenizer, GOLD))
        assert rate == pytest.approx(100 * (1 - own[0] / own[1]))


def test_every_place_has_what_belongs_to_its_kind(model: Transformer, tokenizer: Tokenizer) -> None:
    found = evidence(model, tokenizer, material(tokenizer))
    rows = [*found["heads"], *found["layers"]]
    assert {(row["kind"], row["layer"], row["head"]) for row in rows} == {
        (place.kind, place.layer, place.head) for place in places(model)
    }
    assert all(row["head"] is None for row in found["layers"])
    for row in rows:
        assert list(row["silenced"]) == ["zero", "mean"]
        for column in ("own", "shuffled", "untrained"):
            assert ("confidence" in row[column]) == (row["head"] is not None)
            assert ("relation" in row[column]) == (row["kind"] == "encoder" and row["head"] is not None)
            assert ("aer" in row[column]) == (row["kind"] == "cross")
            if row["kind"] == "cross":
                assert {half: list(rates) for half, rates in row[column]["aer"].items()} == {
                    "first": WAYS,
                    "last": WAYS,
                }
    columns = [[row[column] for row in rows] for column in ("own", "shuffled", "untrained")]
    assert columns[0] != columns[1] != columns[2] != columns[0]


def test_halves_of_the_gold_are_measured_apart(model: Transformer, tokenizer: Tokenizer) -> None:
    found = described(model, tokenizer, material(tokenizer))
    for half, gold in (("first", GOLD[:2]), ("last", GOLD[2:])):
        for reading, rate in error_rates(model, tokenizer, gold).items():
            rows = found[Place("cross", reading.layer, reading.head)]
            assert rows["own"]["aer"][half][f"{reading.by}, rows {reading.rows}"] == pytest.approx(rate)


def test_what_is_not_given_is_not_measured(model: Transformer, tokenizer: Tokenizer) -> None:
    found = evidence(model, tokenizer, Material(usable(tokenizer, PAIRS)))
    for row in [*found["heads"], *found["layers"]]:
        assert row["silenced"] is None
        assert not {"aer", "relation"} & set(row["own"])


def test_the_untrained_model_is_always_the_same_of_the_same_shape_and_costs_no_randomness(
    build: Callable[..., Transformer], tiny: ModelConfig
) -> None:
    model = build(tiny, seed=4)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        before = torch.random.get_rng_state()
        first = untrained(model)
        assert torch.equal(torch.random.get_rng_state(), before)
        torch.manual_seed(8)
        again = untrained(model)
    assert first.config == model.config
    assert not first.training
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])
    assert not torch.equal(first.embedding.weight, model.embedding.weight)


def test_numbers_come_out_the_same_each_time(model: Transformer, tokenizer: Tokenizer) -> None:
    first, again = (described(model, tokenizer, material(tokenizer)) for _ in range(2))
    assert first == again
    assert all(np.isfinite(rate) for rate in first[Place("cross", 1, 1)]["shuffled"]["aer"]["last"].values())
