"""A port of a hypervisor's LAN: buffers by pool, drops, signals, polls, and what calls cost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, new_skb
from simnet.net.virtual_lan.ibmveth import HypervisorCalls, Ibmveth
from simnet.net.virtual_lan.ibmveth_pools import LARGEST_MTU_BYTES, active_pools, pool_bytes
from tests.host.parts import MS, Agenda, make_costs, make_machine
from tests.net.parts import US, Line, Sink, make_device

BUFFERS = (256, 768, 256, 256, 256)
# of a frame in Skb.wire_bytes, beyond what is copied
WIRE = 24


def make(
    sim: Simulator, machine: Machine, *, mtu: int = 1500, weight: int = 16, **calls: int
) -> tuple[Ibmveth, Ibmveth]:
    """Two ports, the second on `machine`; calls cost nothing unless named, in ns."""
    nics = []
    for name, where in (("sender", make_machine(sim, "sender")), ("receiver", machine)):
        device = make_device(sim, where, "eth0", weight=weight)
        nic = Ibmveth(device, buffers_by_pool=BUFFERS, mtu=mtu)
        nic.line = Line(sim, 40, f"{name}.eth0", where.cpus, 1)
        nics.append(nic)
    settings: dict[str, Any] = dict.fromkeys(
        (
            "call_cycles",
            "interrupt_calls",
            "send_cycles",
            "copy_line_cycles",
            "add_buffer_cycles",
            "map_cycles",
            "signal_cycles",
            "latency_ps",
        ),
        0,
    )
    costs = HypervisorCalls(clock_hz=10**9, **(settings | calls))
    nics[0].attach(nics[1], costs)
    nics[1].attach(nics[0], costs)
    return nics[0], nics[1]


def asserted(nic: Ibmveth) -> list[int]:
    line = nic.line
    assert isinstance(line, Line)
    return line.asserted_ps


def frame(sink: Sink, number: int, length: int = 1514) -> Skb:
    return new_skb(sink, number, number + 1, 0, 0, length + WIRE, push=False)


@pytest.mark.parametrize(
    ("mtu", "buffer", "active"),
    [(68, 512, 2), (489, 512, 2), (490, 2048, 2), (1500, 2048, 2), (2025, 2048, 2),
     (2026, 16384, 3), (9000, 16384, 3), (16361, 16384, 3), (16362, 32768, 4), (32745, 32768, 4),
     (32746, 65536, 5), (65394, 65536, 5), (LARGEST_MTU_BYTES, 65536, 5)],
)  # fmt: skip
def test_the_mtu_decides_which_pools_are_active(mtu: int, buffer: int, active: int) -> None:
    assert (pool_bytes(mtu), active_pools(mtu)) == (buffer, active)
    assert LARGEST_MTU_BYTES == 65_513


def test_a_frame_goes_into_the_smallest_buffer_that_holds_it_and_its_handle() -> None:
    sim = Simulator()
    machine = make_machine(sim, costs=make_costs(poll=MS // 1000))
    nic, far = make(sim, machine)
    sink = Sink(sim)
    for number, length in enumerate((60, 504, 505, 1514)):
        nic.transmit(frame(sink, number, length))
    # 512 B hold 504 and the 8 of the handle
    assert far.buffers_queued() == (254, 766)


@given(st.lists(st.sampled_from((60, 504, 505, 1514)), max_size=1200))
def test_buffers_are_queued_filled_or_the_drivers_and_none_is_lost(lengths: list[int]) -> None:
    sim = Simulator()
    machine = make_machine(sim)
    nic, far = make(sim, machine)
    sink = Sink(sim)
    dropped = 0
    small, large = BUFFERS[:2]
    for number, length in enumerate(lengths):
        if length <= 504 and small:
            small -= 1
        elif large:
            large -= 1
        else:
            dropped += 1
        nic.transmit(frame(sink, number, length))
    assert far.buffers_queued() == (small, large)
    assert far.drops == dropped
    # the sender counts what was dropped as sent
    assert nic.tx_packets == len(lengths)
    sim.run_until(100 * MS)
    assert far.buffers_queued() == BUFFERS[:2]
    assert len(sink.log) == far.rx_packets == len(lengths) - dropped
    order = [number for _, _, number in sink.log]
    assert order == sorted(order)


def test_one_interrupt_until_the_poll_has_found_the_queue_empty() -> None:
    sim = Simulator()
    machine = make_machine(sim, costs=make_costs(hardirq=1000, driver_rx=1000))
    nic, far = make(sim, machine, latency_ps=2 * US)
    sink = Sink(sim)
    agenda = Agenda(sim)
    # while the interrupt is on its way, in the handler, in the poll; and after it
    for at, number in ((0, 0), (1, 1), (3, 2), (5, 3), (20, 4)):
        agenda.at(at * US, nic.transmit, frame(sink, number))
    sim.run_until(MS)
    assert asserted(far) == [2 * US, 22 * US]
    assert [number for _, _, number in sink.log] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("weight", "polls"), [(16, 3), (128, 1)])
def test_a_poll_takes_as_many_frames_as_the_weight_says(weight: int, polls: int) -> None:
    sim = Simulator()
    machine = make_machine(sim, costs=make_costs(poll=1000, driver_rx=1000))
    nic, far = make(sim, machine, weight=weight, add_buffer_cycles=0)
    sink = Sink(sim)
    for number in range(40):
        nic.transmit(frame(sink, number))
    sim.run_until(MS)
    softirqs: Any = machine.cpus[0].softirqs
    assert softirqs.polls == polls
    assert sink.log[-1][0] == (40 + polls) * US
    assert len(asserted(far)) == 1


def test_what_sending_costs() -> None:
    sim = Simulator()
    nic, _ = make(
        sim, make_machine(sim), call_cycles=100, send_cycles=1000, copy_line_cycles=10, map_cycles=7
    )
    cpu = nic.line.cpus[0]
    # H_SEND_LOGICAL_LAN, H_PUT_TCE before and after; 1514 B are 12 lines of 128 B
    assert nic.transmit_cost_ps(cpu) == (1100 + 2 * 107) * 1000
    assert nic.length_cost_ps(cpu, 1514 + WIRE) == 12 * 10 * 1000
    # 9014 B are 71 lines and on two pages more than the first
    assert nic.length_cost_ps(cpu, 9014 + WIRE) == (71 * 10 + 2 * 2 * 7) * 1000


def test_what_receiving_costs() -> None:
    sim = Simulator()
    machine = make_machine(
        sim, costs=make_costs(hardirq=2000, poll=500, driver_rx=300, ip_rx=200, skb_alloc=60)
    )
    nic, _ = make(
        sim,
        machine,
        call_cycles=100,
        interrupt_calls=2,
        signal_cycles=30,
        map_cycles=7,
        add_buffer_cycles=40,
    )
    nic.transmit(frame(Sink(sim), 0))
    sim.run_until(MS)
    times = machine.cpus[0].times()
    signal, call = 130, 100
    assert times["irq_ps"] == (2000 + 2 * call + signal) * 1000
    unmap, add = call + 7, call + 40 + call + 7
    assert times["softirq_ps"] == (500 + 300 + 200 + unmap + 60 + add + signal) * 1000
    hypervisor = 2 * call + signal + unmap + add + signal
    assert machine.costs.ledger.work()["hypervisor"] == hypervisor * 1000


def test_the_last_buffer_of_a_pool_is_used_before_a_larger_one() -> None:
    sim = Simulator()
    nic, far = make(sim, make_machine(sim))
    sink = Sink(sim)
    for number in range(BUFFERS[0]):
        nic.transmit(frame(sink, number, 60))
    assert far.buffers_queued() == (0, BUFFERS[1])
    for number in range(BUFFERS[1]):
        nic.transmit(frame(sink, number, 60))
    assert (far.buffers_queued(), far.drops) == ((0, 0), 0)
    nic.transmit(frame(sink, 0, 60))
    assert (far.rx_packets, far.drops) == (sum(BUFFERS[:2]), 1)
    assert (nic.tx_bytes, far.rx_bytes) == (1025 * 84, 1024 * 84)


def test_a_buffer_of_several_pages_is_mapped_page_by_page_when_it_is_added() -> None:
    sim = Simulator()
    machine = make_machine(sim)
    nic, _ = make(sim, machine, mtu=9000, map_cycles=7, add_buffer_cycles=40)
    sink = Sink(sim)
    # 16 KiB and 2 KiB
    for number, length in enumerate((9014, 9014, 1514)):
        nic.transmit(frame(sink, number, length))
    sim.run_until(MS)
    unmap, add, more_pages = 7, 40 + 7, 3 * 7
    work = 3 * (unmap + add) + 2 * more_pages
    assert machine.costs.ledger.work()["hypervisor"] == work * 1000
    assert machine.cpus[0].times()["softirq_ps"] >= work * 1000
