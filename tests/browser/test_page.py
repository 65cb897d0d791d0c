"""The local page in a real browser: sliders, pin, copy buttons; no request to another host."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import Seen

pytest.importorskip("panel")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A page of one node of the x460."""
    command = [sys.executable, "-m", "simnet", "page", "x460-out-of-box", "--set", "nodes=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.mark.compiled
@pytest.mark.nightly
def test_a_tuning_and_a_slider_are_answered_at_once_then_better(seen: Seen, address: str) -> None:
    page = seen.page
    page.goto(address)
    page.get_by_text("answer: first impression").wait_for()
    page.get_by_label("affinity").check()
    page.get_by_text("affinity: first impression").wait_for(timeout=5000)
    page.get_by_text("round 1 of 3").wait_for(timeout=60000)
    assert page.get_by_text("What to type for affinity").is_visible()
    page.get_by_role("button", name="Copy: Apply affinity").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("/etc/init.d/irq_balancer stop\necho ")
    page.get_by_role("button", name="Pin as before").click()
    page.get_by_text("as it is: first impression").wait_for()
    slider = page.locator(".noUi-handle").first
    slider.focus()
    slider.press("ArrowRight")
    page.get_by_text("affinity: ").first.wait_for(state="detached")
    page.get_by_text("ethtool -C {port} rx-usecs=40 µs: first").wait_for(timeout=10000)
    page.get_by_role("button", name="Pin as before").click()
    page.get_by_text("as it is: first impression").wait_for()
    slider.press("ArrowLeft")
    page.get_by_text("ethtool -C {port} rx-usecs=20 µs: first").wait_for(timeout=10000)
    hosts = {urlsplit(one).hostname for one in seen.requests if one.startswith(("http", "ws"))}
    assert hosts == {"127.0.0.1"}


@pytest.mark.compiled
@pytest.mark.nightly
def test_sliders_of_a_notebook_are_answered(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(
        "import simnet\n"
        "from simnet.page.serve import served\n"
        "shown = simnet.sliders(\n"
        "    'x460-out-of-box', 'ethtool -C {port} rx-frames', settings={'nodes': '1'}\n"
        ")\n"
        "print(served(shown.__panel__), flush=True)\n"
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
        frame.get_by_text("answer: first impression").wait_for()
        assert frame.locator(".noUi-handle").count() == 1
        frame.locator(".noUi-handle").press("ArrowRight")
        frame.get_by_text("ethtool -C {port} rx-frames=10: first impression").wait_for()
        frame.get_by_text("round 1 of 3").wait_for(timeout=60000)
        frame.locator(".noUi-handle").press("ArrowLeft")
        frame.get_by_text("as it is: first impression").wait_for()
        hosts = {urlsplit(one).hostname for one in seen.requests if one.startswith(("http", "ws"))}
        assert hosts == {"127.0.0.1"}
        kernel.stdin.close()
        kernel.wait(timeout=60)


def test_without_the_token_there_is_nothing(address: str) -> None:
    parts = urlsplit(address)
    assert len(parts.path) > 30
    for path in ("/", "/simnet", f"{parts.path[:-1]}"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"http://{parts.netloc}{path}", timeout=10)
        assert caught.value.code == 404
        caught.value.close()


def test_it_listens_on_this_machine_alone(address: str) -> None:
    port = urlsplit(address).port
    with socket.socket(socket.AF_INET6) as six, pytest.raises(OSError, match=r"refused|assign"):
        six.connect(("::1", port))
    own = socket.gethostbyname(socket.gethostname())
    if not own.startswith("127."):
        with socket.socket() as four, pytest.raises(OSError, match="refused"):
            four.connect((own, port))
