"""A program of XDP as an administrator sees it: what it does, and where packets are lost."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.result import Result
from tests.house.examples import examples
from tests.scenario.system.per_frame import agree

MS = 10**9
TWO_QUEUES = {"ethtool -L eth0 combined": "2", "ethtool -L eth1 combined": "4"}


@cache
def ran(*given_: tuple[str, str], tuning: str = "", ms: int = 10) -> Result:
    tunings = (tuning,) if tuning else ()
    return simnet.run(
        "xdp-firewall", settings=dict(given_), tunings=tunings, warm_up="5 ms", duration=f"{ms} ms"
    )


def test_what_is_dropped_is_dropped_and_what_finds_no_buffer_is_lost() -> None:
    slow = ran(("xdp.rate", "1000000")).xdp
    assert slow.drop_pps == 0
    assert slow.handled_pps == slow.rx_pps == pytest.approx(1e6, rel=0.02)
    fast = ran(("xdp.rate", "30000000"))
    assert fast.xdp.ring == sum(port.drops for port in fast.ports) > 0
    assert fast.xdp.rx_pps + fast.xdp.drop_pps == pytest.approx(30e6, rel=0.01)
    assert "port.rx_dropped" in fast.xdp.sentence
    assert fast.xdp.softirq_percent > 90


def test_a_longer_ring_bridges_what_a_short_one_loses() -> None:
    lost = [ran(tuning=name, ms=120).xdp.drop_pps for name in ("ring-256", "throughput-profile")]
    assert lost[0] > lost[1] > 0
    assert ran(tuning="ring-4096", ms=120).xdp.drop_pps == 0


def test_the_given_row_is_met() -> None:
    found = simnet.run("xdp-firewall").xdp
    assert found.drop_pps == pytest.approx(3_020_434, rel=0.1)
    assert found.rx_pps == pytest.approx(7_010_503, rel=0.05)
    assert found.softirq_percent == pytest.approx(51.29, abs=3)


def test_flows_that_the_program_lets_pass_reach_the_stack() -> None:
    found = ran(("xdp.flows", "4"), ("xdp.acts_on", "3"), ("xdp.rate", "400000")).xdp
    assert found.passed == pytest.approx(1000, abs=40)
    assert found.no_ports == pytest.approx(found.passed, abs=10)
    assert found.drop == pytest.approx(3000, abs=80)
    every = ran(("xdp.action", "pass"), ("xdp.rate", "400000"))
    dropped = ran(("xdp.rate", "400000"))
    assert every.xdp.no_ports == pytest.approx(every.xdp.passed, abs=10)
    assert every.xdp.passed > 3900
    assert every.xdp.softirq_percent > dropped.xdp.softirq_percent


@pytest.mark.parametrize(("action", "port"), [("tx", 0), ("redirect", 1)])
def test_what_is_sent_on_leaves_by_the_port_that_it_is_for(action: str, port: int) -> None:
    more = TWO_QUEUES if action == "redirect" else {}
    result = ran(("xdp.action", action), ("xdp.rate", "2000000"), *more.items())
    found = result.xdp
    assert getattr(found, action) == pytest.approx(20_000, rel=0.02)
    assert found.drop_pps == 0
    sent = [one.tx_packets_per_s for one in result.ports]
    assert sent[port] == pytest.approx(2e6, rel=0.02)
    assert sent[1 - port] == 0


def test_a_cpu_beyond_the_rings_of_the_other_port_drops() -> None:
    # the interrupt is on CPU 3
    few = ran(
        ("xdp.action", "redirect"), ("xdp.rate", "500000"), ("ethtool -L eth1 combined", "3")
    ).xdp
    assert few.redirect == 0
    assert few.redirect_err == pytest.approx(5000, rel=0.05)
    assert "xdp_redirect_map_err" in few.sentence
    enough = ran(
        ("xdp.action", "redirect"), ("xdp.rate", "500000"), ("ethtool -L eth1 combined", "4")
    ).xdp
    assert enough.redirect_err == 0


def test_a_full_ring_for_xdp_has_its_place() -> None:
    found = ran(
        ("xdp.action", "redirect"),
        ("xdp.rate", "8000000"),
        ("ethtool -L eth1 combined", "4"),
        ("ethtool -G eth1 tx", "64"),
    )
    assert found.xdp.tx_full > 0
    assert {drop.place for drop in found.drops} >= {"ring for XDP"}
    assert found.loss is not None
    assert found.loss > 0


@pytest.mark.parametrize(
    "given_",
    [
        {},
        {"xdp.action": "pass", "xdp.rate": "1000000"},
        {"xdp.action": "redirect", "xdp.flows": "3", "xdp.rate": "4000000", **TWO_QUEUES},
        {"xdp.action": "tx", "xdp.flows": "5", "xdp.acts_on": "2", "xdp.rate": "900000"},
        {"xdp.arrivals": "poisson", "xdp.rate": "3000000"},
    ],
)
def test_a_reference_with_one_event_a_frame_agrees(given_: dict[str, str]) -> None:
    effective = load("xdp-firewall", settings=given_)
    usual, each = agree(effective, 4, MS, "xdp")
    for system in (usual, each):
        system.parts["xdp"].generator.stopped = True
        system.run(5 * MS)
    assert usual.snapshot().more["xdp"] == each.snapshot().more["xdp"]


loads = st.fixed_dictionaries(
    {
        "xdp.action": st.sampled_from(["drop", "pass", "tx", "redirect"]),
        "xdp.flows": st.sampled_from([1, 2, 7]),
        "xdp.rate": st.sampled_from([50_000, 900_000, 3_000_000, 0]),
        "xdp.frame": st.sampled_from(["64 B", "1500 B"]),
        "xdp.arrivals": st.sampled_from(["periodic", "poisson"]),
        "xdp.spread": st.sampled_from(["queues", "hash"]),
        "ethtool -L eth0 combined": st.sampled_from(["1", "2", "6"]),
        "ethtool -L eth1 combined": st.sampled_from(["1", "4", "8"]),
    },
    optional={
        "xdp.acts_on": st.just("1"),
        "ethtool -G eth0 rx": st.sampled_from(["64", "4096"]),
        "ethtool -G eth1 tx": st.sampled_from(["64", "4096"]),
        "cpu.clock": st.just("2790 MHz"),
    },
)


@settings(max_examples=examples(40), deadline=None)
@given(loads)
def test_packets_are_answered_lost_under_a_name_or_in_flight(chosen: dict[str, Any]) -> None:
    effective = load("xdp-firewall", settings={k: str(v) for k, v in chosen.items()})
    system = build(effective, seed=1)
    built = system.parts["xdp"]
    system.run(2 * MS)
    early = system.snapshot().more["xdp"]
    handled = early.drop + early.passed + early.tx + early.redirect
    lost = early.slot + early.ring + early.tx_full + early.redirect_err
    assert handled + lost <= early.sent
    built.generator.stopped = True
    system.run(20 * MS)
    late = system.snapshot()
    counts = late.more["xdp"]
    handled = counts.drop + counts.passed + counts.tx + counts.redirect
    lost = counts.slot + counts.ring + counts.tx_full + counts.redirect_err
    assert counts.sent == handled + lost
    assert counts.passed == counts.no_ports
    assert [far.frames for far in built.far] == [counts.tx, counts.redirect]
    assert all(one.counters()["in_bulk"] == 0 for one in built.programs)
    for program in built.programs:
        assert program.cache.waiting == 0
    system.close()


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"xdp.acts_on": "2"}, "expected at most the 1 flows"),
        ({"xdp.rate": "60000000"}, "the link carries 59523809 such frames"),
        ({"system.kernel": "linux-3.8-sunway"}, "knows no XDP that may drop: Linux 4.13 on"),
    ],
)
def test_what_does_not_fit_is_refused(given_: dict[str, str], said: str) -> None:
    with pytest.raises(simnet.InputError, match=said):
        load("xdp-firewall", settings=given_)


def test_a_driver_without_a_model_of_xdp_is_refused(tmp_path: Path) -> None:
    text = (Path(simnet.__file__).parents[1] / "scenarios" / "xdp-firewall.toml").read_text("utf-8")
    text = text.replace("xeon-e5-2620v4-xl710", "xeon-ice-lake-e810").replace("irq/50", "irq/80")
    scenario = tmp_path / "ice.toml"
    scenario.write_text(text, "utf-8")
    with pytest.raises(simnet.InputError, match="XDP of ice is not modelled: expected one of i40e"):
        load(str(scenario))
