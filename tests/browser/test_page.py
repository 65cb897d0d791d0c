"""The local page in a real browser: knobs, undo, link, curve, report; wide, narrow, light, dark."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from simnet.page.offer import Offer
from simnet.page.serve import served
from simnet.study.work.cases import Case
from tests.browser.conftest import Seen

expect = pytest.importorskip("playwright.sync_api").expect
USECS = "ethtool -C {port} rx-usecs"


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A page of one node of the x460, and two of its knobs; nothing was simulated before."""
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path / "kept"))
    base = Case("x460-out-of-box", (("nodes", "1"),))
    return served(Offer(base, ("numactl", "affinity"), (USECS, "vm.dirty_ratio")))


@pytest.fixture
def page(seen: Seen, address: str) -> Iterator[Page]:
    """The page, whose knobs are there; in the end it asked nobody else."""
    opened(seen.page, address)
    yield seen.page
    hosts = {urlsplit(one).hostname for one in seen.requests if one.startswith(("http", "ws"))}
    assert hosts == {"127.0.0.1"}


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("slider", name=USECS)).to_be_visible(timeout=60000)
    expect(page.locator("#state")).to_have_class("still")


def moved(page: Page, key: str) -> None:
    """One position further, and an answer; what would come then is stopped."""
    page.get_by_role("slider", name=USECS).press(key)
    answered(page, f"{USECS}={page.locator('output').first.text_content()}")


def answered(page: Page, question: str) -> None:
    """Wait for the first answer there is, and let it be the last: the next come fast."""
    expect(page.locator("#answer .verdict strong")).to_contain_text(question)
    page.evaluate("document.getElementById('stop').click()")
    expect(page.locator("#state")).to_have_class("still")


@pytest.mark.compiled
def test_what_is_changed_is_on_top_and_goes_back(page: Page, address: str) -> None:
    box = page.get_by_role("checkbox", name="affinity")
    box.check()
    answered(page, "affinity")
    moved(page, "ArrowRight")
    listed = page.locator("#changed li > span")
    assert listed.all_text_contents() == ["affinity", f"{USECS}: 20 µs → 40 µs"]
    answer = str(page.locator("#answer .verdict strong").text_content())
    assert answer.startswith(f"affinity+{USECS}=40 µs: ")
    linked = page.url
    assert linked.startswith(f"{address}#tuning=affinity&set=")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(listed).to_have_text(["affinity"])
    expect(page.locator("output").first).to_have_text("20 µs")
    page.get_by_role("button", name="Reset").click()
    expect(listed).to_have_count(0)
    expect(page.locator("#answer .verdict strong")).to_have_text("As it is")
    assert not box.is_checked()
    page.evaluate(f"location.hash = {urlsplit(linked).fragment!r}")
    expect(listed).to_have_text(["affinity", f"{USECS}: 20 µs → 40 µs"])
    assert box.is_checked()
    page.get_by_role("button", name="Pin as before").click()
    expect(page.locator("#pinned li")).to_have_count(2)
    expect(page.locator("#answer .verdict strong")).to_have_text("As it is")


@pytest.mark.compiled
@pytest.mark.nightly
def test_positions_stay_as_points_of_a_curve(page: Page) -> None:
    moved(page, "ArrowRight")
    expect(page.locator("#drawn circle")).to_have_count(2)  # as it is, and moved
    moved(page, "ArrowRight")
    expect(page.locator("#drawn circle")).to_have_count(3)
    assert "80 µs: " in str(page.locator("#drawn circle title").last.text_content())
    page.locator("#measure").select_option("cpu_per_byte")
    assert page.locator("#drawn svg").get_attribute("aria-label")


@pytest.mark.compiled
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, pytest.param(1400, marks=pytest.mark.nightly)])
def test_it_fits_and_is_of_one_theme(
    page: Page, width: int, scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#answer").bounding_box()
    assert box is not None
    assert box["width"] > 340
    for place in ("body", "aside", "main", ".verdict", "select", "button"):
        papers = page.locator(place).first.evaluate(
            """element => {
              const canvas = document.createElement("canvas").getContext("2d");
              canvas.fillStyle = getComputedStyle(element).backgroundColor;
              canvas.fillRect(0, 0, 1, 1);
              return [...canvas.getImageData(0, 0, 1, 1).data];
            }"""
        )
        light = sum(papers[:3]) / 3 > 128
        assert papers[3] == 0 or light == (scheme == "light"), place


def test_knobs_that_nothing_reads_are_folded_and_a_filter_finds_them(page: Page) -> None:
    dead = page.get_by_label("vm.dirty_ratio")
    expect(page.get_by_text("change nothing here (1)")).to_be_visible(timeout=60000)
    assert not dead.is_visible()
    page.get_by_label("filter knobs").fill("dirty")
    assert dead.is_visible()
    assert not page.get_by_role("slider", name=USECS).is_visible()


@pytest.mark.compiled
@pytest.mark.nightly
def test_rounds_fill_one_table_up_to_commands_and_a_report(page: Page, tmp_path: Path) -> None:
    page.get_by_role("checkbox", name="affinity").check()
    rows = page.locator("#answer .first tbody th")
    strong = page.locator("#answer .verdict strong")
    expect(strong).to_contain_text("affinity: ")
    # the table of the work comes after the first answer: a column more for the case with it
    expect(page.locator(".work thead th")).to_have_count(3)
    first, sums = rows.all_text_contents(), page.locator(".work tfoot").text_content()
    expect(strong).to_contain_text("no difference", timeout=60000)
    assert rows.all_text_contents() == first
    assert page.locator(".work tfoot").text_content() == sums
    expect(strong).to_have_text("affinity: no difference", timeout=120000)
    assert rows.all_text_contents() == first
    page.get_by_role("button", name="Copy: Apply affinity").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("/etc/init.d/irq_balancer stop\necho ")
    with page.expect_download() as found:
        page.get_by_role("button", name="Save report").click()
    found.value.save_as(tmp_path / "report.html")
    assert "affinity: no difference" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.compiled
@pytest.mark.nightly
def test_sliders_of_a_notebook_are_answered(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(
        "import simnet\n"
        "from simnet.page.serve import served\n"
        "shown = simnet.sliders(\n"
        "    'x460-out-of-box', 'ethtool -C {port} rx-frames', settings={'nodes': '1'}\n"
        ")\n"
        "print(served(shown.offer), flush=True)\n"
        "input()\n"
    )
    command = [sys.executable, str(tmp_path / "shown.py")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as kernel:
        assert kernel.stdin is not None
        assert kernel.stdout is not None
        address = kernel.stdout.readline().strip()
        page = seen.page
        page.set_content(f'<iframe src="{address}" width="1000" height="700"></iframe>')
        frame = page.frame_locator("iframe")
        knob = frame.get_by_role("slider")
        expect(knob).to_have_count(1)
        knob.press("ArrowRight")
        strong = frame.locator("#answer .verdict strong")
        # longer runs may have answered by then
        said = re.compile(r"ethtool -C \{port\} rx-frames=10: (first impression|leaning: .+)")
        expect(strong).to_have_text(said)
        knob.press("ArrowLeft")
        expect(strong).to_have_text("As it is")
        kernel.stdin.close()
        kernel.wait(timeout=60)
