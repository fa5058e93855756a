"""The page Output under a hand: sliders act in the browser alone, and leave what the decoder samples from."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from model import writing
from model.config import NEVER
from model.decode import Decoding
from model.distribution import Settings, entropy_bits, sampled
from model.labels import alone as piece_name
from model.lens import lens, read_out
from model.loss import least, losses
from model.tokenizer import Tokenizer
from model.trace import Array, Trace
from model.transformer import Transformer
from tests.browser import alone, bar, expected
from tests.browser.conftest import OpenPage
from viz import beams, distribution, loss, phrases
from viz import lens as lenses
from viz.theme import DARK, LIGHT, Theme

SENTENCE, TARGET = "The dog sleeps in the garden.", "Der Hund schläft im Garten."
HERE = {"sentence": SENTENCE, "target": TARGET}
SETTINGS = [
    Settings(),
    Settings(temperature=0.1),
    Settings(temperature=3.0, top_k=500),
    Settings(temperature=1.3, top_k=7, top_p=0.55),
    Settings(top_p=0.05),
    Settings(temperature=0.6, top_p=0.95),
]
SAMPLED = """([gaps, never, settings]) => {
  const found = window.module.sampled(Float32Array.from(gaps), never, settings);
  return [[...found], window.module.entropyOf(found)];
}"""
Draw = Callable[..., Page]


@pytest.fixture
def draw(browser: Browser) -> Iterator[Draw]:
    """Puts a canvas on a page of its own: `draw("lens", payload)`."""
    with ExitStack() as pages:

        def drawn(name: str, payload: bytes, *, theme: Theme = LIGHT, width: int = 1100) -> Page:
            page = alone.drawn(browser, name, payload, theme=theme, parts=["steps"], width=width)
            pages.callback(page.close)
            return page

        yield drawn


@pytest.fixture(scope="module")
def names(tokenizer: Tokenizer) -> Sequence[str]:
    return [piece_name(tokenizer, piece) for piece in range(len(tokenizer))]


def test_what_the_sliders_leave_is_what_the_decoder_samples_from(
    draw: Draw, trace: Trace, names: Sequence[str]
) -> None:
    page = draw("distribution", distribution.payload(trace, names, Settings(), theme=LIGHT, step=1))
    generator = np.random.default_rng(7)
    random = generator.standard_normal((4, 1500)) * np.array([[0.2], [1], [4], [9]])
    equal = np.repeat(np.log([0.5, 0.1, 0.1, 0.1, 0.02]), [1, 2, 1, 1, 10])[None]
    steep = -np.arange(40.0)[None] * 90  # the pieces that are never written are far above all others
    for rows in (trace.log_probabilities()[:3], random, equal, steep):
        log_probabilities = rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))
        for settings in SETTINGS:
            right = sampled(log_probabilities, settings)
            for row, wanted in zip(log_probabilities, right, strict=True):
                order = np.argsort(-row, kind="stable")
                found, bits = page.evaluate(SAMPLED, in_order(row, order, settings))
                np.testing.assert_allclose(found, wanted[order], atol=1e-6)
                assert bits == pytest.approx(float(entropy_bits(wanted[None])[0]), abs=1e-4)


def in_order(row: Array, order: Array, settings: Settings) -> list[Any]:
    """One step as the browser has it: likeliest first, and where the pieces are that are never written."""
    places = np.argsort(order)
    gaps = (row.max() - row[order]).astype(np.float32)
    return [gaps.tolist(), sorted(int(places[i]) for i in NEVER), vars(settings)]


def figures(page: Page, marker: str) -> Locator:
    return page.locator(f"[data-marker={marker}] .bar .digits:last-child")


def test_sliders_act_at_once_and_are_told_when_they_rest(draw: Draw, trace: Trace, names: Sequence[str]) -> None:
    page = draw("distribution", distribution.payload(trace, names, Settings(), theme=DARK, step=2))
    slider = page.locator("[data-slider=top_k]")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("[data-marker=effect]")).to_contain_text(re.compile(r"^3 of 347 pieces can be drawn"))
    assert alone.told(page) == []
    table = distribution.table(trace, names, Settings(top_k=3), 2)
    shown = [text for text in figures(page, "chances").all_text_contents() if text]
    wanted = [phrases.weight(value) if value > 1e-9 else "0" for value in table["sampled with"]]
    assert [text for text in shown if text != "0"] == [text for text in wanted if text != "0"]
    page.wait_for_function("window.told.length")
    assert alone.told(page) == [["settings", {"temperature": 1, "top_k": 3, "top_p": 1}]]


def test_a_hand_that_moves_on_is_not_set_back_by_an_answer(draw: Draw, trace: Trace, names: Sequence[str]) -> None:
    page = draw("distribution", distribution.payload(trace, names, Settings(), theme=LIGHT, step=2))
    page.locator("[data-slider=temperature]").focus()
    page.keyboard.press("ArrowRight")
    alone.redraw(page, distribution.payload(trace, names, Settings(), theme=LIGHT, step=3))
    expect(page.locator("[data-slider=temperature]")).to_have_value("1.1")
    page.wait_for_function("window.told.length")
    assert alone.told(page)[-1] == ["settings", {"temperature": 1.1, "top_k": 0, "top_p": 1}]


def test_arrows_walk_the_steps_and_enter_picks_one(draw: Draw, trace: Trace, names: Sequence[str]) -> None:
    page = draw("loss", loss.payload(trace, names, theme=LIGHT, step=2, smoothing=0.1))
    page.locator("canvas[data-marker=losses]").focus()
    page.keyboard.press("ArrowRight")
    found = losses(trace).at(0.1)
    expect(page.locator(".reading")).to_contain_text(f"step 3 of {len(found)}")
    expect(page.locator(".reading")).to_contain_text(f"Loss {found[2]:.3f} nats")
    assert alone.told(page) == []
    page.keyboard.press("Enter")
    assert alone.told(page) == [["step", 3]]


def test_smoothing_moves_every_loss_and_the_rows_sum_up_to_it(draw: Draw, trace: Trace, names: Sequence[str]) -> None:
    page = draw("loss", loss.payload(trace, names, theme=LIGHT, step=2, smoothing=0.1))
    page.locator("[data-slider=smoothing]").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    found = losses(trace).at(0.2)
    expect(page.locator(".reading")).to_contain_text(f"Loss {found[1]:.3f} nats")
    expect(page.locator("[data-marker=total]")).to_contain_text(f"{found.sum():.2f} nats over {len(found)} tokens")
    expect(page.locator("[data-marker=total]")).to_contain_text(f"below {least(347, 0.2):.3f} ")
    added = [
        float(text.replace("−", "-")) for text in figures(page, "targets").all_text_contents() if text[0].isdigit()
    ]
    assert sum(added) == pytest.approx(found[1], abs=0.005)


def test_a_cell_of_the_lens_is_read_and_picked(
    draw: Draw, trace: Trace, model: Transformer, names: Sequence[str]
) -> None:
    found = lens(trace, read_out(model))
    page = draw("lens", lenses.payload(found, trace, names, theme=LIGHT, step=4, layer=2), width=390)
    page.locator("canvas[data-marker=lens]").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".reading")).to_contain_text("step 5. After layer 1")
    expect(page.locator(".reading")).to_contain_text(f"rank {found.rank[1, 4]} ")
    expect(page.locator(".reading")).to_contain_text(f"likeliest ‘{names[found.top[1, 4]]}’")
    page.keyboard.press("Enter")
    assert alone.told(page) == [["pin", [1, 4]]]


def test_the_tree_is_walked_from_child_to_parent(draw: Draw, trained: Transformer, tokenizer: Tokenizer) -> None:
    source = tokenizer.encode("Mary draws 25 keys.")
    grown = writing.write(trained, tokenizer, source, Decoding("beam", beam=3))[1]
    page = draw("beams", beams.payload(grown, theme=DARK, width=3, step=1), width=390)
    said = list(beams.told(grown))
    read = page.locator("[data-marker=node]")
    page.locator("canvas[data-marker=beams]").focus()
    page.keyboard.press("ArrowRight")
    expect(read).to_have_text(said[0][0])
    page.keyboard.press("ArrowRight")
    first_child = [node.parent for node in grown[1]].index(0)
    expect(read).to_have_text(said[1][first_child])
    page.keyboard.press("ArrowDown")
    expect(read).to_have_text(said[1][first_child + 1])
    page.keyboard.press("ArrowLeft")
    parent = grown[1][first_child + 1].parent
    assert parent is not None
    expect(read).to_have_text(said[0][parent])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_in_the_app_sliders_reach_the_address_and_the_pictures_share_their_step(open_page: OpenPage) -> None:
    trace = expected.read(SENTENCE, TARGET)
    page = open_page(f"/output?sentence={SENTENCE.replace(' ', '+')}&target={TARGET.replace(' ', '+')}&step=3")
    effect = page.locator("[data-marker=effect]")
    page.locator("[data-slider=top_k]").focus()
    page.keyboard.press("ArrowRight")
    expect(effect).to_contain_text(re.compile("^1 of "))
    bar.until_address(page, **HERE, step=3, top_k=1)
    assert page.locator("[data-slider=top_k]").evaluate("(slider) => slider.getRootNode().activeElement === slider")
    page.locator("canvas[data-marker=losses]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    bar.until_address(page, **HERE, step=4, top_k=1)
    own = float(np.exp(trace.target_log_probabilities()[3]))
    expect(page.locator("[data-marker=distribution]")).to_contain_text(f"step 4 of {len(trace.predicted)}")
    expect(page.locator("[data-marker=distribution]")).to_contain_text(f"for {phrases.weight(own)}")
    expect(page.locator("[data-marker=lens-pinned]")).to_contain_text("step 4.")
