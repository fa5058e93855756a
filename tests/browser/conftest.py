"""A server, a browser, and visitors who complain: what every browser test starts from."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import chromium, visits
from tests.browser.serving import Server, serving

HERE = Path(__file__).parent
REQUIRED = "HEADLIGHT_REQUIRE_BROWSER"  # set where a skipped browser test would be a lie


class OpenPage(Protocol):
    """`open_page("/heads?layer=2", dark=True, width=390)`: a new visitor's page, idle."""

    def __call__(
        self, path: str = "/", *, server: Server | None = None, dark: bool = False, width: int = 1280, height: int = 900
    ) -> Page: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives a browser, and run it last: quick tests fail first, and no other test runs beside a browser."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """Where Chromium is; without one, the tests that need it are skipped, or fail where it is required."""
    path = chromium.find()
    if path is None:
        reason = "no Chromium was found; `make test` installs one"
        if os.environ.get(REQUIRED):
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def browser(chromium_path: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(chromium.FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app, started once for all tests. Each visitor has a session of its own in it."""
    with serving(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Call it, with more environment variables if needed, for a server that nobody has visited yet."""
    with ExitStack() as running:

        def start(environment: Mapping[str, str] | None = None) -> Server:
            return running.enter_context(serving(tmp_path, environment=environment))

        yield start


@pytest.fixture
def open_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Open an address of the app as a new visitor. Afterwards the test fails if a page of it
    asked another host for anything, or if an error stood in its console."""
    begun: list[visits.Visit] = []

    def open_(
        path: str = "/", *, server: Server | None = None, dark: bool = False, width: int = 1280, height: int = 900
    ) -> Page:
        url = (server or request.getfixturevalue("server")).url
        visit = visits.begin(browser, url, dark=dark, width=width, height=height)
        begun.append(visit)
        page = visit.context.new_page()
        page.goto(url + path)
        visits.wait_until_idle(page)
        return page

    yield open_
    for visit in begun:
        visit.context.close()
    complaints = [complaint for visit in begun for complaint in visit.complaints()]
    assert not complaints, "\n".join(complaints)
