"""The page that diagnoses what is pasted, and makes a host of it, in a real browser."""

from typing import Literal

import pytest

from simnet.page.serve import served
from tests.browser.conftest import Seen

expect = pytest.importorskip("playwright.sync_api").expect

PASTED = """$ ethtool -S eth0
NIC statistics:
     rx_packets: 9123456
     rx_missed_errors: 812345
$ ethtool -i eth0
driver: igb
version: 5.10.0
$ lscpu
CPU(s):              4
Model name:          Intel(R) Xeon(R) CPU E3-1220 v5 @ 3.00GHz
$ uname -r
5.10.0-28-amd64
"""


@pytest.fixture(scope="module")
def address() -> str:
    return served(None)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("width", [390, 1400])
def test_what_is_pasted_is_diagnosed(
    seen: Seen, address: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = seen.page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.goto(address)
    button = page.get_by_role("button", name="Diagnose")
    expect(button).to_be_disabled()
    page.get_by_label("what is pasted").fill(PASTED)
    button.click()
    strong = page.locator("#answer .verdict strong").first
    expect(strong).to_contain_text("eth0", timeout=30000)
    assert "812,345" in str(page.locator("#answer table").first.text_content())
    assert page.get_by_role("button", name="Copy: To cure it", exact=True).is_visible()
    # no place that goes away with the page is to be typed
    expect(page.locator("#answer")).to_contain_text("simnet import pasted.txt --out host")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert {one.split("/")[2] for one in seen.requests} == {address.split("/")[2]}


def test_what_is_pasted_becomes_a_host_whose_knobs_move(seen: Seen, address: str) -> None:
    page = seen.page
    page.goto(address)
    page.get_by_label("what is pasted").fill(PASTED)
    page.get_by_role("button", name="Import it, and move its knobs").click()
    expect(page.locator(".of")).to_contain_text("4 CPUs", timeout=60000)
    assert page.url.startswith(f"{address}host/")
    expect(page.get_by_role("slider").first).to_be_attached(timeout=60000)
    page.get_by_role("link", name="diagnose, or another host").click()
    assert page.url == address
    page.get_by_role("link", name="web-25g").click()
    expect(page.locator("h1")).to_have_text("web-25g")


def test_what_describes_no_host_is_said(seen: Seen, address: str) -> None:
    page = seen.page
    page.goto(address)
    page.get_by_label("what is pasted").fill("hello\n")
    page.get_by_role("button", name="Import it").click()
    expect(page.locator("#error")).to_be_visible(timeout=30000)
    expect(page.get_by_role("button", name="Import it")).to_be_enabled()
