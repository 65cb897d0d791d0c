"""The report of a diagnosis in a real browser: narrow, dark, and in print."""

from pathlib import Path

import pytest

from tests.browser.conftest import Seen
from tests.report.html.documents import diagnosed_document

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from simnet.report.html.make import saved_parts
    from simnet.report.html.page import page

    folder = tmp_path_factory.mktemp("diagnosis")
    saved = folder / "found.json"
    saved.write_text(diagnosed_document(), encoding="utf-8")
    (folder / "report.html").write_text(page(saved_parts([saved], simulate=False)), "utf-8")
    return folder / "report.html"


@pytest.mark.parametrize("width", [390, 1280])
def test_the_answer_is_on_the_first_screen_and_nothing_is_wider(
    seen: Seen, report: Path, width: int
) -> None:
    seen.page.set_viewport_size({"width": width, "height": 800})
    seen.page.goto(report.as_uri())
    box = seen.page.locator(".verdict").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 800
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.page.locator(".verdict strong").first.is_visible()


def test_commands_are_copied_and_print_has_no_button(seen: Seen, report: Path) -> None:
    seen.page.goto(report.as_uri())
    button = seen.page.get_by_role("button", name="Copy: To cure it (1)")
    button.click()
    expect(button).to_have_text("Copied")
    shown = seen.page.locator(f"#{button.get_attribute('data-of')}").text_content()
    assert shown is not None
    assert shown.startswith("ethtool -")
    assert seen.page.evaluate("navigator.clipboard.readText()") == shown
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("button.copy").first.is_visible()
    assert seen.page.locator("details:not([open])").count() == 0
