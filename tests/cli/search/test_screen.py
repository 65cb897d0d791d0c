"""A screening as a user asks for it."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Simnet

FRAMES = "ethtool -C {port} rx-frames"
SHORT = (
    *("x460-out-of-box", "--set", "nodes=1", "--paths", "2", "--warm-up", "10 ms"),
    *("--duration", "4 ms", "--knobs", FRAMES, "--knobs", "net.ipv4.tcp_sack"),
)


def test_text_and_picture(simnet: Simnet, tmp_path: Path) -> None:
    picture = tmp_path / "tornado.svg"
    status, out, err = simnet("screen", *SHORT, "--out", str(picture))
    assert (status, err) == (0, "")
    assert FRAMES in out
    assert out.splitlines()[-2:] == [
        "changed nothing    why",
        "net.ipv4.tcp_sack  nothing in these runs made use of it",
    ]
    assert "rx-frames" in picture.read_text("utf-8")


@pytest.mark.nightly
def test_json_is_the_document(simnet: Simnet) -> None:
    status, out, _ = simnet("screen", *SHORT, "--json")
    assert status == 0
    assert json.loads(out)["schema"] == "simnet.screen/1"


def test_an_unknown_name_is_one_line(simnet: Simnet) -> None:
    status, out, err = simnet("screen", "x460-out-of-box", "--knobs", "numactk")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "did you mean numactl?" in err
