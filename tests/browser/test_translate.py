"""The landing page: a sentence goes in, its translation and where it looked come out, and doors lead on."""

import re

from playwright.sync_api import expect

from model.align import named
from model.alignment import align, last_layer
from model.capture import prepare, translate_ids
from model.checkpoint import WEIGHTS
from model.decode import Decoding
from model.inside import output_projection
from model.trace import KINDS
from model.words import word_groups, words
from tests.browser import bar, expected
from tests.browser.canvas import canvas
from tests.browser.conftest import OpenPage
from viz import phrases

SENTENCE = "Where did your sister put the two green keys?"


def test_a_typed_sentence_shows_its_translation_piece_by_piece(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE)
    page = open_page()
    bar.type_sentence(page, SENTENCE)
    bar.shows(page, trace.target_text)
    bar.until_address(page, sentence=SENTENCE)
    pieces = page.locator("button.piece")
    expect(pieces).to_have_count(len(trace.predicted))
    assert pieces.locator(".token").all_text_contents() == [token.text for token in trace.predicted]
    chances = [phrases.weight(2.718281828459045**value) for value in trace.target_log_probabilities()]
    assert pieces.locator(".digits").all_text_contents() == chances
    assert page.locator(".source .word").all_text_contents() == [token.text for token in words(trace.source)]

    pieces.nth(1).click()
    bar.until_address(page, sentence=SENTENCE, step=2)
    expect(page.locator("[data-marker=considered]")).to_contain_text(
        f"step 2 of {len(trace.predicted)}: having read {trace.read[1].text}, it wrote {trace.predicted[1].text}."
    )
    assert bar.chosen(page, "Step") == f"2 {trace.predicted[1].text}"
    word = next(index for index, group in enumerate(word_groups(trace.predicted)) if 1 in group)
    model, _ = expected.loaded()
    way = named(model, WEIGHTS) or last_layer(trace)
    links = align(trace, output_projection(model, "cross", way.layer), way)
    linked = [link.source for link in links if link.target == word]
    lit = page.locator(".source .word.on").all_text_contents()
    assert lit == [words(trace.source)[at].text for at in linked]
    pieces.nth(0).hover()
    expect(page.locator("[data-marker=considered]")).to_contain_text("step 1 of")
    bar.until_address(page, sentence=SENTENCE, step=2)  # to hover is not to choose


def test_an_example_can_be_picked_and_a_translation_forced(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="The cat chased the mouse.", exact=True).click()
    bar.until_address(page, sentence="The cat chased the mouse.")
    bar.shows(page, expected.read("The cat chased the mouse.").target_text)
    expect(bar.sentence(page)).to_have_value("The cat chased the mouse.")
    expect(page.get_by_role("menuitem")).to_have_count(0)  # the list closes by itself
    page.get_by_role("button", name="Your translation").click()
    forced = page.get_by_role("textbox", name="German to use instead of the model's own")
    forced.fill("Der Hund schläft.")
    forced.press("Enter")
    bar.until_address(page, sentence="The cat chased the mouse.", target="Der Hund schläft.")
    trace = expected.read("The cat chased the mouse.", "Der Hund schläft.")
    bar.shows(page, trace.target_text)
    total = f"{trace.target_log_probabilities().sum():.2f}".replace("-", "−")
    expect(page.get_by_text(f"your translation · log-probability {total} · the model's own:")).to_be_visible()
    page.locator("button.piece").nth(1).hover()
    given = f"having read {trace.read[1].text}, it was given {trace.predicted[1].text}. It expected"
    expect(page.locator("[data-marker=considered]")).to_contain_text(given)


def test_decoders_in_the_sidebar_write_their_own_translations(open_page: OpenPage) -> None:
    model, tokenizer = expected.loaded()
    here = {"sentence": SENTENCE, "temperature": 0.5, "top_k": 3}  # or a model in training would ramble on
    page = open_page("/?" + "&".join(f"{name}={value}" for name, value in here.items()))
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebar").get_by_text("beam search").click()
    bar.until_address(page, **here, decoder="beam")
    source = prepare(tokenizer, SENTENCE)
    bar.shows(page, tokenizer.decode(translate_ids(model, source, Decoding("beam", beam=4)).ids))
    page.get_by_test_id("stSidebar").get_by_text("sampling").click()
    bar.until_address(page, **here, decoder="sample")
    seed = page.get_by_role("spinbutton", name="Seed")
    seed.fill("7")
    seed.press("Enter")
    bar.until_address(page, **here, decoder="sample", seed=7)
    drawn = Decoding("sample", temperature=0.5, top_k=3, seed=7)
    bar.shows(page, tokenizer.decode(translate_ids(model, source, drawn).ids))


def test_the_three_maps_and_the_links_are_doors_that_carry_the_whole_state(open_page: OpenPage) -> None:
    here = {"sentence": SENTENCE, "units": "words", "scale": "linear"}
    page = open_page("/?" + "&".join(f"{name}={value}" for name, value in here.items()))
    grid = canvas(page, "grid")
    width, _ = grid.size
    said = grid.read([(x, 60) for x in range(0, width, 10)])
    maps = [re.fullmatch(r"(\S) (\w+), layer (\d), head (\d) — click to open it", sentence) for sentence in said]
    found = {m[2]: (10 * at, m[3], m[4]) for at, m in enumerate(maps) if m}
    assert tuple(found) == KINDS
    x, layer, head = found["cross"]
    grid.click((x, 60))
    page.wait_for_url("**/heads?**")
    bar.until_address(page, **here, kind="cross", **page_choice(layer, head, bar.address(page)))
    expect(page.locator("canvas[data-marker=head]")).to_have_attribute(
        "aria-label", re.compile(f"^cross, layer {layer}, head {head}:")
    )
    page.go_back()
    page.wait_for_url(re.compile(r"//[^/]+/\?"))
    page.get_by_role("link", name="All masked heads →").click()
    page.wait_for_url("**/heads?**")
    expect(page.locator("canvas[data-marker=head]")).to_have_attribute("aria-label", re.compile("^masked, layer"))
    assert bar.address(page).items() >= (here | {"kind": "masked"}).items()


def page_choice(layer: str, head: str, address: dict[str, str]) -> dict[str, str]:
    """Layer and head stand in the address, unless they are what the page proposes anyway."""
    return {name: value for name, value in (("layer", layer), ("head", head)) if name in address}
