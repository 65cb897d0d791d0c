"""A run that was too short says so, and names who got nothing."""

import json
from typing import Any

import pytest

import simnet
from simnet.host.delayed_action import DelayedAction
from simnet.report.capacity import capacity
from simnet.report.sweep import sweep as table
from simnet.report.text import text
from simnet.scenario.core.load import load
from simnet.study.run.validity import delayed_actions, lengthened, missed
from tests.host.parts import MS

X460 = "x460-out-of-box"
DAEMON = {"nodes": 1, "irqbalance.map": "daemon"}


def x460(warm_up: str, duration: str, **settings: Any) -> simnet.Result:
    return simnet.run(X460, settings={"nodes": 1} | settings, warm_up=warm_up, duration=duration)


def test_a_measurement_before_the_daemon_has_acted_decides_nothing() -> None:
    result = x460("5 ms", "5 ms", **DAEMON)
    said = (
        "this run is too short: irqbalance first acts at 2.5 s, the measurement starts at 0.005 s;"
        " a warm-up of 2.505 s would do"
    )
    assert result.warnings == (said,)
    assert not result.conclusive
    assert f"warning: {said}\n" in text(result)


@pytest.mark.compiled
def test_nor_is_anything_said_once_it_has() -> None:
    result = x460("2505 ms", "5 ms", **DAEMON)
    assert (result.warnings, result.conclusive) == ((), True)


def test_a_run_of_some_milliseconds_tells_something() -> None:
    result = x460("5 ms", "5 ms")
    assert (result.warnings, result.conclusive, result.silent) == ((), True, ())


@pytest.mark.parametrize(
    ("duration", "said"),
    [
        ("1 us", "nothing was delivered in the 0.000001 s measured: these numbers mean nothing"),
        ("50 us", "packets in the 0.00005 s measured: too few for meaningful numbers"),
    ],
)
def test_nothing_is_read_from_next_to_nothing(duration: str, said: str) -> None:
    warm_up = "0 s" if duration == "1 us" else "20 ms"
    result = x460(warm_up, duration)
    assert result.warnings[0].endswith(said)
    assert not result.conclusive


def test_ports_without_work_ask_for_no_packets() -> None:
    stalled = {"test": "tcp_rr", "workload.writes": "100,200", "workload.read": "10"}
    result = x460("100 ms", "400 ms", **stalled)
    assert sum(port.rx_packets_per_s > 0 for port in result.ports) == 2
    assert (result.warnings, result.conclusive) == ((), True)


@pytest.mark.compiled
def test_flows_that_got_nothing_are_named() -> None:
    result = simnet.run("tcp-rr-one-queue", warm_up="100 ms", duration="100 ms")
    silent = [flow.name for flow in result.flows if not flow.transactions_per_s]
    assert silent
    assert result.silent == tuple(silent)
    assert result.conclusive
    (said,) = result.warnings
    named = ", ".join(silent[:4])
    assert said.startswith(f"{len(silent)} of 500 flows got nothing in the 0.1 s measured: {named}")
    # the least timeout, and a round trip
    assert said.endswith("what they wait for is sent again after 0.202 s at most, if it was lost")


def test_a_disk_that_nobody_asks_is_not_named() -> None:
    result = simnet.run(
        "vscsi-parallel", tunings="sequential-read-alone", warm_up="5 s", duration="200 ms"
    )
    assert sorted(flow.goodput_bps > 0 for flow in result.flows) == [False, False, True]
    assert (result.warnings, result.silent) == ((), ())


@pytest.mark.parametrize(
    ("scenario", "settings", "expected"),
    [
        (X460, {}, ()),
        (X460, {"irqbalance.map": "daemon"}, (2500,)),
        (X460, {"irqbalance.daemon": "0.55"}, (12_000,)),
        (X460, {"irqbalance.daemon": "1.0"}, (10_000,)),
        (X460, {"irqbalance.daemon": "hand"}, ()),
        ("vscsi-parallel", {}, (5000,)),
        ("vscsi-parallel", {"kernel.dirty_writeback": "0 s"}, ()),
        ("vlan-half-cpu", {}, (50,)),
        ("x460-bonding", {"unplug eth0": "3 s", "replug eth0": "4 s"}, (3000, 4000)),
    ],
)
def test_what_acts_late_announces_itself(
    scenario: str, settings: dict[str, str], expected: tuple[int, ...]
) -> None:
    found = delayed_actions(load(scenario, settings=settings))
    assert tuple(one.after_ps // MS for one in found) == expected


@pytest.mark.parametrize(
    ("by", "start_ms", "end_ms", "too_early"),
    [
        ("start", 9, 100, True),
        ("start", 10, 100, False),
        ("end", 0, 9, True),
        ("end", 0, 10, False),
        ("length", 100, 109, True),
        ("length", 100, 110, False),
    ],
)
def test_what_it_has_to_come_later_than(
    monkeypatch: pytest.MonkeyPatch, by: Any, start_ms: int, end_ms: int, *, too_early: bool
) -> None:
    one = DelayedAction("it", "acts", 10 * MS, by)
    monkeypatch.setattr("simnet.study.run.validity.delayed_actions", lambda _: (one,))
    assert list(missed(load(X460), start_ms * MS, end_ms * MS)) == ([one] if too_early else [])


@pytest.mark.parametrize("scenario", ["x460-out-of-box", "vscsi-parallel", "vlan-half-cpu"])
def test_scenarios_are_as_long_as_they_need(scenario: str) -> None:
    effective = load(scenario)
    start_ps = effective.run.warm_up_ps
    assert list(missed(effective, start_ps, start_ps + effective.run.duration_ps)) == []


class TestVerdicts:
    """What is concluded from such runs: nothing."""

    def test_whatif_cannot_tell(self) -> None:
        found = simnet.whatif(
            X460,
            "irqbalance.map=daemon",
            settings={"nodes": 1},
            seeds=2,
            members=0,
            warm_up="5 ms",
            duration="5 ms",
        )
        (judged,) = found.tunings
        assert judged.verdict == "cannot tell"
        assert judged.reason.startswith("this run is too short: irqbalance first acts at 2.5 s")
        assert found.exit_status == 3

    def test_whatif_warms_up_for_longer_if_nobody_said_how_long(self) -> None:
        plain, daemon = load(X460), load(X460, settings={"irqbalance.map": "daemon"})
        assert lengthened("300 ms", [plain]) == ("300 ms", ())
        assert lengthened("300 ms", [plain, daemon]) == (
            "2.8 s",
            ("irqbalance first acts at 2.5 s: the warm-up is 2.8 s",),
        )
        assert lengthened("4 s", [plain, daemon]) == ("4 s", ())

    @pytest.mark.compiled
    def test_and_says_so(self) -> None:
        given = {"nodes": 1, "connections": 1}
        found = simnet.whatif(
            X460, "irqbalance.map=daemon", settings=given, seeds=1, members=0, duration="1 ms"
        )
        assert "irqbalance first acts at 2.5 s: the warm-up is 2.8 s" in found.remarks
        assert "too short" not in found.tunings[0].reason

    def test_a_sweep_has_no_best(self) -> None:
        given = {"irqbalance.map": "daemon"}
        found = simnet.sweep(
            X460, {"nodes": [1, 2]}, settings=given, warm_up="5 ms", duration="5 ms"
        )
        assert not found.conclusive
        assert found.remarks[-1].startswith("2 of 2 runs are inconclusive: this run is too short")
        assert f"cannot tell which is best: {found.remarks[-1]}" in table(found, "throughput_bps")
        assert json.loads(found.to_json())["conclusive"] is False

    def test_a_capacity_is_not_told(self) -> None:
        found = simnet.capacity(
            "relay-tuned",
            settings={"relay.connections": 50, "irqbalance": "on", "irqbalance.daemon": "0.55"},
            max_loss="1 %",
            between="9000..10000",
            precision="20 %",
            warm_up="10 ms",
            duration="20 ms",
        )
        assert not found.conclusive
        assert found.exit_status == 3
        assert found.remarks[-1].startswith("this run is too short: irqbalance first acts at 12 s")
        assert "cannot tell: runs were too short" in capacity(found)


def test_a_sysctl_that_nothing_reads_is_named_and_one_that_is_read_is_not() -> None:
    settings = {"vm.dirty_ratio": "20", "net.ipv4.tcp_sack": "0", "nodes": "1"}
    found = simnet.run(X460, settings=settings, warm_up="5 ms", duration="5 ms")
    assert found.conclusive
    unread = "vm.dirty_ratio: has no effect in this scenario: nothing of this system reads it"
    assert found.warnings == (unread,)


@pytest.mark.parametrize(
    ("scenario", "name", "value", "unread"),
    [
        ("nvme-local", "nodes", "1", True),
        ("nvme-local", "message", "4 KiB", True),
        ("relay-untuned", "connections", "2", True),
        ("relay-untuned", "message", "400 B", False),
        (X460, "nodes", "1", False),
    ],
)
def test_what_is_set_of_a_workload_and_nothing_reads_is_named(
    scenario: str, name: str, value: str, *, unread: bool
) -> None:
    found = simnet.run(scenario, settings={name: value}, warm_up="1 ms", duration="2 ms")
    line = f"{name}: has no effect in this scenario: nothing of this system reads it"
    assert (line in found.warnings) == unread


def test_a_sweep_passes_on_what_its_runs_say() -> None:
    over = {"vm.dirty_ratio": (10, 20)}
    found = simnet.sweep(X460, over, settings={"nodes": 1}, warm_up="5 ms", duration="5 ms")
    assert found.conclusive
    assert found.remarks[-1].startswith("2 of 2 runs have a warning: vm.dirty_ratio: has no effect")
