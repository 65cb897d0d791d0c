"""What `ethtool -S` of a simulated host shows, and that a diagnosis reads it as a real one's."""

import re

import pytest

import simnet
from simnet.diagnose.evidence import gathered
from simnet.diagnose.page import Page
from simnet.diagnose.rule import Hit, rules
from simnet.errors import InputError
from simnet.report.ethtool import ethtool
from simnet.scenario.parts.nic.schema import Nic
from simnet.study.run.result import Result


def ran(scenario: str, **settings: str) -> Result:
    return simnet.run(scenario, settings=settings, warm_up="2 ms", duration="5 ms")


def shown(scenario: str, **settings: str) -> dict[str, dict[str, int]]:
    text = ethtool(ran(scenario, **settings))
    parts = re.split(r"^# ethtool -S (\S+)\nNIC statistics:\n", text, flags=re.MULTILINE)[1:]
    rows = (re.findall(r"^     (\S+): (\d+)$", part, re.MULTILINE) for part in parts[1::2])
    return {
        port: {name: int(n) for name, n in found}
        for port, found in zip(parts[::2], rows, strict=True)
    }


def test_a_router_shows_what_came_and_went_and_what_was_lost() -> None:
    eth0, eth1 = shown("router-nat").values()
    usual = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
    assert list(eth0)[:5] == [*usual, "rx_missed_errors"]
    for name in usual:
        way, what = name.split("_")
        queues = [n for key, n in eth0.items() if re.fullmatch(rf"{way}_queue_\d+_{what}", key)]
        assert len(queues) == 4
        assert sum(queues) == pytest.approx(eth0[name], abs=1)
    # 700 bytes of payload, with IP, UDP and Ethernet
    assert eth0["rx_bytes"] == pytest.approx(742 * eth0["rx_packets"], rel=0.01)
    assert eth1["tx_packets"] == pytest.approx(eth0["rx_packets"], rel=0.2)
    assert eth0["rx_missed_errors"] > 0 == eth1["rx_missed_errors"]


def test_each_driver_has_its_own_names() -> None:
    lost = {"udp.burst": "300", "ethtool -G eth0 rx": "64"}
    ice = shown("media-udp", **lost)["eth0"]
    assert {"rx_unicast", "rx_bytes", "rx_dropped.nic"} < set(ice)
    assert {"rx_out_of_buffer", "rx3_packets"} < set(shown("router-connectx5")["eth0"])
    assert {"port.rx_dropped", "rx-0.bytes"} < set(shown("netperf-rr")["eth0"])
    for name, driver in Nic.variants().items():
        assert not (driver.statistics or driver.queue_statistics) or driver.ring_counter, name


def test_a_diagnosis_finds_the_full_ring_of_a_simulated_host() -> None:
    text = ethtool(ran("router-nat"))
    rule = next(one for one in rules() if one.name == "ring-full")
    found = [one for one in rule.find(gathered([Page("run.txt", text)])) if isinstance(one, Hit)]
    assert [one.subject for one in found] == ["eth0"]


@pytest.mark.parametrize("scenario", ["x460-out-of-box", "nvme-local"])
def test_what_is_not_known_is_refused(scenario: str) -> None:
    result = ran(scenario)
    with pytest.raises(InputError, match=r"what ethtool -S of .* is called is not known"):
        ethtool(result)
