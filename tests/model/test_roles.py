"""Heads get names where thresholds say so, and each number is read from where it stands in a report."""

import copy
from typing import Any

import pytest

from model.roles import RULES, STATISTICS, Row, best_way, roles

HABITS = {
    "entropy_bits": 1.5,
    "entropy_of_uniform": 0.31,
    "distance": 2.5,
    "previous": 0.11,
    "same": 0.12,
    "next": 0.13,
    "confidence": 0.41,
    "largest": 0.5,
    "special": 0.21,
    "marks": 0.22,
}
WAYS = ("weight, rows read", "weight, rows predicted", "norm, rows read", "norm, rows predicted")
RELATION = {"relation": "obj", "accuracy": 0.35, "offset": 1, "offset_accuracy": 0.3, "n": 500}


def column(kind: str, shift: float, **changes: Any) -> Row:
    """One column of a row; `shift` tells columns apart."""
    made: Row = {name: value + shift for name, value in HABITS.items()}
    if kind == "cross":
        made |= dict.fromkeys(("distance", "previous", "same", "next"))
        rates = {way: 60.0 + 2 * number + shift for number, way in enumerate(WAYS)}
        made["aer"] = {"first": dict(zip(WAYS, reversed(rates.values()), strict=True)), "last": rates}
    if kind == "encoder":
        made["relation"] = RELATION | {"accuracy": RELATION["accuracy"] + shift}
    return made | changes


def row(kind: str = "encoder", **changes: Any) -> Row:
    """A row of a report; `changes` are of its own column."""
    silenced = {
        by: {"delta": delta, "low": delta - 1, "high": delta + 1} for by, delta in (("zero", -0.5), ("mean", -0.25))
    }
    return {
        "kind": kind,
        "layer": 2,
        "head": 3,
        "own": column(kind, 0.0, **changes),
        "shuffled": column(kind, 0.01),
        "untrained": column(kind, 0.02),
        "silenced": silenced,
    }


@pytest.mark.parametrize(("name", "expected"), [
    ("entropy", 0.31), ("confidence", 0.41), ("distance", 2.5), ("previous", 0.11), ("same", 0.12), ("next", 0.13),
    ("special", 0.21), ("marks", 0.22), ("relation", 0.05), ("silenced", -0.5), ("held", -0.25),
])  # fmt: skip
def test_each_number_is_read_from_its_column(name: str, expected: float) -> None:
    value = STATISTICS[name].value
    assert value(row(), "own") == pytest.approx(expected)
    if name in ("silenced", "held"):
        assert value(row(), "untrained") is None
    else:
        assert value(row(), "shuffled") == pytest.approx(expected + 0.01)
        assert value(row(), "untrained") == pytest.approx(expected + 0.02)


def test_what_a_kind_of_head_does_not_have_is_none() -> None:
    for name in ("distance", "previous", "same", "next", "relation"):
        assert STATISTICS[name].value(row("cross"), "own") is None
    assert STATISTICS["aer"].value(row("encoder"), "own") is None
    assert STATISTICS["relation"].value(row(relation=None), "own") is None
    assert STATISTICS["silenced"].value({**row(), "silenced": None}, "own") is None


def test_the_way_of_reading_is_chosen_on_one_half_and_scored_on_the_other() -> None:
    cross = row("cross")
    assert best_way(cross) == WAYS[3]  # lowest on the first half, highest on the last
    assert STATISTICS["aer"].value(cross, "own") == pytest.approx(66)
    assert STATISTICS["aer"].value(cross, "untrained") == pytest.approx(66.02)  # in the same way as the trained head


@pytest.mark.parametrize("kind", ["encoder", "masked"])
@pytest.mark.parametrize("place", ["previous", "next"])
def test_a_head_that_looks_beside_itself_with_confidence_is_positional(kind: str, place: str) -> None:
    assert roles(row(kind, **{place: 0.9}, confidence=0.81)) == {"positional": f"{place} token"}
    assert roles(row(kind, **{place: 0.89}, confidence=0.81)) == {}
    assert roles(row(kind, **{place: 0.9}, confidence=0.8)) == {}
    assert roles(row(kind, same=0.95, confidence=0.9)) == {}  # its own token is no place beside it


def test_a_head_that_follows_a_dependency_better_than_an_offset_is_syntactic() -> None:
    assert roles(row(relation=RELATION | {"accuracy": 0.4001})) == {"syntactic": "obj"}
    assert roles(row(relation=RELATION | {"accuracy": 0.3999})) == {}


def test_a_cross_head_with_few_wrong_links_aligns() -> None:
    cross = row("cross")
    assert roles(cross) == {}
    better = copy.deepcopy(cross)
    better["own"]["aer"]["last"][WAYS[3]] = 42.0
    assert roles(better) == {"alignment": f"by {WAYS[3]}"}
    assert roles(better, "untrained") == {}
    better["own"]["aer"]["last"] = {**cross["own"]["aer"]["last"], WAYS[0]: 1.0}  # good in a way that was not chosen
    assert roles(better) == {}


def test_a_head_may_have_two_roles() -> None:
    both = row(next=0.95, confidence=0.9, relation=RELATION | {"accuracy": 0.9})
    assert roles(both) == {"positional": "next token", "syntactic": "obj"}
    assert list(roles(both)) == [rule.name for rule in RULES[:2]]


def test_every_threshold_has_a_source() -> None:
    assert all(rule.source and rule.criterion for rule in RULES)
