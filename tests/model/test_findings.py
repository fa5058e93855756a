"""Whether a finding holds, on reports made by hand: at its threshold, on either side of it, and with which numbers."""

import copy
from typing import Any

import pytest

from model.findings import findings

Content = dict[str, Any]
HABITS = {"previous": 0.1, "same": 0.1, "next": 0.1, "confidence": 0.3}
RATES = {
    "weight, rows read": 60.0,
    "weight, rows predicted": 50.0,
    "norm, rows read": 55.0,
    "norm, rows predicted": 52.0,
}


def lost(delta: float, width: float = 0.001) -> dict[str, float]:
    return {"delta": delta, "low": delta - width, "high": delta + width}


def a_row(kind: str, layer: int, head: int | None) -> Content:
    own: Content = dict(HABITS) if head else {}
    if kind == "masked" and head:
        own["next"] = None
    if kind == "encoder" and head:
        own["relation"] = {"relation": "nsubj", "accuracy": 0.45, "offset": 1, "offset_accuracy": 0.4, "n": 99}
    if kind == "cross":
        own["aer"] = {"first": dict(RATES), "last": dict(RATES)}
    row: Content = {"kind": kind, "layer": layer, "head": head, "own": own}
    row |= {"shuffled": copy.deepcopy(own), "untrained": copy.deepcopy(own)}
    return row | {"silenced": {"zero": lost(-0.1), "mean": lost(0.0)}}


@pytest.fixture
def content() -> Content:
    """Two encoder layers and three decoder layers of two heads, all alike."""
    depth = {"encoder": 2, "masked": 3, "cross": 3}
    places = [(kind, layer) for kind, layers in depth.items() for layer in range(1, layers + 1)]
    return {
        "corpus": {"pairs": {}, "trees": {}, "gold": {}, "silence": {}},
        "heads": [a_row(kind, layer, head) for kind, layer in places for head in (1, 2)],
        "layers": [a_row(kind, layer, None) for kind, layer in places],
    }


def row(content: Content, kind: str, layer: int, head: int | None = None) -> Content:
    rows = content["layers" if head is None else "heads"]
    (found,) = [each for each in rows if (each["kind"], each["layer"], each["head"]) == (kind, layer, head)]
    return dict(found)


def found(content: Content, name: str) -> Content:
    (finding,) = [finding for finding in findings(content) if finding["name"] == name]
    return finding


def test_each_finding_says_what_it_claims_when_it_holds_and_on_what_numbers(content: Content) -> None:
    all_ = findings(content)
    assert len({finding["name"] for finding in all_}) == len(all_) == 10
    for finding in all_:
        assert isinstance(finding["holds"], bool)
        assert all(finding[part] for part in ("claim", "source", "criterion", "said", "numbers"))


@pytest.mark.parametrize(("missing", "left"), [("trees", 9), ("gold", 6), ("silence", 6), ("pairs", 9)])
def test_what_was_not_measured_is_not_judged(content: Content, missing: str, left: int) -> None:
    del content["corpus"][missing]
    assert len(findings(content)) == left


@pytest.mark.parametrize(
    ("share", "confidence", "holds"), [(0.9, 0.81, True), (0.89, 0.99, False), (0.95, 0.8, False), (1.0, 1.0, True)]
)
@pytest.mark.parametrize("name", ["previous", "next"])
def test_a_positional_head_is_often_beside_itself_and_confident(
    content: Content, name: str, share: float, confidence: float, holds: bool
) -> None:
    row(content, "encoder", 2, 1)["own"] |= {name: share, "confidence": confidence}
    finding = found(content, "positional")
    assert finding["holds"] is holds
    assert finding["numbers"]["positional"] == ([[2, 1, share, confidence]] if share >= 0.9 else [])
    assert finding["numbers"]["largest_share"] == {"own": share, "shuffled": 0.1, "untrained": 0.1}


def test_looking_at_itself_or_in_the_decoder_is_not_positional(content: Content) -> None:
    row(content, "encoder", 2, 1)["own"] |= {"same": 1.0, "confidence": 1.0}
    row(content, "masked", 2, 1)["own"] |= {"previous": 1.0, "confidence": 1.0}
    assert not found(content, "positional")["holds"]


def test_a_syntactic_head_is_a_tenth_above_the_offset(content: Content) -> None:
    finding = found(content, "syntactic")
    assert (finding["holds"], finding["numbers"]["heads"]) == (False, {"own": 0, "shuffled": 0, "untrained": 0})
    row(content, "encoder", 1, 2)["own"]["relation"]["accuracy"] = 0.51
    row(content, "encoder", 1, 1)["untrained"]["relation"]["accuracy"] = 0.9
    finding = found(content, "syntactic")
    assert (finding["holds"], finding["numbers"]["heads"]) == (True, {"own": 1, "shuffled": 0, "untrained": 1})
    assert finding["numbers"]["best"][:2] == [1, 2]


def test_heads_without_a_frequent_relation_are_not_syntactic(content: Content) -> None:
    for each in content["heads"]:
        for column in ("own", "shuffled", "untrained"):
            each[column]["relation"] = None
    finding = found(content, "syntactic")
    assert not finding["holds"]
    assert "no relation is frequent enough" in finding["said"]


def test_norms_are_compared_on_the_last_half_in_layers_chosen_on_the_first(content: Content) -> None:
    """By norm layer 2 is chosen, by weight layer 3; what other layers have on the last half does not matter."""
    row(content, "cross", 2)["own"]["aer"] = {"first": RATES | {"norm, rows read": 30.0}, "last": dict(RATES)}
    row(content, "cross", 3)["own"]["aer"] = {"first": RATES | {"weight, rows read": 31.0}, "last": dict(RATES)}
    row(content, "cross", 1)["own"]["aer"]["last"] = RATES | {"weight, rows read": 1.0, "norm, rows read": 2.0}
    row(content, "cross", 2)["own"]["aer"]["last"]["norm, rows read"] = 40.0
    row(content, "cross", 3)["own"]["aer"]["last"]["weight, rows read"] = 41.0
    finding = found(content, "norm_read")
    assert finding["holds"]
    assert finding["numbers"]["aer"] == {"weight": 41.0, "norm": 40.0}
    assert finding["numbers"]["layers"] == {"weight": 3, "norm": 2}
    row(content, "cross", 3)["own"]["aer"]["last"]["weight, rows read"] = 40.0
    assert not found(content, "norm_read")["holds"]
    assert not found(content, "norm_predicted")["holds"]  # 52 against 50


def test_rows_read_are_best_in_an_earlier_layer_by_both_measures_on_both_halves(content: Content) -> None:
    assert not found(content, "earlier")["holds"]  # all the same layer
    for half in ("first", "last"):
        row(content, "cross", 1)["own"]["aer"][half] |= {"weight, rows read": 10.0, "norm, rows read": 10.0}
        row(content, "cross", 3)["own"]["aer"][half] |= {"weight, rows predicted": 9.0, "norm, rows predicted": 9.0}
    assert found(content, "earlier")["holds"]
    row(content, "cross", 1)["own"]["aer"]["last"]["norm, rows predicted"] = 8.0
    assert not found(content, "earlier")["holds"]


def test_the_best_reading_of_the_first_half_is_reported_on_the_last(content: Content) -> None:
    chosen = row(content, "cross", 2, 2)["own"]["aer"]
    chosen["first"]["weight, rows predicted"], chosen["last"]["weight, rows predicted"] = 20.0, 42.0
    row(content, "cross", 1, 1)["own"]["aer"]["last"]["weight, rows read"] = 3.0
    finding = found(content, "aligned")
    assert finding["holds"]
    assert [finding["numbers"][name] for name in ("layer", "head", "reading", "chosen")] == [
        2,
        2,
        "weight, rows predicted",
        20.0,
    ]
    assert finding["numbers"]["aer"] == {"own": 42.0, "shuffled": 50.0, "untrained": 50.0}
    chosen["last"]["weight, rows predicted"] = 42.1
    assert not found(content, "aligned")["holds"]


def test_most_heads_are_dispensable_if_more_than_half_do_no_significant_harm(content: Content) -> None:
    """Of 16 heads, 8 are not most."""
    for index, each in enumerate(content["heads"]):
        each["silenced"]["zero"] = lost(-0.2) if index < 8 else lost(-0.2, width=0.3)
    finding = found(content, "single_zero")
    assert not finding["holds"]
    assert [finding["numbers"][name] for name in ("heads", "harm", "gain", "small")] == [16, 8, 0, 0]
    content["heads"][0]["silenced"]["zero"] = lost(0.002)
    finding = found(content, "single_zero")
    assert finding["holds"]
    assert [finding["numbers"][name] for name in ("heads", "harm", "gain", "small")] == [16, 7, 1, 1]
    assert finding["numbers"]["median"] == -0.2
    assert found(content, "single_mean")["numbers"]["harm"] == 0


def test_the_last_cross_layer_is_least_dispensable_if_its_interval_is_below_all_others(content: Content) -> None:
    assert not found(content, "last_cross_zero")["holds"]
    row(content, "cross", 3)["silenced"]["zero"] = lost(-0.3, width=0.1)  # down to -0.4, up to -0.2
    assert found(content, "last_cross_zero")["holds"]
    assert found(content, "last_cross_zero")["numbers"]["order"][0] == ["cross", 3, -0.3]
    assert not found(content, "last_cross_mean")["holds"]
    row(content, "encoder", 1)["silenced"]["zero"] = lost(-0.15, width=0.06)
    assert not found(content, "last_cross_zero")["holds"]
