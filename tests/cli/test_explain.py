"""Explanations as a user asks for them."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Simnet

SHORT = ("x460-out-of-box", "--set", "nodes=1", "--warm-up", "10 ms", "--duration", "4 ms")


def test_text_says_what_holds_back_and_what_is_modelled(simnet: Simnet, tmp_path: Path) -> None:
    picture = tmp_path / "bars.svg"
    settings = ("--set", "net.ipv4.tcp_fack=0", "--out", str(picture))
    status, out, err = simnet("explain", *SHORT, *settings)
    assert status == 0
    assert err.startswith("simnet: net.ipv4.tcp_fack: accepted, but not modelled")
    heading, *lines = out.splitlines()
    assert heading.startswith("What holds back x460-out-of-box with ")
    assert "held by" in out
    assert any(line.startswith("eth0 receive ") and " port " in line for line in lines)
    assert any(line.startswith("cpu0 ") and "softirq" in line for line in lines)
    assert any(line.endswith("without an effect here: net.ipv4.tcp_fack") for line in lines)
    assert "eth0 receive" in picture.read_text("utf-8")


def test_json_is_the_document(simnet: Simnet) -> None:
    status, out, err = simnet("explain", *SHORT, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["schema"] == "simnet.explanation/1"
    assert {"eth0 receive", "cpu0", "peer0 cpu0"} <= {one["name"] for one in found["resources"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--precision", "1 %"), "--precision: explain measures for a given time: --duration"),
        (("--out", "bars.txt"), "--out: bars.txt: expected a name that ends with one of .json"),
        (("--out", "nowhere/bars.png"), "--out: nowhere: expected a folder that exists"),
    ],
)
def test_bad_options_are_refused_at_once(
    simnet: Simnet, options: tuple[str, ...], message: str
) -> None:
    status, out, err = simnet("explain", *SHORT, *options)
    assert (status, out) == (2, "")
    assert err.startswith(f"simnet: {message}")
    assert err.count("\n") == 1
