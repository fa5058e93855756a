"""Whatever a text says, and in whatever script: it is captured whole, and leaves as text in everything taken away."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.capture import LONGEST_TEXT, capture, packed, prepare
from model.command import InputError
from model.config import BOS, EOS, MAX_PIECES, PAD, UNK
from model.labels import candidates
from model.tokenizer import Tokenizer
from model.trace import KINDS, Trace
from model.transformer import Transformer
from model.words import words
from pages.parts import takeaway
from viz import code, offline, payload, tables
from viz.theme import LIGHT

PARTS = st.one_of(
    st.characters(),  # lone surrogates are among them
    st.text(max_size=6),
    st.sampled_from("\0 \u2028 \u2029 \ud800 \u202e e\u0301\u0323 ﷺ ﬁ \u2581 \ufeff".split(" ")),
    st.sampled_from(
        [
            "👩\u200d👩\u200d👧🏽",
            "🇩🇪",
            "مرحبا بالعالم",
            "שלום",
            "日本語",
            "</script><!--",
            "</s>",
            "{0}",
            "\\",
            "`",
            "'\"'",
        ]
    ),
    st.sampled_from([" ", " ", "the old man", "a" * 300, "house " * 80]),
)
ANYTHING = st.lists(PARTS, max_size=10).map("".join)
FIXED = settings(max_examples=40, deadline=None, derandomize=True, database=None)
FEW = settings(FIXED, max_examples=12)  # each makes a file of half a megabyte


def readable(tokenizer: Tokenizer, text: str) -> bool:
    return bool(tokenizer.encode(text))


@pytest.fixture(scope="module")
def read(model: Transformer, tokenizer: Tokenizer):  # type: ignore[no-untyped-def]
    """Captures a text with a translation, or None where there is nothing to read."""

    def capture_both(sentence: str, target: str) -> Trace | None:
        if not (readable(tokenizer, sentence) and readable(tokenizer, target)):
            with pytest.raises(InputError, match=r"is empty; type at least one word"):
                capture(model, tokenizer, sentence, target=target)
            return None
        return capture(model, tokenizer, sentence, target=target)

    return capture_both


@FIXED
@given(text=ANYTHING)
def test_a_text_is_cut_at_the_limit_and_nothing_of_it_is_lost(tokenizer: Tokenizer, text: str) -> None:
    if not readable(tokenizer, text):
        return
    found = prepare(tokenizer, text)
    assert 0 < len(found.ids) <= MAX_PIECES
    assert not {PAD, UNK, BOS, EOS} & set(found.ids)
    if not found.left_out:
        assert found.text == tokenizer.normalise(text)
    else:  # a character may be cut in the middle, into bytes that are no text alone
        kept, whole = (said.replace(" ", "").rstrip("\ufffd") for said in (found.text, tokenizer.normalise(text)))
        assert whole.startswith(kept)


@FIXED
@given(sentence=ANYTHING, target=ANYTHING)
def test_a_capture_of_any_text_is_whole(read, tokenizer: Tokenizer, sentence: str, target: str) -> None:  # type: ignore[no-untyped-def]
    trace = read(sentence, target)
    if trace is None:
        return
    S, T = len(prepare(tokenizer, sentence).ids) + 1, len(prepare(tokenizer, target).ids) + 1
    assert (len(trace.source), len(trace.read), len(trace.predicted)) == (S, T, T)
    for kind, shape in {"encoder": (S, S), "masked": (T, T), "cross": (T, S)}.items():
        shown = trace.map(kind, 2, 3)
        assert shown.weights.shape == shape
        np.testing.assert_allclose(shown.weights.sum(axis=1), 1, atol=1e-5)
    assert "".join(token.text for token in words(trace.source)).replace("</s>", "").strip()
    for token in (*trace.source, *trace.read, *trace.predicted):
        token.text.encode("utf-8")  # no half characters


@FIXED
@given(sentence=ANYTHING, target=ANYTHING)
def test_what_is_taken_away_says_the_tokens_and_nothing_else(  # type: ignore[no-untyped-def]
    read, tokenizer: Tokenizer, sentence: str, target: str
) -> None:
    trace = read(sentence, target)
    if trace is None:
        return
    for kind in KINDS:
        shown = trace.map(kind, 1, 2)
        drawn = payload.head(shown, theme=LIGHT, pinned=None, linear=False, lines=False, hint="")
        header, arrays = payload.unpack(drawn)
        assert [token.text for token in shown.columns] == header["map"]["columns"]
        assert any(np.array_equal(array, shown.weights) for array in arrays.values())
        table = tables.cells(shown)
        said = json.loads(takeaway.as_json(table, {"sentence": trace.source_text}))
        assert (said["columns"], said["sentence"]) == (list(table.columns), trace.source_text)
        back = pd.read_csv(io.BytesIO(takeaway.csv(table)), index_col=0)
        np.testing.assert_array_equal(back.to_numpy(), table.to_numpy())
    with np.load(io.BytesIO(packed(trace)), allow_pickle=False) as file:
        assert json.loads(str(file["labels"]))["source"] == [token.text for token in trace.source]


@FEW
@given(sentence=ANYTHING, target=ANYTHING)
def test_the_offline_page_holds_two_scripts_whatever_is_typed(  # type: ignore[no-untyped-def]
    read, tokenizer: Tokenizer, sentence: str, target: str
) -> None:
    trace = read(sentence, target)
    if trace is None:
        return
    page = offline.page(trace, [], candidates(tokenizer, trace, 2), opened=("cross", 1, 1), told=trace.target_text)
    assert len(re.findall(r"</?script", page)) == 4
    assert not re.search(r"<(img|iframe|svg|a|form|input)\b", page.split("<script")[0])
    page.encode("utf-8")


@FIXED
@given(text=ANYTHING)
def test_the_view_as_code_is_code_and_quotes_the_text(text: str) -> None:
    sentence = text.encode("utf-8", "replace").decode("utf-8")
    chosen = {"sentence": sentence, "target": sentence, "kind": "cross", "layer": 1, "head": 1, "edits": ""}
    chosen |= {"decoding": {"method": "greedy"}, "query": None, "key": None, "units": "pieces"}
    compile(code.lines("heads", chosen), "copied", "exec")


@pytest.mark.parametrize("what", ["sentence", "target"])
def test_a_book_is_refused_in_a_sentence(model: Transformer, tokenizer: Tokenizer, what: str) -> None:
    book = "a" * (LONGEST_TEXT + 1)
    with pytest.raises(InputError, match=rf"the {what} has {len(book)} characters; no more than {LONGEST_TEXT} are"):
        prepare(tokenizer, book, what=what)
    assert len(prepare(tokenizer, book[1:], what=what).ids) == MAX_PIECES
