"""Accelerated RFS: the device puts a flow into the queue of its process's CPU."""

from __future__ import annotations

import pytest

from simnet.errors import InputError
from simnet.net.link.skb import Header
from simnet.net.steering.flow_filters import FlowFilters
from simnet.net.steering.version import SteeringRules
from tests.host.parts import US
from tests.net.steering.steered import RHEL61, Flow, Host

RULES = SteeringRules(accelerated=True)


class Device:
    """Two queues, of CPUs 0 and 1, and the table that sorts frames into them."""

    def __init__(
        self, rules: SteeringRules = RULES, *, most: int = 100, flow_entries: int = 16
    ) -> None:
        self.host = Host(
            rules, queues=2, rps_cpus=(0,), flow_entries=flow_entries, socket_entries=16
        )
        self.table: dict[Header, int] = {}
        self.filters = FlowFilters(self.host.steerings, [0, 1, 1, 0], self.table, most)

    def flow(self, number: int) -> Flow:
        flow = Flow(self.host.sim, number)
        flow.header.rxhash = number + 1
        return flow

    def receive(self, flow: Flow, cpu: int, first: int = 0, count: int = 1) -> None:
        """A process on `cpu` reads the flow; then packets come."""
        self.host.record(flow, cpu)
        for seq in range(first, first + count):
            self.host.feed([(flow, seq)], self.table.get(flow.header, 0))
            self.host.sim.run_until(self.host.sim.now + 100 * US)


def test_the_next_packets_come_to_the_queue_of_the_process() -> None:
    device = Device()
    flow = device.flow(0)
    device.receive(flow, 1, count=3)
    assert device.table == {flow.header: 1}
    assert flow.cpus == {1}
    # the first was polled on CPU 0 and sent over, the others are on CPU 1 from the start
    assert device.host.backlogs[1].received_rps == 1
    assert [steering.steered for steering in device.host.steerings] == [1, 2]


def test_it_follows_the_process() -> None:
    device = Device()
    flow = device.flow(0)
    device.receive(flow, 1, 0, 3)
    device.receive(flow, 3, 3, 3)
    # CPU 3 is nearest to queue 0, so its packets are sent over by CPU 0
    assert device.table == {flow.header: 0}
    assert [cpu for _, cpu, _ in flow.log] == [1, 1, 1, 3, 3, 3]
    assert (device.filters.added, device.filters.expired) == (1, 0)


def test_a_queue_without_flow_table_gets_none() -> None:
    device = Device(flow_entries=0)
    flow = device.flow(0)
    device.receive(flow, 1, count=2)
    assert not device.table


def test_without_room_the_kernel_steers() -> None:
    device = Device(most=1)
    one, other = device.flow(0), device.flow(1)
    device.receive(one, 1)
    device.receive(other, 1, count=2)
    assert list(device.table) == [one.header]
    assert (device.filters.refused, other.cpus) == (1, {1})


def test_idle_flows_make_room() -> None:
    """Ten packets a table entry later the filter may go; another flow that moves takes its room."""
    device = Device(most=1, flow_entries=2)
    idle, busy = device.flow(0), device.flow(1)
    device.receive(idle, 1)
    device.receive(busy, 1, count=20)
    assert list(device.table) == [idle.header]
    device.receive(busy, 2, 20)
    assert list(device.table) == [busy.header]
    assert (device.filters.added, device.filters.expired) == (2, 1)


def test_a_used_one_stays() -> None:
    device = Device(most=1, flow_entries=2)
    used, other = device.flow(0), device.flow(1)
    for turn in range(20):
        device.receive(used, 1, turn)
        device.receive(other, 1, turn)
    assert list(device.table) == [used.header]
    assert [seq for _, _, seq in used.log] == list(range(20))


def test_it_needs_a_kernel_that_has_it() -> None:
    host = Host(RHEL61, queues=1, flow_entries=16)
    with pytest.raises(InputError, match=r"came with Linux 2\.6\.39"):
        FlowFilters(host.steerings, [0, 0, 0, 0], {}, 10)
