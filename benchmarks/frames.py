"""How long the canvases take to answer the pointer: frame times in a real Chromium, n source + n target tokens.

python -m benchmarks.frames [--json]     milliseconds from the event to the drawn picture, median and 95th percentile
"""

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from benchmarks import texts, told
from benchmarks.clock import percentile
from benchmarks.screen import browsing, new_page
from benchmarks.told import Bar, Row
from tests.browser.serving import serving
from tests.browser.visits import wait_until_idle

SIZES = (16, 60, 100)
EVENTS = 60
LARGEST, JUDGED = 50.0, 60  # milliseconds, at so many tokens a side

# The handler draws before it returns; reading one pixel back makes the browser carry the drawing out.
TIMED = """
(async ([canvas, kind, count]) => {
  const box = canvas.getBoundingClientRect();
  const times = [];
  for (let i = 0; i < count; i++) {
    const clientX = box.left + 30 + ((i * 37) % (box.width - 60));
    const clientY = box.top + 130 + ((i * 13) % (box.height - 190));
    const event = kind === "hover"
      ? new PointerEvent("pointermove", { clientX, clientY, bubbles: true })
      : new KeyboardEvent("keydown", { key: i % 20 < 10 ? "ArrowDown" : "ArrowUp", bubbles: true });
    const start = performance.now();
    canvas.dispatchEvent(event);
    canvas.getContext("2d").getImageData(0, 0, 1, 1);
    times.push(performance.now() - start);
    await new Promise((done) => requestAnimationFrame(done));
  }
  return times;
})
"""


def timed(page: Page, marker: str, kind: str) -> list[float]:
    canvas = page.locator(f"[data-marker={marker}]").element_handle()
    return list(page.evaluate(f"args => {TIMED}(args)", [canvas, kind, EVENTS]))


def measured(page: Page, url: str, size: int) -> list[Row]:
    rows: list[Row] = []
    for path, marker in (("masked_vs_cross", "pair"), ("heads", "head")):
        english, german = (texts.words(text, size - 1) for text in (texts.ENGLISH, texts.GERMAN))
        page.goto(f"{url}/{path}?sentence={english}.&target={german}.")
        wait_until_idle(page)
        page.wait_for_selector(f"[data-marker={marker}]")
        for kind in ("hover", "keys"):
            times = timed(page, marker, kind)
            rows.append(
                {
                    "page": path,
                    "tokens": size,
                    "event": kind,
                    "median, ms": round(statistics.median(times), 1),
                    "p95, ms": round(percentile(times, 0.95), 1),
                }
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    options = told.parser("frames", __doc__).parse_args(arguments)
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as server,
        browsing() as browser,
        new_page(browser) as page,
    ):
        for size in SIZES:
            rows += measured(page, server.url, size)
    slowest = max(row["p95, ms"] for row in rows if row["tokens"] == JUDGED)
    bars = [Bar(f"slowest p95, {JUDGED} + {JUDGED} tokens", slowest, LARGEST, at_most=True)]
    told.tell("frames", rows, bars, as_json=options.json)


if __name__ == "__main__":
    main()
