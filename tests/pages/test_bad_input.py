"""Whatever somebody types, a page shows a result or says one clear sentence."""

from collections.abc import Mapping

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
NAMES = list(PAGES)


def spread(cases: Mapping[str, str], *, pages: int) -> pytest.MarkDecorator:
    """Each case on some of the pages, in turn, so that every page meets several and the whole stays short."""
    chosen, at = [], 0
    for name, typed in cases.items():
        for page in (NAMES[(at + step) % len(NAMES)] for step in range(pages)):
            chosen.append(pytest.param(page, typed, id=f"{page}-{name}"))
        at += pages
    assert len(chosen) >= len(NAMES), "a page meets none of the cases; put each on more pages"
    return pytest.mark.parametrize(("page", "typed"), chosen)


def goes_on(visitor: Visitor) -> bool:
    """Whether there is a translation and a picture, or a sentence that it is not known here; if not, one says why."""
    assert not visitor.app.exception
    if visitor.errors:
        (said,) = visitor.errors
        assert said[0].isupper()
        assert said.endswith(".")
        assert "Traceback" not in said
        assert not visitor.app.get("bidi_component")
        return False
    assert visitor.translation
    shown = visitor.canvases() or visitor.app.get("plotly_chart") or visitor.app.dataframe
    assert shown or any("is not known here" in text.value for text in visitor.app.text)
    return True


@spread(NOTHING, pages=7)
def test_a_text_with_nothing_in_it_is_refused_in_a_sentence(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page)
    visitor.type(typed)
    assert not goes_on(visitor)
    assert visitor.errors == ["The sentence is empty; type at least one word."]
    visitor.type("The cat sees the house.")
    assert goes_on(visitor)


@spread(ODD, pages=4)
def test_an_odd_text_is_translated(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page)
    visitor.type(typed)
    assert goes_on(visitor)


@spread(ODD | LONG, pages=3)
def test_an_odd_translation_can_be_forced(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page)
    visitor.type(typed, key="target")
    assert goes_on(visitor)
    assert any("your translation" in caption for caption in visitor.captions)


@spread(LONG, pages=5)
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


@spread(NOTHING | ODD | LONG, pages=2)
def test_an_odd_text_may_come_from_the_address_as_well(visitor: Visitor, page: str, typed: str) -> None:
    visitor.follow(page, sentence=typed)
    assert goes_on(visitor) == (typed not in NOTHING.values())
    visitor.follow(page, target=typed)
    assert goes_on(visitor) or typed == NOTHING["a NUL"]


@EVERY_PAGE
def test_a_long_sentence_with_a_long_translation_is_shown(visitor: Visitor, page: str) -> None:
    visitor.follow(page, sentence=LONG["one word 200 times"], target=LONG["10,000 characters"])
    assert goes_on(visitor)


@pytest.mark.parametrize("units", ["pieces", "words"])
@pytest.mark.parametrize("view", ["matrix", "lines", "plotly", "table"])
def test_heads_go_on_in_every_way_of_drawing_a_long_text(visitor: Visitor, view: str, units: str) -> None:
    visitor.follow("heads", sentence=LONG["one word 200 times"], units=units, view=view, kind="cross")
    assert goes_on(visitor)


@EVERY_PAGE
def test_examples_are_translated(visitor: Visitor, page: str) -> None:
    """Two of them on each page, others on the next."""
    visitor.follow(page)
    (menu,) = visitor.app.menu_button
    assert len(menu.options) >= 4
    for step in (0, 1):
        said = menu.options[(2 * NAMES.index(page) + step) % len(menu.options)]
        visitor.app.menu_button(key="examples").click(said).run()
        assert visitor.state("sentence") == said
        assert goes_on(visitor)
        assert visitor.address.get("sentence", said) == said


@EVERY_PAGE
def test_a_page_that_was_first_seen_without_a_sentence_opens_with_the_next_one(visitor: Visitor, page: str) -> None:
    """Its widgets are drawn for the first time in a run in which nobody arrives."""
    visitor.follow("heads" if page != "heads" else "masked_vs_cross", kind="masked", view="lines")
    visitor.type("")
    visitor.menu(page)
    assert not goes_on(visitor)
    visitor.type("The cat sees the house.")
    assert goes_on(visitor)
    assert (visitor.state("kind"), visitor.state("view")) == ("masked", "lines")
