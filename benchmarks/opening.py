"""How long the app takes to open, how many bytes that is, and how long a page with 256 + 256 pieces takes.

python -m benchmarks.opening [--json]     seconds from starting a server until it is on screen in a real Chromium
"""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks import texts, told
from benchmarks.screen import browsing, new_page
from benchmarks.told import Row
from tests.browser.serving import serving
from tests.browser.visits import wait_until_idle

STARTS = 3
PIECES = 256  # a side, on the longest page


def cold_start(browser: Browser, folder: Path) -> dict[str, float]:
    """Seconds from starting the server to the title, and to the first heatmap; bytes that came meanwhile."""
    start = time.perf_counter()
    with serving(folder) as server, new_page(browser) as page:
        received = count_bytes(page)
        page.goto(f"{server.url}/heads", wait_until="commit")
        page.get_by_role("heading", name="Heads", exact=True).wait_for()
        title = time.perf_counter() - start
        page.wait_for_selector("canvas[data-marker=head]")
        heatmap = time.perf_counter() - start
        wait_until_idle(page)
        return {"title, s": title, "first heatmap, s": heatmap, "first load, MB": sum(received) / 1e6}


def count_bytes(page: Page) -> list[int]:
    """A list that grows by the bytes of every answer as it travels, and of every message through the socket."""
    received: list[int] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: received.append(int(event["encodedDataLength"])))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    return received


def longest(browser: Browser, folder: Path) -> float:
    """Seconds from opening a link to 256 + 256 pieces until all heads, and one of them large, are on screen."""
    english, german = (texts.words(text, PIECES) for text in (texts.ENGLISH, texts.GERMAN))
    with serving(folder) as server, new_page(browser) as page:
        page.goto(f"{server.url}/heads")
        page.wait_for_selector("canvas[data-marker=grid]")
        wait_until_idle(page)  # the model has been loaded
        start = time.perf_counter()
        page.goto(f"{server.url}/heads?kind=cross&sentence={english}&target={german}")
        page.wait_for_selector("canvas[data-marker=head]")
        wait_until_idle(page)
        return time.perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> None:
    options = told.parser("opening", __doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, browsing() as browser:
        starts = [cold_start(browser, Path(name)) for _ in range(STARTS)]
        middle = {key: statistics.median(start[key] for start in starts) for key in starts[0]}
        middle[f"{PIECES} + {PIECES} pieces, s"] = longest(browser, Path(name))
    rows: list[Row] = [{"measured": key, "median": round(value, 2)} for key, value in middle.items()]
    told.tell("opening", rows, as_json=options.json)


if __name__ == "__main__":
    main()
