"""Receive load balancing against bond_alb.c of Linux 2.6.18 over plain lists.

`rlb_choose_channel`, `rlb_next_rx_slave`, `rlb_clear_slave`, `rlb_rebalance`,
`rlb_req_update_slave_clients` and the receive part of `bond_alb_monitor`, ten times a second.
"""

from dataclasses import dataclass, field

from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.bonding.rlb import Rlb
from tests.net.bonding.bonds import BondLab

SLAVES, CLIENTS = 3, 6
# the exclusive or of the octets is the same of the first and the fourth, the second and the fifth
ADDRESSES = (0x0A000001, 0x0A000002, 0x0A000003, 0x0A000100, 0x0A000200, 0x0A000005)
# RLB_UPDATE_DELAY in ticks, RLB_UPDATE_RETRY, RLB_ARP_BURST_SIZE
DELAY, RETRY, BURST = 20, 3, 2


@dataclass
class Entry:
    """`struct rlb_client_info`."""

    client: int
    slave: int | None
    ntt: bool = True


@dataclass
class Kernel:
    """`struct alb_bond_info`; what is sent by each slave is counted."""

    up: list[bool] = field(default_factory=lambda: [True] * SLAVES)
    table: dict[int, Entry] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    turn: int = 0
    ntt: bool = False
    delay: int = 0
    retry: int = 0
    rebalance: bool = False
    sent: list[int] = field(default_factory=lambda: [0] * SLAVES)
    knows: dict[int, int] = field(default_factory=dict)

    def active(self) -> int | None:
        return next((slave for slave in range(SLAVES) if self.up[slave]), None)

    def next_slave(self) -> int | None:
        """`rlb_next_rx_slave`."""
        for step in range(SLAVES):
            slave = (self.turn + step) % SLAVES
            if self.up[slave]:
                self.turn = (slave + 1) % SLAVES
                return slave
        return None

    def update(self, entry: Entry) -> None:
        """`rlb_update_client`."""
        if entry.slave is not None:
            self.sent[entry.slave] += BURST

    def ask(self, client: int) -> int | None:
        """`rlb_choose_channel`."""
        octets = ADDRESSES[client].to_bytes(4, "big")
        key = octets[0] ^ octets[1] ^ octets[2] ^ octets[3]
        entry = self.table.get(key)
        if entry is not None:
            if entry.client == client and entry.slave is not None:
                self.knows[client] = entry.slave
                return entry.slave
            if entry.client != client and entry.slave != self.active():
                entry.slave = self.active()
                self.update(entry)
        slave = self.next_slave()
        if slave is None:
            return None
        if key not in self.table:
            self.order.insert(0, key)
        self.table[key] = Entry(client, slave)
        self.knows[client] = slave
        self.ntt = True
        return slave

    def lose(self, gone: int) -> None:
        """`rlb_clear_slave`; the carrier is there, the slave is not used."""
        for key in self.order:
            entry = self.table[key]
            if entry.slave == gone:
                entry.slave = self.next_slave()
                if entry.slave is not None:
                    entry.ntt = self.ntt = True
                    self.retry = RETRY
        active = self.active()
        if active not in {None, gone}:
            self.sent[active or 0] += 1

    def change(self, slave: int) -> None:
        """`rlb_req_update_slave_clients`."""
        for entry in self.table.values():
            if entry.slave == slave:
                entry.ntt = self.ntt = True
                self.retry = RETRY

    def tick(self) -> None:
        if self.rebalance:
            self.rebalance = False
            for key in self.order:
                entry, slave = self.table[key], self.next_slave()
                if slave is not None and entry.slave != slave:
                    entry.slave, entry.ntt, self.ntt = slave, True, True
        if not self.ntt:
            return
        if self.delay:
            self.delay -= 1
            return
        for key in self.order:
            entry = self.table[key]
            if entry.ntt:
                self.update(entry)
                entry.ntt = self.retry > 0
        self.delay = DELAY
        if self.retry:
            self.retry -= 1
        else:
            self.ntt = False


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.integers(0, CLIENTS - 1)),
        st.tuples(st.just("tick"), st.sampled_from([1, 2, 19, 20, 21, 22, 50])),
        st.tuples(st.just("lose"), st.integers(0, SLAVES - 1)),
        st.tuples(st.just("return"), st.integers(0, SLAVES - 1)),
        st.tuples(st.sampled_from(["change", "rebalance"]), st.integers(0, SLAVES - 1)),
    ),
    min_size=4,
    max_size=24,
)
ALL_ASK = [("ask", client) for client in range(CLIENTS)]
LOSSES = [*ALL_ASK, ("tick", 1), ("lose", 1), ("tick", 50), ("return", 1), ("rebalance", 0)]
NOBODY = [*ALL_ASK, *[("lose", slave) for slave in range(SLAVES)], *ALL_ASK, ("return", 2)]


@settings(max_examples=25)
@given(steps=STEPS)
@example(steps=[*LOSSES, ("tick", 50), ("change", 2), ("tick", 50), ("tick", 50)])
@example(steps=[*NOBODY, *ALL_ASK, ("tick", 50), ("ask", 3), ("ask", 0), ("tick", 22)])
def test_clients_are_dealt_out_and_told_as_the_kernel_does(steps: list[tuple[str, int]]) -> None:
    lab, kernel = BondLab("balance-alb", slaves=SLAVES, clients=CLIENTS), Kernel()
    bond, rlb = lab.bond, Rlb(lab.bond)
    neighbours = [client.neighbour for client in lab.clients]
    for neighbour, address in zip(neighbours, ADDRESSES, strict=True):
        neighbour.ip = address
    before = lab.sent()
    for what, number in steps:
        if what == "ask":
            found, expected = rlb.reply_to(neighbours[number]), kernel.ask(number)
            assert (None if found is None else found.index) == expected
        elif what == "tick":
            for _ in range(number):
                rlb.tick()
                kernel.tick()
        elif what in {"lose", "return"}:
            bond.slaves[number].active = kernel.up[number] = what == "return"
            active = kernel.active()
            bond.current = -1 if active is None else active
            if what == "lose":
                rlb.clear(bond.slaves[number])
                kernel.lose(number)
        elif what == "change":
            rlb.address_changed(bond.slaves[number])
            kernel.change(number)
        else:
            rlb.rebalance_ordered = kernel.rebalance = True
        assert {key: entry.slave and entry.slave.index for key, entry in rlb.entries.items()} == {
            key: entry.slave for key, entry in kernel.table.items()
        }
        assert (rlb.ntt, rlb.delay_ticks, rlb.retry_ticks) == (
            kernel.ntt,
            kernel.delay,
            kernel.retry,
        )
        assert [after - old for after, old in zip(lab.sent(), before, strict=True)] == kernel.sent
    for client, slave in kernel.knows.items():
        # what came since by ARP is still on its way
        assert lab.clients[client].back.destination is bond.slaves[slave].station
