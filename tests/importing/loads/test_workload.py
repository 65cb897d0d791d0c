"""The load of an imported host: what was observed, and what becomes of it."""

import json
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import Imported, imported
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from tests.importing.test_settings import HOST, NETWORKING
from tests.importing.trees import folder

DEVICES = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: {lo} 0 0 0 0 0 0 {lo} 0 0 0 0 0 0
  ens1:{rx} 0 0 0 0 0 0 {tx} 0 0 0 0 0 0
"""  # noqa: E501


def counters(**seconds: tuple[int, int, int, int]) -> dict[str, str]:
    """The port's counters now and five seconds later: bytes and packets received and sent."""
    base = 2**40
    files: dict[str, str] = {}
    for place, up, (rx_bytes, rx, tx_bytes, tx) in (
        ("", "100.00", (0, 0, 0, 0)),
        ("later/", "105.00", seconds["later"]),
    ):
        listing = DEVICES.format(
            lo="9 9", rx=f"{base + rx_bytes} {base + rx}", tx=f"{base + tx_bytes} {base + tx}"
        )
        files |= {f"{place}proc/net/dev": listing, f"{place}proc/uptime": f"{up} 50.00\n"}
    return files


def sadf(*samples: tuple[float, float, float, float]) -> str:
    """What `sadf -j -- -n DEV` prints: packets and KiB a second, received and sent."""
    keys = ("rxpck", "txpck", "rxkB", "txkB")
    statistics = [
        {
            "timestamp": {"date": "2026-01-01", "time": "00:10:00", "utc": 1, "interval": 600},
            "network": {"net-dev": [{"iface": "ens1", **dict(zip(keys, one, strict=True))}]},
        }
        for one in samples
    ]
    host = {"nodename": "host", "sysdata-version": 2.17, "statistics": statistics}
    return json.dumps({"sysstat": {"hosts": [host]}}, indent=1)


SOCKETS = """State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB  0      0          10.0.0.1:5001     10.0.0.2:40000
\t cubic wscale:7,7 rto:204 rtt:0.1/0.05 mss:1448 cwnd:10 bytes_received:99999999 segs_out:5
ESTAB  0      0          10.0.0.1:5001     10.0.0.3:40001
\t cubic wscale:7,7 rto:204 rtt:0.1/0.05 mss:1448 cwnd:10 bytes_sent:99999999 segs_out:5
ESTAB  0      0          10.0.0.1:22       10.0.0.9:40002
\t cubic wscale:7,7 rto:204 rtt:0.1/0.05 mss:1448 cwnd:10 bytes_received:4001 segs_out:5
ESTAB  0      0         127.0.0.1:6379    127.0.0.1:40003
\t cubic wscale:7,7 rto:204 rtt:0.1/0.05 mss:1448 cwnd:10 bytes_received:99999999 segs_out:5
"""


def read(tmp_path: Path, files: dict[str, str], workload: str | None = None) -> Imported:
    """What an import makes of the host with some files more."""
    return imported(read_source(str(folder(tmp_path / "host", HOST | files))), workload)


def loaded(tmp_path: Path, found: Imported) -> Effective:
    """The scenario, as it is read."""
    found.write(tmp_path / "out")
    return load(str(tmp_path / "out" / "scenario.toml"))


def derivation(found: Imported) -> str:
    """The note that says where the load is from."""
    (note,) = (note for note in found.notes if note.startswith("workload: "))
    return note


@pytest.mark.parametrize(
    ("later", "test", "mbps"),
    [
        # 1 Gbit/s of full frames, and their ACKs: five seconds, with 24 bytes around each
        ((625_000_000, 412_820, 13_620_000, 206_410), "netserver", 1015),
        ((13_620_000, 206_410, 625_000_000, 412_820), "netperf", 1015),
        ((625_000_000, 412_820, 625_000_000, 412_820), "bidirectional", 1015),
    ],
)
def test_full_frames_are_streams_at_the_observed_rate(
    tmp_path: Path, later: tuple[int, int, int, int], test: str, mbps: int
) -> None:
    found = read(tmp_path, counters(later=later) | {f"{NETWORKING}/ss_-tin": SOCKETS})
    effective: Any = loaded(tmp_path, found)
    assert (effective.workload.test, effective.workload.connections) == (test, 2)
    assert effective.switch.link_rate_bps // 10**6 == mbps
    assert "over 5 s (later/proc/net/dev)" in derivation(found)
    run = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="30 ms", duration="10 ms")
    # payload of jumbo frames, both ways together; ACKs share the way with them
    most = 0.99e6 * mbps * (1 + (test == "bidirectional"))
    assert 0.9 * most < run.throughput_bps < 1.01 * most


def test_small_frames_are_requests_at_the_observed_rate(tmp_path: Path) -> None:
    found = read(tmp_path, {"sos_commands/sar/sadf_-j_--_-n_DEV": sadf(
        (90.0, 80.0, 9.0, 8.0), (41000.0, 40000.0, 4000.0, 12000.0), (10.0, 10.0, 1.0, 1.0)
    )})  # fmt: skip
    effective: Any = loaded(tmp_path, found)
    assert effective.workload.test == "memcached"
    # of the busiest interval
    assert effective.memcached.qps == 40000
    assert (effective.memcached.first_cpu, effective.memcached.workers) == (2, 2)
    assert "over 600 s (sos_commands/sar/sadf_-j_--_-n_DEV)" in derivation(found)
    run = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="10 ms", duration="20 ms")
    assert run.messages is not None
    assert run.messages.delivered_per_s == pytest.approx(40000, rel=0.1)


def test_an_idle_port_tells_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, counters(later=(5000, 50, 5000, 50)))
    assert derivation(found) == (
        "workload: streams to the host are assumed; its ports carried next to nothing"
    )


def test_requests_and_answers_are_as_long_as_seen(tmp_path: Path) -> None:
    """Answers of 700 bytes to requests of 50, with the headers of a frame each."""
    rate, seconds = 40_000, 5
    frames = rate * seconds
    later = (frames * (50 + 66), frames, frames * (700 + 66), frames)
    found = read(tmp_path, counters(later=later))
    effective = loaded(tmp_path, found)
    assert effective.memcached is not None
    assert (effective.memcached.key_bytes, effective.memcached.value_bytes) == (44, 635)
    assert "of 50 B with answers of 700 B" in derivation(found)
    run: Any = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="20 ms", duration="50 ms")
    (port,) = (one for one in run.ports if one.rx_packets_per_s > 1000)
    # beside its acknowledgements each frame has the headers, and 24 bytes around it on the wire
    assert port.tx_bps / 8 / port.rx_packets_per_s == pytest.approx(700 + 66 + 24, rel=0.05)


@pytest.mark.parametrize("name", ["stream", "rr", "memcached"])
def test_a_named_workload_is_taken(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, counters(later=(625_000_000, 412_820, 9, 9)), name)
    effective: Any = loaded(tmp_path, found)
    tests = {"stream": "netserver", "rr": "tcp_rr", "memcached": "memcached"}
    assert effective.workload.test == tests[name]
    assert effective.switch.link_rate_bps == 25 * 10**9


def test_use_of_cpus_and_losses(tmp_path: Path) -> None:
    softnet = "{:08x} 00000000 {:08x} 00000000 00000000 00000000 00000000 00000000 00000000\n"
    statistics = "NIC statistics:\n     rx_packets: 99\n     rx_missed_errors: {}\n"
    found = read(tmp_path, counters(later=(9, 9, 9, 9)) | {
        "proc/net/softnet_stat": softnet.format(2**32 - 10, 0),
        "later/proc/net/softnet_stat": softnet.format(490, 5),
        "proc/stat": "cpu  9 0 9 9 0 0 9 0 0 0\ncpu1 100 0 100 100 0 0 100 0 0 0\n",
        "later/proc/stat": "cpu  9 0 9 9 0 0 9 0 0 0\ncpu1 110 0 120 130 0 0 140 0 0 0\n",
        f"{NETWORKING}/ethtool_-S_ens1": statistics.format(7),
        f"later/{NETWORKING}/ethtool_-S_ens1": statistics.format(57),
    })  # fmt: skip
    assert found.summary()["observed"]["uses"] == {
        "backlog_packets_per_s": 100.0,
        "backlog_drops_per_s": 0.0,
        "softirq_squeezed_per_s": 1.0,
        "cpu.1.busy": 70.0,
        "cpu.1.softirq": 40.0,
        "port.ens1.lost_per_s": 10.0,
    }


def test_what_mpstat_printed(tmp_path: Path) -> None:
    row = {"usr": 1.5, "soft": 20.0, "iowait": 3.0, "idle": 60.0}
    share = (("softirq", 20.0), ("busy", 37.0))
    rows = [{"cpu": "all", **row}, {"cpu": "3", **row}]
    text = {"sysstat": {"hosts": [{"statistics": [{"cpu-load": rows}]}]}}
    found = read(tmp_path, {"sos_commands/sar/mpstat_-P_ALL_-o_JSON_1_1": json.dumps(text)})
    uses = found.summary()["observed"]["uses"]
    assert uses == {f"cpu.{cpu}.{one}": value for cpu in ("all", "3") for one, value in share}


def test_connections_with_data_are_streams_where_no_rate_is_known(tmp_path: Path) -> None:
    found = read(tmp_path, {"sos_commands/networking/ss_-tin": SOCKETS})
    assert "shows 2 connections with data: 2 to the host" in derivation(found)
    assert loaded(tmp_path, found).workload.connections == 2
