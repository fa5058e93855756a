"""What can be taken away from a page is what the page shows, to the digit."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from model.capture import capture
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from pages.parts import takeaway
from tests.pages.visitor import PAGES, SENTENCE, Visitor
from viz import code, tables

NOT_KNOWN_HERE = {"roles"}  # without a report beside the weights this page has no picture


@pytest.mark.parametrize("page", sorted(set(PAGES) - NOT_KNOWN_HERE))
def test_every_page_has_numbers_and_code_to_take_away(visitor: Visitor, page: str) -> None:
    visitor.follow(page)
    offered = visitor.state(takeaway._OFFERED)
    assert offered
    for made in offered.values():
        numbers = made()
        assert len(numbers) > 0
        assert len(pd.read_csv(io.BytesIO(takeaway.csv(numbers)))) == len(numbers)
        said = json.loads(takeaway.as_json(numbers, {"page": page}))
        assert (said["page"], len(said["data"]), len(said["columns"])) == (page, *numbers.shape)
    (shown,) = [block.value for block in visitor.app.code]
    assert "from model" in shown
    assert page not in code._PAGES or repr(SENTENCE) in shown or page == "positions"


def test_a_head_reads_back_to_the_digit(visitor: Visitor, loaded: tuple[Transformer, Tokenizer]) -> None:
    visitor.follow("heads", kind="masked", layer="2", head="4")
    shown = capture(*loaded, SENTENCE).map("masked", 2, 4)
    numbers = visitor.state(takeaway._OFFERED)["head"]()
    expected = np.where(shown.allowed, shown.weights.astype(float), np.nan)
    back = pd.read_csv(io.BytesIO(takeaway.csv(numbers)), index_col=0)
    np.testing.assert_array_equal(back.to_numpy(), expected)
    said = json.loads(takeaway.as_json(numbers, {}))
    np.testing.assert_array_equal(np.array(said["data"], dtype=float), expected)
    assert said["index"] == list(tables.cells(shown).index)


def test_the_run_of_the_sentence_is_packed_whole(visitor: Visitor, loaded: tuple[Transformer, Tokenizer]) -> None:
    from model.capture import packed

    visitor.follow("translate")
    trace = capture(*loaded, SENTENCE)
    with np.load(io.BytesIO(packed(trace))) as file:
        assert set(file) == {*trace.tensors, "labels"}
        assert all(np.array_equal(file[name], tensor) for name, tensor in trace.tensors.items())


def test_an_empty_cell_is_null_and_text_stays_text() -> None:
    table = pd.DataFrame({'1 =a,"b"': [0.1, np.nan], "</script>": ["x", "ü"]}, index=["1 x", "2 x"])
    said = json.loads(takeaway.as_json(table, {}))
    assert said["data"] == [[0.1, "x"], [None, "ü"]]
    assert pd.read_csv(io.BytesIO(takeaway.csv(table)), index_col=0).columns.tolist() == table.columns.tolist()


def test_a_page_without_a_sentence_offers_nothing_of_the_one_before(visitor: Visitor) -> None:
    visitor.follow("heads", sentence="")
    assert visitor.errors
    assert not visitor.app.get("download_button")
