"""What is compared with ns-3 is compiled and run here, or not compared."""

from pathlib import Path

import pytest

from bench import ns3


def test_without_ns3_there_is_nothing_to_compare_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ns3.bulk() is None
    # a machine with a compiler and pkg-config, and no ns-3
    for name, status in (("pkg-config", 1), ("c++", 0)):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nexit {status}\n", "ascii")
        program.chmod(0o755)
    assert ns3.bulk() is None


@pytest.mark.slow
def test_the_stream_fills_the_link_in_ns3() -> None:
    program = ns3.bulk()
    if program is None:
        pytest.skip("ns-3 is not installed")
    with ns3.Bulk(program) as stream:
        packets = stream.simulate_a_second()
        assert stream.cpu_s() > 0
    # 1448 bytes with headers of TCP with timestamps, IP and PPP
    assert packets == pytest.approx(10**9 / 8 / (1448 + 32 + 20 + 2), rel=0.001)
