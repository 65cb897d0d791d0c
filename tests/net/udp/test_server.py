"""Workers that answer: by one call or several, from one socket or from sockets by CPU."""

from __future__ import annotations

from typing import Any

import pytest

from simnet.host.costs import SharedLines, Spread
from simnet.host.scheduler import Wakeups
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.link.skb import Endpoint, Header, Skb, Station, new_skb
from simnet.net.udp.clients import Answers, Client
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.output import UdpOutput
from simnet.net.udp.reuseport_group import ReuseportGroup
from simnet.net.udp.rules import UdpRules
from simnet.net.udp.server import UdpServer
from simnet.net.udp.socket import UdpCosts, UdpSocket
from tests.host.parts import MS, NS, US, make_costs, make_machine, make_memory
from tests.net.parts import make_buffers, make_tg3, on_wire

RX, RECV, TX, SYSCALL, GOT, GAVE = 300, 200, 900, 400, 110, 120
SERVICE = 3000
DIRTY = 60


class Arrivals(Component):
    """Hands requests to an endpoint at given times, on the first CPU."""

    def __init__(self, host: Host, times_ps: list[int]) -> None:
        super().__init__(host.sim, "arrivals")
        self.host = host
        self.numbers = iter(range(len(times_ps)))
        for time_ps in times_ps:
            host.sim.at(time_ps, self, 0, 0, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        cpu = self.host.machine.cpus[0]
        self.host.socket.receive(self.host.request(next(self.numbers) % 3), cpu)
        cpu.kick()


class Host:
    """A machine, a socket, and workers that answer three clients."""

    def __init__(
        self, workers: int, *, batch: int = 1, locks: bool = False, lines: int = 0
    ) -> None:
        self.sim = Simulator()
        costs = make_costs(syscall=SYSCALL, user_recv=GOT, user_send=GAVE)
        memory = make_memory(same_bus_dirty_ps=DIRTY * NS, same_node_dirty_ps=DIRTY * NS)
        self.machine = make_machine(
            self.sim, "host", costs, memory, cores_per_socket=max(workers + 1, 2)
        )
        self.nic = make_tg3(self.sim, self.machine)
        self.costs = UdpCosts(
            costs,
            self.machine.memory,
            make_buffers(self.machine),
            rx_ps=RX * NS,
            recv_ps=RECV * NS,
            checksum_by_cpu=False,
            page_bytes=0,
        )
        self.wakeups = Wakeups(costs, self.machine.memory, 0)
        self.socket = self.make_socket("socket", lines)
        if locks:
            self.socket.reader_lock = ContendedLine(self.machine.memory)
        headers = [Header(Station(0), Station(1), 1, 2, 53, 1000 + n) for n in range(3)]
        self.clients = [Client(header, self.nic, None, 0) for header in headers]
        self.answers = Answers(self.sim, "answers")
        self.servers = [self.server(n + 1, batch) for n in range(workers)]

    def make_socket(self, path: str, lines: int) -> UdpSocket:
        return UdpSocket(
            self.sim,
            path,
            costs=self.costs,
            memory=SocketMemory(UdpRules(), UdpPages(1 << 40, 1 << 40), 1 << 30),
            truesize=1000,
            lines=SharedLines(self.machine.memory, lines),
            wakeups=self.wakeups,
            spread=Spread(0, 0),
        )

    def server(self, cpu: int, batch: int) -> UdpServer:
        output = UdpOutput(
            self.sim,
            f"output{cpu}",
            nic=self.nic,
            remote=self.answers,
            header=self.clients[0].header,
            costs=self.costs,
            tx_ps=TX * NS,
            length=100,
            overhead_bytes=66,
            sndbuf=1 << 30,
            wakeups=self.wakeups,
        )
        return UdpServer(
            self.machine.scheduler,
            f"server{cpu}",
            self.machine.cpus[cpu],
            self.socket,
            output,
            self.clients,
            sent_lines=SharedLines(self.machine.memory, 0),
            service_ps=SERVICE * NS,
            batch=batch,
            allowed=frozenset({cpu}),
        )

    def request(self, client: int) -> Skb:
        skb = new_skb(self.socket, 0, 40, client, 0, 106, True)  # noqa: FBT003 - a cdef function
        skb.tsval = self.sim.now
        skb.toucher = self.machine.cpus[0]
        return skb

    def ran(self, times_ps: list[int]) -> list[Any]:
        """What is on the wire when the requests have come and been answered."""
        Arrivals(self, times_ps)
        for server in self.servers:
            server.wake_on(server.cpu)
            server.cpu.kick()
        self.sim.run_until(50 * MS)
        return on_wire(self.nic)


def test_each_request_is_answered_to_whom_it_came_from() -> None:
    host = Host(1)
    wire = host.ran([10 * US, 100 * US, 200 * US, 201 * US])
    (server,) = host.servers
    assert (server.calls, server.answered, server.batches) == (4, 4, 4)
    ports = [skb.header.destination_port for skb in wire]
    assert ports == [1000, 1001, 1002, 1000]
    assert [skb.tsecr // US for skb in wire] == [10, 100, 200, 201]
    assert all(skb.endpoint is host.answers for skb in wire)


def test_an_answer_s_latency_is_from_when_its_request_was_sent() -> None:
    host = Host(1)
    skb = new_skb(host.answers, 0, 100, 0, 0, 166, True)  # noqa: FBT003 - a cdef function
    skb.tsecr = 0
    host.sim.run_until(7 * US)
    host.answers.receive(skb, host.machine.cpus[0])
    assert (host.answers.received, host.answers.received_bytes) == (1, 100)
    assert host.answers.latency.largest == 7 * US


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_a_batch_saves_system_calls_and_nothing_else(batch: int) -> None:
    host = Host(1, batch=batch)
    # six wait while the worker is busy with a first
    host.ran([10 * US, *[12 * US] * 6])
    (server,) = host.servers
    rounds = 1 + -(-6 // batch)
    assert server.batches == rounds
    assert (server.calls, server.answered) == (7, 7)
    ledger = host.machine.costs.ledger
    # one to receive and one to send for each round, and one that finds nothing, and sleeps
    assert ledger.syscall == (2 * rounds + 1) * SYSCALL * NS
    assert ledger.application == 7 * (GOT + SERVICE + GAVE) * NS
    assert ledger.udp_receive == 7 * (RX + RECV) * NS
    assert ledger.udp_send == 7 * TX * NS


def test_a_batch_waits_for_one_datagram_and_for_no_more() -> None:
    host = Host(1, batch=8)
    wire = host.ran([10 * US, 100 * US])
    assert host.servers[0].batches == 2
    sent = [skb.tsval for skb in wire]
    own = (SYSCALL + TX + RECV + GOT + SERVICE) * NS
    assert sent == [10 * US + own, 100 * US + own]


def test_of_several_sleepers_one_is_woken_who_sleeps_longest() -> None:
    host = Host(3)
    host.ran([100 * US * n for n in range(1, 7)])
    assert [server.answered for server in host.servers] == [2, 2, 2]
    # at first, and twice for a request
    assert [server.wakeups for server in host.servers] == [3, 3, 3]
    assert [server.sleeps for server in host.servers] == [3, 3, 3]
    host = Host(3)
    host.ran([US * 10])
    assert [server.answered for server in host.servers] == [1, 0, 0]


def test_a_request_that_finds_all_busy_waits_for_who_is_ready_first() -> None:
    host = Host(2)
    host.ran([10 * US, 11 * US, 12 * US])
    assert sorted(server.answered for server in host.servers) == [1, 2]
    assert host.socket.depth == 0


def test_readers_of_a_socket_take_turns_at_its_lock() -> None:
    lone, free, held = Host(1, locks=True), Host(3), Host(3, locks=True)
    times = [10 * US + n * 500 * NS for n in range(60)]
    for host in (lone, free, held):
        host.ran(times)
        assert sum(server.answered for server in host.servers) == 60
    lock = held.socket.reader_lock
    assert lone.socket.reader_lock is not None
    assert lock is not None
    assert lone.socket.reader_lock.moves == 0
    assert lock.moves > 20
    lines = held.machine.costs.ledger.socket_lines - free.machine.costs.ledger.socket_lines
    assert lines == lock.moves * DIRTY * NS + lock.waited_ps


def test_a_lock_is_held_while_lines_move() -> None:
    host = Host(2, lines=2)
    socket, cpus = host.socket, host.machine.cpus
    socket.queue_lock = ContendedLine(host.machine.memory)
    socket.locked_ps = 25 * NS
    assert socket.receive(host.request(0), cpus[0]) == RX * NS
    # another CPU at the same instant: lines, the time that the first has it, the lock's line
    assert socket.receive(host.request(0), cpus[1]) == (RX + 2 * DIRTY + 25 + DIRTY) * NS
    # a third waits for the second, who has fetched lines under it
    took = socket.receive(host.request(0), cpus[2])
    assert took == (RX + 2 * DIRTY + 25 + DIRTY + 2 * DIRTY + 25 + DIRTY) * NS


class Place(Endpoint):
    """A socket of a group."""

    def __init__(self, sim: Simulator, number: int) -> None:
        super().__init__(sim, f"place{number}")
        self.got: list[int] = []

    def receive(self, skb: Skb, cpu: Any) -> int:
        self.got.append(skb.ack)
        self.freer = cpu
        return 10


def test_a_program_chooses_by_cpu_and_the_hash_for_cpus_without_a_socket() -> None:
    host = Host(3)
    places = [Place(host.sim, number) for number in range(2)]
    sockets: list[Endpoint] = [*places]
    for client, turn in enumerate((1, 0, 1)):
        group = ReuseportGroup(host.sim, f"group{client}", sockets, turn)
        for cpu in host.machine.cpus[:4]:
            skb = host.request(client)
            assert group.receive(skb, cpu) == 10
            assert skb.endpoint is places[cpu.cpu_id if cpu.cpu_id < 2 else turn]
            assert group.freer is cpu
        assert group.hashed == 2
    assert [place.got for place in places] == [[0, 1, 1, 1, 2], [0, 0, 0, 1, 2, 2, 2]]
