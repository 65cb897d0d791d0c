"""Datagrams as an administrator sees them: where they are lost, and what helps."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.study.run.result import Result
from tests.scenario.system.per_frame import agree

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[4] / "validation" / "live" / "udp-6.18.json").read_text("utf-8")
)
MS = 10**9
RPS = "/sys/class/net/eth0/queues/rx-*/rps_cpus"


@cache
def ran(*settings: tuple[str, str], tuning: str = "") -> Result:
    tunings = (tuning,) if tuning else ()
    return simnet.run(
        "media-udp", settings=dict(settings), tunings=tunings, warm_up="20 ms", duration="50 ms"
    )


def places(result: Result) -> set[str]:
    return {drop.place for drop in result.drops}


def test_default_sockets_do_not_hold_a_burst() -> None:
    result = ran()
    assert places(result) == {"socket"}
    assert result.udp.rcvbuf_errors == result.udp.in_errors > 0
    assert result.loss is not None
    assert result.loss == pytest.approx(result.udp.rcvbuf_errors / result.udp.sent, rel=0.05)
    assert result.udp.delivered_percent == pytest.approx(100 * (1 - result.loss), abs=1)


def test_so_rcvbuf_is_cut_to_rmem_max() -> None:
    asked = ran(("setsockopt SO_RCVBUF", "26214400"))
    both = ran(("setsockopt SO_RCVBUF", "26214400"), ("net.core.rmem_max", "26214400"))
    assert places(both) == set()
    assert 0 < asked.udp.rcvbuf_errors < ran().udp.rcvbuf_errors
    small = ran(("setsockopt SO_RCVBUF", "26214400"), ("net.core.rmem_max", "8192"))
    assert small.udp.rcvbuf_errors > ran().udp.rcvbuf_errors


def test_each_place_has_its_counter() -> None:
    ring = ran(("udp.burst", "3000"), ("ethtool -G eth0 rx", "64"))
    assert ring.udp.ring == sum(port.drops for port in ring.ports) > 0
    assert ring.udp.ring_counter == "rx_dropped.nic"
    backlog = ran((RPS, "4"), ("net.core.netdev_max_backlog", "5"))
    assert backlog.udp.backlog > 0
    assert {drop.at for drop in backlog.drops if drop.place == "backlog"} == {"cpu2"}
    memory = ran(("net.ipv4.udp_mem", "10 10 10"))
    assert memory.udp.mem_errors > 0
    assert memory.udp.in_errors == memory.udp.mem_errors + memory.udp.rcvbuf_errors
    wire = ran(("udp.burst", "1000"), ("switch.buffer_per_port", "100 KiB"))
    assert wire.udp.wire > 0
    assert wire.loss is not None
    assert 0 < wire.loss < 1


@pytest.mark.parametrize("queues", ["1", "4"])
def test_a_reference_with_one_event_a_frame_agrees(queues: str) -> None:
    effective = load("media-udp", settings={"ethtool -L eth0 combined": queues})
    agree(effective, 20, MS)


def of_load(row: dict[str, Any]) -> Result:
    """The model of what was recorded: the same rates, buffer and work, on another host."""
    settings = {
        "system.kernel": "linux-6.18",
        "udp.flows": "1",
        "udp.workers": "1",
        "udp.placement": "pinned",
        "udp.first_cpu": "4",
        "udp.rate": str(row["rate"]),
        "udp.burst": "1",
        "udp.size": "1316 B",
        "udp.service": f"{row['service_us']} us",
        "udp.rcvbuf": f"{row['asked']} B",
        "net.core.rmem_max": "4194304",
    }
    duration = f"{1000 * row['sent'] // row['rate']} ms"
    return simnet.run("media-udp", settings=settings, warm_up="0 ms", duration=duration)


@pytest.mark.parametrize("row", RECORDED["loads"], ids=lambda row: f"{row['rate']}")
def test_what_a_kernel_lost_is_lost_here(row: dict[str, Any]) -> None:
    result = of_load(row)
    assert result.udp.backlog == row["softnet_dropped"] == 0
    lost = row["sent"] - row["received"]
    assert (result.udp.rcvbuf_errors > 0) == (row["RcvbufErrors"] > 0)
    assert result.udp.rcvbuf_errors == pytest.approx(lost, rel=0.15)


def test_a_short_backlog_loses_where_the_kernel_did() -> None:
    for row in RECORDED["backlog"]:
        assert row["sent"] == row["held"] + row["softnet_dropped"]
        most = str(row["netdev_max_backlog"])
        settings = ((RPS, "2"), ("net.core.netdev_max_backlog", most), ("udp.burst", "1"))
        rate = (("udp.flows", "1"), ("udp.rate", "300000"), ("udp.service", "0 us"))
        result = ran(*settings, *rate, ("net.core.rmem_default", "26214400"))
        assert (result.udp.backlog > 0) == (row["softnet_dropped"] > 0)
        assert result.udp.rcvbuf_errors == row["RcvbufErrors"] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"udp.size": "1473 B"}, "a packet has room for 1472 B"),
        ({"udp.bit_rate": "1 Mbit/s"}, "either rate or bit_rate"),
        ({"udp.rate": "0"}, "either rate or bit_rate"),
        ({"udp.placement": "pinned", "udp.first_cpu": "30"}, "workers run on CPUs up to 33"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(simnet.InputError, match=message):
        simnet.run("media-udp", settings=settings)
