"""Captures from files: of simnet itself, of other tools, broken ones."""

import re
import struct
from pathlib import Path
from typing import Any

import dpkt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simnet
from simnet.cli import main
from simnet.errors import InputError
from simnet.study.sequence.capture import Capture, read_capture, summary
from simnet.study.sequence.connections import SENT

ASKS = {"nodes": "1", "test": "tcp_rr", "workload.writes": "100,200", "workload.read": "10"}


@pytest.fixture(scope="module")
def stalled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of requests in two parts: the second waits for a delayed ACK."""
    path = tmp_path_factory.mktemp("pcap") / "stalls.pcapng"
    simnet.run("x460-out-of-box", settings=ASKS, warm_up="0 s", duration="150 ms", pcap=path)
    return path


def written(path: Path, *frames: bytes, link: int = dpkt.pcap.DLT_EN10MB) -> Path:
    """A file of libpcap."""
    with path.open("wb") as file:
        writer: Any = dpkt.pcap.Writer(file, linktype=link)
        for number, frame in enumerate(frames):
            writer.writepkt(frame, number / 1000)
    return path


def packet(seq: int, payload: bytes, version: int = 4) -> Any:
    tcp = dpkt.tcp.TCP(sport=1, dport=2, seq=seq, flags=dpkt.tcp.TH_ACK, data=payload)
    if version == 4:
        whole = dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=6, data=tcp)
        whole.len = len(whole)
        return whole
    return dpkt.ip6.IP6(
        src=b"\0" * 15 + b"\1", dst=b"\0" * 15 + b"\2", nxt=6, plen=len(tcp), data=tcp
    )


def test_a_stall_is_a_pause_that_an_ack_ends(stalled: Path) -> None:
    found = read_capture(stalled)
    way = found.directions[0]
    pause = way.pause()
    assert pause is not None
    assert 0.035 < pause.seconds < 0.045
    assert pause.ends == "ends with an ACK"
    assert {one.kind for one in way.segments} == {SENT}
    assert "ends with an ACK" in summary(way)
    assert set(found.to_frame()["kind"]) == {SENT}


def test_a_capture_has_the_bytes_that_the_run_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    run = simnet.run(
        "x460-out-of-box",
        settings={"nodes": "1"},
        warm_up="0 s",
        duration="10 ms",
        pcap=path,
        pcap_port="eth1",
    )
    way = read_capture(path).directions[0]
    (port,) = (one for one in run.ports if one.name == "eth1")
    # of each frame 90 bytes are no payload
    counted = port.rx_bps * 0.01 / 8 - 66 * len(way.segments)
    assert way.payload == pytest.approx(counted, rel=0.03)
    assert way.scaled


@pytest.mark.parametrize(("version", "ends"), [(4, ("10.0.0.1", "10.0.0.2")), (6, ("::1", "::2"))])
@pytest.mark.parametrize("link", [dpkt.pcap.DLT_EN10MB, 101])
def test_other_links_and_ipv6(
    tmp_path: Path, version: int, ends: tuple[str, str], link: int
) -> None:
    frames = [packet(number * 5, b"hello", version) for number in range(3)]
    if link != 101:
        kind = dpkt.ethernet.ETH_TYPE_IP if version == 4 else dpkt.ethernet.ETH_TYPE_IP6
        frames = [dpkt.ethernet.Ethernet(data=one, type=kind) for one in frames]
    found = read_capture(written(tmp_path / "x.pcap", *map(bytes, frames), b"\1" * 20, link=link))
    way = found.directions[0]
    assert (way.source[0], way.destination[0]) == ends
    assert (way.payload, found.others) == (15, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected a capture"),
        (b"GIF89a", "expected a capture"),
        (bytes.fromhex("0a0d0d0a"), "no capture: the file ends too early"),
        (bytes.fromhex("d4c3b2a1"), "no capture"),
    ],
)
def test_what_is_no_capture(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.pcapng"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_capture(path)


def test_a_capture_without_payload_or_of_another_link(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no TCP connection with payload among its 1 frames"):
        read_capture(written(tmp_path / "x.pcap", b"\0" * 60))
    with pytest.raises(InputError, match="got link type 105"):
        read_capture(written(tmp_path / "y.pcap", b"\0" * 60, link=105))


def test_what_is_cut_is_read_up_to_there(stalled: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(stalled.read_bytes()[:-30])
    whole, cut = read_capture(stalled), read_capture(path)
    assert len(cut.directions[0].segments) <= len(whole.directions[0].segments)
    assert re.search(r"cut or broken after frame \d+: the file ends too early$", cut.remarks[0])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_any_file_is_read_or_refused_in_one_line(
    stalled: Path, tmp_path: Path, data: st.DataObject
) -> None:
    content = bytearray(stalled.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "x.pcapng"
    path.write_bytes(content)
    said = ""
    try:
        assert read_capture(path).directions
    except InputError as error:
        said = str(error)
    assert len(said.splitlines()) <= 1


def test_the_figure_shows_every_kind(tmp_path: Path) -> None:
    sizes = [(0, 5), (5, 5), (0, 5), (15, 5), (10, 5)]
    frames = [
        bytes(dpkt.ethernet.Ethernet(data=packet(seq, b"x" * size), type=0x0800))
        for seq, size in sizes
    ]
    figure = read_capture(written(tmp_path / "x.pcap", *frames)).plot()
    (axes,) = figure.axes
    legend = axes.get_legend()
    assert legend is not None
    labels = {text.get_text() for text in legend.get_texts()}
    assert {"sent", "sent again", "out of order", "acknowledged"} <= labels
    assert axes.get_xlabel() == "time (ms)"


def test_the_command_writes_a_report_of_it(stalled: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    with pytest.raises(SystemExit, match="0"):
        main(["report", str(stalled), "--out", str(out)])
    text = out.read_text("utf-8")
    assert "What did the connections in stalls.pcapng do over time?" in text
    assert "ends with an ACK" in text
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(b"nothing")
    with pytest.raises(SystemExit, match="2"):
        main(["report", str(broken), "--out", str(tmp_path / "y.html")])
    assert not (tmp_path / "y.html").exists()


def test_reading_is_of_the_public_api(stalled: Path) -> None:
    assert isinstance(simnet.read_capture(stalled), Capture)


def _block(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def several(path: Path, links: list[int], *seen: tuple[int, int, bytes]) -> Path:
    """A pcapng of some interfaces: interface, time in us and bytes of each frame."""
    blocks = [_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))]
    blocks += [_block(1, struct.pack("<HHI", link, 0, 0)) for link in links]
    for number, time_us, frame in seen:
        head = struct.pack("<IIIII", number, 0, time_us, len(frame), len(frame))
        blocks.append(_block(6, head + frame))
    path.write_bytes(b"".join(blocks))
    return path


def ethernet(seq: int, payload: bytes) -> bytes:
    return bytes(dpkt.ethernet.Ethernet(type=0x800, data=packet(seq, payload)))


def test_what_two_interfaces_saw_is_counted_once(tmp_path: Path) -> None:
    ether = dpkt.pcap.DLT_EN10MB
    seen = [(0, 10, ethernet(1, b"a" * 100)), (1, 11, ethernet(1, b"a" * 100))]
    seen += [(1, 20, ethernet(101, b"b" * 100)), (0, 21, ethernet(101, b"b" * 100))]
    seen += [(0, 30, ethernet(201, b"c" * 50))]
    found = read_capture(several(tmp_path / "two.pcapng", [ether, ether], *seen))
    (way,) = found.directions
    assert way.payload == 250
    assert [one.kind for one in way.segments] == [SENT] * 3
    (remark,) = found.remarks
    assert "2 interfaces: each connection is read from the one that saw most of it" in remark


def test_an_interface_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    frames = (0, 10, b"\0" * 40), (1, 11, ethernet(1, b"a" * 100))
    usb = 189
    found = read_capture(several(tmp_path / "x.pcapng", [usb, dpkt.pcap.DLT_EN10MB], *frames))
    assert found.directions[0].payload == 100
    assert any("left out: " in one and "link type 189" in one for one in found.remarks)
    with pytest.raises(InputError, match="link type 189"):
        read_capture(several(tmp_path / "y.pcapng", [usb, usb], *frames))


def test_what_tcpdump_writes_of_any_interface(tmp_path: Path) -> None:
    head = struct.pack(">HHIHBB8s", 0x800, 0, 3, 1, 0, 6, b"\0" * 8)
    frame = head + bytes(packet(1, b"hello"))
    file = written(tmp_path / "any.pcap", frame, link=dpkt.pcap.DLT_LINUX_SLL2)
    assert read_capture(file).directions[0].payload == 5
