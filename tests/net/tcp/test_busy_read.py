"""A reader that polls the device before it sleeps (`net.core.busy_read`), of both protocols."""

from collections.abc import Callable

import pytest

from simnet.host.costs import SharedLines, Spread
from simnet.host.scheduler import Wakeups
from simnet.host.softirq.busy_read import BusyRead
from simnet.net.link.skb import Skb, new_skb
from simnet.net.tcp.process import TcpReader
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.reader import UdpReader
from simnet.net.udp.rules import udp_rules
from simnet.net.udp.socket import UdpCosts, UdpSocket
from tests.host.parts import US, Agenda
from tests.net.nic.connectx import Bench
from tests.net.parts import make_buffers, make_socket, segment

USECS = 50
# one byte is enough
SIZE = 1


# a reader, its packets by their number, and the bytes that its socket has handed on
Made = tuple[TcpReader | UdpReader, Callable[[int], Skb], Callable[[], int]]


def tcp(bench: Bench) -> Made:
    """Of a connection."""
    socket = make_socket(bench.sim, bench.machine, bench.nic, busy_read_usecs=USECS)
    reader = TcpReader(bench.machine.scheduler, "reader", bench.cpu, socket, SIZE)
    return (
        reader,
        lambda number: segment(socket, SIZE * number, SIZE, push=True),
        lambda: socket.delivered,
    )


def udp(bench: Bench) -> Made:
    """Of a socket."""
    costs, memory = bench.machine.costs, bench.machine.memory
    socket = UdpSocket(
        bench.sim,
        "socket",
        costs=UdpCosts(
            costs, memory, make_buffers(bench.machine),
            rx_ps=0, recv_ps=0, checksum_by_cpu=False, page_bytes=0,
        ),
        memory=SocketMemory(udp_rules("6.12"), UdpPages(1 << 40, 1 << 40), 1 << 30),
        truesize=1000,
        lines=SharedLines(memory, 0),
        wakeups=Wakeups(costs, memory, 0),
        spread=Spread(0, 0),
    )  # fmt: skip
    socket.busy = BusyRead(USECS)
    reader = UdpReader(bench.machine.scheduler, "reader", bench.cpu, socket, service_ps=0)
    return (
        reader,
        lambda _: new_skb(socket, 0, SIZE, 0, 0, SIZE + 66, push=True),
        lambda: socket.received_bytes,
    )


@pytest.mark.parametrize("protocol", [tcp, udp])
@pytest.mark.parametrize(
    ("gap_us", "wakeups"),
    # the first packet tells which device to poll; then one comes before the loop is over, or not
    [(30, 2), (70, 5)],
)
def test_what_comes_while_it_polls_finds_it_awake(
    protocol: Callable[[Bench], Made], gap_us: int, wakeups: int
) -> None:
    bench = Bench(costs={"syscall": 100})
    reader, packet, received = protocol(bench)
    agenda = Agenda(bench.sim)
    agenda.at(0, lambda: (reader.wake_on(bench.cpu), bench.cpu.kick()))

    def come(number: int) -> None:
        skb = packet(number)
        skb.arrival_ps = bench.sim.now
        bench.nic.incoming.append(skb)
        bench.nic.frames_added()

    arrivals_us = [100 + gap_us * number for number in range(4)]
    for number, at in enumerate(arrivals_us):
        agenda.at(at * US, come, number)
    # an interrupt comes 8 us later, and the loop ends 51 us after it began
    sleeping = []
    for later_us in (45, 65):
        bench.run(arrivals_us[-1] + later_us)
        sleeping.append(reader.sleeping)
    assert sleeping == [False, True]
    assert (reader.wakeups, received()) == (wakeups, 4 * SIZE)
