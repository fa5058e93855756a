"""Surgery: what its pictures show is what the model computes under the edits, and every click has a twin."""

from pathlib import Path

import numpy as np
import pytest

from model import report
from model.capture import capture, trace_of
from model.editlist import parsed
from model.importance import all_heads, each_alone, losses, one_after_the_other
from model.shift import shift
from model.tokenizer import Tokenizer
from model.trace import KINDS, Trace
from model.transformer import Transformer
from model.what_if import log_probabilities, means_of, write_edited
from model.words import by_words, word_groups, words
from pages.parts import shipped, trials
from tests.pages.visitor import SENTENCE, Visitor, texts
from viz import captions, effect, surgery

Loaded = tuple[Transformer, Tokenizer]
Ids = tuple[list[int], list[int]]
EDITS = "silence-cross-1.2,cell-encoder-2.3-2.3-0.9,no_scaling-masked-2"


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


@pytest.fixture(scope="module")
def ids(trace: Trace) -> Ids:
    source, target = ([token.id or 0 for token in tokens] for tokens in (trace.source[:-1], trace.read[1:]))
    return source, target


def alone(loaded: Loaded, trace: Trace, ids: Ids, by: str) -> np.ndarray:
    lists, means = each_alone(all_heads(trace), by), means_of(loaded[0], *ids)
    return losses(log_probabilities(loaded[0], *ids, lists, means=means))


@pytest.mark.parametrize("by", ["zero", "mean"])
def test_heads_are_coloured_by_what_silencing_each_costs_this_sentence(
    visitor: Visitor, loaded: Loaded, trace: Trace, ids: Ids, by: str
) -> None:
    visitor.follow("surgery", instead=by)
    header, arrays = visitor.canvas("surgery")
    places = [("encoder", 1), ("encoder", 2), ("encoder", 3), ("masked", 1), ("masked", 2), ("cross", 1), ("cross", 2)]
    assert [(row["kind"], row["layer"]) for row in header["rows"]] == places
    np.testing.assert_allclose(arrays["values"], alone(loaded, trace, ids, by).reshape(7, 5), atol=1e-4)
    assert captions.SILENCED_IN_TURN in " ".join(visitor.captions)


def test_colours_are_those_of_the_unedited_run_whatever_is_edited(
    visitor: Visitor, loaded: Loaded, trace: Trace, ids: Ids
) -> None:
    visitor.follow("surgery", edits=EDITS)
    header, arrays = visitor.canvas("surgery")
    np.testing.assert_allclose(arrays["values"], alone(loaded, trace, ids, "zero").reshape(7, 5), atol=1e-4)
    assert header["marks"] == [
        surgery.marks(parsed(EDITS), all_heads(trace)).get(head, "") for head in all_heads(trace)
    ]
    assert [row["note"] for row in header["rows"]] == ["", "", "", "", "no √d", "", ""]


@pytest.mark.parametrize("kind", KINDS)
def test_at_first_the_head_of_its_kind_that_matters_most_is_open(
    visitor: Visitor, loaded: Loaded, trace: Trace, ids: Ids, kind: str
) -> None:
    visitor.follow("surgery", kind=kind)
    found = dict(zip(all_heads(trace), alone(loaded, trace, ids, "zero"), strict=True))
    _, layer, head = max((h for h in found if h[0] == kind), key=found.__getitem__)
    assert (visitor.state("layer"), visitor.state("head")) == (layer, head)
    header, arrays = visitor.canvas("head")
    assert (header["map"]["kind"], header["map"]["layer"], header["map"]["head"]) == (kind, layer, f"head {head}")
    assert arrays["weights"].tobytes() == trace.map(kind, layer, head).weights.tobytes()


@pytest.mark.parametrize("target", ["", "Der alte Mann hört zwei Bäume nicht."])
def test_both_translations_and_every_step_of_the_unedited_one_are_shown(
    visitor: Visitor, loaded: Loaded, target: str
) -> None:
    model, tokenizer = loaded
    before = capture(model, tokenizer, SENTENCE, target=target or None)
    source, own = [t.id or 0 for t in before.source[:-1]], [t.id or 0 for t in before.read[1:]]
    written = own if target else write_edited(model, source, parsed(EDITS)).ids
    edited = trace_of(model, tokenizer, source, written, edits=parsed(EDITS))
    found = shift(before, trace_of(model, tokenizer, source, own, edits=parsed(EDITS)))
    visitor.follow("surgery", edits=EDITS, target=target)
    ((_, pairs),) = [(text["title"], text["pairs"]) for text in visitor.canvas("versus")[0]["texts"]]
    assert [one for one, _, _ in pairs if one is not None] == texts(words(before.predicted))
    assert [other for _, other, _ in pairs if other is not None] == texts(words(edited.predicted))
    steps = visitor.canvas("shift")[0]["steps"]
    assert [step["text"] for step in steps] == texts(before.predicted)
    np.testing.assert_allclose([step["moved"] for step in steps], found.moved, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose([step["before"] for step in steps], np.exp(found.before), rtol=1e-5)
    np.testing.assert_allclose([step["after"] for step in steps], np.exp(found.after), rtol=1e-5)
    assert effect.verdict(found) in [text.value for text in visitor.app.text]


def test_without_edits_nothing_has_moved_and_the_page_says_so(visitor: Visitor) -> None:
    visitor.follow("surgery")
    assert {step["moved"] for step in visitor.canvas("shift")[0]["steps"]} == {0.0}
    assert all(same for _, _, same in visitor.canvas("versus")[0]["texts"][0]["pairs"])
    assert any(text.value == effect.NOTHING for text in visitor.app.text)


@pytest.mark.parametrize("tool", ["silence", "mean", "uniform", "only"])
def test_each_tool_acts_on_the_open_head_and_takes_it_back(visitor: Visitor, tool: str) -> None:
    visitor.follow("surgery", tool=tool, kind="cross", layer="2", head="4")
    visitor.app.button(key="apply_to_head").click().run()
    assert visitor.address["edits"] == f"{tool}-cross-2.4"
    assert surgery.MARKS[tool] in visitor.canvas("surgery")[0]["marks"]
    visitor.app.button(key="apply_to_head").click().run()
    assert "edits" not in visitor.address


@pytest.mark.parametrize(("tool", "written"), [("cell", "cell-cross-2.4-3.2-0.25"), ("row", "row-cross-2.4-3.2")])
def test_a_cell_and_a_row_are_set_by_widgets_and_the_matrix_shows_it(visitor: Visitor, tool: str, written: str) -> None:
    visitor.follow("surgery", tool=tool, weight="0.25", kind="cross", layer="2", head="4", query="3", key="2")
    visitor.app.button(key="apply_to_cell").click().run()
    assert visitor.address["edits"] == written
    _, arrays = visitor.canvas("head")
    assert arrays["weights"][2, 1] == pytest.approx(0.25 if tool == "cell" else 1.0)
    assert arrays["weights"][2].sum() == pytest.approx(1)


@pytest.mark.parametrize(("tool", "written"), [("cell", "cell-cross-2.4-{}.{}-0.25"), ("row", "row-cross-2.4-{}.{}")])
def test_over_words_the_heaviest_cell_of_pieces_is_set(visitor: Visitor, trace: Trace, tool: str, written: str) -> None:
    rows, columns = word_groups(trace.read), word_groups(trace.source)
    looks = next(n for n, group in enumerate(rows) if len(group) > 1)
    looked = next(n for n, group in enumerate(columns) if len(group) > 1)
    weights = trace.map("cross", 2, 4).weights
    cells = [(i, j) for i in rows[looks] for j in columns[looked]]
    row, column = max(cells, key=lambda cell: float(weights[cell]))
    place = {"query": str(looks + 1), "key": str(looked + 1), "units": "words"}
    visitor.follow("surgery", tool=tool, weight="0.25", kind="cross", layer="2", head="4", measure="value", **place)
    assert captions.SET_IN_PIECES in visitor.captions
    np.testing.assert_allclose(
        visitor.canvas("head")[1]["weights"], by_words(trace.map("cross", 2, 4)).weights, atol=1e-6
    )
    visitor.app.button(key="apply_to_cell").click().run()
    assert visitor.address["edits"] == written.format(row + 1, column + 1)


def test_the_mode_says_what_a_click_does(visitor: Visitor) -> None:
    for tool in surgery.TOOLS:
        visitor.follow("surgery", tool=tool)
        header, _ = visitor.canvas("surgery")
        assert header["edits"] == (tool != "none")
        assert header["mode"].startswith("✂ Edit mode: " if tool != "none" else "A click opens it")
        assert visitor.app.button(key="apply_to_head").disabled == (tool in ("cell", "row", "none"))


def test_parts_are_left_out_and_put_back(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("surgery", edits="silence-cross-1.2,skip-cross-2")
    boxes = {box.label: box for box in visitor.app.multiselect}
    assert list(boxes) == list(surgery.parts(trace))
    assert boxes["Sub-layers"].value == ["skip-cross-2"]
    boxes["Sub-layers"].set_value(["skip-encoder_feed_forward-3"]).run()
    assert visitor.address["edits"] == "silence-cross-1.2,skip-encoder_feed_forward-3"
    next(box for box in visitor.app.multiselect if box.label == "Positions, mask").set_value(["lift_mask"]).run()
    assert visitor.address["edits"] == "silence-cross-1.2,skip-encoder_feed_forward-3,lift_mask"
    visitor.app.button(key="listed silence-cross-1.2").click().run()
    assert visitor.address["edits"] == "skip-encoder_feed_forward-3,lift_mask"


@pytest.mark.parametrize("order", ["least", "most"])
def test_heads_are_removed_in_both_orders_and_single_losses_drawn_beside(
    visitor: Visitor, loaded: Loaded, trace: Trace, ids: Ids, order: str
) -> None:
    single = alone(loaded, trace, ids, "zero")
    heads = [all_heads(trace)[i] for i in np.argsort(single if order == "least" else -single, kind="stable")]
    lists = one_after_the_other(heads, "zero")
    together = losses(log_probabilities(loaded[0], *ids, lists))
    visitor.follow("surgery", removed=order)
    _, arrays = visitor.canvas("curves")
    np.testing.assert_allclose(arrays["y0"], [0, *together], atol=1e-3)
    np.testing.assert_allclose(
        arrays["y1"], [0, *np.cumsum(np.sort(single)[:: 1 if order == "least" else -1])], atol=1e-3
    )


def test_without_a_report_the_corpus_s_colours_are_missing_and_the_page_says_why(visitor: Visitor) -> None:
    visitor.follow("surgery", harm="corpus")
    header, arrays = visitor.canvas("surgery")
    assert "values" not in arrays
    assert any("The corpus's losses are not known" in note for note in visitor.notes)
    assert "silenced" not in " ".join(header["said"])


def test_with_a_report_heads_are_coloured_by_the_corpus_s_losses(
    visitor: Visitor, trace: Trace, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"kind": k, "layer": n, "head": h, "silenced": {"zero": {"delta": -0.01 * i}, "mean": {"delta": -0.02 * i}}}
        for i, (k, n, h) in enumerate(all_heads(trace))
    ]
    monkeypatch.setattr(shipped, "heads_report", lambda: report.Report({"heads": rows}))
    visitor.follow("surgery", harm="corpus", instead="mean")
    header, arrays = visitor.canvas("surgery")
    np.testing.assert_allclose(arrays["values"].ravel(), 0.02 * np.arange(35), rtol=1e-6)
    assert "a token of the corpus falls by 0.020" in header["said"][1]


def test_a_sentence_that_is_too_long_to_silence_its_heads_in_turn_gets_a_note(visitor: Visitor) -> None:
    visitor.follow("surgery", sentence="The cat sees the house. " * 14, target="Die Katze.")
    assert any("would take too long" in note for note in visitor.notes)
    assert "values" not in visitor.canvas("surgery")[1]


def test_heads_are_removed_together_only_when_somebody_asks(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    removal = trials.removal
    monkeypatch.setattr(trials, "removal", lambda *args: asked.append(args[2]) or removal(*args))
    visitor.follow("surgery")
    assert asked == []
    visitor.choose("removed", "most")
    assert asked == ["most"]


def test_every_picture_can_be_had_as_a_table(visitor: Visitor, loaded: Loaded, trace: Trace, ids: Ids) -> None:
    visitor.follow("surgery", edits=EDITS, removed="least")
    for key in ("as_table", "shift_as_table", "head_as_table", "removal_as_table"):
        visitor.choose(key, True)
    frames = [frame.value for frame in visitor.app.dataframe]
    assert len(frames) == 4
    single = np.sort(alone(loaded, trace, ids, "zero"))
    for frame, column in ((frames[0], "loss of ln P"), (frames[3], "loss alone")):
        np.testing.assert_allclose(frame[column].sort_values(), single, atol=1e-4)
    for key in ("as_table", "shift_as_table", "head_as_table", "removal_as_table"):
        visitor.choose(key, False)


def test_doors_lead_from_a_picture_of_a_head_to_surgery_with_that_head_silenced(visitor: Visitor) -> None:
    for page, heads in (
        ("heads", ["cross-2.4"]),
        ("inside_a_head", ["cross-2.4"]),
        ("masked_vs_cross", ["masked-2.4", "cross-1.3"]),
    ):
        visitor.follow(page, kind="cross", layer="2", head="4", cross_layer="1", cross_head="3")
        links = [link.proto for link in visitor.app.get("page_link")]
        there = [link.query_string for link in links if link.page.endswith("surgery")]
        assert len(there) == len(heads)
        for link, head in zip(there, heads, strict=True):
            assert f"edits=silence-{head}" in link
