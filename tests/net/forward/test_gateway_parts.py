"""A home router's two directions: what a packet pays where, and who sends it."""

from typing import Any

import pytest

from simnet.host.costs import Spread
from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.forward.gateway import ComesIn, Enters, Gateway, GoesOut, Sides
from simnet.net.link.skb import Header, Path, Skb, Station
from simnet.net.nic.broadcom.bgmac import Bgmac
from simnet.net.steering.steering import Steering
from tests.host.parts import NS, US, make_costs, make_machine, make_memory
from tests.net.parts import Line, Sink, connect, feed, frame, make_device, on_wire

BACKLOG, IP, DOORBELL = 3 * NS, 5 * NS, 7 * NS
# of which no two sums are the same
WORK = {
    "port_rx_ps": 16 * NS,
    "bridge_rx_ps": 32 * NS,
    "bridge_tx_ps": 64 * NS,
    "route_ps": 1024 * NS,
    "list_ps": 128 * NS,
    "xmit_ps": 256 * NS,
    "lines_ps": 512 * NS,
}
CLEAN = 2 * NS
LINES = 10
SEND = WORK["xmit_ps"] + LINES * CLEAN + DOORBELL


class Elsewhere(Steering):
    """Sends packets to another CPU."""

    def __init__(self, work_ps: int) -> None:
        self.work_ps = work_ps
        self.log: list[tuple[Skb, Cpu]] = []

    def deliver(self, skb: Skb, cpu: Cpu) -> int:
        self.log.append((skb, cpu))
        return self.work_ps


class Router:
    """One port, and both directions through it."""

    def __init__(self, *, lists: bool = False, steering: Steering | None = None) -> None:
        self.sim = Simulator()
        costs = make_costs(backlog=BACKLOG // NS, ip_rx=IP // NS)
        memory = make_memory(mmio_write_ps=DOORBELL)
        self.machine = make_machine(self.sim, "router", costs, memory, cores_per_socket=2)
        self.nic = Bgmac(make_device(self.sim, self.machine), 8)
        self.nic.line = Line(self.sim, 179, "eth0", self.machine.cpus, 1)
        connect(self.nic)
        self.cpus, self.ledger = self.machine.cpus, costs.ledger
        self.gateway = Gateway(
            costs, 2, self.nic, lister=self.nic if lists else None, clean_ps=CLEAN, **WORK
        )
        self.out = {
            bridged: GoesOut(
                self.sim, f"out{bridged}", self.gateway, bridged=bridged, spread=Spread(1, 0)
            )
            for bridged in (False, True)
        }
        self.header = Header(Station(1), Station(2))
        self.into = {
            bridged: ComesIn(
                self.sim,
                f"in{bridged}",
                self.gateway,
                header=self.header,
                bridged=bridged,
                # what comes by the bridge leaves by the wide area's port
                routed=self.out[not bridged],
                steering=steering,
                spread=Spread(1, 0),
            )
            for bridged in (False, True)
        }

    def packet(self, number: int = 0) -> Skb:
        return frame(self.into[False], number, wire_bytes=LINES * 128)

    def counts(self) -> tuple[int, ...]:
        made = self.gateway
        return made.received, made.bridged, made.sent, made.handed_over


ROUTED = WORK["route_ps"] + WORK["lines_ps"]


@pytest.mark.parametrize("bridged", [False, True])
def test_a_packet_pays_for_each_step_of_its_way(*, bridged: bool) -> None:
    router = Router()
    skb = router.packet()
    work = router.into[bridged].receive(skb, router.cpus[0])
    into = WORK["port_rx_ps"] + (WORK["bridge_rx_ps"] + IP) * bridged
    out = ROUTED + WORK["bridge_tx_ps"] * (not bridged) + SEND
    assert work == into + out
    assert router.ledger.forwarding == work
    assert router.counts() == (1, bridged, 1, 0)
    assert skb.endpoint is router.out[not bridged]
    assert skb.toucher is router.cpus[0]
    assert on_wire(router.nic) == [skb]


def test_rps_of_the_bridge_takes_what_has_passed_it() -> None:
    steering = Elsewhere(9 * US)
    router = Router(steering=steering)
    skb = router.packet()
    work = router.into[True].receive(skb, router.cpus[1])
    own = WORK["port_rx_ps"] + WORK["bridge_rx_ps"]
    assert work == own + 9 * US
    assert router.ledger.forwarding == own
    assert steering.log == [(skb, router.cpus[1])]
    assert skb.toucher is router.cpus[1]
    assert router.counts() == (1, 1, 0, 0)
    # what comes from the wide area is not the bridge's
    router.into[False].receive(router.packet(), router.cpus[0])
    assert len(steering.log) == 1
    assert router.counts() == (2, 1, 1, 0)


def test_a_cpu_that_finds_another_sending_leaves_its_packet_to_that() -> None:
    router = Router()
    first, second = router.cpus
    out, gateway = router.out[False], router.gateway
    assert out.receive(router.packet(), first) == ROUTED + SEND
    # while the first sends, the second only adds; twice
    for _ in range(2):
        assert out.receive(router.packet(), second) == ROUTED + BACKLOG
    assert router.counts() == (0, 0, 3, 2)
    # the first sends them, too, and pays when it comes by again
    assert out.receive(router.packet(), first) == ROUTED + SEND + 2 * SEND
    assert gateway.owes_ps(first) == gateway.owes_ps(second) == 0
    assert router.ledger.forwarding == 4 * ROUTED + 4 * SEND + 2 * BACKLOG
    assert len(on_wire(router.nic)) == 4


@pytest.mark.parametrize(("handed", "busy_ps"), [(0, SEND), (1, 2 * SEND), (2, 3 * SEND)])
def test_it_sends_until_all_is_sent_that_was_left_to_it(handed: int, busy_ps: int) -> None:
    for later, left in ((busy_ps - 1, True), (busy_ps, False)):
        router = Router()
        first, second = router.cpus
        out = router.out[False]
        out.receive(router.packet(), first)
        for _ in range(handed):
            out.receive(router.packet(), second)
        router.sim.run_until(later)
        work = out.receive(router.packet(), second)
        assert work == ROUTED + (BACKLOG if left else SEND)
        assert router.gateway.handed_over == handed + left
        # now the second sends
        if not left:
            assert out.receive(router.packet(), first) == ROUTED + BACKLOG + handed * SEND


@pytest.mark.parametrize(("lists", "steered"), [(True, False), (False, False), (True, True)])
def test_a_packet_behind_another_of_a_list_finds_the_code_in_the_caches(
    *, lists: bool, steered: bool
) -> None:
    router = Router(lists=lists)
    log: list[int] = []

    class Taken(Sink):
        """What the port hands up goes on to the local network."""

        def receive(self, skb: Skb, cpu: Cpu) -> int:
            log.append(int(router.out[True].receive(skb, cpu)))
            return super().receive(skb, cpu)

    # three at once, and one of a list of its own
    feed(router.nic, Taken(router.sim), [10 * US] * 3 + [500 * US])
    if steered:
        router.nic.steering = Straight()
    router.sim.run_until(1000 * US)
    sent = WORK["xmit_ps"] + CLEAN + DOORBELL
    whole = ROUTED + WORK["bridge_tx_ps"]
    behind = whole - WORK["list_ps"] * (lists and not steered)
    assert len(log) == 4
    assert [log[0] - work for work in log] == [0, whole - behind, whole - behind, 0]
    assert log[0] >= whole + sent


class Straight(Steering):
    """Hands packets up on the CPU that polls."""

    def deliver(self, skb: Skb, cpu: Cpu) -> int:
        return int(skb.endpoint.receive(skb, cpu))


class Log(Path):
    """Keeps frames, and how many there were at each flush."""

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.frames: list[Any] = []
        self.flushes: list[int] = []

    def send(self, skb: Skb, tx_end_ps: int) -> int:
        self.frames.append((skb, tx_end_ps))
        return 17

    def flush(self) -> int:
        self.flushes.append(len(self.frames))
        return 0


def test_what_was_routed_goes_to_its_side_and_a_burst_ends_on_both() -> None:
    router = Router()
    ways = [Log(router.sim, f"way{number}") for number in range(2)]
    sides = Sides(router.sim, "sides", list(ways))
    for bridged in (False, True):
        router.out[bridged].way = ways[bridged]
    skbs = []
    for number, bridged in enumerate((True, False, True)):
        skb = router.packet(number)
        skb.endpoint = router.out[bridged]
        assert sides.send(skb, number) == 17
        skbs.append(skb)
    sides.flush()
    assert ways[0].frames == [(skbs[1], 1)]
    assert ways[1].frames == [(skbs[0], 0), (skbs[2], 2)]
    assert [way.flushes for way in ways] == [[1], [2]]


def test_each_packet_ends_a_burst_of_the_port() -> None:
    router = Router()
    router.nic.path_out = way = Log(router.sim, "way")
    for _ in range(3):
        router.out[False].receive(router.packet(), router.cpus[0])
    assert way.flushes == [1, 2, 3]


def test_a_frame_has_its_addresses_when_it_enters() -> None:
    router = Router()
    way: Any = router.nic.path_out
    enters = Enters(router.sim, "enters", way)
    skb = router.packet()
    skb.endpoint = router.into[True]
    enters.send(skb, 5 * US)
    enters.flush()
    assert skb.header is router.header
    assert on_wire(router.nic) == [skb]
