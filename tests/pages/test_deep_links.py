"""Links, doors and the menu, on the pages themselves: what the address says is what the widgets and pictures show."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.address import FIELDS
from tests.pages.visitor import PAGES, PATIENCE, ROOT, SENTENCE, Visitor

EVERY_PAGE = pytest.mark.parametrize("page", PAGES)
FULL = {
    "sentence": SENTENCE,
    "target": "Die Katze sieht das Haus.",
    "decoder": "sample",
    "temperature": "0.7",
    "top_k": "12",
    "top_p": "0.9",
    "seed": "5",
    "beam": "7",
    "kind": "cross",
    "layer": "2",
    "head": "3",
    "cross_layer": "2",
    "cross_head": "4",
    "step": "2",
    "query": "3",
    "key": "2",
    "view": "lines",
    "scale": "linear",
    "rank": "order",
}
SHARED = {name: value for name, value in FULL.items() if name not in ("scale", "rank", "view")} | {
    "units": "words",
    "special": "hidden",
    "measure": "value",
    "edits": "mean-encoder-1.2,uniform-cross-2.1",
    "other": "My sister draws 25 keys.",
    "side": "decoder",
    "sublayer": "4",
}
GOOD = (("top_k", "0"), ("seed", "0"), ("smoothing", "0"), ("weight", "0"))  # among what is bad elsewhere


@EVERY_PAGE
def test_a_deep_link_opens_with_all_it_says(visitor: Visitor, page: str) -> None:
    visitor.follow(page, **FULL)
    assert not visitor.app.exception
    assert visitor.notes == []
    assert {name: str(visitor.state(name)) for name in FULL} == FULL
    assert visitor.address == FULL


@EVERY_PAGE
def test_a_link_shows_a_stranger_the_same_pictures(visitor: Visitor, page: str) -> None:
    """What somebody has put together with widgets on several pages, and a session that has seen nothing of it."""
    visitor.follow("heads", **SHARED)
    visitor.menu(page)
    stranger = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE))
    stranger.follow(page, **visitor.address)
    assert not stranger.app.exception
    assert stranger.notes == visitor.notes == []
    assert stranger.address == visitor.address == SHARED
    assert {name: stranger.state(name) for name in FIELDS} == {name: visitor.state(name) for name in FIELDS}
    assert stranger.translation == visitor.translation
    seen, shown = (
        [(c.proto.component_name, c.proto.bytes) for c in who.app.get("bidi_component")] for who in (stranger, visitor)
    )
    assert seen == shown
    assert seen or page == "roles"  # no report stands beside these weights


@EVERY_PAGE
def test_without_an_address_a_page_opens_and_leaves_it_empty(visitor: Visitor, page: str) -> None:
    visitor.follow(page, sentence=FIELDS["sentence"].default)
    assert not visitor.app.exception
    assert visitor.notes == []
    assert visitor.address == {}


@EVERY_PAGE
@pytest.mark.parametrize("text", ["0", "-1", "nothing", "99999999999", "<b>", "1" * 400])
def test_bad_values_are_said_on_the_page_and_leave_the_address(visitor: Visitor, page: str, text: str) -> None:
    bad = [name for name in FIELDS if FIELDS[name].parse is not str and (name, text) not in GOOD]
    visitor.follow(page, **dict.fromkeys(bad, text))
    assert not visitor.app.exception
    assert not visitor.errors
    for name in bad:
        assert [note for note in visitor.notes if note.startswith(f"The address says {name}={text[:40]!r}, which")]
    assert visitor.address == {"sentence": SENTENCE}


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("heads", "layer"),
        ("heads", "head"),
        ("heads", "query"),
        ("heads", "key"),
        ("masked_vs_cross", "layer"),
        ("masked_vs_cross", "head"),
        ("masked_vs_cross", "cross_layer"),
        ("masked_vs_cross", "cross_head"),
        ("inside_a_head", "layer"),
        ("inside_a_head", "head"),
        ("inside_a_head", "query"),
        ("inside_a_head", "key"),
        ("masked_vs_cross", "step"),
        ("translate", "step"),
    ],
)
def test_a_number_that_counts_too_far_is_said_on_the_page(visitor: Visitor, page: str, name: str) -> None:
    visitor.follow(page, **{name: "98"})
    assert not visitor.app.exception
    (note,) = visitor.notes
    assert note.startswith(f"There is no {name.replace('_', ' ')} 98 here: it counts from 1 to ")
    assert visitor.address == {"sentence": SENTENCE}


def test_a_layer_that_only_the_encoder_has_is_let_go_of_where_the_decoder_is_shown(visitor: Visitor) -> None:
    visitor.follow("heads", layer="3", kind="encoder")
    assert visitor.state("layer") == 3
    visitor.menu("masked_vs_cross")
    assert visitor.state("layer") in (1, 2)
    assert visitor.notes == ["There is no layer 3 here: it counts from 1 to 2."]


@EVERY_PAGE
def test_the_menu_keeps_the_sentence_and_every_choice(visitor: Visitor, page: str) -> None:
    for origin in set(PAGES) - {page}:
        visitor.follow(origin, **FULL)
        visitor.menu(page)
        assert {name: str(visitor.state(name)) for name in FULL} == FULL
        assert visitor.address == FULL


@EVERY_PAGE
def test_the_menu_keeps_what_was_chosen_in_widgets_also_of_pages_that_are_gone(visitor: Visitor, page: str) -> None:
    chosen: dict[str, Any] = {"scale": "linear", "beam": 7}
    visitor.follow("heads")
    visitor.choose("scale", "linear")
    visitor.menu("masked_vs_cross")
    for name in ("layer", "cross_layer", "cross_head"):
        chosen[name] = 3 - min(2, visitor.state(name))  # 1 or 2, and not what is proposed
        visitor.choose(name, chosen[name])
    visitor.choose("decoder", "beam")
    visitor.choose("beam", 7)
    visitor.choose("decoder", "greedy")
    for visited in (page, "masked_vs_cross", "heads", page):
        visitor.menu(visited)
        visitor.app.run()
        assert visitor.address == {"sentence": SENTENCE} | {name: str(value) for name, value in chosen.items()}
        assert {name: visitor.state(name) for name in chosen} == chosen


@EVERY_PAGE
def test_going_back_restores_the_widgets(visitor: Visitor, page: str) -> None:
    visitor.follow(page, **FULL)
    visitor.follow(page, sentence="My sister draws 25 keys.", layer="1")
    visitor.follow(page, **FULL)
    assert {name: str(visitor.state(name)) for name in FULL} == FULL


def test_another_sentence_keeps_the_head_and_lets_go_of_the_cell_and_the_step(visitor: Visitor) -> None:
    visitor.follow("heads", layer="2", head="3", query="2", key="3", step="4", view="lines")
    visitor.type("My sister draws 25 keys.")
    kept = {"sentence": "My sister draws 25 keys.", "layer": "2", "head": "3", "view": "lines"}
    assert visitor.address == kept


def test_another_kind_lets_go_of_the_head_and_the_cell(visitor: Visitor) -> None:
    visitor.follow("heads", layer="2", head="3", query="2", key="3", view="lines")
    visitor.choose("kind", "cross")
    assert visitor.address == {"sentence": SENTENCE, "kind": "cross", "view": "lines"}


def test_other_units_let_go_of_the_cell(visitor: Visitor) -> None:
    visitor.follow("heads", layer="2", head="3", query="2", key="3")
    visitor.choose("units", "words")
    assert visitor.address == {"sentence": SENTENCE, "units": "words", "layer": "2", "head": "3"}


def test_a_choice_is_in_the_address_and_choosing_the_default_takes_it_out(visitor: Visitor) -> None:
    visitor.follow("heads")
    choices: dict[str, Any] = {"kind": "masked", "scale": "linear", "view": "table", "rank": "order"}
    for key, value in choices.items():
        visitor.choose(key, value)
    assert visitor.address == {"sentence": SENTENCE} | choices
    for key in choices:
        visitor.choose(key, FIELDS[key].default)
    assert visitor.address == {"sentence": SENTENCE}


def test_the_doors_on_the_landing_page_carry_the_whole_address(visitor: Visitor) -> None:
    visitor.follow("translate", units="words", decoder="beam", scale="linear")
    links = [link.proto for link in visitor.app.get("page_link")]
    assert len(links) == 5
    carried = [dict(part.split("=") for part in link.query_string.split("&")) for link in links]
    for there in carried:
        assert there.items() >= {"units": "words", "decoder": "beam", "scale": "linear"}.items()
    assert [there.get("kind") for there in carried] == [None, None, "masked", "cross", None]
