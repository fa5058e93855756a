"""A real Chromium to measure in, patient enough for a busy machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browser import chromium

PATIENCE = 300_000  # milliseconds
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}


@contextmanager
def browsing() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def new_page(browser: Browser) -> Iterator[Page]:
    """A page in a context of its own: nothing is remembered from another."""
    context = browser.new_context(viewport=VIEWPORT)
    context.set_default_timeout(PATIENCE)
    try:
        yield context.new_page()
    finally:
        context.close()
