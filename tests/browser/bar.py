"""What stands above every page, and the address bar: read and used as somebody at the screen would."""

from typing import Any
from urllib.parse import parse_qsl

from playwright.sync_api import Locator, Page, expect

from tests.browser.visits import PATIENCE

expect.set_options(timeout=PATIENCE)


def address(page: Page) -> dict[str, str]:
    """What the address bar says behind the question mark."""
    return dict(parse_qsl(page.evaluate("location.search").removeprefix("?"), keep_blank_values=True))


def until_address(page: Page, **expected: Any) -> None:
    """Wait until the address says exactly this."""
    wanted = {name: str(value) for name, value in expected.items()}
    page.wait_for_function(
        """(wanted) => {
          const found = Object.fromEntries(new URLSearchParams(location.search));
          return JSON.stringify(Object.entries(found).sort()) === JSON.stringify(Object.entries(wanted).sort());
        }""",
        arg=wanted,
    )


def path(page: Page) -> str:
    """Which page the address bar names."""
    return str(page.evaluate("location.pathname"))


def sentence(page: Page) -> Locator:
    return page.get_by_role("textbox", name="English sentence")


def type_sentence(page: Page, text: str) -> None:
    sentence(page).fill(text)
    sentence(page).press("Enter")


def translation(page: Page) -> Locator:
    """The first plain text on a page is the translation."""
    return page.get_by_test_id("stText").first


def shows(page: Page, text: str) -> None:
    """Wait until this is the translation."""
    expect(translation(page)).to_have_text(text or "(the model ended at once: an empty translation)")


def chosen(page: Page, label: str) -> str:
    """What a select box shows."""
    return page.get_by_role("combobox", name=label, exact=True).input_value()


def choose(page: Page, label: str, option: str) -> None:
    """One of a row of buttons."""
    page.get_by_role("radiogroup", name=label, exact=True).get_by_role("radio", name=option, exact=True).click()


def menu(page: Page, title: str) -> None:
    """Go to a page by the menu on top."""
    page.get_by_test_id("stTopNavSection").first.click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text=title).click()
