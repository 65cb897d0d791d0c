"""Sliders in a notebook: what a kernel shows, and what is read on the web."""

import urllib.request
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.page import sliders as module
from simnet.page.offer import Offer

USECS = "ethtool -C {port} rx-usecs"
ONE_NODE = {"nodes": "1"}


@pytest.mark.compiled
def test_what_is_read_on_the_web_is_an_example_and_what_could_be_moved() -> None:
    shown = simnet.sliders("x460-out-of-box", USECS, choices="affinity", settings=ONE_NODE)
    html = shown._repr_html_()
    assert "affinity: first impression" in html
    assert f"{USECS} (20 us of 2 us, 5 us, 10 us, 20 us, 40 us, 80 us, 160 us)" in html
    assert "tuning affinity" in html
    assert shown._repr_mimebundle_() == {}
    assert repr(shown).startswith("x460-out-of-box: In a running notebook")
    moved = simnet.sliders("x460-out-of-box", USECS, settings=ONE_NODE)._repr_html_()
    assert f"{USECS}=160 µs: first impression" in moved


def test_text_of_strangers_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "first", lambda *_: None)
    base = simnet.sliders("x460-out-of-box", settings=ONE_NODE).offer.base
    shown = module.Sliders(Offer(base, ("<script>",), ()))._repr_html_()
    assert "&lt;script&gt;" in shown


def test_a_kernel_shows_a_page_of_this_machine_behind_a_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_in_a_kernel", lambda: True)
    shown = simnet.sliders("x460-out-of-box", USECS, settings=ONE_NODE)
    html = shown._repr_mimebundle_()["text/html"]
    address = html.split('src="')[1].split('"')[0]
    assert address.startswith("http://127.0.0.1:")
    assert len(address.rsplit("/", 1)[1]) > 30
    assert shown._repr_mimebundle_()["text/html"] == html  # served once
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 (seen to be http)
        assert b"<title>x460-out-of-box - simnet</title>" in answer.read()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"knobs": "rx-usecs"}, "did you mean ethtool -C {port} rx-usecs?"),
        ({"knobs": "ethtool -C {port} rx-usec"}, "did you mean ethtool -C {port} rx-usecs?"),
        ({"choices": "afinity"}, "choices: afinity: .*; did you mean affinity?"),
        ({"choices": "x"}, "choices: x: .* expected numactl or affinity$"),
    ],
)
def test_what_cannot_be_moved_is_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("{", r"\{").replace("?", r"\?")):
        simnet.sliders("x460-out-of-box", **given)
