"""A relay whose packets are steered to the CPUs of its workers."""

import pytest

from simnet.host.costs import SharedLines
from simnet.net.steering.backlog import Backlog
from simnet.net.steering.steering import PacketSteering, SocketFlowTable
from simnet.net.steering.version import SteeringRules
from simnet.workload.relay_system import Load, Workers
from tests.host.parts import MS
from tests.net.parts import make_buffers
from tests.net.steering.steered import RHEL61, UPSTREAM
from tests.workload.relays import RelayRig

CPUS = 4


def steered(
    rules: SteeringRules, *, rps_cpus: tuple[int, ...] = (), entries: int = 0, connections: int = 8
) -> tuple[RelayRig, list[Backlog]]:
    """A relay with a worker a CPU; the devices interrupt CPUs 0 and 1."""
    rig = RelayRig(
        connections=connections,
        workers=Workers([frozenset({cpu}) for cpu in range(CPUS)], "round_robin"),
        load=Load(rate_mhz=2 * 10**7, sizes=[(200, 1)]),
        cpus=CPUS,
    )
    backlogs = [
        Backlog(
            rig.sim,
            f"{cpu.path}.backlog",
            cpu=cpu,
            weight=64,
            limit=1000,
            costs=rig.machine.costs,
            buffers=make_buffers(rig.machine),
            lines=SharedLines(rig.machine.memory, 2),
            rules=rules,
        )
        for cpu in rig.machine.cpus
    ]
    sockets = SocketFlowTable(entries, CPUS, rules) if entries else None
    for nic in (rig.nic, rig.other_nic):
        nic.steering = PacketSteering(
            rules,
            backlogs,
            rig.machine.costs,
            cpus=rps_cpus,
            flow_entries=entries,
            sockets=sockets,
            seed=99,
        )
    if sockets is not None:
        for side in (*rig.relay.fronts, *rig.relay.backs):
            side.socket.flows = sockets
    return rig, backlogs


def line_transfers(rig: RelayRig) -> int:
    """Cache lines of sockets that moved from one CPU to another so far."""
    sides = (*rig.relay.fronts, *rig.relay.backs)
    return sum(side.socket.lines.transfers for side in sides)


@pytest.mark.parametrize("rules", [RHEL61, UPSTREAM], ids=["rhel6.1", "2.6.38"])
def test_with_rfs_sockets_stay_on_the_cpus_of_their_workers(rules: SteeringRules) -> None:
    rig, backlogs = steered(rules, rps_cpus=(0, 1, 2, 3), entries=4096)
    rig.run(20 * MS)
    before = line_transfers(rig)
    rig.run(40 * MS)
    assert line_transfers(rig) == before
    assert min(backlog.processed for backlog in backlogs) > 100
    rig.drain(300 * MS)
    counts = rig.relay.counters()
    assert counts["delivered"] == counts["offered"] > 1000
    assert counts["retransmissions"] == sum(backlog.drops for backlog in backlogs) == 0


def test_with_rps_alone_they_travel() -> None:
    rig, _ = steered(UPSTREAM, rps_cpus=(0, 1, 2, 3))
    rig.run(20 * MS)
    before = line_transfers(rig)
    rig.run(20 * MS)
    assert line_transfers(rig) > before + 100


def test_in_rhel_6_1_rps_alone_leaves_all_to_one_cpu() -> None:
    rig, backlogs = steered(RHEL61, rps_cpus=(2, 3))
    rig.run(40 * MS)
    assert backlogs[2].processed > 500
    assert [backlogs[cpu].processed for cpu in (0, 1, 3)] == [0, 0, 0]


def test_packets_are_processed_or_counted_as_dropped_on_the_way() -> None:
    rig, backlogs = steered(UPSTREAM, rps_cpus=(0, 1, 2, 3), entries=4096)
    rig.run(40 * MS)
    rig.drain(300 * MS)
    devices = (rig.nic, rig.other_nic)
    assert sum(nic.rx_packets for nic in devices) == sum(
        backlog.processed + backlog.drops for backlog in backlogs
    )
    assert all(backlog.waiting == 0 for backlog in backlogs)
