"""Whatever somebody types, a page shows a result or says one clear sentence."""

import pytest

from model.capture import prepare
from model.config import MAX_PIECES
from model.tokenizer import Tokenizer
from model.transformer import Transformer
from tests.pages.visitor import PAGES, Visitor

Loaded = tuple[Transformer, Tokenizer]
NOTHING = {"empty": "", "spaces": "   ", "a NUL": "\0", "line breaks": "\n\t\r\n"}
LONG = {
    "10,000 characters": "The old man sees. " * 556,
    "10,000 times one character": "a" * 10_000,
    "one word 200 times": "house " * 200,
}
ODD = {
    "1 character": "a",
    "emoji": "🐴🔦👩‍👩‍👧🏽",
    "right to left": "مرحبا بالعالم، שלום עולם",
    "markup": "</script><img src=x onerror=alert(1)>",
    "Markdown": "**bold** $x^2$ [a](http://b.example) :smile: `code` ~~gone~~ # 1.",
    "entities": "&lt;b&gt; &amp; &#x3c;",
    "tabs and line breaks": "The cat\tsees\nthe\r\nhouse.",
    "NUL inside": "The cat\0 sees.",
    "pieces of the vocabulary": "<s> </s> <pad> <unk> <0x41> ▁the",
    "templates": "{row} {weight} %{z} {0} ${x}",
    "control characters": "a\x07b\x1b[31mc\x7f\u202ed\u2028e",
}
EVERY_PAGE = pytest.mark.parametrize("page", PAGES)


def goes_on(visitor: Visitor) -> bool:
    """Whether there is a translation and a canvas; if not, there is one sentence that says why."""
    assert not visitor.app.exception
    if visitor.errors:
        (said,) = visitor.errors
        assert said[0].isupper()
        assert said.endswith(".")
        assert "Traceback" not in said
        assert not visitor.app.get("bidi_component")
        return False
    assert visitor.translation
    assert visitor.canvases() or visitor.app.get("plotly_chart") or visitor.app.dataframe
    return True


@EVERY_PAGE
@pytest.mark.parametrize("typed", NOTHING.values(), ids=NOTHING)
def test_a_text_with_nothing_in_it_is_refused_in_a_sentence(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page)
    visitor.type(typed)
    assert not goes_on(visitor)
    assert visitor.errors == ["The sentence is empty; type at least one word."]
    visitor.type("The cat sees the house.")
    assert goes_on(visitor)


@EVERY_PAGE
@pytest.mark.parametrize("typed", ODD.values(), ids=ODD)
def test_an_odd_text_is_translated(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page)
    visitor.type(typed)
    assert goes_on(visitor)


@EVERY_PAGE
@pytest.mark.parametrize("typed", [*ODD.values(), *LONG.values()], ids=[*ODD, *LONG])
def test_an_odd_translation_can_be_forced(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page)
    visitor.type(typed, key="target")
    assert goes_on(visitor)
    assert any("your translation" in caption for caption in visitor.captions)


@EVERY_PAGE
@pytest.mark.parametrize("typed", LONG.values(), ids=LONG)
@pytest.mark.parametrize("key", ["sentence", "target"])
def test_a_text_beyond_the_limit_is_cut_and_the_page_says_where(
    visitor: Visitor, loaded: Loaded, page: str, typed: str, key: str
) -> None:
    visitor.follow(page)
    visitor.type(typed, key=key)
    kept = prepare(loaded[1], typed)
    assert goes_on(visitor)
    assert len(kept.ids) == MAX_PIECES
    what = "sentence" if key == "sentence" else "translation"
    cut = f"The {what} is longer than {MAX_PIECES} pieces. It was cut before “{kept.left_out[:40]}…”"
    assert cut in visitor.notes
    assert (kept.text + kept.left_out).replace(" ", "") == loaded[1].normalise(typed).replace(" ", "")


@EVERY_PAGE
def test_a_target_of_spaces_is_no_target(visitor: Visitor, page: str) -> None:
    visitor.follow(page)
    own = visitor.translation
    visitor.type("  ", key="target")
    assert goes_on(visitor)
    assert visitor.translation == own
    assert not any("your translation" in caption for caption in visitor.captions)


@EVERY_PAGE
@pytest.mark.parametrize("typed", [*NOTHING.values(), *ODD.values(), *LONG.values()], ids=[*NOTHING, *ODD, *LONG])
def test_an_odd_text_may_come_from_the_address_as_well(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page, sentence=typed)
    assert goes_on(visitor) == (typed not in NOTHING.values())
    visitor.follow(page, target=typed)
    assert goes_on(visitor) or typed == NOTHING["a NUL"]


@EVERY_PAGE
def test_a_page_goes_on_in_every_way_of_drawing_a_long_text(visitor: Visitor, page: str) -> None:
    for units in ("pieces", "words"):
        for view in ("matrix", "lines", "plotly", "table"):
            visitor.follow(page, sentence=LONG["one word 200 times"], units=units, view=view, kind="cross")
            assert goes_on(visitor)


@EVERY_PAGE
def test_every_example_is_translated(visitor: Visitor, page: str) -> None:
    visitor.follow(page)
    numbers = [button.key for button in visitor.app.button if button.key.startswith("example_")]
    assert len(numbers) >= 4
    for key in numbers:
        button = visitor.app.button(key=key)
        said = button.label
        button.click().run()
        assert visitor.state("sentence") == said
        assert goes_on(visitor)
        assert visitor.address.get("sentence", said) == said
