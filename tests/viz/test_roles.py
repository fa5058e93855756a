"""Every head with both numbers is a point, says them and its roles; tables hold the same numbers."""

import copy

import pytest

from model.roles import STATISTICS, Row
from tests.model.test_roles import RELATION, row
from viz import roles as drawn

CORPORA = {"pairs": "pairs.tsv", "trees": "trees.conllu", "gold": "gold.tsv", "silence": "some.tsv"}
CONTENT: Row = {"n": 2000, "corpus": {name: {"file": file} for name, file in CORPORA.items()}}


def rows() -> list[Row]:
    """A positional encoder head, a masked one without a name, and two of cross-attention."""
    named = row("encoder", next=0.93, confidence=0.88)
    other = {**row("masked"), "layer": 1, "head": 5}
    aligning = copy.deepcopy({**row("cross"), "layer": 1, "head": 4})
    aligning["own"]["aer"]["last"]["norm, rows predicted"] = 30.0
    return [named, other, aligning, {**row("cross"), "head": 1}]


def test_heads_without_one_of_the_numbers_are_left_out() -> None:
    assert [(p.kind, p.layer, p.head) for p in drawn.points(rows(), "entropy", "next", beside=None)] == [
        ("encoder", 2, 3),
        ("masked", 1, 5),
    ]
    assert len(drawn.points(rows(), "entropy", "silenced", beside=None)) == 4
    assert len(drawn.points(rows(), "aer", "special", beside=None)) == 2
    assert drawn.points(rows(), "aer", "next", beside=None) == []


@pytest.mark.parametrize("beside", ["untrained", "shuffled"])
@pytest.mark.parametrize(("x", "y"), [("entropy", "confidence"), ("next", "distance"), ("aer", "special")])
def test_a_point_lies_at_its_numbers_and_its_baseline_at_those_of_the_baseline(x: str, y: str, beside: str) -> None:
    for point in drawn.points(rows(), x, y, beside=beside):
        (here,) = [r for r in rows() if (r["kind"], r["layer"], r["head"]) == (point.kind, point.layer, point.head)]
        assert (point.x, point.y) == tuple(STATISTICS[name].value(here, "own") for name in (x, y))
        assert point.baseline == tuple(STATISTICS[name].value(here, beside) for name in (x, y))
        assert drawn.BASELINES[beside] in point.baseline_said


def test_a_number_without_a_baseline_has_no_hollow_point() -> None:
    assert {p.baseline for p in drawn.points(rows(), "entropy", "silenced", beside="untrained")} == {None}
    assert {p.baseline for p in drawn.points(rows(), "entropy", "special", beside=None)} == {None}


def test_a_point_says_its_numbers_and_what_it_is_called() -> None:
    first, second, third, _ = drawn.points(rows(), "entropy", "silenced", beside=None)
    assert first.said == (
        "encoder, layer 2, head 3 (positional: next token): entropy / uniform 0.310, Δ ln P per token, silenced −0.500."
    )
    assert second.said.startswith("masked, layer 1, head 5: entropy")
    assert (first.label, second.label, third.label) == ("2·3 positional", "", "1·4 alignment")


def test_axes_have_room_for_both_and_the_threshold_of_their_number() -> None:
    found = drawn.points(rows(), "distance", "next", beside="untrained")
    across, up = drawn.axes(found, "distance", "next")
    assert across.most > 2.52
    assert (up.least, up.most, up.threshold) == (0, 1, 0.9)
    assert across.threshold is None


def test_the_table_has_every_head_with_its_numbers_and_roles() -> None:
    found = drawn.table(rows(), "entropy", "next", beside="untrained")
    assert list(found.columns) == [
        "head",
        "entropy / uniform",
        "on the next token",
        "entropy / uniform, before training",
        "on the next token, before training",
        "role",
    ]
    assert found["head"].tolist()[0] == "encoder, layer 2, head 3"
    assert found["on the next token"].tolist()[:2] == [0.93, 0.13]
    assert found["on the next token"].isna().tolist() == [False, False, True, True]
    assert found["role"].tolist() == ["positional: next token", "", "alignment: by norm, rows predicted", ""]
    assert len(drawn.table(rows(), "next", "next", beside=None).columns) == 3


def test_roles_are_counted_in_every_column() -> None:
    found = drawn.rules(rows()).set_index("role")
    assert found["heads"].to_dict() == {"positional": 1, "syntactic": 0, "alignment": 1}
    assert found["untrained"].to_dict() == {"positional": 0, "syntactic": 0, "alignment": 0}
    untrained = row("encoder")
    untrained["untrained"]["relation"] = RELATION | {"accuracy": 0.9}
    assert drawn.rules([untrained]).set_index("role")["untrained"]["syntactic"] == 1


def test_one_sentence_stands_beside_the_corpus_and_what_it_does_not_have_is_empty() -> None:
    found = drawn.beside_sentence(
        CONTENT, row("encoder"), {"entropy": 0.62, "relation": None, "silenced": -0.125}
    ).set_index("")
    columns = ["here", "corpus", "shuffled", "untrained"]
    assert found.loc["entropy / uniform", columns].tolist() == ["0.620", "0.310", "0.320", "0.330"]
    assert found.loc["dependency above best offset", columns].tolist() == ["", "0.050", "0.060", "0.070"]
    assert "AER, %" not in found.index
    assert found.loc["Δ ln P per token, silenced", columns].tolist() == ["−0.125", "−0.500", "", ""]
    assert "on the next token" not in drawn.beside_sentence(CONTENT, row("cross"), {}).set_index("").index


def test_the_error_rate_names_its_corpus_and_the_reading_that_it_is_of() -> None:
    _, _, aligning, _ = rows()
    aligning["own"]["aer"]["first"] = {"weight, rows read": 50.0, "norm, rows predicted": 40.0}
    found = drawn.beside_sentence(CONTENT, aligning, {}).set_index("")
    assert found.loc["AER, %", "corpus"] == "30.00"
    said = found.loc["AER, %", "what it says"]
    assert "last half of gold.tsv" in said
    assert "norm, rows predicted" in said
    alone = drawn.beside_sentence(CONTENT, row("encoder"), {"aer": 12.5}).set_index("")
    assert "gold.tsv" not in alone.loc["AER, %", "what it says"]


def test_under_the_picture_stands_what_is_hollow_and_what_is_missing() -> None:
    found = drawn.points(rows(), "entropy", "next", beside="untrained")
    said = drawn.how_to_read(CONTENT, found, "entropy", "next", heads=4, beside="untrained")
    assert "2,000 sentence pairs of pairs.tsv" in said
    assert "Hollow: the same head before training" in said
    assert "2 of 4 heads lack one of the numbers" in said
    found = drawn.points(rows(), "entropy", "marks", beside=None)
    said = drawn.how_to_read(CONTENT, found, "entropy", "marks", heads=4, beside=None)
    assert not {"Hollow", "lack", "Dashed"} & set(said.replace(":", " ").split())
    found = drawn.points(rows(), "entropy", "silenced", beside="untrained")
    said = drawn.how_to_read(CONTENT, found, "entropy", "silenced", heads=4, beside="untrained")
    assert "no baseline" in said
    assert "Silencing: over some.tsv" in said


@pytest.mark.parametrize("name", STATISTICS)
def test_a_report_over_pairs_alone_names_no_other_corpus(name: str) -> None:
    alone: Row = CONTENT | {"corpus": {"pairs": CONTENT["corpus"]["pairs"]}}
    said = drawn.how_to_read(alone, [], name, "entropy", heads=4, beside=None)
    assert said.startswith("Filled: the head over 2,000 sentence pairs of pairs.tsv.")
    assert not [file for corpus, file in CORPORA.items() if corpus != "pairs" and file in said]


@pytest.mark.parametrize("name", [name for name, statistic in STATISTICS.items() if statistic.threshold is not None])
def test_a_dashed_line_says_what_lies_beyond_it(name: str) -> None:
    """Of a rule with two halves it says the other one, too."""
    said = drawn.how_to_read(CONTENT, [], name, name, heads=0, beside=None)
    assert said.count("Dashed") == 1
    if name in ("confidence", "previous", "next"):
        assert "one half" in said
        assert "0.8" in said
        assert "90%" in said
