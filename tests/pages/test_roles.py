"""The page of roles: a report made for the tiny model is on it, number for number, beside what one sentence says."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import checkpoint, heads, report, sums
from model.alignment import Reading, aer, align
from model.capture import capture, trace_of
from model.data import Pair
from model.edits import Silence
from model.gold import EVERYDAY, read_gold, rejoin
from model.habits import habits
from model.inside import output_projection
from model.roles import STATISTICS, best_way
from model.selection import select
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from pages.parts import session
from tests.pages.visitor import PATIENCE, ROOT, SENTENCE, Visitor
from viz import roles as drawn
from viz.inside import signed

Loaded = tuple[Transformer, Tokenizer]


@pytest.fixture(scope="module")
def folder(weights: Path, pairs: list[Pair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a report of its own."""
    made = tmp_path_factory.mktemp("reported")
    corpus = made / "pairs.tsv"
    corpus.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs[:6]), encoding="utf-8")
    shutil.copytree(weights, made / "tiny")
    lines = [line for line in EVERYDAY.read_text(encoding="utf-8").splitlines() if "\t" in line]
    (made / "gold.tsv").write_text("\n".join(lines[:6]), encoding="utf-8")
    asked = [str(corpus), "--align", str(made / "gold.tsv"), "--silence", "3", "--weights", str(made / "tiny")]
    assert heads.main([*asked, "--out", str(made / "tiny" / report.NAME)]) == 0
    return made / "tiny"


@pytest.fixture(scope="module")
def informed(folder: Path) -> Iterator[Visitor]:
    """A visitor of that model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WEIGHTS", folder)
        yield Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))


@pytest.fixture(scope="module")
def known(folder: Path) -> report.Report:
    return report.load(folder)


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


@pytest.mark.parametrize(("x", "y", "beside"), [
    ("entropy", "silenced", "untrained"), ("next", "distance", "shuffled"), ("aer", "special", "none"),
])  # fmt: skip
def test_every_head_is_where_the_report_has_it(
    informed: Visitor, known: report.Report, x: str, y: str, beside: str
) -> None:
    informed.follow("roles", x=x, y=y, beside=beside)
    header, arrays = informed.canvas("scatter")
    expected = drawn.points(known.heads, x, y, beside=None if beside == "none" else beside)
    assert [(p["kind"], p["layer"], p["head"]) for p in header["points"]] == [
        (p.kind, p.layer, p.head) for p in expected
    ]
    assert [p["said"] for p in header["points"]] == [p.said for p in expected]
    np.testing.assert_allclose(arrays["own"], [[p.x, p.y] for p in expected], rtol=1e-6)
    there = [p.baseline or (np.nan, np.nan) for p in expected]
    np.testing.assert_allclose(arrays["baseline"], there, rtol=1e-6)
    assert (header["x"]["label"], header["y"]["label"]) == (STATISTICS[x].label, STATISTICS[y].label)
    lacking = len(known.heads) - len(expected)
    said = next(caption for caption in informed.captions if caption.startswith("Filled"))
    assert (f"{lacking} of {len(known.heads)} heads lack" in said) == (lacking > 0)


def test_one_kind_can_be_shown_alone(informed: Visitor) -> None:
    informed.follow("roles", kinds="masked")
    assert {point["kind"] for point in informed.canvas("scatter")[0]["points"]} == {"masked"}
    assert informed.canvas("scatter")[0]["chosen"] is None  # an encoder head, which is not drawn
    informed.choose("kind", "masked")
    assert informed.canvas("scatter")[0]["chosen"] is not None


def beside(informed: Visitor) -> dict[str, dict[str, object]]:
    """The table of the chosen head, by number."""
    frame = next(f.value for f in informed.app.dataframe if "here" in f.value.columns)
    return {str(row[""]): row for row in frame.to_dict("records")}


@pytest.mark.parametrize(("kind", "layer", "head"), [("encoder", 3, 2), ("masked", 1, 4), ("cross", 2, 5)])
def test_the_chosen_head_is_marked_and_its_sentence_stands_beside_its_corpus(
    informed: Visitor, known: report.Report, loaded: Loaded, trace: Trace, kind: str, layer: int, head: int
) -> None:
    informed.follow("roles", kind=kind, layer=str(layer), head=str(head))
    header, _ = informed.canvas("scatter")
    marked = header["points"][header["chosen"]]
    assert (marked["kind"], marked["layer"], marked["head"]) == (kind, layer, head)
    found, row = beside(informed), known.head(kind, layer, head)
    own = habits([trace])[kind, layer, head]["own"]
    names = {"encoder": ("distance", "next"), "masked": ("distance", "previous"), "cross": ()}[kind]
    for name in ("entropy", "confidence", "special", "marks", *names):
        statistic = STATISTICS[name]
        assert found[statistic.label]["corpus"] == signed(statistic.value(row, "own"))
        assert found[statistic.label]["untrained"] == signed(statistic.value(row, "untrained"))
        assert found[statistic.label]["here"] == signed(statistic.value({"own": own}, "own"))
    ids = [token.id for token in trace.source[:-1]], [token.id for token in trace.read[1:]]
    without = trace_of(*loaded, *ids, edits=(Silence(kind, layer, head),))
    lost = (without.target_log_probabilities() - trace.target_log_probabilities()).mean()
    assert found[STATISTICS["silenced"].label]["here"] == signed(lost)


@pytest.mark.parametrize(("units", "special"), [("pieces", "shown"), ("words", "renormalised")])
def test_what_the_head_looks_at_here_follows_words_and_specials(
    informed: Visitor, trace: Trace, units: str, special: str
) -> None:
    informed.follow("roles", kind="cross", layer="2", head="3", query="2", key="1", units=units, special=special)
    header, arrays = informed.canvas("head")
    expected = select(trace, "cross", 2, 3, words=units == "words", special=special)
    np.testing.assert_allclose(arrays["weights"], expected.weights, atol=1e-6)
    assert header["pinned"] == [1, 0]


def test_the_lines_compute_what_the_page_shows(
    informed: Visitor, folder: Path, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"kind": "encoder", "layer": "3", "head": "2", "edits": "mean-encoder-1.2,uniform-masked-2.1"}
    informed.follow("roles", x="special", y="confidence", units="words", **here)
    (lines,) = [block.value for block in informed.app.code]
    monkeypatch.setattr(checkpoint, "load", lambda where=folder: loaded)
    monkeypatch.setattr(checkpoint, "WEIGHTS", folder)
    names: dict[str, Any] = {}
    exec(compile(lines, "copied", "exec"), names)
    np.testing.assert_array_equal(informed.canvas("head")[1]["weights"], names["opened"].weights.astype(np.float32))
    drawn_points = informed.canvas("scatter")[1]["own"]
    np.testing.assert_array_equal(drawn_points, np.array(names["points"], dtype=np.float32))
    found = beside(informed)
    for name, value in {**names["here"], "silenced": float(names["lost"])}.items():
        if value is not None:
            assert found[STATISTICS[name].label]["here"] == signed(value)


def test_the_chosen_head_can_be_opened_on_the_page_of_all_heads(informed: Visitor) -> None:
    informed.follow("roles", kind="masked", layer="2", head="3", query="1", key="1")
    links = [link.proto for link in informed.app.get("page_link")]
    (leads,) = [dict(parse_qsl(link.query_string)) for link in links if "Open it on Heads" in link.label]
    assert leads.items() >= {"kind": "masked", "layer": "2", "head": "3"}.items()
    assert not {"query", "key"} & set(leads)  # a cell that was pinned in another head


def test_on_a_pair_aligned_by_hand_the_error_rate_of_this_sentence_is_there(
    informed: Visitor, known: report.Report, loaded: Loaded
) -> None:
    pair = read_gold(EVERYDAY)[4]
    texts = {"sentence": rejoin(pair.source)[0], "target": rejoin(pair.target)[0]}
    informed.follow("roles", kind="cross", layer="1", head="2", **texts)
    by, rows = best_way(known.head("cross", 1, 2)).split(", rows ")
    found = align(
        capture(*loaded, texts["sentence"], target=texts["target"]),
        output_projection(loaded[0], "cross", 1),
        Reading(1, 2, by, rows),
    )
    agreed, all_links = aer(frozenset((link.source, link.target) for link in found), pair.sure, pair.possible)
    shown = beside(informed)[STATISTICS["aer"].label]
    assert shown["here"] == signed(100 * (1 - agreed / all_links))
    informed.follow("roles", kind="cross", layer="1", head="2")
    assert beside(informed)[STATISTICS["aer"].label]["here"] == ""


def test_what_one_sentence_cannot_say_is_said(informed: Visitor) -> None:
    informed.follow("roles")
    assert any("in one sentence is not its role" in caption for caption in informed.captions)
    assert any("Not counted: rare-word heads" in caption for caption in informed.captions)


def test_the_table_has_every_head(informed: Visitor, known: report.Report) -> None:
    informed.follow("roles", x="special", y="next")
    informed.choose("as_table", True)
    frames = [frame.value for frame in informed.app.dataframe if "head" in frame.value.columns]
    assert frames[0]["head"].tolist() == [drawn.name(row) for row in known.heads]
    expected = drawn.table(known.heads, "special", "next", beside="untrained")
    np.testing.assert_allclose(frames[0]["on <s> and </s>"], expected["on <s> and </s>"])
    informed.choose("as_table", False)


def test_axes_chosen_in_the_widgets_stand_in_the_address(informed: Visitor) -> None:
    informed.follow("roles")
    assert informed.address == {"sentence": SENTENCE}
    informed.choose("x", "previous")
    informed.choose("beside", "shuffled")
    informed.choose("kinds", "encoder")
    said = {"x": "previous", "beside": "shuffled", "kinds": "encoder"}
    assert informed.address == {"sentence": SENTENCE} | said
    assert informed.canvas("scatter")[0]["x"]["label"] == STATISTICS["previous"].label


def test_the_reported_gold_is_scored_on_the_page_of_alignments(informed: Visitor, known: report.Report) -> None:
    informed.follow("alignment", cross_layer="2", cross_head="3", cross_heads="one", by="norm", rows="read")
    ours, theirs = informed.app.dataframe[0].value.to_dict("records")
    rates = {half: known.head("cross", 2, 3)["own"]["aer"][half]["norm, rows read"] for half in ("first", "last")}
    assert theirs["AER, %"] == f"{rates['last']:.1f}"
    assert "gold.tsv" in theirs["aligned by hand"]
    ways = [
        (row["own"]["aer"]["first"][way], row["own"]["aer"]["last"][way])
        for row in (*known.heads, *known.layers)
        if row["kind"] == "cross"
        for way in row["own"]["aer"]["first"]
    ]
    lowest = min(first for first, _ in ways)
    assert theirs["best AER, %"] in {f"{last:.1f}" for first, last in ways if first == lowest}
    assert ours["best reading"]
    assert not any("not known here" in text.value for text in informed.app.text)


def test_without_a_report_the_page_says_how_to_make_one(visitor: Visitor) -> None:
    visitor.follow("roles")
    assert not visitor.app.exception
    (said,) = [text.value for text in visitor.app.text if "not known here" in text.value]
    assert "python -m model.heads" in said
    assert not visitor.canvases()


def test_a_report_on_other_weights_is_not_shown(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = shutil.copytree(folder, tmp_path / "stale")
    text = (stale / report.NAME).read_text(encoding="utf-8")
    (stale / report.NAME).write_text(text.replace(report.digest(folder), "0" * 64), encoding="utf-8")
    sums.record(stale / report.NAME)
    monkeypatch.setattr(session, "WEIGHTS", stale)
    visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    visitor.follow("roles")
    (said,) = [text.value for text in visitor.app.text if "not known here" in text.value]
    assert "made from other weights" in said
