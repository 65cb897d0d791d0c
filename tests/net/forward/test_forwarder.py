"""What a packet of a router costs, and where it ends: hooks of Linux 4.18 in their order."""

from itertools import product
from typing import Any

import pytest

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cache import CacheWays
from simnet.host.costs import Spread
from simnet.host.idle import IdleStates
from simnet.kernel.random import stream
from simnet.net.forward.conntrack import Conntrack
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.forward.forwarder import DROP_IN_FILTER, DROP_IN_RAW, DROP_NOWHERE, Forwarder, Hooks
from simnet.net.link.skb import Skb
from simnet.net.nic.multiqueue import XpsMap
from simnet.net.nic.port import Nic
from tests.host.parts import NS, Job, make_memory
from tests.net.nic.connectx import Bench
from tests.net.parts import frame, on_wire

# all different, so that no two sums are the same
WORK = {
    "raw_ps": 1 * NS,
    "before_route_ps": 2 * NS,
    "nat_ps": 4 * NS,
    "route_ps": 8 * NS,
    "filter_ps": 16 * NS,
    "output_ps": 32 * NS,
}
TABLE = 8192 * NS
MAKE, FIND, FREE, DOORBELL, MOVE = 64 * NS, 128 * NS, 256 * NS, 512 * NS, 1024 * NS
XMIT = 2048 * NS
EXPOSED, COLD = 400, 4096 * NS


class Router:
    """A queue of one port, two of another, and the hooks between them."""

    def __init__(self, *, most: int = 0, tracked: bool = True, cpus: int = 2, **rules: Any) -> None:
        memory = make_memory(
            mmio_write_ps=DOORBELL, same_bus_dirty_ps=MOVE, same_node_dirty_ps=MOVE
        )
        self.bench = Bench(costs={"skb_free": FREE // NS}, memory=memory, cpus=cpus)
        machine, sim = self.bench.machine, self.bench.sim
        self.cpus = machine.cpus
        self.ledger = machine.costs.ledger
        self.table = Conntrack(
            64,
            most=most,
            buckets=1024,
            line=ContendedLine(memory),
            make_ps=MAKE,
            find_ps=FIND,
            luck=stream(1, "conntrack"),
        )
        options: dict[str, Any] = (
            {"drop": DROP_NOWHERE, "routes": True, "ttl": False} | rules | WORK
        )
        xps, number = options.pop("xps", None), options.pop("number", 0)
        answers = options.pop("answers", False)
        self.hooks = Hooks(
            machine.costs,
            memory,
            conntrack=self.table if tracked else None,
            xmit_ps=XMIT,
            exposed_permille=EXPOSED,
            cold_ps=COLD,
            **options,
        )
        self.out: list[Nic] = [self.bench.another(name) for name in ("eth1", "eth2")]
        self.forwarder = Forwarder(
            sim,
            "forwarder",
            hooks=self.hooks,
            nic=self.bench.nic,
            number=number,
            buffer_bytes=2048,
            out=self.out,
            locks=[ContendedLine(memory) for _ in self.out],
            xps=xps,
            spread=Spread(1, 0),
            answers=answers,
        )

    def packet(self, flow: int = 0) -> Skb:
        skb = frame(self.bench.sink, flow)
        skb.ack = flow
        return skb

    def take(self, flow: int = 0, cpu: int = 0) -> int:
        return int(self.forwarder.receive(self.packet(flow), self.cpus[cpu]))

    def counts(self) -> dict[str, int]:
        """Where packets have ended, of what is not zero."""
        names = [
            "dropped_raw",
            "dropped_filter",
            "addr_errors",
            "hdr_errors",
            "forwarded",
            "offloaded",
        ]
        counted = {name: int(getattr(self.hooks, name)) for name in names}
        return {name: count for name, count in counted.items() if count}


def expected(drop: int, entry: str, *, routes: bool, ttl: bool) -> tuple[int, str]:
    """Work on a packet without what it waits for, and the counter that it ends in."""
    work = WORK["raw_ps"]
    if drop == DROP_IN_RAW:
        return work + FREE, "dropped_raw"
    work += {"none": 0, "found": FIND, "made": MAKE, "full": MAKE}[entry]
    if entry == "full":
        return work + FREE, ""
    if entry == "made":
        work += WORK["nat_ps"]
    work += WORK["before_route_ps"] + WORK["route_ps"]
    if not routes:
        return work + FREE, "hdr_errors" if ttl else "addr_errors"
    work += WORK["filter_ps"]
    if drop == DROP_IN_FILTER:
        return work + FREE, "dropped_filter"
    if entry == "made":
        work += WORK["nat_ps"]
    return work + WORK["output_ps"], "forwarded"


@pytest.mark.parametrize("entry", ["none", "found", "made", "full"])
@pytest.mark.parametrize(
    ("drop", "routes", "ttl"),
    list(product((DROP_NOWHERE, DROP_IN_RAW, DROP_IN_FILTER), (True, False), (True, False))),
)
def test_each_packet_pays_for_the_hooks_that_it_passes(
    entry: str, drop: int, *, routes: bool, ttl: bool
) -> None:
    router = Router(
        tracked=entry != "none", most=entry == "full", drop=drop, routes=routes, ttl=ttl
    )
    table, cpu = router.table, router.cpus[0]
    if entry == "found":
        table.enter(3, cpu, 0)
        table.confirm(3)
    elif entry == "full":
        # one that no early drop finds, as it is not confirmed
        table.enter(5, cpu, 0)
    held = table.count
    work, counter = expected(drop, entry, routes=routes, ttl=ttl)
    # the doorbell is the only thing that is waited for
    waited = DOORBELL if counter == "forwarded" else 0
    assert router.take(3) == work + waited
    assert router.counts() == ({counter: 1} if counter else {})
    assert router.hooks.in_stack == 1
    assert router.ledger.forwarding == work
    assert router.ledger.socket_lines == waited
    assert table.drops == (not counter)
    assert router.forwarder.freer is cpu
    # an entry of its own goes with a packet that is dropped, when its work is done
    fresh = entry == "made" and drop != DROP_IN_RAW
    assert table.count == held + fresh
    router.bench.sim.run_until(work + waited - 1)
    assert table.count == held + fresh
    router.bench.sim.run_until(work + waited)
    assert table.count == held + (fresh and counter == "forwarded")
    assert [len(on_wire(nic)) for nic in router.out] == [counter == "forwarded", 0]


def test_a_flow_table_sends_what_follows_an_answer_and_no_hook_is_passed() -> None:
    router = Router(answers=True, flow_table_ps=TABLE)
    made, found = (
        expected(DROP_NOWHERE, entry, routes=True, ttl=False)[0] + DOORBELL
        for entry in ("made", "found")
    )
    # its own first packet is new; the next one passes the rule as an answer
    assert router.take(3) == made
    assert router.take(3) == found
    assert router.take(4) == made
    assert router.counts() == {"forwarded": 3}
    assert [router.take(3) for _ in range(2)] == 2 * [TABLE + DOORBELL]
    assert router.counts() == {"forwarded": 5, "offloaded": 2}
    assert router.ledger.forwarding == 2 * made + found - 3 * DOORBELL + 2 * TABLE
    assert len(on_wire(router.out[0])) == 5


@pytest.mark.parametrize("options", [{"answers": False}, {"drop": DROP_IN_FILTER}])
def test_without_an_answer_that_passes_the_rule_the_flow_table_stays_empty(
    options: dict[str, Any],
) -> None:
    router = Router(**({"answers": True} | options), flow_table_ps=TABLE)
    for _ in range(4):
        router.take(3)
    assert "offloaded" not in router.counts()


def test_the_next_packet_waits_for_the_line_that_freeing_an_entry_takes() -> None:
    router = Router(routes=False)
    work, _ = expected(DROP_NOWHERE, "made", routes=False, ttl=False)
    assert router.take(1) == work
    # another CPU has the counter when the entry is freed
    assert router.table.line.change(router.cpus[1], 0, 0) == MOVE
    router.bench.sim.run_until(10**9)
    assert router.table.count == 0
    # first the line gets there, which it has not yet when the entry is freed, and then back
    waited = MOVE - work + MOVE
    assert router.take(2) == work + waited
    assert router.take(3) == work
    assert router.ledger.socket_lines == waited
    assert router.ledger.forwarding == 3 * work


@pytest.mark.parametrize(("number", "queue"), [(0, 0), (1, 1), (2, 0), (5, 1)])
def test_without_xps_the_number_of_its_queue_is_that_of_the_other_port(
    number: int, queue: int
) -> None:
    router = Router(number=number)
    router.take()
    assert [len(on_wire(nic)) for nic in router.out] == [queue == 0, queue == 1]


def test_with_xps_each_cpu_has_its_queue_and_the_others_keep_theirs() -> None:
    router = Router(cpus=3, number=1, xps=XpsMap(3, [[1], [0]]))
    sent = []
    for cpu in range(3):
        router.take(0, cpu)
        sent.append([len(on_wire(nic)) for nic in router.out])
    assert sent == [[0, 1], [1, 0], [0, 1]]


def test_a_queue_that_two_cpus_send_by_is_taken_in_turn() -> None:
    router = Router(tracked=False)
    work, _ = expected(DROP_NOWHERE, "none", routes=True, ttl=False)
    alone = work + DOORBELL
    assert router.take(0, 0) == alone
    # held while the first sends; then the lock's line comes over
    assert router.take(0, 1) >= alone + XMIT + MOVE
    assert router.counts() == {"forwarded": 2}


def test_raw_filter_and_nowhere_are_three_places() -> None:
    assert len({DROP_NOWHERE, DROP_IN_RAW, DROP_IN_FILTER}) == 3


def test_what_waits_in_the_ring_loses_lines_of_those_that_are_taken_up() -> None:
    router = Router(drop=DROP_IN_RAW)
    nic, memory = router.bench.nic, router.bench.machine.memory
    cache, plain = (CacheWays(64 * 2048, 2, 99_900) for _ in range(2))
    memory.caches.append(cache)
    work = WORK["raw_ps"] + FREE
    lost, booked = [], 0
    # so many come by and by, and nobody polls; another queue has written, too
    for waiting, others in ((0, 0), (40, 0), (40, 3), (90, 3), (400, 3)):
        for number in range(int(nic.ring.count), waiting):
            nic.incoming.append(frame(router.bench.sink, number, 0))
        cache.waiting += others * 2048 - plain.waiting % 2048
        taken = router.take() - work
        assert int(nic.ring.count) == waiting
        plain.waiting = cache.waiting
        expected = 99_900 * EXPOSED // 1000 * plain.lost_permille() // 1000
        # in whole nanoseconds
        assert taken == expected // 1000 * 1000
        booked += taken
        lost.append(taken)
        assert router.ledger.copy_misses == booked
    assert cache.waiting == (400 + 3 * 3) * 2048
    assert lost[0] == 0 < lost[1] < lost[2] < lost[3] <= lost[4]


def test_the_first_packet_after_its_cpu_was_idle_finds_code_and_data_cold() -> None:
    router = Router(drop=DROP_IN_RAW)
    cpu, sim = router.cpus[0], router.bench.sim
    cpu.idle_states = IdleStates(0, 0, 0, 0)
    work = WORK["raw_ps"] + FREE
    assert router.take() == work
    for _ in range(2):
        Job(sim, f"job{sim.now}", PROCESS_LEVEL, SYSTEM).start(cpu, 10 * NS)
        sim.run_until(sim.now + 1000 * NS)
        assert [router.take() for _ in range(3)] == [work + COLD, work, work]
    assert router.ledger.forwarding == 7 * work + 2 * COLD
