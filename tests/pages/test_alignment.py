"""The page of alignments: the reading that the weights name or the reader chooses, pairs aligned by hand, scores."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.align import error_rates
from model.alignment import BY, ROWS, Reading, last_layer, word_strengths, words_of
from model.capture import capture
from model.gold import EVERYDAY, Gold, read_gold, rejoin
from model.inside import output_projection
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer
from pages.parts import session
from tests.pages.visitor import PATIENCE, ROOT, SENTENCE, Visitor
from viz import alignment
from viz import error_rates as scored
from viz.alignment import Aligned
from viz.payload import unpack
from viz.theme import LIGHT

Loaded = tuple[Transformer, Tokenizer]
WAYS = [Reading(1, 4, by, rows) for by in BY for rows in ROWS] + [Reading(2, None, by, "read") for by in BY]
NAMED = Reading(1, 3, "norm", "read")


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


@pytest.fixture(scope="module")
def rates(loaded: Loaded) -> dict[Reading, float]:
    return error_rates(*loaded, read_gold(EVERYDAY))


@pytest.fixture(scope="module")
def naming(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A visitor of a model whose folder names a reading."""
    folder = shutil.copytree(weights, tmp_path_factory.mktemp("named") / "tiny")
    content = {"layer": NAMED.layer, "head": NAMED.head, "by": NAMED.by, "rows": NAMED.rows}
    (folder / "alignment.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "WEIGHTS", folder)
        yield Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))


def expected(loaded: Loaded, trace: Trace, way: Reading) -> Aligned:
    strength = word_strengths(trace, output_projection(loaded[0], "cross", way.layer), way)
    return Aligned(words_of(trace.source), words_of(trace.predicted), strength, way)


def assert_shows(visitor: Visitor, shown: Aligned) -> None:
    header, arrays = visitor.canvas("alignment")
    assert (tuple(header["source"]), tuple(header["target"])) == (shown.source, shown.target)
    assert header["found"] == shown.found
    np.testing.assert_allclose(arrays["strength"], shown.strength, rtol=1e-6)
    assert alignment.how_to_read(shown) in visitor.captions


def fields(visitor: Visitor) -> list[dict[str, object]]:
    """The headers of the matrix of strengths and of the error rates."""
    found = [c.proto for c in visitor.app.get("bidi_component") if c.proto.component_name == "headlight_field"]
    return [unpack(proto.bytes)[0] for proto in found]


def test_at_first_words_are_aligned_as_the_weights_folder_says(naming: Visitor, loaded: Loaded, trace: Trace) -> None:
    naming.follow("alignment")
    assert_shows(naming, expected(loaded, trace, NAMED))
    assert naming.address == {"sentence": SENTENCE}
    naming.follow("translate")
    header, _ = naming.canvas("translation")
    found = expected(loaded, trace, NAMED).found
    assert [(link["target"], link["source"]) for link in header["links"]] == list(enumerate(found))
    assert any(alignment.name(NAMED) in caption for caption in naming.captions)


def test_where_the_folder_names_nothing_the_last_layer_is_read(visitor: Visitor, loaded: Loaded, trace: Trace) -> None:
    visitor.follow("alignment")
    assert_shows(visitor, expected(loaded, trace, last_layer(trace)))


def test_a_folder_that_names_what_is_not_there_is_said_and_the_last_layer_read(
    weights: Path, tmp_path: Path, loaded: Loaded, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(weights, tmp_path / "tiny")
    (folder / "alignment.json").write_text('{"layer": 9, "head": 1, "by": "norm", "rows": "read"}', encoding="utf-8")
    monkeypatch.setattr(session, "WEIGHTS", folder)
    visitor = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    visitor.follow("alignment")
    assert_shows(visitor, expected(loaded, trace, last_layer(trace)))
    (note,) = visitor.notes
    assert "alignment.json must name layer, head, by and rows of one reading" in note


@pytest.mark.parametrize("way", WAYS, ids=scored.short)
def test_any_reading_can_be_linked_to(visitor: Visitor, loaded: Loaded, trace: Trace, way: Reading) -> None:
    head = {} if way.head is None else {"cross_head": str(way.head)}
    said = {"cross_layer": str(way.layer), "by": way.by, "rows": way.rows, **head}
    visitor.follow("alignment", cross_heads="all" if way.head is None else "one", **said)
    assert_shows(visitor, expected(loaded, trace, way))


def test_the_widgets_choose_a_reading_and_it_stands_in_the_address(
    visitor: Visitor, loaded: Loaded, trace: Trace
) -> None:
    visitor.follow("alignment")
    for key, value in (("cross_heads", "one"), ("cross_layer", 1), ("cross_head", 5), ("by", "norm"), ("rows", "read")):
        visitor.choose(key, value)
    assert_shows(visitor, expected(loaded, trace, Reading(1, 5, "norm", "read")))
    said = {"cross_heads": "one", "cross_layer": "1", "cross_head": "5", "by": "norm", "rows": "read"}
    assert visitor.address == {"sentence": SENTENCE} | said


def test_pinned_words_are_marked_in_both_pictures_and_read_from_the_address(visitor: Visitor) -> None:
    visitor.follow("alignment", german="3", units="words")
    assert visitor.canvas("alignment")[0]["pinned"] == [2, None]
    assert fields(visitor)[0]["pinned"] == [2, None]
    visitor.choose("english", 2)
    assert fields(visitor)[0]["pinned"] == [2, 1]
    assert visitor.address == {"sentence": SENTENCE, "german": "3", "english": "2", "units": "words"}
    visitor.follow("alignment", german="99")
    assert visitor.canvas("alignment")[0]["pinned"] == [None, None]
    assert any("There is no german 99 here" in note for note in visitor.notes)


def test_the_table_says_what_the_lines_say(visitor: Visitor, loaded: Loaded, trace: Trace) -> None:
    visitor.follow("alignment")
    visitor.choose("as_table", True)
    found = visitor.app.dataframe[0].value
    table = alignment.table(expected(loaded, trace, last_layer(trace)))
    assert list(found.columns) == list(table.columns)
    assert found["leans on"].tolist() == table["leans on"].tolist()
    np.testing.assert_allclose(found["weight"], table["weight"], rtol=1e-9)
    visitor.choose("as_table", False)


def shown_pair(visitor: Visitor, loaded: Loaded, pair: Gold, way: Reading) -> Aligned:
    trace = capture(*loaded, rejoin(pair.source)[0], target=rejoin(pair.target)[0])
    strength = word_strengths(trace, output_projection(loaded[0], "cross", way.layer), way)
    return Aligned(pair.source, pair.target, strength, way, pair.sure, pair.possible)


def test_a_pair_aligned_by_hand_can_be_chosen_and_shows_what_was_found_of_it(visitor: Visitor, loaded: Loaded) -> None:
    number = 17
    pair = read_gold(EVERYDAY)[number]
    visitor.follow("alignment", german="2")
    visitor.choose("gold_pair", number)
    texts = {"sentence": rejoin(pair.source)[0], "target": rejoin(pair.target)[0]}
    assert visitor.address == texts
    shown = shown_pair(visitor, loaded, pair, Reading(2, None, "weight", "predicted"))
    header, _ = visitor.canvas("alignment")
    assert header["verdicts"] == [shown.verdict(t) for t in range(len(pair.target))]
    assert [tuple(link) for link in header["missed"]] == shown.missed
    agreed = sum(2 if link in pair.sure else link in pair.possible for link in shown.links)
    rate = 100 * (1 - agreed / (len(pair.target) + len(pair.sure)))
    assert visitor.app.dataframe[0].value.iloc[0].tolist() == ["this pair", f"{rate:.1f}", "", ""]
    visitor.follow("alignment", **texts)
    assert visitor.state("gold_pair") == number
    visitor.choose("gold_pair", None)
    assert visitor.address == {"sentence": texts["sentence"]}
    assert visitor.state("gold_pair") is None


def test_the_scores_are_those_of_the_command(visitor: Visitor, rates: dict[Reading, float]) -> None:
    way = Reading(1, 2, "norm", "predicted")
    visitor.follow("alignment", cross_heads="one", cross_layer="1", cross_head="2", by="norm", rows="predicted")
    row = visitor.app.dataframe[0].value.iloc[0].tolist()
    assert row[1:] == [
        f"{rates[way]:.1f}",
        f"{min(rates.values()):.1f}",
        scored.short(min(rates, key=rates.__getitem__)),
    ]
    header = fields(visitor)[1]
    expected_header, _ = unpack(scored.payload(rates, way, theme=LIGHT))
    assert header["pinned"] == expected_header["pinned"] == [0, 1]


def test_a_single_head_leads_to_the_page_of_all_heads(visitor: Visitor) -> None:
    def door() -> list[str]:
        links = [link.proto for link in visitor.app.get("page_link")]
        return [link.query_string for link in links if "This head" in link.label]

    visitor.follow("alignment", cross_heads="one", cross_layer="1", cross_head="4")
    (leads,) = door()
    assert dict(parse_qsl(leads)).items() >= {"kind": "cross", "layer": "1", "head": "4"}.items()
    visitor.choose("cross_heads", "all")
    assert door() == []


def test_without_a_report_the_page_says_how_to_make_one(visitor: Visitor) -> None:
    visitor.follow("alignment")
    (said,) = [text.value for text in visitor.app.text if "not known here" in text.value]
    assert "python -m model.heads" in said


def test_a_translation_without_a_word_is_said(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    from model import capture
    from model.decode import Hypothesis

    nothing = Hypothesis(ids=(), log_probabilities=(-1.0,), ended=True)
    monkeypatch.setattr(capture, "translate_ids", lambda *_: nothing)
    visitor.follow("alignment", sentence="Tom draws a small dog, doesn't he?")
    assert not visitor.app.exception
    assert any("no word, so there is nothing to align" in text.value for text in visitor.app.text)
