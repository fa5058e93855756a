"""Compare shows the two runs that were asked for, and how far each head moved between them."""

import numpy as np
import pytest

from model.capture import capture
from model.compare import difference, distances, furthest, match, row_distances
from model.decode import Decoding
from model.edits import Silence
from model.tokenizer import Tokenizer
from model.trace import KINDS, Trace
from model.transformer import Transformer
from pages.parts import compared
from tests.pages.visitor import SENTENCE, Visitor
from viz import versus

Loaded = tuple[Transformer, Tokenizer]
OTHER = "My sister doesn't hear the house."
TARGET = "Der Mann hört Bäume."


@pytest.fixture(scope="module")
def one(loaded: Loaded) -> Trace:
    return capture(*loaded, SENTENCE)


def fields(visitor: Visitor) -> list[tuple[dict[str, object], dict[str, np.ndarray]]]:
    return [(h, a) for h, a in visitor.canvases() if "hue" in h]


def shows(visitor: Visitor, one: Trace, other: Trace, kind: str = "encoder") -> None:
    (moved, apart), (_, drawn) = fields(visitor)
    wanted, places = versus.stacked({k: distances(one, other, k) for k in KINDS})
    np.testing.assert_allclose(apart["values"], wanted, atol=1e-6)
    _, layer, head = furthest({kind: distances(one, other, kind)})
    assert moved["pinned"] == [places.index((kind, layer)), head - 1]
    found = difference(*(trace.map(kind, layer, head) for trace in (one, other)))
    np.testing.assert_allclose(drawn["values"], np.where(found.shared, found.values, 0), atol=1e-6)


def test_another_sentence(visitor: Visitor, loaded: Loaded, one: Trace) -> None:
    visitor.follow("compare", other=OTHER)
    shows(visitor, one, capture(*loaded, OTHER))
    texts, _ = visitor.canvas("versus")
    first, second = ([pair[at] for pair in texts["texts"][0]["pairs"] if pair[at] is not None] for at in (0, 1))
    assert " ".join(first).startswith("The old man")
    assert " ".join(second).startswith("My sister")


def test_without_another_sentence_an_example_stands_there(visitor: Visitor, loaded: Loaded, one: Trace) -> None:
    visitor.follow("compare")
    shows(visitor, one, capture(*loaded, compared.WIDER))


def test_the_reader_s_translation_against_the_model_s(visitor: Visitor, loaded: Loaded, one: Trace) -> None:
    visitor.follow("compare", against="translation", target=TARGET, kind="cross")
    shows(visitor, one, capture(*loaded, SENTENCE, target=TARGET), "cross")


def test_another_decoder(visitor: Visitor, loaded: Loaded, one: Trace) -> None:
    visitor.follow("compare", against="decoder", kind="masked", beam="3")
    shows(visitor, one, capture(*loaded, SENTENCE, decoding=Decoding("beam", beam=3)), "masked")


def test_the_edited_model(visitor: Visitor, loaded: Loaded, one: Trace) -> None:
    edit = Silence("encoder", 1, 2)
    visitor.follow("compare", against="edits", edits=str(edit))
    shows(visitor, one, capture(*loaded, SENTENCE, edits=[edit]))


@pytest.mark.parametrize("against", ["translation", "edits"])
def test_what_is_missing_is_asked_for(visitor: Visitor, against: str) -> None:
    visitor.follow("compare", against=against)
    assert len(visitor.app.info) == 1
    assert not fields(visitor)


def test_a_pinned_row_is_the_only_one_that_counts(visitor: Visitor, loaded: Loaded, one: Trace) -> None:
    other = capture(*loaded, OTHER)
    rows = match(one.source, other.source)
    shared = [at for at, m in enumerate(rows) if m.is_shared]
    visitor.follow("compare", other=OTHER, query=str(shared[-1] + 1))
    (header, apart), _ = fields(visitor)
    wanted = distances(one, other, "encoder", row=len(shared) - 1)
    np.testing.assert_allclose(apart["values"][: len(wanted)], wanted, atol=1e-6)
    assert not apart["allowed"][len(wanted) :].any()
    assert "looking from" in str(header["title"])


def test_a_cell_pinned_in_one_run_is_marked_where_it_stands_in_the_other(
    visitor: Visitor, loaded: Loaded, one: Trace
) -> None:
    other = capture(*loaded, OTHER)
    rows = match(one.source, other.source)
    at = max(n for n, m in enumerate(rows) if m.is_shared and m.one != m.other)
    visitor.follow("compare", other=OTHER, query=str(at + 1), key=str(at + 1))
    pins = [header["pinned"] for header, _ in visitor.canvases() if "map" in header]
    assert pins == [[rows[at].one] * 2, [rows[at].other] * 2]


@pytest.mark.parametrize("query", [None, 2])
def test_a_phone_begins_with_the_same_row_of_both_runs(
    visitor: Visitor, loaded: Loaded, one: Trace, query: int | None
) -> None:
    visitor.follow("compare", other=OTHER, **({} if query is None else {"query": str(query)}))
    (first, _), (second, _) = [(header, arrays) for header, arrays in visitor.canvases() if "map" in header]
    other = capture(*loaded, OTHER)
    rows = match(one.source, other.source)
    assert (first["row"], second["row"]) in {(m.one, m.other) for m in rows}
    if query is not None:
        assert (first["row"], second["row"]) == (rows[query - 1].one, rows[query - 1].other)
        return
    maps = [trace.map("encoder", first["map"]["layer"], int(first["map"]["head"].split()[1])) for trace in (one, other)]
    apart, shared = row_distances(*maps), [m for m in rows if m.is_shared]
    assert apart[[m.one for m in shared].index(first["row"])] == apart.max()
