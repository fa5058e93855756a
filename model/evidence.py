"""What is counted of every head of a model: habits, relations, alignments, what silencing costs, beside two baselines.

The baselines are rows shuffled (it is lost whose row is which), and a model of the same shape before its first step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from model import align, silence, syntax
from model.corpus import weights_over
from model.data import Encoded
from model.gold import Gold
from model.habits import habits
from model.report import HALVES
from model.silence import Place, places
from model.syntax import RelationCounts, Tree
from model.tokenizer import Tokenizer
from model.transformer import Transformer

SEED = 1  # of the untrained model and of the shuffling

Described = dict[Place, dict[str, dict[str, Any]]]  # of each place, `own` and `shuffled`
Halves = tuple[RelationCounts, RelationCounts]  # of the trees to choose on, and of those to report on


@dataclass(frozen=True)
class Parsed:
    """A sentence with its tree, as the model reads it."""

    tree: Tree
    ids: list[int]
    groups: list[list[int]]  # the pieces of each word


@dataclass(frozen=True)
class Material:
    """What heads are measured on; what is not there is not measured."""

    pairs: Sequence[Encoded]
    trees: Sequence[Parsed] = ()
    gold: Sequence[Gold] = ()
    silence: Sequence[Encoded] = ()


def parsed(tokenizer: Tokenizer, trees: Sequence[Tree]) -> list[Parsed]:
    """The trees that the model can read."""
    encoded = [(tree, syntax.encode_tree(tokenizer, tree)) for tree in trees]
    return [Parsed(tree, *both) for tree, both in encoded if both is not None]


def untrained(model: Transformer) -> Transformer:
    """A model of the same shape before its first step."""
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(SEED)
        return Transformer(model.config).eval().requires_grad_(False)


def described(model: Transformer, tokenizer: Tokenizer, material: Material) -> Described:
    """All that is read off the maps of each head, and of each layer, and the same with rows shuffled."""
    found: Described = {place: {"own": {}, "shuffled": {}} for place in places(model)}
    for place, numbers in habits(trace for _, trace in weights_over(model, tokenizer, material.pairs)).items():
        for name, row in numbers.items():
            found[Place(*place)][name] |= row
    if material.trees:
        _add_relations(found, relations(model, tokenizer, material.trees))
    if material.gold:
        _add_error_rates(found, model, tokenizer, material.gold)
    return found


def relations(model: Transformer, tokenizer: Tokenizer, trees: Sequence[Parsed]) -> dict[str, Halves]:
    """How often each encoder head is right about each dependency, every other tree apart; `own` and `shuffled`."""
    rng = np.random.default_rng(SEED)
    counts = {name: (RelationCounts(), RelationCounts()) for name in ("own", "shuffled")}
    encoded: list[Encoded] = [(sentence.ids, []) for sentence in trees]  # the encoder sees nothing of the target
    for index, trace in weights_over(model, tokenizer, encoded):
        strongest = syntax.strongest_words(trace.weights("encoder"), trees[index].groups)
        counts["own"][index % 2].add(strongest, trees[index].tree)
        counts["shuffled"][index % 2].add(rng.permutation(strongest, axis=-1), trees[index].tree)
    return counts


def _add_relations(found: Described, counts: dict[str, Halves]) -> None:
    for place, rows in found.items():
        if place.kind == "encoder" and place.head is not None:
            for name, halves in counts.items():
                rows[name]["relation"] = syntax.best_relation(*halves, place.layer, place.head)


def _add_error_rates(found: Described, model: Transformer, tokenizer: Tokenizer, gold: Sequence[Gold]) -> None:
    """AER of both halves of the corpus: what is chosen on the first can be reported on the last."""
    counted = list(align.agreements(model, tokenizer, gold))
    middle = len(gold) // 2
    for half, pairs in zip(HALVES, (counted[:middle], counted[middle:]), strict=True):
        for reading in align.readings(model):
            rows = found[Place("cross", reading.layer, reading.head)]
            total = np.sum([pair[reading] for pair in pairs], axis=0)  # (2, 2)
            for name, counts in zip(("own", "shuffled"), total, strict=True):
                rates = rows[name].setdefault("aer", {}).setdefault(half, {})
                rates[f"{reading.by}, rows {reading.rows}"] = align.error_rate(counts)


def evidence(model: Transformer, tokenizer: Tokenizer, material: Material) -> dict[str, list[dict[str, Any]]]:
    """`heads` and `layers`: for each its `own` numbers, both baselines, and what is lost with it `silenced`."""
    own, before = (described(each, tokenizer, material) for each in (model, untrained(model)))
    lost = dict(silence.silenced(model, material.silence)) if material.silence else {}
    found: dict[str, list[dict[str, Any]]] = {"heads": [], "layers": []}
    for place, rows in own.items():
        row: dict[str, Any] = {"kind": place.kind, "layer": place.layer, "head": place.head}
        row |= {"own": rows["own"], "shuffled": rows["shuffled"], "untrained": before[place]["own"]}
        row |= {"silenced": lost.get(place)}
        found["layers" if place.head is None else "heads"].append(row)
    return found
