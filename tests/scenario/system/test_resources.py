"""What a built system says can be full, and what its flows wait for."""

from collections.abc import Generator
from typing import Any

import pytest

from simnet.kernel.environment import Environment
from simnet.scenario.core.load import load
from simnet.scenario.parts.network.resources import wait_of
from simnet.scenario.parts.scale.jobs import JobSystem
from simnet.scenario.system.build import build
from simnet.scenario.system.resource import Resource
from simnet.scenario.system.system import System
from simnet.time_units import PS_PER_S
from tests.net.tcp.send.test_sender import MSS, make, send

MS = 10**9
STREAMS = {"nodes": "1"}


def _built(scenario: str, **settings: str) -> System:
    return build(load(scenario, settings=settings), seed=1)


def _used(system: System, duration_ps: int) -> dict[str, float]:
    """Utilisation by name."""
    before = {one.name: one for one in system.resources()}
    system.run(duration_ps)
    after = {one.name: one for one in system.resources()}
    assert len(after) == len(system.resources())
    return {name: _share(before.get(name), one, duration_ps) for name, one in after.items()}


def _share(before: Resource | None, after: Resource, duration_ps: int) -> float:
    used = after.used - (before.used if before else 0)
    assert used >= 0
    return used * PS_PER_S / (after.capacity_per_s * duration_ps)


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("x460-out-of-box", {"nodes": "1"}),
        ("x460-out-of-box", {"nodes": "1", "test": "bidirectional"}),
        ("x460-bonding", {}),
        ("ipoib-sunway", {}),
        ("sw1621-t520", {"test": "tcp_rr"}),
        ("relay-tuned", {"relay.rate": "20000", "relay.connections": "40"}),
        ("vscsi-parallel", {}),
        ("vlan-half-cpu", {}),
        ("vm-virtio", {"virsh emulatorpin": "0"}),
        ("vm-outside", {}),
    ],
)
def test_looking_changes_nothing(scenario: str, settings: dict[str, str]) -> None:
    watched, alone = _built(scenario, **settings), _built(scenario, **settings)
    step = MS if watched.nics else 10 * MS
    for _ in range(5):
        watched.run(step)
        watched.resources()
        watched.waits()
    alone.run(5 * step)
    assert watched.fingerprint() == alone.fingerprint()


@pytest.mark.parametrize(("test", "way"), [("netserver", "receive"), ("netperf", "send")])
def test_nothing_simulated_gives_more_than_it_has(test: str, way: str) -> None:
    system = _built("x460-out-of-box", nodes="1", test=test, peers_simulated="ends")
    system.run(5 * MS)
    used = _used(system, 5 * MS)
    # what is posted counts at once
    assert max(used.values()) < 1.05
    assert used[f"eth0 {way}"] > 0.5
    assert used["peer0.eth0 cpu"] > 0.3


def test_a_port_carries_its_frames_with_all_that_surrounds_them() -> None:
    system = _built("x460-out-of-box", nodes="1")
    system.run(5 * MS)
    before = system.snapshot().ports[0]
    used = _used(system, 10 * MS)["eth0 receive"]
    after = system.snapshot().ports[0]
    # preamble, gap and check sequence, which drivers do not count
    bits = 8 * (after.rx_bytes - before.rx_bytes + 24 * (after.rx_packets - before.rx_packets))
    assert used == pytest.approx(bits / (10**9 * 10e-3), abs=0.02)


def test_the_cpu_of_an_end_is_busy_for_what_it_does() -> None:
    system = _built("x460-out-of-box", nodes="1", peers_simulated="ends")
    slow = _built(
        "x460-out-of-box", nodes="1", peers_simulated="ends", **{"peer:cpu.clock": "0.1 GHz"}
    )
    shares = []
    for one in (system, slow):
        one.run(5 * MS)
        shares.append(_used(one, 10 * MS)["peer0.eth0 cpu"])
    assert 0 < shares[0] < 0.7
    assert shares[1] == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("mode", ["balance-xor", "balance-alb"])
def test_a_flow_comes_by_the_slave_that_the_switch_chooses(mode: str) -> None:
    system = _built("x460-bonding", **{"modprobe bonding mode": mode})
    system.run(15 * MS)
    used = _used(system, 3 * MS)
    flows = {one.name: one.flows or () for one in system.resources() if "receive" in one.name}
    assert sorted(flow for some in flows.values() for flow in some) == sorted(
        name for name, _, _ in system.flows
    )
    carrying = {name for name, share in used.items() if "receive" in name and share > 0.1}
    assert carrying == {name for name, some in flows.items() if some}
    assert (max(map(len, flows.values())) == 1) == (mode == "balance-alb")


def test_a_capped_partition_gets_its_entitlement_and_no_more() -> None:
    system = _built("vlan-half-cpu")
    system.run(30 * MS)
    used = _used(system, 40 * MS)
    assert used["entitlement"] == pytest.approx(1, abs=0.03)
    assert used["peer0 entitlement"] == pytest.approx(1, abs=0.03)
    # half a processor each, of four
    assert used["pool"] == pytest.approx(0.25, abs=0.01)
    assert not any(name.startswith(("eth0", "I/O bus")) for name in used)


def test_an_uncapped_partition_may_have_all_of_its_virtual_processors() -> None:
    system = _built("vlan-half-cpu", **{"partition.sharing_mode": "uncap"})
    system.run(30 * MS)
    used = _used(system, 20 * MS)
    assert 0.3 < used["virtual processors"] <= 1.01
    assert "entitlement" not in used


def test_a_disk_is_busy_with_seeks_rotation_and_transfers() -> None:
    system = _built("vscsi-parallel")
    system.run(100 * MS)
    disk = system.parts["storage"].server_queues["sdc"].target.disk
    commands = disk.commands
    before = {one.name: one for one in system.resources()}["peer0 sdc"]
    system.run(400 * MS)
    after = {one.name: one for one in system.resources()}["peer0 sdc"]
    overhead_ps = (disk.commands - commands) * disk.model.command_overhead_ps
    assert _share(before, after, 400 * MS) == pytest.approx(1, abs=0.05)
    parts = {name: used - dict(before.split)[name] for name, used in after.split}
    assert min(parts.values()) > 0
    spent_ps = sum(parts.values()) + overhead_ps
    assert spent_ps == pytest.approx(after.used - before.used, rel=0.02)
    waits = {wait.flow: wait for wait in system.waits()}
    assert waits["sdd"].bound


def test_each_cpu_works_for_flows_of_its_own() -> None:
    system = _built("x460-out-of-box", nodes="1")
    system.run(5 * MS)
    flows = {one.name: one.flows for one in system.resources() if one.kind == "cpu"}
    assert "eth0" in (flows["cpu0"] or ())
    assert flows["cpu60"] == ()


def test_a_sender_waits_for_what_holds_it_back() -> None:
    sender = make(cwnd=10, window=5 * MSS)
    assert wait_of("eth0", sender).reason == "application"
    sender.seq.write(2 * MSS, end_of_send=True)
    assert wait_of("eth0", sender).reason == "path"
    sender.seq.write(8 * MSS, end_of_send=True)
    send(sender)
    found = wait_of("eth0", sender)
    assert (found.reason, found.limit, found.bound) == ("receive window", 5 * MSS, True)


def test_a_sender_waits_for_the_congestion_window() -> None:
    sender = make(cwnd=3)
    sender.seq.write(8 * MSS, end_of_send=True)
    send(sender)
    found = wait_of("eth0", sender)
    assert (found.reason, found.limit) == ("congestion window", 3 * MSS)


def test_a_writer_without_room_waits_for_the_send_buffer() -> None:
    sender = make(cwnd=40)
    sender.seq.write(sender.seq.room(), end_of_send=False)
    send(sender)
    assert wait_of("eth0", sender).reason == "send buffer"
    assert wait_of("eth0", sender).limit == sender.seq.write_seq - sender.seq.snd_una


def test_a_run_ends_with_its_jobs_in_however_many_pieces() -> None:
    env = Environment()
    jobs = [env.process(_sleeper(env, seconds)) for seconds in (3, 5)]
    system = JobSystem(env, (), [], env.all_of(jobs), {})
    for seconds, now in ((2, 2), (2, 4), (100, 5), (100, 5)):
        system.run(seconds * PS_PER_S)
        assert env.sim.now == now * PS_PER_S


def _sleeper(env: Environment, seconds: int) -> Generator[Any, Any, None]:
    yield env.timeout(seconds * PS_PER_S)
