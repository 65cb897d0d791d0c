"""Receive load balancing tick by tick: who is told which address, and how often."""

import pytest

from simnet.net.bonding.hash import simple_hash
from simnet.net.bonding.rlb import Rlb
from tests.host.parts import MS
from tests.net.bonding.bonds import BondLab, client_ip


def balanced(slaves: int, clients: int) -> tuple[BondLab, Rlb]:
    """Clients that have asked, on slaves 0, 1 and so on; no timer has run yet."""
    lab = BondLab("balance-alb", slaves=slaves, clients=clients)
    assert lab.rlb is not None
    return lab, lab.rlb


def slaves_of(rlb: Rlb, clients: int) -> list[int | None]:
    """Return which slave each client is on."""
    found = (rlb.entries[simple_hash(client_ip(number))].slave for number in range(clients))
    return [None if slave is None else slave.index for slave in found]


def told(rlb: Rlb, ticks: int) -> dict[int, int]:
    """Let the timer tick; return how many clients were told at which tick."""
    updates = {}
    for tick in range(ticks):
        before = rlb.updates
        rlb.tick()
        if rlb.updates != before:
            updates[tick] = rlb.updates - before
    return updates


def test_each_client_is_told_once_by_two_short_frames() -> None:
    lab, rlb = balanced(slaves=3, clients=2)
    assert told(rlb, 100) == {0: 2}
    lab.run(MS)
    for number, client in enumerate(lab.clients):
        frames = client.frames()
        assert [skb.wire_bytes for skb in frames] == [84, 84]
        for skb in frames:
            assert skb.header.source is lab.bond.slaves[number].station
            assert skb.header.destination is client.station
    assert lab.sent() == [2, 2, 0]


def test_who_lost_a_slave_is_told_four_times_two_seconds_apart() -> None:
    lab, rlb = balanced(slaves=3, clients=2)
    told(rlb, 1)
    gone = lab.bond.slaves[1]
    gone.active = False
    before = lab.sent()
    rlb.clear(gone)
    assert slaves_of(rlb, 2) == [0, 2]
    # the active slave teaches the switch the other's address
    assert [after - old for after, old in zip(lab.sent(), before, strict=True)] == [1, 0, 0]
    lab.run(MS)
    assert gone.station.outlet is lab.bond.slaves[0].egress
    # 20 ticks after the last time
    assert told(rlb, 200) == {20: 1, 41: 1, 62: 1, 83: 1}


def test_nothing_is_announced_when_the_active_slave_itself_goes() -> None:
    lab, rlb = balanced(slaves=3, clients=3)
    told(rlb, 1)
    before = lab.sent()
    lab.bond.slaves[0].active = False
    rlb.clear(lab.bond.slaves[0])
    assert lab.sent() == before
    assert slaves_of(rlb, 3) == [1, 1, 2]


def test_nothing_is_announced_when_no_slave_is_active() -> None:
    lab, rlb = balanced(slaves=2, clients=1)
    lab.bond.current = -1
    before = lab.sent()
    for slave in lab.bond.slaves:
        rlb.clear(slave)
    assert lab.sent() == before


def test_without_any_slave_nobody_is_told_nor_taken() -> None:
    lab, rlb = balanced(slaves=2, clients=3)
    told(rlb, 30)
    for slave in lab.bond.slaves:
        slave.active = False
    for slave in lab.bond.slaves:
        rlb.clear(slave)
    assert slaves_of(rlb, 3) == [None, None, None]
    assert told(rlb, 100) == {}
    assert rlb.reply_to(lab.clients[0].neighbour) is None
    back = lab.bond.slaves[1]
    back.active = True
    station = back.station
    # the client asks again, and is told by the timer, too
    assert rlb.reply_to(lab.clients[0].neighbour) is back
    assert lab.clients[0].back.destination is station
    assert rlb.order.count(simple_hash(client_ip(0))) == 1
    assert 1 in told(rlb, 100).values()


@pytest.mark.parametrize(
    ("slaves", "after", "moved"), [(4, [1, 0, 3], 3), (3, [2, 1, 0], 2), (2, [1, 0, 1], 3)]
)
def test_balancing_goes_on_with_the_next_slave_from_the_youngest_client(
    slaves: int, after: list[int], moved: int
) -> None:
    _, rlb = balanced(slaves=slaves, clients=3)
    told(rlb, 1)
    rlb.rebalance_ordered = True
    # once, and who stays is not told
    assert told(rlb, 100) == {20: moved}
    assert slaves_of(rlb, 3) == after


def test_another_address_of_a_slave_is_told_to_its_own_clients() -> None:
    lab, rlb = balanced(slaves=2, clients=3)
    told(rlb, 1)
    rlb.address_changed(lab.bond.slaves[0])
    assert told(rlb, 200) == {20: 2, 41: 2, 62: 2, 83: 2}


def test_what_tells_a_client_carries_nothing_of_tcp() -> None:
    lab, rlb = balanced(slaves=2, clients=1)
    told(rlb, 1)
    lab.run(MS)
    for skb in lab.clients[0].frames():
        assert (skb.seq, skb.end_seq, skb.ack, skb.window) == (0, 0, 0, 0)


def test_the_first_client_need_not_wait() -> None:
    lab, _ = balanced(slaves=2, clients=1)
    rlb = Rlb(lab.bond)
    assert told(rlb, 1) == {}
    rlb.reply_to(lab.clients[0].neighbour)
    assert told(rlb, 30) == {0: 1}
