"""A link opens the same view anywhere, Back and Forward bring views back, and visitors do not meet."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser import bar, expected
from tests.browser.canvas import canvas
from tests.browser.conftest import OpenPage
from tests.browser.serving import Server
from tests.browser.visits import wait_until_idle
from viz import captions, heatmap, phrases

SENTENCE = "My brother reads an old book in the small garden today."
OTHER = "Two small dogs are playing in the snow."


def beginning(text: str) -> re.Pattern[str]:
    return re.compile(f"^{re.escape(text)}")


def link(page: str, address: dict[str, object]) -> str:
    return f"/{page}?" + "&".join(f"{name}={quote(str(value))}" for name, value in address.items())


def test_a_deep_link_opens_the_same_view_on_a_server_that_nobody_has_visited(
    open_page: OpenPage, fresh_server: Callable[..., Server]
) -> None:
    server = fresh_server()
    shown = expected.read(SENTENCE).map("cross", 3, 6)
    here: dict[str, object] = {
        "sentence": SENTENCE,
        "kind": "cross",
        "layer": 3,
        "head": 6,
        "query": 2,
        "key": 4,
        "scale": "linear",
    }
    page = open_page(link("heads", here), server=server)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[data-marker=pinned]")).to_have_text("Pinned: " + heatmap.sentence(shown, 1, 3))
    assert (bar.chosen(page, "Layer"), bar.chosen(page, "Head")) == ("3", "6")
    assert bar.chosen(page, "Row (looks)") == f"2 {captions.of_rows(shown)[1]}"
    for label, option in (("Kind", phrases.kind("cross")), ("Scale", "linear"), ("Units", "pieces")):
        button = page.get_by_role("radiogroup", name=label, exact=True).get_by_role("radio", name=option, exact=True)
        expect(button).to_have_attribute("aria-checked", "true")
    bar.until_address(page, **here)
    there: dict[str, object] = {"sentence": OTHER, "layer": 1, "head": 2, "cross_head": 5, "step": 2, "units": "words"}
    page = open_page(link("masked_vs_cross", there), server=server)
    expect(page.locator("[data-marker=step]")).to_contain_text("step 2 of ")
    assert (bar.chosen(page, "◣ layer"), bar.chosen(page, "◣ head"), bar.chosen(page, "⇄ head")) == ("1", "2", "5")
    bar.until_address(page, **there)
    page.reload()
    expect(page.locator("[data-marker=step]")).to_contain_text("step 2 of ")
    bar.until_address(page, **there)


def test_back_and_forward_restore_widgets_address_and_picture(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE)
    page = open_page(f"/heads?sentence={SENTENCE}")
    head, states = page.locator("canvas[data-marker=head]"), []

    def visited(shown_kind: str, layer: str, head_number: str, **address: object) -> None:
        bar.until_address(page, sentence=SENTENCE, **address)
        label = f"{shown_kind}, layer {layer}, head {head_number}: "
        expect(head).to_have_attribute("aria-label", beginning(label))
        states.append((shown_kind, layer, head_number, bar.address(page)))

    first = (bar.chosen(page, "Layer"), bar.chosen(page, "Head"))
    visited("encoder", *first)
    bar.choose(page, "Kind", phrases.kind("cross"))
    bar.until_address(page, sentence=SENTENCE, kind="cross")
    expect(head).to_have_attribute("aria-label", beginning("cross, "))
    visited("cross", bar.chosen(page, "Layer"), bar.chosen(page, "Head"), kind="cross")
    page.get_by_role("combobox", name="Head", exact=True).click()
    number = next(n for n in "34" if n != states[-1][2])
    page.get_by_role("option", name=number, exact=True).click()
    visited("cross", states[-1][1], number, kind="cross", head=number)
    large = canvas(page, "head")
    shown = trace.map("cross", int(states[-1][1]), int(number))
    large.click(large.cells(shown)[1][2])
    visited("cross", states[-1][1], number, kind="cross", head=number, query=2, key=3)
    bar.type_sentence(page, OTHER)
    bar.shows(page, expected.read(OTHER).target_text)
    bar.until_address(page, sentence=OTHER, kind="cross", head=number)

    pins = ["Pinned: " + heatmap.sentence(shown, 1, 2), "", "", ""]
    for (kind, layer, head_number, address), pin in zip(reversed(states), pins, strict=True):
        page.go_back()
        bar.until_address(page, **address)
        expect(head).to_have_attribute("aria-label", beginning(f"{kind}, layer {layer}, head {head_number}: "))
        expect(page.locator("[data-marker=pinned]")).to_have_text(pin)
        expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(head_number)
        expect(bar.sentence(page)).to_have_value(SENTENCE)
        bar.shows(page, trace.target_text)
    for (kind, layer, head_number, address), pin in zip(states[1:], [*reversed(pins)][1:], strict=True):
        page.go_forward()
        bar.until_address(page, **address)
        expect(head).to_have_attribute("aria-label", beginning(f"{kind}, layer {layer}, head {head_number}: "))
        expect(page.locator("[data-marker=pinned]")).to_have_text(pin)
    page.go_forward()
    bar.shows(page, expected.read(OTHER).target_text)


def test_the_menu_keeps_the_sentence_and_the_choices(open_page: OpenPage) -> None:
    here = {"sentence": SENTENCE, "units": "words", "scale": "linear"}
    page = open_page(link("heads", dict(here)))
    ways = (("Heads", "/heads"), ("Masked vs cross", "/masked_vs_cross"), ("Translate", "/"), ("Heads", "/heads"))
    for title, path in ways:
        wait_until_idle(page)  # the menu acts on the page as it stands, not on one that is still being written
        bar.menu(page, title)
        page.wait_for_function("(path) => location.pathname === path", arg=path)
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        bar.until_address(page, **here)
        expect(bar.sentence(page)).to_have_value(SENTENCE)
        bar.shows(page, expected.read(SENTENCE).target_text)
    bar.choose(page, "Kind", phrases.kind("cross"))
    bar.until_address(page, **here, kind="cross")
    places = []
    while not places or places[-1] != ("/heads", here) or "/masked_vs_cross" not in {path for path, _ in places}:
        wait_until_idle(page)
        page.go_back()
        page.wait_for_timeout(500)  # until its run has begun: Streamlit can lose a Back before that
        bar.until_address(page, **here)
        expect(bar.sentence(page)).to_have_value(SENTENCE)
        places.append((bar.path(page), bar.address(page)))
        assert len(places) < 10
    expect(page.get_by_role("heading", name="Heads", exact=True)).to_be_visible()
    expect(page.locator("canvas[data-marker=head]")).to_have_attribute("aria-label", beginning("encoder, "))


def test_a_sentence_that_was_emptied_is_asked_for_and_nothing_else_is_lost(open_page: OpenPage) -> None:
    page = open_page(link("heads", {"sentence": SENTENCE, "kind": "cross", "layer": 2, "head": 3}))
    bar.type_sentence(page, "")
    expect(page.get_by_role("alert")).to_have_text("The sentence is empty; type at least one word.")
    bar.until_address(page, kind="cross", layer=2, head=3)
    bar.choose(page, "Scale", "linear")
    bar.until_address(page, kind="cross", layer=2, head=3, scale="linear")
    expect(bar.sentence(page)).to_have_value("")
    bar.type_sentence(page, OTHER)
    bar.shows(page, expected.read(OTHER).target_text)
    bar.until_address(page, sentence=OTHER, kind="cross", layer=2, head=3, scale="linear")


def test_clicks_that_come_faster_than_the_answers_are_all_heard(open_page: OpenPage) -> None:
    """Only the three switches are looked at: a proposed head may be taken for a chosen one in such haste."""
    page = open_page(link("heads", {"sentence": SENTENCE}))
    switches = {"Scale": ("√", "linear"), "Kind": (phrases.kind("encoder"), phrases.kind("masked"))}
    switches["Units"] = ("pieces", "words")
    wanted = [[None, None, None], ["linear", "masked", "words"]]
    for pause in (0, 50, 100, 200):
        for side in (1, 0):
            for label, options in switches.items():
                bar.choose(page, label, options[side])
                page.wait_for_timeout(pause)
            page.wait_for_function(
                """(wanted) => {
                  const said = new URLSearchParams(location.search);
                  return ['scale', 'kind', 'units'].every((name, at) => said.get(name) === wanted[at]);
                }""",
                arg=wanted[side],
            )
            for label, options in switches.items():
                buttons = page.get_by_role("radiogroup", name=label, exact=True)
                chosen = buttons.get_by_role("radio", name=options[side], exact=True)
                expect(chosen).to_have_attribute("aria-checked", "true")
            expect(bar.sentence(page)).to_have_value(SENTENCE)


def test_two_visitors_at_the_same_time_each_see_their_own(open_page: OpenPage) -> None:
    pages = [open_page(f"/heads?sentence={sentence}") for sentence in (SENTENCE, OTHER)]
    sentences = ["The water is warm.", "She wrote a long letter to her old teacher."]
    for page, sentence in zip(pages, sentences, strict=True):
        bar.type_sentence(page, sentence)
    for page, sentence in zip(pages, sentences, strict=True):
        trace = expected.read(sentence)
        bar.shows(page, trace.target_text)
        n = len(trace.source)
        label = page.locator("canvas[data-marker=head]")
        expect(label).to_have_attribute("aria-label", re.compile(f": {n} rows, {n} columns"))
