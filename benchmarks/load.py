"""Many visitors at once against one server: is what each is shown his own, and how long does he wait?

python -m benchmarks.load [--contexts 12] [--sentences 20] [--url http://localhost:8500] [--json]

Each browser context types one sentence after the other, on another page every few sentences. Whatever the server sent
it for a sentence, the translation and the numbers of every canvas, is compared with what the same page makes of the
same sentence in a process of its own, alone. With --url a server that is running already is asked, not a new one.
"""

import argparse
import asyncio
import json
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
from playwright.async_api import Browser, Page, WebSocket, async_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest

from model.trace import Array
from tests.browser import chromium
from tests.browser.serving import serving
from tests.browser.visits import IDLE, PROBE
from tests.pages.visitor import PAGES, PATIENCE, ROOT, Visitor
from tests.thumbnails import painted
from viz.payload import unpack

STAY = 5  # sentences on one page, before the next
LONGEST = 600.0  # seconds that a visitor waits for one sentence
MAY_DIFFER = {"float32": 1e-5, "int16": 1}  # weights, shades; other whole numbers may not
WHO = (
    "My sister,The doctor,Our neighbour,A young woman,The teacher,His uncle,Nobody,The farmer,Her friend,The boy".split(
        ","
    )
)
DOES = "sees,has lost,would like to buy,forgot,often talks about".split(",")
WHAT = "the red car,a small boat,my old books,the river in the north,two white horses".split(",")
FIRST = "We begin with this sentence."

Payloads = list[tuple[str, bytes]]  # name of the canvas and what it draws, in the order of the page


@dataclass
class Shown:
    """What one visitor was shown for one sentence."""

    page: str
    sentence: str
    seconds: float  # from Enter until the page was idle
    translation: str
    payloads: Payloads


@dataclass
class Heard:
    """What the server has sent to one page since it last began to run the script."""

    payloads: dict[tuple[int, ...], tuple[str, bytes]] = field(default_factory=dict)
    runs: int = 0  # that came to their end
    errors: list[str] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._hear)

    def _hear(self, frame: bytes | str) -> None:
        message = ForwardMsg.FromString(frame) if isinstance(frame, bytes) else ForwardMsg()
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.payloads = {}
        elif kind == "script_finished":
            self.runs += message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "bidi_component":
            component = message.delta.new_element.bidi_component
            self.payloads[tuple(message.metadata.delta_path)] = component.component_name, component.bytes
        elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            self.errors.append(message.delta.new_element.exception.message)

    def in_order(self) -> Payloads:
        return [self.payloads[path] for path in sorted(self.payloads)]


def sentences(contexts: int, each: int) -> list[list[str]]:
    """For each visitor sentences that nobody else types."""
    made = [f"{who} {does} {what}" for what in WHAT for does in DOES for who in WHO]
    if contexts * each > len(made):
        raise SystemExit(f"there are {len(made)} different sentences; {contexts} times {each} are too many")
    return [[f"{text}." for text in made[number::contexts][:each]] for number in range(contexts)]


def page_of(visitor: int, number: int) -> str:
    return list(PAGES)[(visitor + number // STAY) % len(PAGES)]


async def visit(browser: Browser, url: str, visitor: int, typed: Sequence[str]) -> tuple[list[Shown], list[str]]:
    """All that one visitor was shown, and the errors on his page."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page, heard, found = await context.new_page(), Heard(), []
    page.set_default_timeout(LONGEST * 1000)
    page.on("websocket", heard.listen)
    page.on("pageerror", lambda error: heard.errors.append(str(error)))
    page.on("console", lambda said: heard.errors.append(said.text) if is_error(said) else None)
    for number, sentence in enumerate(typed):
        name = page_of(visitor, number)
        if number % STAY == 0:
            place = "" if name == "translate" else name
            await page.goto(f"{url}/{place}?sentence={FIRST}")
            await page.get_by_role("textbox", name="English sentence").wait_for()
            await page.wait_for_function(IDLE)
        found.append(await shown(page, heard, name, sentence))
    await context.close()
    return found, heard.errors


def is_error(message: Any) -> bool:
    return message.type == "error" and not PROBE.search(message.location.get("url", ""))


async def shown(page: Page, heard: Heard, name: str, sentence: str) -> Shown:
    runs, start = heard.runs, time.perf_counter()
    box = page.get_by_role("textbox", name="English sentence")
    await box.fill(sentence)
    await box.press("Enter")
    while heard.runs == runs:
        if time.perf_counter() - start > LONGEST:
            raise TimeoutError(f"{name}: no answer to {sentence!r} within {LONGEST:.0f} s")
        await asyncio.sleep(0.01)
    await page.wait_for_function(IDLE)
    taken = time.perf_counter() - start
    translation = await page.get_by_test_id("stText").first.inner_text()
    return Shown(name, sentence, taken, translation, heard.in_order())


async def everybody(url: str, typed: Sequence[Sequence[str]]) -> tuple[list[Shown], list[str]]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        visits = [visit(browser, url, number, own) for number, own in enumerate(typed)]
        found = await asyncio.gather(*visits)
        await browser.close()
    return [one for own, _ in found for one in own], [error for _, errors in found for error in errors]


@contextmanager
def asked_for_health(url: str) -> Iterator[list[float]]:
    """Ask four times a second whether the server lives: the seconds of each answer, inf if there was none."""
    answers: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(0.25):
            start = time.perf_counter()
            try:
                with urlopen(f"{url}/_stcore/health", timeout=30) as answer:
                    answers.append(time.perf_counter() - start if answer.status == 200 else float("inf"))
            except OSError:
                answers.append(float("inf"))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield answers
    finally:
        done.set()
        asking.join()


def alone(found: Sequence[Shown]) -> list[str]:
    """A sentence for each thing that somebody was shown and that is not what the page makes of it alone."""
    visitor, wrong = Visitor(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)), []
    for one in sorted(found, key=lambda one: one.page):
        visitor.follow(one.page, sentence=FIRST)
        visitor.type(one.sentence)
        expected = [(c.proto.component_name, c.proto.bytes) for c in visitor.app.get("bidi_component")]
        if one.translation != visitor.translation:
            wrong.append(f"{one.page}: {one.sentence!r} was {one.translation!r}, alone it is {visitor.translation!r}")
        elif said := difference(one.payloads, expected):
            wrong.append(f"{one.page}: {one.sentence!r}: {said}")
    return wrong


def difference(found: Payloads, alone: Payloads) -> str:
    """What is not the same in what somebody was shown; empty if nothing is."""
    if [name for name, _ in found] != [name for name, _ in alone]:
        return f"canvases {[name for name, _ in found]} instead of {[name for name, _ in alone]}"
    for (name, one), (_, other) in zip(found, alone, strict=True):
        (header, arrays), (wanted, numbers) = opened(name, one), opened(name, other)
        if header != wanted or arrays.keys() != numbers.keys():
            return f"another header of {name}"
        for key, array in arrays.items():
            expected = numbers[key]
            if array.shape != expected.shape:
                return f"other sizes in {name}, {key}"
            most = MAY_DIFFER.get(array.dtype.name, 0)
            if not np.allclose(array, expected, rtol=0, atol=most, equal_nan=True):
                return f"other numbers in {name}, {key}"
    return ""


def opened(name: str, payload: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """What a canvas draws; of thumbnails the shades themselves, since one that differs shifts their whole code."""
    header, arrays = unpack(payload)
    if name == "headlight_grid":
        cells = [painted(header, arrays, index).astype(np.int16) for index in range(len(header["heads"]))]
        arrays |= {f"shades{index}": shown for index, shown in enumerate(cells)}
        for head in header["heads"]:
            del head["low"]
    return header, arrays


def measured(url: str, log: Path | None, typed: Sequence[Sequence[str]]) -> dict[str, Any]:
    with asked_for_health(url) as health:
        start = time.perf_counter()
        found, errors = asyncio.run(everybody(url, typed))
        taken = time.perf_counter() - start
    seconds = np.array([one.seconds for one in found])
    said = [line for line in log.read_text(errors="replace").splitlines() if is_complaint(line)] if log else []
    return {
        "contexts": len(typed),
        "sentences": len(found),
        "p50": round(float(np.percentile(seconds, 50)), 2),
        "p95": round(float(np.percentile(seconds, 95)), 2),
        "slowest": round(float(seconds.max()), 2),
        "per_second": round(len(found) / taken, 2),
        "health": {"asked": len(health), "failed": int(np.isinf(health).sum()), "slowest": round(max(health), 3)},
        "canvases": sum(len(one.payloads) for one in found),
        "errors": errors + said,
        "wrong": alone(found),
    }


def is_complaint(line: str) -> bool:
    return any(word in line for word in ("Traceback", "Error", "Exception", "WARNING", "CRITICAL"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__.splitlines()[0])
    parser.add_argument("--contexts", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=20, help="that each context types")
    parser.add_argument("--url", help="a server that is running already")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    typed = sentences(options.contexts, options.sentences)
    if options.url:
        found = measured(options.url.rstrip("/"), None, typed)
    else:
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
            found = measured(server.url, server.log_file, typed)
    if options.json:
        print(json.dumps({"load": found}))
    else:
        for name, value in found.items():
            print(f"{name:12} {value}")
    return int(bool(found["errors"] or found["wrong"] or found["health"]["failed"]))


if __name__ == "__main__":
    raise SystemExit(main())
