"""A capture is what a real reader takes for one, and changes nothing."""

import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dpkt
import pytest

from simnet.errors import InputError
from simnet.study.run.pcap import PcapFile
from simnet.study.run.run import run

SHORT: Any = {"settings": {"nodes": "1"}, "warm_up": "10 ms", "duration": "10 ms"}


def _packets(file: Path) -> list[tuple[float, int, Any]]:
    """Time, length of the IP packet, and TCP header of each."""
    found = []
    with file.open("rb") as stream:
        for when, data in dpkt.pcapng.Reader(stream):
            packet = dpkt.ethernet.Ethernet(data).data
            assert packet.v == 4
            assert dpkt.in_cksum(data[14:34]) == 0
            found.append((when, packet.len, packet.data))
    return found


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    file = tmp_path_factory.mktemp("pcap") / "eth1.pcapng"
    return file, run("x460-out-of-box", **SHORT, pcap=file, pcap_port="eth1")


def test_it_changes_no_result(capture: tuple[Path, Any]) -> None:
    assert capture[1].fingerprint == run("x460-out-of-box", **SHORT).fingerprint


def test_it_is_in_order_and_has_every_byte_that_the_port_carried(capture: tuple[Path, Any]) -> None:
    file, result = capture
    packets = _packets(file)
    times = [when for when, _, _ in packets]
    assert times == sorted(times)
    measured = [one for one in packets if 0.0101 < one[0] < 0.02]
    data = [(n, tcp) for _, n, tcp in measured if n > 20 + 4 * tcp.off]
    acks = [(n, tcp) for _, n, tcp in measured if n == 20 + 4 * tcp.off]
    port = next(one for one in result.ports if one.name == "eth1")
    assert len(data) == pytest.approx(port.rx_packets_per_s * 0.0099, rel=0.02)
    assert len(acks) == pytest.approx(port.tx_packets_per_s * 0.0099, rel=0.05)
    carried = sum(n + 14 for n, _ in data)
    assert 8 * carried / 0.0099 == pytest.approx(port.rx_bps, rel=0.02)
    ends = [(tcp.seq, tcp.seq + n - 20 - 4 * tcp.off) for n, tcp in data]
    assert all(last == first for (_, last), (first, _) in pairwise(ends))
    assert acks[-1][1].ack <= ends[-1][1]
    assert {(tcp.sport, tcp.dport) for _, tcp in data} == {
        (tcp.dport, tcp.sport) for _, tcp in acks
    }


def test_the_handshake_that_says_the_scale_is_marked_and_first(capture: tuple[Path, Any]) -> None:
    (_, _, syn), (_, _, answer), *rest = _packets(capture[0])
    assert (syn.flags, answer.flags) == (dpkt.tcp.TH_SYN, dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK)
    assert dict(dpkt.tcp.parse_opts(syn.opts))[dpkt.tcp.TCP_OPT_WSCALE] == b"\x08"
    assert rest[0][2].seq == (syn.seq + 1) & 0xFFFFFFFF
    assert capture[0].read_bytes().count(b"not simulated") == 2


def test_frames_of_many_connections_have_addresses_and_windows_both_ways(tmp_path: Path) -> None:
    file = tmp_path / "relay.pcapng"
    run("relay-untuned", warm_up="2 ms", duration="8 ms", pcap=file)
    ways = set()
    with file.open("rb") as stream:
        for _, data in dpkt.pcapng.Reader(stream):
            ip = dpkt.ethernet.Ethernet(data).data
            ways.add((ip.src, ip.data.sport, ip.dst, ip.data.dport))
            assert ip.data.win > 0
    assert len(ways) > 100
    assert all((far, far_port, own, port) in ways for own, port, far, far_port in ways)


def _frame(**changed: Any) -> Any:
    fields = {
        "seq": 1000, "end_seq": 1000, "ack": 5000, "window": 65, "wire_bytes": 126, "push": True,
        "sack": [(7000, 8000), (9000, 2**32 + 5)], "tsval": 77, "tsecr": 66, "header": None,
        "arrival_ps": 10**9,
    }  # fmt: skip
    return SimpleNamespace(**{**fields, **changed})


@pytest.mark.nightly
def test_sack_timestamps_and_a_small_window_are_in_the_header(tmp_path: Path) -> None:
    file = tmp_path / "one.pcapng"
    port = SimpleNamespace(name="eth0", uncounted_bytes=24, copies=False, capture=None)
    with PcapFile(file) as capture:
        capture.attach(SimpleNamespace(nics=(port,)))  # type: ignore[arg-type]
        for number in range(3 * 2**14):  # more than what waits to be written in order
            capture.frame(_frame(), 10**9 + 1000 * (number ^ 7), out=True)
    packets = _packets(file)
    assert len(packets) == 3 * 2**14 + 2
    tcp = packets[-1][2]
    options = dict(dpkt.tcp.parse_opts(tcp.opts))
    assert options[dpkt.tcp.TCP_OPT_TIMESTAMP] == bytes.fromhex("0000004d00000042")
    assert options[dpkt.tcp.TCP_OPT_SACK] == bytes.fromhex("00001b5800001f400000232800000005")
    assert (tcp.ack, tcp.win, tcp.flags) == (5000, 1, dpkt.tcp.TH_ACK | dpkt.tcp.TH_PUSH)
    times = [when for when, _, _ in packets]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("scenario", "options", "message"),
    [
        ("x460-out-of-box", {"pcap_port": "eth1"}, "pcap_port: only with pcap"),
        ("x460-out-of-box", {"pcap": "x.pcapng", "pcap_port": "eth11"}, "pcap_port: expected one"),
        ("vlan-half-cpu", {"pcap": "x.pcapng"}, "is no Ethernet port"),
        ("vscsi-parallel", {"pcap": "x.pcapng"}, "pcap: there is no network port"),
        ("x460-out-of-box", {"pcap": "nowhere/x.pcapng"}, "nowhere/x.pcapng: pcap: cannot be"),
    ],
)
def test_what_cannot_be_captured_is_refused_and_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenario: str,
    options: dict[str, str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(message)):
        run(scenario, duration="10 ms", warm_up="10 ms", **options)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
