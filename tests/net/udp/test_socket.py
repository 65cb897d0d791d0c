"""A datagram's way through a socket: what is charged, who is woken, what a call costs."""

import pytest

from simnet.host.costs import Costs, SharedLines, Spread
from simnet.host.scheduler import Wakeups
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import new_skb
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.reader import UdpReader
from simnet.net.udp.rules import udp_rules
from simnet.net.udp.socket import UdpCosts, UdpSocket
from tests.host.parts import LINE_BYTES, MS, NS, US, make_costs, make_machine, make_memory
from tests.net.parts import make_buffers

SIZE = 4 * LINE_BYTES
TRUESIZE = 1000


class Wire(Component):
    """Hands datagrams to a socket, each at its time, as a softirq of CPU 0 does."""

    def __init__(self, sim: Simulator, socket: UdpSocket, times_ps: list[int]) -> None:
        super().__init__(sim, "wire")
        self.socket = socket
        self.work_ps: list[int] = []
        for time_ps in times_ps:
            sim.at(time_ps, self, 0, 0, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        cpu = self.socket.reader.scheduler.cpus[0]
        skb = new_skb(self.socket, 0, SIZE, 0, 0, SIZE + 66, True)  # noqa: FBT003 - a cdef function
        skb.tsval = self.sim.now
        skb.toucher = cpu
        self.work_ps.append(self.socket.receive(skb, cpu))
        cpu.kick()


def made(
    times_ps: list[int],
    *,
    rcvbuf: int = 1 << 30,
    service_ps: int = 0,
    pages: UdpPages | None = None,
    costs: Costs | None = None,
    lines: int = 0,
    dirty_ps: int = 0,
    version: str = "6.12",
) -> tuple[UdpSocket, UdpReader, Wire]:
    sim = Simulator()
    memory = make_memory(same_bus_dirty_ps=dirty_ps, same_node_dirty_ps=dirty_ps)
    costs = costs or make_costs(user_recv=100)
    machine = make_machine(sim, costs=costs, memory=memory, cores_per_socket=2)
    socket = UdpSocket(
        sim,
        "socket",
        costs=UdpCosts(
            machine.costs,
            machine.memory,
            make_buffers(machine),
            rx_ps=300 * NS,
            recv_ps=200 * NS,
            checksum_by_cpu=False,
            page_bytes=0,
        ),
        memory=SocketMemory(udp_rules(version), pages or UdpPages(1 << 40, 1 << 40), rcvbuf),
        truesize=TRUESIZE,
        lines=SharedLines(machine.memory, lines),
        wakeups=Wakeups(machine.costs, machine.memory, 0),
        spread=Spread(0, 0),
    )
    reader = UdpReader(
        machine.scheduler,
        "reader",
        machine.cpus[1],
        socket,
        service_ps=service_ps,
        allowed=frozenset({1}),
    )
    wire = Wire(sim, socket, times_ps)
    reader.wake_on(machine.cpus[1])
    machine.cpus[1].kick()
    return socket, reader, wire


def test_what_comes_is_read_and_its_latency_is_from_when_it_was_sent() -> None:
    socket, reader, wire = made([10 * US, 20 * US, 30 * US])
    wire.sim.run_until(MS)
    assert (socket.enqueued, socket.received, socket.received_bytes) == (3, 3, 3 * SIZE)
    assert (reader.calls, reader.sleeps) == (3, 4)
    # recvmsg's own work; the processor was idle
    assert socket.latency.largest == 200 * NS
    assert socket.memory.rmem_alloc == 0
    assert wire.work_ps == [300 * NS] * 3


def test_a_slow_reader_s_socket_fills_and_drops_and_counts() -> None:
    times = [k * US for k in range(1, 101)]
    socket, _, wire = made(times, rcvbuf=9 * TRUESIZE, service_ps=10 * US)
    wire.sim.run_until(10 * MS)
    assert socket.rcvbuf_errors > 70
    assert socket.received == 100 - socket.rcvbuf_errors
    assert socket.depth == 0
    # ten wait for a reader that takes 10.3 us for each
    assert 90 * US < socket.latency.largest < 105 * US


def test_a_host_s_pages_run_out_before_the_buffer() -> None:
    socket, _, wire = made([US] * 20, pages=UdpPages(2, 2), service_ps=MS)
    wire.sim.run_until(500 * US)
    assert (socket.mem_errors, socket.rcvbuf_errors) == (11, 0)


@pytest.mark.parametrize(("lines", "dirty_ps"), [(3, 50 * NS)])
def test_softirq_and_reader_fetch_the_socket_s_lines_from_each_other(
    lines: int, dirty_ps: int
) -> None:
    free, _, other = made([10 * US, 20 * US])
    other.sim.run_until(MS)
    socket, _, wire = made([10 * US, 20 * US], lines=lines, dirty_ps=dirty_ps)
    wire.sim.run_until(MS)
    assert wire.work_ps[1] - other.work_ps[1] == lines * dirty_ps
    ledger = socket.costs.ledger
    # twice each way, and once when the reader first looked
    assert ledger.socket_lines - free.costs.ledger.socket_lines == 4 * lines * dirty_ps


def test_copy_and_call_cost_what_the_processor_s_costs_say() -> None:
    costs = make_costs(user_recv=100, syscall=400, copy_line=10, skb_free=50)
    socket, _, wire = made([10 * US], costs=costs)
    wire.sim.run_until(MS)
    ledger = socket.costs.ledger
    assert ledger.copy == 4 * 10 * NS
    assert ledger.udp_receive == (300 + 200 + 50) * NS
    # the second call found nothing and sleeps
    assert ledger.syscall == 2 * 400 * NS
    assert ledger.application == 100 * NS
    assert socket.latency.largest == (200 + 50 + 40) * NS


def test_a_datagram_that_is_dropped_costs_its_way_and_its_release() -> None:
    costs = make_costs(user_recv=100, skb_free=50)
    socket, _, wire = made([US] * 6, costs=costs, rcvbuf=TRUESIZE, service_ps=MS)
    wire.sim.run_until(2 * US)
    assert socket.rcvbuf_errors > 0
    kept = 6 - socket.rcvbuf_errors
    assert wire.work_ps == [300 * NS] * kept + [350 * NS] * socket.rcvbuf_errors
    booked = socket.costs.ledger.udp_receive
    assert booked >= 6 * 300 * NS + socket.rcvbuf_errors * 50 * NS


def test_the_application_s_time_is_booked() -> None:
    socket, _, wire = made([US, 2 * US], service_ps=7 * US)
    wire.sim.run_until(MS)
    assert socket.costs.ledger.application == 2 * (100 * NS + 7 * US)


def test_what_the_reader_is_busy_with_is_taken_as_a_whole() -> None:
    socket, reader, wire = made([US, 2 * US, 3 * US, 4 * US], service_ps=20 * US)
    wire.sim.run_until(10 * US)
    assert socket.queue.count == 3
    wire.sim.run_until(30 * US)
    assert (socket.queue.count, socket.reader_queue.count) == (0, 2)
    assert (socket.depth, socket.queue_bytes) == (2, 2 * SIZE)
    wire.sim.run_until(MS)
    assert reader.sleeps == 2
    assert socket.received == 4


@pytest.mark.parametrize(("version", "taken"), [("4.10", 1), ("4.12", 1), ("4.13", 3)])
def test_a_reader_takes_what_its_kernel_lets_it(version: str, taken: int) -> None:
    socket, _, wire = made([US, 2 * US, 3 * US], version=version, service_ps=MS)
    socket.waiters.clear()
    wire.sim.run_until(US - 1)
    for _ in range(3):
        wire.on_event(0, 0)
    assert socket.depth == 3
    assert socket.refill()
    assert socket.reader_queue.count == taken
    assert socket.depth == 3
