"""The system's Chromium, driven by Playwright. Skipped visibly where there is none.

`make test-browser` sets SIMNET_BROWSER=require, and then it is an error.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

HOW = "Chromium is needed: apt-get install chromium, or name one with SIMNET_CHROMIUM=/path"


def _chromium() -> str:
    named = os.environ.get("SIMNET_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is None:
        if os.environ.get("SIMNET_BROWSER") == "require":
            pytest.fail(HOW, pytrace=False)
        pytest.skip(HOW)
    return str(found)


class Seen:
    """A page, and what went wrong in it: messages on its console, requests to other hosts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self._say(message.type, message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def _say(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.errors.append(text)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests; without a sandbox, which a container does not let it have."""
    path = _chromium()
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def seen(browser: Browser) -> Iterator[Seen]:
    """A page of its own; at the end it must have had no error."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    found = Seen(context.new_page())
    yield found
    context.close()
    assert found.errors == []
