"""What a page shows is what the model computes: every number on it equals one that is computed here, apart from it."""

import base64
import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.alignment import align, last_layer
from model.capture import capture, prepare, trace_of, translate_ids
from model.data import Pair
from model.decode import Decoding
from model.edits import LiftMask
from model.inside import output_projection
from model.ranking import all_maps, most_telling, ranked
from model.score import log_probabilities
from model.selection import select
from model.tokenizer import Tokenizer
from model.trace import KINDS, AttentionMap, Trace
from model.transformer import Transformer
from model.words import by_words, least_sure, words
from tests.pages.visitor import PAGES, PATIENCE, ROOT, SENTENCE, Visitor, texts
from tests.thumbnails import painted, wanted
from viz import alignment, heatmap, phrases, tables
from viz.theme import LIGHT

Loaded = tuple[Transformer, Tokenizer]
TARGET = "Der alte Mann hört zwei Bäume nicht."
EVERY_PAGE = pytest.mark.parametrize("page", PAGES)
DECODINGS: dict[str, tuple[dict[str, str], Decoding]] = {
    "greedy": ({}, Decoding()),
    "beam": ({"decoder": "beam"}, Decoding("beam", beam=4)),
    "a wider beam": ({"decoder": "beam", "beam": "7"}, Decoding("beam", beam=7)),
    "sample": ({"decoder": "sample"}, Decoding("sample")),
    "sample otherwise": (
        {"decoder": "sample", "temperature": "1.7", "top_k": "9", "top_p": "0.95", "seed": "5"},
        Decoding("sample", temperature=1.7, top_k=9, top_p=0.95, seed=5),
    ),
}


@pytest.fixture(scope="module")
def trace(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


@EVERY_PAGE
@pytest.mark.parametrize(("settings", "decoding"), DECODINGS.values(), ids=DECODINGS)
def test_the_translation_is_that_of_the_chosen_decoder(
    visitor: Visitor, loaded: Loaded, page: str, settings: dict[str, str], decoding: Decoding
) -> None:
    model, tokenizer = loaded
    found = translate_ids(model, prepare(tokenizer, SENTENCE), decoding)
    visitor.follow(page, **settings)
    assert visitor.translation == tokenizer.decode(found.ids)
    assert f"log-probability {signed(found.log_probability)}" in visitor.captions[0]


def test_decoders_differ_or_this_file_proves_little(loaded: Loaded) -> None:
    model, tokenizer = loaded
    source = prepare(tokenizer, SENTENCE)
    assert len({translate_ids(model, source, decoding).ids for _, decoding in DECODINGS.values()}) > 2


def test_the_decoder_is_chosen_in_the_sidebar_and_stands_in_the_address(visitor: Visitor) -> None:
    visitor.follow("translate")
    visitor.choose("decoder", "beam")
    visitor.choose("beam", 7)
    assert visitor.address == {"sentence": SENTENCE, "decoder": "beam", "beam": "7"}
    visitor.choose("decoder", "sample")
    for key, value in (("temperature", 1.7), ("top_k", 9), ("top_p", 0.95), ("seed", 5)):
        visitor.choose(key, value)
    said = {"temperature": "1.7", "top_k": "9", "top_p": "0.95", "seed": "5"}
    assert visitor.address == {"sentence": SENTENCE, "decoder": "sample", "beam": "7"} | said
    visitor.choose("decoder", "greedy")
    assert "decoder" not in visitor.address


@EVERY_PAGE
def test_a_forced_target_shows_its_own_log_probability_beside_the_model_s(
    visitor: Visitor, loaded: Loaded, trace: Trace, page: str
) -> None:
    (total,) = log_probabilities(*loaded, [Pair(SENTENCE, TARGET)])
    visitor.follow(page)
    visitor.type(TARGET, key="target")
    own = signed(float(trace.target_log_probabilities().sum()))
    assert visitor.captions[0] == f"your translation · log-probability {signed(total)} · the model's own: {own}"
    assert visitor.translation == loaded[1].normalise(TARGET)
    assert visitor.address == {"sentence": SENTENCE, "target": TARGET}
    visitor.type("", key="target")
    assert visitor.translation == trace.target_text
    assert visitor.address == {"sentence": SENTENCE}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("units", ["pieces", "words"])
def test_the_grid_and_the_opened_head_are_what_was_captured(
    visitor: Visitor, trace: Trace, kind: str, units: str
) -> None:
    visitor.follow("heads", kind=kind, units=units, layer="2", head="3")
    maps = all_maps(trace, kind, words=units == "words")
    header, arrays = visitor.canvas("grid")
    assert [(m["kind"], m["layer"], m["head"]) for m in header["heads"]] == [(m.kind, m.layer, m.head) for m in maps]
    for index, shown in enumerate(maps):
        np.testing.assert_array_equal(painted(header, arrays, index), wanted(shown))
    assert (maps[header["opened"]].layer, maps[header["opened"]].head) == (2, 3)
    assert_opened(visitor, maps[header["opened"]])


def assert_opened(visitor: Visitor, expected: AttentionMap) -> None:
    """The large canvas shows this head, with its labels, to the last bit."""
    header, arrays = visitor.canvas("head")
    assert (header["map"]["kind"], header["map"]["layer"]) == (expected.kind, expected.layer)
    assert str(header["map"]["head"]).removeprefix("head ") == str(expected.head)
    assert (header["map"]["rows"], header["map"]["columns"]) == (texts(expected.rows), texts(expected.columns))
    assert header["map"]["predicts"] == (None if expected.predicts is None else texts(expected.predicts))
    assert arrays["weights"].tobytes() == expected.weights.astype(np.float32).tobytes()
    np.testing.assert_array_equal(arrays["allowed"], expected.allowed)


@pytest.mark.parametrize("kind", KINDS)
def test_at_first_the_most_telling_head_is_open(visitor: Visitor, trace: Trace, kind: str) -> None:
    rows, columns, _ = trace.labels(kind)
    visitor.follow("heads", kind=kind)
    assert_opened(visitor, trace.map(kind, *most_telling(trace.weights(kind), rows, columns, square=kind != "cross")))
    assert visitor.address == {"sentence": SENTENCE} | ({} if kind == "encoder" else {"kind": kind})


def test_choosing_a_head_in_the_widgets_opens_it(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("heads", kind="cross")
    visitor.choose("layer", 1)
    visitor.choose("head", 5)
    assert_opened(visitor, trace.map("cross", 1, 5))
    assert visitor.address == {"sentence": SENTENCE, "kind": "cross", "layer": "1", "head": "5"}


@pytest.mark.parametrize("units", ["pieces", "words"])
def test_a_pinned_cell_ranks_the_heads_and_is_read_out(visitor: Visitor, trace: Trace, units: str) -> None:
    visitor.follow("heads", kind="cross", units=units, layer="2", head="3")
    visitor.choose("query", 2)
    assert visitor.canvas("head")[0]["pinned"] is None
    visitor.choose("key", 5)
    maps = all_maps(trace, "cross", words=units == "words")
    header, _ = visitor.canvas("grid")
    assert header["order"] == ranked(maps, 1, 4)
    assert header["pinned"] == visitor.canvas("head")[0]["pinned"] == [1, 4]
    visitor.choose("view", "table")
    assert heatmap.sentence(maps[5 + 2], 1, 4) in [text.value for text in visitor.app.text]
    visitor.choose("rank", "order")
    assert visitor.canvas("grid")[0]["order"] == list(range(10))
    visitor.choose("key", None)
    assert visitor.canvas("grid")[0]["pinned"] is None
    assert visitor.address["query"] == "2"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("units", ["pieces", "words"])
def test_the_plotly_view_and_the_table_are_the_same_head(visitor: Visitor, trace: Trace, kind: str, units: str) -> None:
    expected = trace.map(kind, 2, 4)
    expected = by_words(expected) if units == "words" else expected
    visitor.follow("heads", kind=kind, units=units, layer="2", head="4", view="plotly")
    (chart,) = visitor.app.get("plotly_chart")
    drawn = json.loads(chart.proto.spec)["data"][0]
    np.testing.assert_array_equal(numbers(drawn["z"]), heatmap.heatmap(expected, theme=LIGHT).data[0].z)
    assert drawn["text"] == heatmap.hover(expected)
    visitor.choose("view", "table")
    np.testing.assert_array_equal(visitor.app.dataframe[0].value.to_numpy(), tables.cells(expected).to_numpy())
    assert [*visitor.app.dataframe[0].value.columns] == [*tables.cells(expected).columns]


def numbers(packed: dict[str, Any]) -> np.ndarray:
    """An array as Plotly sends it."""
    shape = [int(n) for n in packed["shape"].split(",")]
    return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"]).reshape(shape)


@pytest.mark.parametrize("units", ["pieces", "words"])
def test_masked_and_cross_stand_side_by_side_as_captured(visitor: Visitor, trace: Trace, units: str) -> None:
    visitor.follow("masked_vs_cross", units=units, layer="2", head="5", cross_layer="2", cross_head="1", step="3")
    header, arrays = visitor.canvas("pair")
    for kind, head in (("masked", 5), ("cross", 1)):
        expected = trace.map(kind, 2, head)
        expected = by_words(expected) if units == "words" else expected
        assert (header[kind]["rows"], header[kind]["columns"]) == (texts(expected.rows), texts(expected.columns))
        assert header[kind]["predicts"] == texts(expected.predicts or ())
        assert arrays[f"{kind}_weights"].tobytes() == expected.weights.astype(np.float32).tobytes()
        np.testing.assert_array_equal(arrays[f"{kind}_allowed"], expected.allowed)
    assert header["step"] == 3
    assert visitor.address["step"] == "3"


@pytest.mark.parametrize("special", ["hidden", "renormalised"])
@pytest.mark.parametrize("heads", ["one", "mean"])
def test_means_and_hidden_specials_are_what_the_model_selects(
    visitor: Visitor, trace: Trace, special: str, heads: str
) -> None:
    chosen = {"layer": "2", "head": "5", "cross_layer": "1", "cross_head": "1"}
    visitor.follow("masked_vs_cross", special=special, heads=heads, units="words", **chosen)
    header, arrays = visitor.canvas("pair")
    for kind, layer, head in (("masked", 2, 5), ("cross", 1, 1), ("encoder", 3, None)):
        one = head if heads == "one" else None
        expected = select(trace, kind, layer, one, words=True, special=special)
        assert header[kind]["columns"] == texts(expected.columns)
        assert arrays[f"{kind}_weights"].tobytes() == expected.weights.astype(np.float32).tobytes()


@pytest.mark.parametrize(
    ("switches", "options"), [({"mask": "lifted"}, {"edits": (LiftMask(),)}), ({"padding": "padded"}, {"padding": 3})]
)
def test_other_passes_over_the_same_translation_are_what_the_model_computes(
    visitor: Visitor, loaded: Loaded, trace: Trace, switches: dict[str, str], options: dict[str, Any]
) -> None:
    model, tokenizer = loaded
    ids = [token.id for token in trace.source[:-1]], [token.id for token in trace.read[1:]]
    other = trace_of(model, tokenizer, *ids, **options)
    visitor.follow("masked_vs_cross", layer="2", head="5", cross_layer="2", cross_head="1", **switches)
    header, arrays = visitor.canvas("pair")
    assert header["masked"]["rows"] == texts(other.read)
    for kind, head in (("masked", 5), ("cross", 1)):
        assert arrays[f"{kind}_weights"].tobytes() == other.map(kind, 2, head).weights.tobytes()
        np.testing.assert_array_equal(arrays[f"{kind}_allowed"], other.map(kind, 2, head).allowed)


@pytest.mark.parametrize("kind", KINDS)
def test_inside_a_head_stands_the_row_of_the_head(visitor: Visitor, trace: Trace, kind: str) -> None:
    visitor.follow("inside_a_head", kind=kind, layer="2", head="3", query="4", key="2")
    expected = trace.map(kind, 2, 3)
    header, arrays = visitor.canvas("inside")
    assert header["columns"] == texts(expected.columns)
    assert header["column"] == 1
    np.testing.assert_allclose(arrays["weights"], expected.weights[3], atol=1e-6)
    np.testing.assert_array_equal(arrays["allowed"], expected.allowed[3])
    np.testing.assert_allclose(arrays["query"], trace.attention(kind, 2, "queries")[2, 3], rtol=1e-6)
    np.testing.assert_allclose(arrays["key"], trace.attention(kind, 2, "keys")[2, 1], rtol=1e-6)
    assert heatmap.sentence(expected, 3, 1) in [text.value for text in visitor.app.text]


@pytest.mark.parametrize("units", ["pieces", "words"])
def test_the_step_is_at_first_the_one_the_model_was_least_sure_of(visitor: Visitor, trace: Trace, units: str) -> None:
    visitor.follow("masked_vs_cross", units=units)
    assert visitor.canvas("pair")[0]["step"] == least_sure(trace, words=units == "words")
    assert "step" not in visitor.address


def test_masked_vs_cross_says_what_people_trip_over(visitor: Visitor) -> None:
    visitor.follow("masked_vs_cross")
    said = " ".join([*(m.value for m in visitor.app.markdown), *visitor.captions])
    for word in ("staircase", "padding", "complete before the first German word", "head numbers mean nothing"):
        assert word in said


def test_the_landing_page_shows_each_piece_with_its_chance_and_each_word_with_its_link(
    visitor: Visitor, loaded: Loaded, trace: Trace
) -> None:
    visitor.follow("translate")
    header, _ = visitor.canvas("translation")
    way = last_layer(trace)  # as this folder names no other
    links = align(trace, output_projection(loaded[0], "cross", way.layer), way)
    assert [piece["text"] for piece in header["pieces"]] == texts(trace.predicted)
    np.testing.assert_array_equal(
        [piece["probability"] for piece in header["pieces"]], np.exp(trace.target_log_probabilities())
    )
    assert header["source"] == texts(words(trace.source))
    assert [(link["source"], link["target"]) for link in header["links"]] == [
        (link.source, link.target) for link in links
    ]
    assert any(alignment.name(way) in caption for caption in visitor.captions)
    visitor.choose("step", 2)
    assert visitor.canvas("translation")[0]["step"] == 2
    assert visitor.address == {"sentence": SENTENCE, "step": "2"}


def test_the_landing_page_has_one_telling_map_of_each_kind(visitor: Visitor, trace: Trace) -> None:
    visitor.follow("translate")
    header, arrays = visitor.canvas("grid")
    assert [m["kind"] for m in header["heads"]] == list(KINDS)
    for index, shown in enumerate(header["heads"]):
        rows, columns, _ = trace.labels(shown["kind"])
        best = most_telling(trace.weights(shown["kind"]), rows, columns, square=shown["kind"] != "cross")
        assert (shown["layer"], shown["head"]) == best
        np.testing.assert_array_equal(painted(header, arrays, index), wanted(trace.map(shown["kind"], *best)))


@pytest.mark.parametrize("page", ["translate", "masked_vs_cross"])
def test_a_page_s_picture_can_be_had_as_a_table(visitor: Visitor, trace: Trace, page: str) -> None:
    visitor.follow(page, layer="1", head="2", cross_layer="2", cross_head="3")
    assert not visitor.app.dataframe
    visitor.choose("as_table", True)
    shown = [frame.value for frame in visitor.app.dataframe]
    if page == "translate":
        np.testing.assert_allclose(shown[0]["log-probability"], trace.target_log_probabilities())
    else:
        expected = [tables.cells(trace.map(*at)) for at in (("masked", 1, 2), ("cross", 2, 3))]
        for found, table in zip(shown, expected, strict=True):
            np.testing.assert_array_equal(found.to_numpy(), table.to_numpy())
    visitor.choose("as_table", False)


@pytest.mark.parametrize("page", [name for name, path in PAGES.items() if path.parent.name != "flow"])
def test_every_page_with_attention_warns_of_reading_too_much_into_it(visitor: Visitor, page: str) -> None:
    visitor.follow(page)
    assert phrases.CAVEAT in visitor.captions


@EVERY_PAGE
def test_a_sentence_longer_than_those_of_the_training_gets_a_note(visitor: Visitor, page: str) -> None:
    visitor.follow(page, sentence="The cat sees the house. " * 4)
    assert visitor.notes == []
    visitor.follow(page, sentence="The cat sees the house. " * 5)
    (note,) = [note for note in visitor.notes if "20 words" in note]
    assert re.search("expect mistakes", note)


def test_two_visitors_each_see_their_own_sentence(visitor: Visitor, loaded: Loaded) -> None:
    other = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    sentences = ("The cat draws a white horse.", "Mary looks for 25 keys, doesn't he?")
    for page in PAGES:
        for who, sentence in zip((visitor, other), sentences, strict=True):
            who.follow(page, sentence=sentence)
        for who, sentence in zip((visitor, other), sentences, strict=True):
            who.app.run()
            assert who.translation == capture(*loaded, sentence).target_text
