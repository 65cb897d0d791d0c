"""What finds room in the queues of a listening socket, as a kernel had it between namespaces."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.costs import SharedLines
from simnet.host.scheduler import Wakeups
from simnet.kernel.simulator import Simulator
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.listen.listener import COMPLETE, DROPPED, HALF_OPEN, Listener
from simnet.net.listen.rules import listen_rules
from tests.host.parts import NS, make_machine, make_memory

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "validation" / "live" / "listen-6.18.json").read_text("utf-8")
)
COUNTERS = {
    "ListenOverflows": "overflows",
    "ListenDrops": "drops",
    "TCPReqQFullDoCookies": "full_cookies",
    "TCPReqQFullDrop": "full_drops",
    "SyncookiesSent": "cookies_sent",
    "EmbryonicRsts": "resets",
    "PassiveOpens": "opened",
}
DIRTY, LOCKED = 60, 25


class Socket:
    """A listening socket, and CPUs that add to its queue."""

    def __init__(self, backlog: int, *, version: str = "6.18", **more: Any) -> None:
        memory = make_memory(same_bus_dirty_ps=DIRTY * NS, same_node_dirty_ps=DIRTY * NS)
        machine = make_machine(Simulator(), memory=memory, cores_per_socket=2)
        self.cpus = machine.cpus
        given_: dict[str, Any] = {"max_syn_backlog": 4096, "syncookies": 1, "abort": False}
        self.listener = Listener(
            machine.sim,
            machine.costs.ledger,
            backlog=backlog,
            beyond=listen_rules(version).beyond,
            lock=ContendedLine(machine.memory),
            locked_ps=LOCKED * NS,
            lines=SharedLines(machine.memory, 2),
            wakeups=Wakeups(machine.costs, machine.memory, 0),
            **(given_ | more),
        )

    def complete(self, kind: int) -> None:
        """The ACK to a SYN-ACK comes."""
        if kind != DROPPED and self.listener.completes(kind == HALF_OPEN, True) == COMPLETE:  # noqa: FBT003 - a cdef function
            self.listener.add(object(), self.cpus[0])

    def counts(self) -> dict[str, int]:
        return {name: getattr(self.listener, field) for name, field in COUNTERS.items()}


def recorded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in COUNTERS}


@pytest.mark.parametrize("row", RECORDED["held"], ids=lambda row: str(row["backlog"]))
def test_as_many_connections_wait_as_a_kernel_held(row: dict[str, Any]) -> None:
    socket = Socket(min(row["backlog"], row["somaxconn"]))
    for _ in range(row["tried"]):
        socket.complete(socket.listener.syn())
    assert socket.listener.waiting == row["connected"] == socket.listener.longest
    assert socket.counts() == recorded(row)


@pytest.mark.parametrize("row", RECORDED["half_open"])
def test_as_many_are_half_open_as_a_kernel_let_be(row: dict[str, Any]) -> None:
    socket = Socket(
        row["backlog"], syncookies=row["syncookies"], max_syn_backlog=row["max_syn_backlog"]
    )
    for _ in range(row["syns"]):
        socket.listener.syn()
    assert socket.counts() == recorded(row)


@pytest.mark.parametrize("row", RECORDED["acked"])
def test_requests_that_complete_too_late_end_as_a_kernel_s(row: dict[str, Any]) -> None:
    socket = Socket(row["backlog"], abort=bool(row["abort"]))
    for _ in range(row["waiting"]):
        socket.complete(socket.listener.syn())
    kinds = [socket.listener.syn() for _ in range(row["requests"])]
    assert sum(kind != DROPPED for kind in kinds) == row["answered"]
    for kind in kinds:
        socket.complete(kind)
    assert socket.counts() == recorded(row)
    kept = row["ListenOverflows"] * (not row["abort"])
    assert socket.listener.half_open == socket.listener.young == kept


def test_a_backlog_of_nothing_had_no_half_open_one_before() -> None:
    for version, kind in (("4.10", 2), ("6.12", 2), ("6.13", 1)):
        assert Socket(0, version=version).listener.syn() == kind


@pytest.mark.parametrize(
    ("half_open", "old", "retries"), [(3, 3, 5), (100, 20, 5), (100, 60, 4), (100, 90, 2)]
)
def test_a_queue_of_old_requests_gives_them_up_sooner(
    half_open: int, old: int, retries: int
) -> None:
    listener = Socket(128, syncookies=0).listener
    for _ in range(half_open):
        listener.syn()
    for _ in range(old):
        listener.grows_old()
    assert (listener.half_open, listener.young) == (half_open, half_open - old)
    assert listener.retries(5) == retries


@given(st.lists(st.sampled_from(["syn", "ack", "accept"]), max_size=200), st.integers(0, 9))
def test_what_waits_is_what_came_and_was_not_taken(steps: list[str], backlog: int) -> None:
    socket = Socket(backlog)
    listener, asked = socket.listener, []
    for step in steps:
        if step == "syn":
            kind = listener.syn()
            if kind != DROPPED:
                asked.append(kind)
        elif step == "ack" and asked:
            socket.complete(asked.pop(0))
        elif step == "accept":
            before = listener.waiting
            assert (listener.take() is None) == (before == 0)
        assert listener.waiting == listener.opened - listener.accepted <= backlog + 1
        assert 0 <= listener.young <= listener.half_open <= backlog + 1
        assert listener.overflows <= listener.drops


def test_cpus_take_turns_at_the_queue() -> None:
    socket = Socket(9)
    first, second = socket.cpus[:2]
    assert socket.listener.add(object(), first) == 0
    # the lines, the time that the first one has the lock, and the lock's own
    assert socket.listener.look(second) == (2 * DIRTY + LOCKED + DIRTY) * NS
    assert socket.listener.ledger.socket_lines == (3 * DIRTY + LOCKED) * NS
