"""A visitor of the app: one browser context, which may talk to one server and sees no error in its console."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, WebError, WebSocket

PROBE = re.compile("/[^/]+/_stcore/(health|host-config)$")  # below a page's own address Streamlit first looks in vain
PATIENCE = 60_000  # milliseconds for anything to happen, on a busy machine
IDLE = """() => document.querySelector('[data-testid=stApp][data-test-script-state="notRunning"]')
              && !document.querySelector('[data-stale="true"], [data-testid=stSkeleton]')
              && document.fonts.status === 'loaded'"""


@dataclass  # not frozen: playwright leaves a mark on whom it calls
class Visit:
    """One visitor, and what went wrong meanwhile."""

    context: BrowserContext
    host: str  # the only one it may talk to, as name:port
    strangers: list[str] = field(default_factory=list)  # addresses on other hosts that the page asked for
    errors: list[str] = field(default_factory=list)  # in the console, or uncaught

    def watch(self) -> None:
        """Cut off every other host, and listen to the console. Holds for all pages of the context."""
        self.context.route(self._is_strange, self._refuse)
        self.context.on("page", lambda page: page.on("websocket", self._see))
        self.context.on("console", self._hear)
        self.context.on("weberror", self._note)

    def complaints(self) -> list[str]:
        """One sentence for each thing that must not happen."""
        return [f"asked another host: {url}" for url in self.strangers] + [f"error: {text}" for text in self.errors]

    def _is_strange(self, url: str) -> bool:
        return bool(re.match("(http|ws)s?:", url)) and urlsplit(url).netloc != self.host

    def _refuse(self, route: Route) -> None:
        self.strangers.append(route.request.url)
        route.abort()

    def _see(self, socket: WebSocket) -> None:
        """Sockets are only noted here: one that playwright can refuse is not the browser's own any more."""
        if self._is_strange(socket.url):
            self.strangers.append(socket.url)

    def _hear(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type == "error" and not PROBE.search(url):
            self.errors.append(f"{message.text} ({url})")

    def _note(self, error: WebError) -> None:
        self.errors.append(str(error.error))


def begin(browser: Browser, url: str, *, dark: bool, width: int, height: int) -> Visit:
    """A new visitor of the server at `url`, with nothing remembered. Open pages with `visit.context.new_page()`."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        service_workers="block",
    )
    context.set_default_timeout(PATIENCE)
    visit = Visit(context, urlsplit(url).netloc)
    visit.watch()
    return visit


def wait_until_idle(page: Page) -> None:
    """Wait until the script has run, nothing on the page is out of date or a placeholder, and the fonts are there.

    Just after a click this may hold before the app has noticed: wait for your own marker as well.
    """
    page.wait_for_function(IDLE)
