"""Processes that send datagrams: requests and answers, and a stream."""

from typing import Any

import pytest

from simnet.host.costs import SharedLines, Spread
from simnet.host.scheduler import Wakeups
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station, SwitchedPath, new_skb
from simnet.net.udp.clients import Client
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.output import UdpOutput, sent_truesize
from simnet.net.udp.reader import UdpReader
from simnet.net.udp.rules import udp_rules
from simnet.net.udp.server import UdpServer
from simnet.net.udp.socket import UdpCosts, UdpSocket
from simnet.net.udp.transaction import UdpTransactor
from simnet.net.udp.writer import UdpWriter
from tests.host.parts import MS, NS, US, Once, make_costs, make_machine
from tests.net.parts import make_buffers, make_tg3

COSTS = {
    "hardirq": 2000,
    "softirq_entry": 500,
    "poll": 400,
    "driver_rx": 1800,
    "skb_alloc": 300,
    "skb_free": 350,
    "ip_rx": 600,
    "wakeup": 800,
    "context_switch": 900,
    "syscall": 250,
    "user_recv": 120,
    "user_send": 130,
    "copy_line": 40,
}
RX, RECV, TX = 310, 210, 1700
OVERHEAD = 66
FRAME_PS = 84 * 8 * NS


class Host:
    """A machine with a port, a socket that receives, and what it sends by."""

    def __init__(
        self, sim: Simulator, name: str, length: int, pages: int = 1 << 40, **costs: int
    ) -> None:
        self.machine = make_machine(sim, name, make_costs(**COSTS | costs), None)
        self.cpu = self.machine.cpus[0]
        self.nic = make_tg3(sim, self.machine, rx_frames=1, rx_frames_irq=1, name=f"{name}0")
        self.costs = UdpCosts(
            self.machine.costs,
            self.machine.memory,
            make_buffers(self.machine),
            rx_ps=RX * NS,
            recv_ps=RECV * NS,
            checksum_by_cpu=False,
            page_bytes=0,
        )
        self.wakeups = Wakeups(self.machine.costs, self.machine.memory, 0)
        self.length = length
        self.socket = UdpSocket(
            sim,
            f"{name}.socket",
            costs=self.costs,
            memory=SocketMemory(udp_rules("4.10"), UdpPages(pages, pages), 1 << 30),
            truesize=2304,
            lines=SharedLines(self.machine.memory, 0),
            wakeups=self.wakeups,
            spread=Spread(0, 0),
        )

    def output(self, remote: UdpSocket, sndbuf: int = 1 << 30) -> UdpOutput:
        return UdpOutput(
            self.machine.sim,
            f"{self.machine.path}.output",
            nic=self.nic,
            remote=remote,
            header=Header(Station(0), Station(1)),
            costs=self.costs,
            tx_ps=TX * NS,
            length=self.length,
            overhead_bytes=OVERHEAD,
            sndbuf=sndbuf,
            wakeups=self.wakeups,
        )


class Pair:
    """Two hosts with a cable."""

    def __init__(self, here: int = 1, there: int = 1, pages: int = 1 << 40, **costs: int) -> None:
        self.sim = Simulator()
        self.here = Host(self.sim, "here", here, **costs)
        self.there = Host(self.sim, "there", there, pages, **costs)
        for one, other in ((self.here, self.there), (self.there, self.here)):
            one.nic.path_out = SwitchedPath(
                self.sim,
                f"{one.machine.path}.path",
                other.nic,
                10**9,
                0,
                0,
                False,  # noqa: FBT003 - as the path's other users
            )

    def begin(self, *tasks: Any) -> None:
        for task in tasks:
            task.wake_on(task.cpu)
            task.cpu.kick()

    def transactors(self, **more: Any) -> tuple[UdpTransactor, UdpTransactor]:
        made = tuple(
            UdpTransactor(
                one.machine.scheduler,
                f"{one.machine.path}.process",
                one.cpu,
                one.socket,
                one.output(other.socket),
                begins=begins,
                **({} if begins else more),
            )
            for one, other, begins in (
                (self.here, self.there, True),
                (self.there, self.here, False),
            )
        )
        self.begin(made[1], made[0])
        return made[0], made[1]


def one_way_ps() -> int:
    """From send to send on idle hosts: every step of the path, in its order."""
    steps = ["syscall", "skb_alloc", "copy_line"]  # the sender
    steps += ["hardirq", "softirq_entry", "poll", "driver_rx", "skb_alloc", "ip_rx"]
    steps += ["wakeup", "context_switch", "skb_free", "copy_line", "user_recv"]
    return (sum(COSTS[step] for step in steps) + RX + RECV + TX) * NS + 2 * FRAME_PS


@pytest.mark.parametrize("service_ps", [0, 30 * US])
def test_a_transaction_takes_the_sum_of_its_steps(service_ps: int) -> None:
    pair = Pair()
    client, server = pair.transactors(service_ps=service_ps)
    pair.sim.run_until(10 * MS)
    count, start = client.transactions, client.started_ps
    pair.sim.run_until(20 * MS)
    done = client.transactions - count
    assert done > 100
    assert (client.started_ps - start) / done == 2 * one_way_ps() + service_ps
    assert client.round_trips.count == client.transactions
    assert client.delivered - client.transactions in {0, 1}
    assert 0 <= server.delivered - client.delivered <= 1
    assert server.transactions == 0
    ledger = pair.there.machine.costs.ledger
    # a call that waits has begun
    assert ledger.syscall == 250 * NS * (server.calls + server.output.out_datagrams + 1)
    assert ledger.application == (120 * NS + service_ps) * server.calls + 130 * NS * (
        server.output.out_datagrams
    )
    assert client.calls == client.socket.received


def test_sizes_of_requests_and_answers_are_apart() -> None:
    pair = Pair(100, 400)
    client, server = pair.transactors()
    pair.sim.run_until(5 * MS)
    assert server.delivered == 100 * server.calls > 0
    assert client.delivered == 400 * client.calls > 0


def test_a_lost_datagram_ends_it() -> None:
    pair = Pair(pages=0)
    client, server = pair.transactors()
    pair.sim.run_until(5 * MS)
    assert (client.output.out_datagrams, pair.there.socket.mem_errors) == (1, 1)
    assert (client.transactions, server.calls) == (0, 0)


def test_a_writer_sends_until_its_buffer_is_full_and_goes_on_at_half() -> None:
    pair = Pair(1000)
    truesize = sent_truesize(1000)
    output = pair.here.output(pair.there.socket, 8 * truesize)
    writer = UdpWriter(pair.here.machine.scheduler, "writer", pair.here.cpu, output)
    reader = UdpReader(
        pair.there.machine.scheduler, "reader", pair.there.cpu, pair.there.socket, service_ps=0
    )
    most = 0
    pair.begin(reader, writer)
    for step in range(1, 400):
        pair.sim.run_until(step * 5 * US)
        most = max(most, output.wmem_alloc)
    assert most == 8 * truesize
    assert output.waits > 3
    assert writer.calls == output.out_datagrams
    # a gigabit is 8.5 us a frame; the sender is faster, and waits for frames to be freed
    assert 100 < output.out_datagrams <= 2 * MS // (1066 * 8 * NS) + 9
    assert 0 < reader.calls <= output.out_datagrams
    # what is on its way is eight datagrams at most
    assert 8 * US < pair.there.socket.latency.largest < 10 * 1066 * 8 * NS + 40 * US
    ledger = pair.here.machine.costs.ledger
    assert 0 <= ledger.syscall - 250 * NS * writer.calls <= 250 * NS
    assert pair.there.machine.costs.ledger.udp_send == 0
    assert pair.here.machine.costs.ledger.udp_send >= (TX + 300) * NS * output.out_datagrams


@pytest.mark.parametrize("kind", [UdpReader, UdpServer, UdpWriter, UdpTransactor])
def test_a_better_process_runs_as_soon_as_the_application_s_code_is_done(kind: Any) -> None:
    """`need_resched` on the way back to user mode, however much is still to be done."""
    work_ps = 20 * US
    pair = Pair(user_recv=work_ps // NS, user_send=work_ps // NS)
    here = pair.here
    output = here.output(pair.there.socket)
    options: dict[Any, tuple[tuple[Any, ...], dict[str, Any]]] = {
        UdpReader: ((here.socket,), {"service_ps": 0}),
        UdpServer: (
            (here.socket, output, [Client(output.header, here.nic, None, 0)]),
            {"sent_lines": SharedLines(here.machine.memory, 0), "service_ps": 0, "batch": 1},
        ),
        UdpWriter: ((output,), {}),
        UdpTransactor: ((here.socket, output), {"begins": False}),
    }
    arguments, named = options[kind]
    task = kind(here.machine.scheduler, "process", here.cpu, *arguments, **named)
    better = Once(here.machine.scheduler, "better", here.cpu, -5)
    pair.begin(task)
    for _ in range(20):
        skb = new_skb(here.socket, 0, 1, 0, 0, 106, push=True)
        skb.toucher = here.cpu
        here.socket.receive(skb, here.cpu)
    while here.cpu.times()["user_ps"] == 0:
        assert pair.sim.now < MS
        pair.sim.run_until(pair.sim.now + US)
    end_ps = pair.sim.now - here.cpu.times()["user_ps"] + work_ps
    better.wake_on(here.cpu)
    pair.sim.run_until(end_ps + MS)
    assert better.log == [(end_ps + COSTS["context_switch"] * NS, 0)]
    calls = task.calls
    pair.sim.run_until(end_ps + 2 * MS)
    assert task.calls > calls
