"""Request and response: one process waits for the other, and acknowledgements ride on data."""

from typing import Any

import pytest

from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import SwitchedPath
from simnet.net.tcp.transaction import TcpTransactor
from tests.host.parts import MS, NS, US, make_costs, make_machine
from tests.net.parts import make_socket, make_tg3

COSTS = {
    "hardirq": 2000,
    "softirq_entry": 500,
    "poll": 400,
    "driver_rx": 1800,
    "skb_alloc": 300,
    "skb_free": 350,
    "ip_rx": 600,
    "tcp_rx": 1400,
    "tcp_tx": 1700,
    "backlog": 100,
    "wakeup": 800,
    "context_switch": 900,
    "syscall": 250,
    "user_recv": 120,
    "user_send": 130,
    "copy_line": 40,
}
SWITCH_PS = 4 * US
CABLE_PS = 50 * NS
FRAME_PS = (1 + 52 + 38) * 8 * NS  # a byte, headers, preamble and gap


class Pair:
    """Two machines with a connection between them."""

    def __init__(
        self,
        request: int | tuple[int, ...] = 1,
        response: int = 1,
        costs: dict[str, int] | None = None,
        service_ps: int = 0,
        think_ps: int = 0,
        **options: Any,
    ) -> None:
        self.sim = Simulator()
        self.sockets = []
        nics = []
        ends = []
        writes = request if isinstance(request, tuple) else (request,)
        think = (think_ps, RandomStream(1, "think")) if think_ps else None
        for name, sizes, more in (
            ("client", (writes, response), {"begins": True, "think": think}),
            ("server", ((response,), sum(writes)), {"begins": False, "service_ps": service_ps}),
        ):
            machine = make_machine(self.sim, name, make_costs(**(COSTS | (costs or {}))), None)
            nics.append(make_tg3(self.sim, machine, rx_frames=1, rx_frames_irq=1))
            self.sockets.append(
                make_socket(self.sim, machine, nics[-1], f"{name}.socket", **options)
            )
            ends.append(
                TcpTransactor(
                    machine.scheduler,
                    f"{name}.process",
                    machine.cpus[0],
                    self.sockets[-1],
                    *sizes,
                    **more,
                )
            )
        for here, there in ((0, 1), (1, 0)):
            nics[here].path_out = SwitchedPath(
                self.sim,
                f"path{here}",
                nics[there],
                10**9,
                CABLE_PS,
                SWITCH_PS,
                False,  # noqa: FBT003 - as the path's other users
            )
            self.sockets[here].connect(self.sockets[there])
        self.client, self.server = ends
        for end in (self.server, self.client):
            end.wake_on(end.cpu)
            end.cpu.kick()

    def run(self, length_ps: int) -> None:
        self.sim.run_until(self.sim.now + length_ps)


def one_way_ps(*, low_latency: bool = False) -> int:
    """From send to send on idle hosts: every step of the path, in its order."""
    steps = ["tcp_tx"]  # the sender; copies are counted below
    steps += ["hardirq", "softirq_entry", "poll", "driver_rx", "skb_alloc", "ip_rx"]
    steps += ["wakeup", "context_switch", "tcp_rx", "skb_free", "syscall", "user_recv"]
    if not low_latency:
        steps += ["backlog"]
    wire = 2 * (FRAME_PS + CABLE_PS) + SWITCH_PS
    return (sum(COSTS[step] for step in steps) + 2 * COSTS["copy_line"]) * NS + wire


@pytest.mark.parametrize("low_latency", [False, True])
def test_a_transaction_takes_the_sum_of_its_steps(low_latency: bool) -> None:  # noqa: FBT001
    pair = Pair(low_latency=low_latency)
    pair.run(10 * MS)
    count, start = pair.client.transactions, pair.client.started_ps
    pair.run(10 * MS)
    done = pair.client.transactions - count
    assert done > 200
    assert (pair.client.started_ps - start) / done == 2 * one_way_ps(low_latency=low_latency)


def test_what_the_application_does_comes_before_the_answer() -> None:
    pair = Pair(service_ps=30 * US)
    pair.run(20 * MS)
    upper_ps, _ = max(pair.client.latency_buckets(), key=lambda bucket: bucket[1])
    assert upper_ps == pytest.approx(2 * one_way_ps() + 30 * US, rel=1 / 128)


def test_who_thinks_sleeps_between_transactions() -> None:
    """Latency is that of the transaction alone, and as long as without."""
    pair = Pair(think_ps=2 * MS)
    pair.run(1000 * MS)
    assert pair.client.transactions == pytest.approx(500, rel=0.15)
    busy_ps = sum(pair.client.cpu.times()[name] for name in ("user_ps", "system_ps", "irq_ps"))
    assert busy_ps < 20 * MS
    upper_ps, _ = max(pair.client.latency_buckets(), key=lambda bucket: bucket[1])
    assert upper_ps == pytest.approx(2 * one_way_ps(), rel=1 / 64)


def test_latency_is_the_round_trip() -> None:
    pair = Pair()
    pair.run(20 * MS)
    upper_ps, count = max(pair.client.latency_buckets(), key=lambda bucket: bucket[1])
    assert count >= pair.client.transactions - 20
    assert upper_ps == pytest.approx(2 * one_way_ps(), rel=1 / 128)


def test_the_acknowledgement_rides_on_the_answer() -> None:
    pair = Pair()
    pair.run(10 * MS)
    before = [socket.acks_sent for socket in pair.sockets]
    pair.run(100 * MS)
    assert [socket.acks_sent for socket in pair.sockets] == before
    # at the start, before it is known to be interactive, some went alone
    assert 0 < sum(before) <= 16
    assert all(socket.sender.timeouts == 0 for socket in pair.sockets)


@pytest.mark.compiled
@pytest.mark.parametrize(("request_bytes", "response_bytes"), [(64, 1024), (1, 100_000)])
def test_messages_of_any_size_come_whole(request_bytes: int, response_bytes: int) -> None:
    pair = Pair(request_bytes, response_bytes)
    pair.run(300 * MS)
    done = pair.client.transactions
    assert done > 20
    assert done * response_bytes <= pair.client.delivered < (done + 1) * response_bytes
    assert done * request_bytes <= pair.server.delivered <= (done + 1) * request_bytes


def test_what_has_begun_is_not_counted_before_it_is_over() -> None:
    pair = Pair()
    for end in (pair.client, pair.server):
        assert (end.transactions, end.latency_buckets(), end.delivered) == (0, (), 0)
    pair.run(one_way_ps())
    assert pair.client.transactions == 0
    pair.run(10 * MS)
    counted = sum(count for _, count in pair.client.latency_buckets())
    assert counted == pair.client.transactions == pair.client.delivered


def test_a_request_in_parts_waits_for_an_acknowledgement_that_is_delayed() -> None:
    once, parts = Pair(300, 10), Pair((100, 200), 10)
    durations = []
    for pair in (once, parts):
        pair.sim.run_until(400 * MS)
        assert pair.client.transactions >= 9
        assert pair.server.delivered // 300 - pair.client.transactions in {0, 1}
        durations.append(400 / pair.client.transactions)
    assert durations[0] < 1
    assert 35 < durations[1] < 45  # ms; TCP_DELACK_MIN is 40 ms
    stalls = parts.sockets[0].sender.output.stalls
    assert parts.client.transactions - 2 < stalls <= parts.client.transactions + 1
    assert once.sockets[0].sender.output.stalls == 0
