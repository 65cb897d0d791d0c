"""A report in a real browser."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Literal

import pytest

from tests.browser.conftest import Seen
from tests.report.html.documents import KINDS, saved_documents


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a saved what-if, with a run of before and after."""
    from simnet.report.html.make import saved_parts
    from simnet.report.html.page import page

    folder = tmp_path_factory.mktemp("report")
    saved = folder / "whatif.json"
    saved.write_text(saved_documents()["whatif"], encoding="utf-8")
    text = page(saved_parts([saved], simulate=True))
    (folder / "report.html").write_text(text, encoding="utf-8")
    return folder / "report.html"


def test_it_opens_without_an_error_and_asks_no_host(seen: Seen, report: Path) -> None:
    seen.page.goto(report.as_uri())
    assert seen.page.title() == "What would affinity do to x460-out-of-box with nodes=1?"
    assert seen.page.locator("h1").is_visible()
    assert seen.page.locator("figure svg").count() >= 4
    assert {one for one in seen.requests if not one.startswith("data:")} == {report.as_uri()}


def test_copy_buttons_copy_what_is_to_be_typed(seen: Seen, report: Path) -> None:
    seen.page.goto(report.as_uri())
    button = seen.page.get_by_role("button", name="Copy: Apply affinity")
    button.click()
    seen.page.wait_for_function("document.querySelector('button.copy').textContent == 'Copied'")
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("/etc/init.d/irq_balancer stop\necho ")
    assert copied == seen.page.locator(f"#{button.get_attribute('data-of')}").text_content()


def test_a_script_in_it_cannot_run(seen: Seen, report: Path, tmp_path: Path) -> None:
    text = report.read_text("utf-8").replace(
        "<main>", "<main><script>document.title = 'x'</script>"
    )
    spoilt = tmp_path / "spoilt.html"
    spoilt.write_text(text, encoding="utf-8")
    seen.page.goto(spoilt.as_uri())
    assert seen.page.title() != "x"
    assert any("Content Security Policy" in one for one in seen.errors)
    seen.errors.clear()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("width", [390, pytest.param(1400, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wider_than_the_window_or_written_too_small(
    seen: Seen, tmp_path: Path, kind: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    (tmp_path / "report.html").write_text(_written(kind), "utf-8")
    seen.page.set_viewport_size({"width": width, "height": 800})
    seen.page.emulate_media(color_scheme=scheme)
    seen.page.goto((tmp_path / "report.html").as_uri())
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    box = seen.page.locator(".verdict").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 800
    # what is cut has a scroller of its own, which the keyboard reaches
    outside = seen.page.evaluate(
        """() => [...document.querySelectorAll("table, figure svg")]
          .filter((one) => one.getBoundingClientRect().right > innerWidth)
          .filter((one) => !one.closest(".scroll[tabindex]")).length"""
    )
    assert outside == 0
    sizes = seen.page.evaluate(
        """() => [...document.querySelectorAll("figure svg text")]
          .filter((one) => one.textContent.trim())
          .map((one) => [parseFloat(getComputedStyle(one).fontSize), one.getScreenCTM()])
          .map(([size, to]) => size * Math.hypot(to.a, to.b))"""
    )
    assert min(sizes, default=7) >= 7


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(
    seen: Seen, report: Path, scheme: Literal["light", "dark"]
) -> None:
    seen.page.emulate_media(color_scheme=scheme)
    seen.page.goto(report.as_uri())
    for place in (
        "h1",
        ".verdict strong",
        "figcaption",
        "pre",
        "thead th",
        "section figure svg text",
    ):
        colours = seen.page.locator(place).first.evaluate(
            """element => {
              const style = getComputedStyle(element);
              const ink = element instanceof SVGElement ? style.fill : style.color;
              return [ink, getComputedStyle(document.body).backgroundColor];
            }"""
        )
        light, dark = sorted(map(_luminance, colours), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, place


def test_in_print_everything_is_open_and_nothing_to_click(seen: Seen, report: Path) -> None:
    seen.page.goto(report.as_uri())
    seen.page.emulate_media(media="print")
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator("details:not([open]):not(.long)").count() == 0
    assert not seen.page.locator("button.copy").first.is_visible()


@cache
def _written(kind: str) -> str:
    from simnet.report.html.make import saved_parts
    from simnet.report.html.page import page

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved.json"
        saved.write_text(saved_documents()[kind], encoding="utf-8")
        return page(saved_parts([saved], simulate=False))


def _luminance(colour: str) -> float:
    """Relative luminance of ``rgb(r, g, b)``, as WCAG 2 defines it."""
    parts = [float(one) / 255 for one in colour.partition("(")[2].rstrip(")").split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
