"""The visitor who complains really does: a guard that never objects would prove nothing."""

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser

from tests.browser import visits
from tests.browser.serving import free_port


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A server of the files in tmp_path."""
    (tmp_path / "ours.txt").touch()
    with ThreadingHTTPServer(("localhost", free_port()), partial(Quiet, directory=str(tmp_path))) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://localhost:{running.server_port}"
        running.shutdown()


def visit(browser: Browser, site: str, folder: Path, body: str) -> visits.Visit:
    (folder / "index.html").write_text(f"<!doctype html><title>page</title>{body}")
    begun = visits.begin(browser, site, dark=False, width=800, height=600)
    page = begun.context.new_page()
    page.goto(site)
    page.wait_for_function("() => document.title === 'done'")
    begun.context.close()
    return begun


def test_a_page_that_keeps_to_itself_raises_no_complaint(browser: Browser, site: str, tmp_path: Path) -> None:
    body = "<script>fetch('/ours.txt').then(() => { document.title = 'done' })</script>"
    assert visit(browser, site, tmp_path, body).complaints() == []


@pytest.mark.parametrize("stranger", ["http://127.0.0.1:9/pixel.png", "https://elsewhere.example/font.woff"])
def test_a_request_to_another_host_is_refused_and_told(
    browser: Browser, site: str, tmp_path: Path, stranger: str
) -> None:
    body = f"<script>fetch('{stranger}').catch(() => {{ document.title = 'done' }})</script>"
    assert visit(browser, site, tmp_path, body).strangers == [stranger]


def test_a_socket_to_another_host_fails_and_is_told(browser: Browser, site: str, tmp_path: Path) -> None:
    body = """<script>
      new WebSocket('ws://127.0.0.1:9/stream').onclose = () => { document.title = 'done' }
    </script>"""
    assert visit(browser, site, tmp_path, body).strangers == ["ws://127.0.0.1:9/stream"]


def test_errors_in_the_console_and_uncaught_ones_are_told(browser: Browser, site: str, tmp_path: Path) -> None:
    body = """<script>
      console.error('said'); setTimeout(() => { document.title = 'done' }, 100); throw new Error('uncaught')
    </script>"""
    errors = visit(browser, site, tmp_path, body).errors
    assert any("said" in error for error in errors)
    assert any("uncaught" in error for error in errors)
