"""Tests that were run on a host: its scenario repeats them."""

import json
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.importing.source import read_source
from tests.importing.loads.test_workload import counters, derivation, loaded, read
from tests.importing.trees import folder

TITLE = "TCP {} TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET"
STREAM = """
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00    9412.30
"""
REQUESTS = """
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 100      200     10.00    25123.11
16384  131072
"""


def iperf3(side: str = "connecting_to", **asked: Any) -> str:
    """What `iperf3 -J` prints on a side."""
    start = {"protocol": "TCP", "num_streams": 4, "blksize": 131072, "duration": 10, "reverse": 0}
    total = {"sum_received": {"bits_per_second": 9.4e9}}
    document = {"start": {side: {}, "test_start": start | asked}, "intervals": [], "end": total}
    return json.dumps(document, indent=1)


@pytest.mark.parametrize(
    ("text", "test", "connections", "message"),
    [
        (iperf3(), "netperf", 4, 131072),
        (iperf3(reverse=1), "netserver", 4, 131072),
        (iperf3("accepted_connection"), "netserver", 4, 131072),
        (iperf3("accepted_connection", reverse=1), "netperf", 4, 131072),
        (iperf3(bidir=1, num_streams=2, blksize=8192), "bidirectional", 2, 8192),
        (iperf3(num_streams=128), "netperf", 32, 131072),
        (TITLE.format("STREAM") + STREAM, "netperf", 1, 16384),
        (TITLE.format("MAERTS") + STREAM, "netserver", 1, 16384),
        (2 * (TITLE.format("STREAM") + STREAM), "netperf", 2, 16384),
        (TITLE.format("REQUEST/RESPONSE") + REQUESTS, "tcp_rr", 1, 100),
    ],
)
def test_a_test_of_the_network_is_repeated(
    tmp_path: Path, text: str, test: str, connections: int, message: int
) -> None:
    found = read(tmp_path, {"test.txt": text})
    effective: Any = loaded(tmp_path, found)
    workload = effective.workload
    assert (workload.test, workload.connections) == (test, connections)
    assert workload.message_bytes == message
    assert "test.txt" in derivation(found)


def test_the_repeated_test_runs_in_the_direction_that_was_measured(tmp_path: Path) -> None:
    loaded(tmp_path, read(tmp_path, {"test.txt": iperf3()}))
    run = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="10 ms", duration="10 ms")
    [port] = run.ports
    assert port.tx_bps > 10 * port.rx_bps


def test_what_the_ports_carry_counts_more(tmp_path: Path) -> None:
    later = (625_000_000, 412_820, 13_620_000, 206_410)
    found = read(tmp_path, {"test.txt": iperf3(), **counters(later=later)})
    assert "ens1 received" in derivation(found)


@pytest.mark.parametrize(
    "text",
    [
        iperf3(num_streams="many"),
        iperf3(blksize=1 << 40),
        '{"start": [1, 2]}',
        '{"start": ',
        TITLE.format("STREAM"),
    ],
)
def test_a_broken_output_is_no_workload(tmp_path: Path, text: str) -> None:
    assert "assumed" in derivation(read(tmp_path, {"test.txt": text}))


def test_a_test_of_udp_is_said_and_not_repeated(tmp_path: Path) -> None:
    found = read(tmp_path, {"test.txt": iperf3(protocol="UDP")})
    assert "this is a sender of UDP, and its load cannot be simulated" in derivation(found)
    assert loaded(tmp_path, found).workload.test == "unsimulated"


def test_softirqs_and_disks_are_observed(tmp_path: Path) -> None:
    table = "                    CPU0       CPU2\n          HI:          1          0\n"
    row = "      NET_RX:    {:7}    {:7}\n"
    disk = {
        "disk_device": "sda",
        "r/s": 10.0,
        "w/s": 0.0,
        "r_await": 5.0,
        "w_await": 0.0,
        "util": 44.0,
    }
    iostat = {"sysstat": {"hosts": [{"statistics": [{"disk": []}, {"disk": [disk]}]}]}}
    found = read(
        tmp_path,
        {
            "proc/uptime": "100.00 50.00\n",
            "later/proc/uptime": "105.00 50.00\n",
            "proc/softirqs": table + row.format(2**32 - 100, 7),
            "later/proc/softirqs": table + row.format(400, 7),
            "sos_commands/sar/iostat_-x_-o_JSON_1_2": json.dumps(iostat),
        },
    )
    uses = found.summary()["observed"]["uses"]
    assert uses["cpu.0.net_rx_softirqs_per_s"] == pytest.approx(100)
    assert uses["cpu.2.net_rx_softirqs_per_s"] == 0
    assert uses["disk.sda.util_percent"] == 44


def test_softirqs_among_outputs_are_not_taken_for_interrupts(tmp_path: Path) -> None:
    cpus = "".join(f"{f'CPU{cpu}':>11}" for cpu in range(96))
    text = f"          {cpus}\n          HI:{96 * '          1'}\n"
    outputs = {"lscpu.txt": "Architecture: x86_64\nCPU(s): 2\nOn-line CPU(s) list: 0,1\n"}
    place = folder(tmp_path / "host", {**outputs, "a.txt": text})
    host = read_source(str(place))
    assert host.interrupts == {}


def test_threaded_napi_has_the_scheduler_that_it_needs(tmp_path: Path) -> None:
    name = "/sys/class/net/ens1/threaded"
    found = read(tmp_path, {name[1:]: "1\n"})
    assert found.tuning.settings[name].raw == "1"
    effective: Any = loaded(tmp_path, found)
    assert effective.host.kernel.scheduler == "fair"
    assert effective.ports[0].nic.threaded
