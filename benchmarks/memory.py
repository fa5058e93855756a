"""How much memory the server keeps after many different sentences, typed one after the other.

python -m benchmarks.memory [--json] [--sentences N]     megabytes, with a real Chromium at the other end
"""

import itertools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from benchmarks import texts, told
from benchmarks.screen import browsing, new_page
from benchmarks.told import Bar, Row
from tests.browser import bar
from tests.browser.serving import Server, serving
from tests.browser.visits import wait_until_idle

COUNTED = (1, 100, 500)  # sentences after which memory is read
FLAT = 1.05  # memory at the last count, of that at the one before, at most
ARRIVED = "(text) => new URLSearchParams(location.search).get('sentence') === text"


def megabytes(server: Server) -> float:
    """What the server keeps in memory now."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def measured(server: Server, page: Page, counted: Sequence[int]) -> list[Row]:
    page.goto(f"{server.url}/heads")
    bar.sentence(page).wait_for()
    wait_until_idle(page)
    rows: list[Row] = []
    for number, sentence in enumerate(itertools.islice(texts.sentences(), max(counted)), start=1):
        bar.type_sentence(page, sentence)
        page.wait_for_function(ARRIVED, arg=sentence)
        wait_until_idle(page)
        if number in counted:
            rows.append({"sentences": number, "MB": megabytes(server)})
    return rows


def bars(rows: Sequence[Row]) -> list[Bar]:
    """Once all that is remembered has filled up, nothing may grow."""
    if len(rows) < len(COUNTED):
        return []
    before, after = rows[-2:]
    name = f"memory after {after['sentences']} sentences, of {before['sentences']}"
    return [Bar(name, after["MB"] / before["MB"], FLAT, at_most=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = told.parser("memory", __doc__)
    parser.add_argument("--sentences", type=int, default=COUNTED[-1], help="stop after so many")
    options = parser.parse_args(arguments)
    counted = [*(count for count in COUNTED if count < options.sentences), options.sentences]
    with (
        tempfile.TemporaryDirectory() as name,
        serving(Path(name)) as server,
        browsing() as browser,
        new_page(browser) as page,
    ):
        rows = measured(server, page, counted)
    told.tell("memory", rows, bars(rows), as_json=options.json)


if __name__ == "__main__":
    main()
