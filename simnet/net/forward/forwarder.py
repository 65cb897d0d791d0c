"""What the stack does with a received packet that is for nobody on this host.

Source: Linux 4.18, net/ipv4/ip_input.c (`ip_rcv`, `ip_rcv_finish`), net/ipv4/route.c
(`ip_route_input_slow`, `ip_error`), net/ipv4/ip_forward.c (`ip_forward`), net/ipv4/ip_output.c
(`ip_finish_output2`), net/core/dev.c (`__dev_queue_xmit`, `netdev_pick_tx`), and the priorities of
hooks in include/uapi/linux/netfilter_ipv4.h:

| hook | in this order |
| --- | --- |
| PREROUTING | raw, connection tracking, mangle, nat |
| | route; without `ip_forward` it ends here (InAddrErrors), as with a TTL of 1 (InHdrErrors) |
| FORWARD | mangle, filter, security |
| POSTROUTING | mangle, nat; the connection is confirmed |
| | neighbour, queueing discipline, ring of the other port |

A table costs a packet its entry and each rule that it is compared with, one after the other
(`ipt_do_table`). A rule that drops is the last that it is compared with. The queue to send by is
that of the CPU, with XPS, else the number of the queue that the packet came by (`skb_tx_hash`). A
queue by which several CPUs send has a lock that they take in turn.

What came waited in the ring while the card wrote what came after it. Its first line may have been
lost from the ways of the last-level cache that devices write to (see `simnet.host.cache`); the
driver asks for it early, which hides part of the fetch. Frames begin at the same place of buffers
of one size, so that they share few of the sets, and it is as if all of each buffer were written.

A flow table takes the packets of its connections before the first hook (net/netfilter/
nf_flow_table_ip.c, `nf_flow_offload_ip_hook` at NF_NETDEV_INGRESS, Linux 4.16 on): it finds the
connection, translates addresses, counts the TTL down and sends, and no hook, route or rule is
passed. RPS chooses a CPU before it.

A CPU that was idle finds part of the stack's code and data in the last-level cache only, and the
first packet pays for that.
"""

from typing import Any

import cython

from simnet.host.cache import CacheWays
from simnet.host.costs import Costs, Memory, Spread
from simnet.host.cpu import Cpu
from simnet.host.idle import IdleStates
from simnet.host.ledger import Ledger
from simnet.kernel.priority import NIC
from simnet.kernel.simulator import Simulator
from simnet.net.forward.conntrack import FOUND, TABLE_FULL, Conntrack
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.link.skb import Endpoint, Skb
from simnet.net.nic.multiqueue import XpsMap
from simnet.net.nic.port import Nic

DROP_NOWHERE: cython.int = 0
DROP_IN_RAW: cython.int = 1
DROP_IN_FILTER: cython.int = 2
_PERMILLE: cython.longlong = 1000


@cython.final
@cython.cclass
class Hooks:
    """The tables of one host, what passing them costs, and their counters.

    Args:
        costs, memory: of the host.
        drop: 0 nowhere, 1 in raw, 2 in filter.
        routes: `ip_forward`, and a TTL above 1.
        ttl: `routes` fails for the TTL alone.
        conntrack: connection tracking; None for none.
        raw_ps: of the table raw.
        before_route_ps: of the tables behind connection tracking in PREROUTING, nat apart.
        nat_ps: of nat, in each of its two hooks, for a connection's first packet.
        route_ps: the route, cache lines included.
        filter_ps: of the tables in FORWARD up to filter.
        output_ps: of those behind it, and of all that sends the packet.
        xmit_ps: part of it under the lock of the queue.
        exposed_permille: share of fetching a packet's first line that the CPU waits for.
        cold_ps: what the first packet pays on a CPU that was idle.
        flow_table_ps: of a packet that the flow table sends, in place of all other work; 0: none.
    """

    costs: Costs = None
    ledger: Ledger = None
    memory: Memory = None
    drop: cython.int = 0
    routes: cython.bint = False
    ttl: cython.bint = False
    conntrack: Conntrack | None = None
    raw_ps: cython.longlong = 0
    before_route_ps: cython.longlong = 0
    nat_ps: cython.longlong = 0
    route_ps: cython.longlong = 0
    filter_ps: cython.longlong = 0
    output_ps: cython.longlong = 0
    xmit_ps: cython.longlong = 0
    exposed_permille: cython.longlong = 0
    cold_ps: cython.longlong = 0
    flow_table_ps: cython.longlong = 0
    in_stack: cython.longlong = 0  # packets that have been taken up so far
    # by the rule that drops, in its counter
    dropped_raw: cython.longlong = 0
    dropped_filter: cython.longlong = 0
    # InAddrErrors, InHdrErrors of /proc/net/snmp
    addr_errors: cython.longlong = 0
    hdr_errors: cython.longlong = 0
    # packets handed to the other port (ForwDatagrams, if nothing drops behind)
    forwarded: cython.longlong = 0
    offloaded: cython.longlong = 0  # of those that were handed to the other port, by the flow table

    def __init__(
        self,
        costs: Costs,
        memory: Memory,
        *,
        drop: int,
        routes: bool,
        ttl: bool,
        conntrack: Conntrack | None,
        raw_ps: int,
        before_route_ps: int,
        nat_ps: int,
        route_ps: int,
        filter_ps: int,
        output_ps: int,
        xmit_ps: int,
        exposed_permille: int,
        cold_ps: int,
        flow_table_ps: int = 0,
    ) -> None:
        self.costs = costs
        self.ledger = costs.ledger
        self.memory = memory
        self.drop = drop
        self.routes = routes
        self.ttl = ttl
        self.conntrack = conntrack
        self.raw_ps = raw_ps
        self.before_route_ps = before_route_ps
        self.nat_ps = nat_ps
        self.route_ps = route_ps
        self.filter_ps = filter_ps
        self.output_ps = output_ps
        self.xmit_ps = xmit_ps
        self.exposed_permille = exposed_permille
        self.cold_ps = cold_ps
        self.flow_table_ps = flow_table_ps


@cython.final
@cython.cclass
class Forwarder(Endpoint):
    """The packets of one receive queue."""

    hooks: Hooks = None  # of the host
    nic: Nic = None  # the queue that they come by
    number: cython.int = 0  # of it
    answers: cython.bint = False  # its packets go the way of answers
    buffer_bytes: cython.longlong = 0  # of a receive buffer
    out: list[Any] = None  # the queues of the other port
    locks: list[Any] = None  # of these
    xps: XpsMap = None  # which of them each CPU sends by; None for none
    spread: Spread = None  # of the work on a packet
    waiting: cython.longlong = 0
    owed_ps: cython.longlong = 0
    idle_entries: cython.longlong = 0
    cpu: Cpu = None

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        hooks: Hooks,
        nic: Nic,
        number: int,
        buffer_bytes: int,
        out: list[Nic],
        locks: list[ContendedLine],
        xps: XpsMap | None,
        spread: Spread,
        answers: bool = False,
    ) -> None:
        super().__init__(sim, path)
        self.hooks = hooks
        self.nic = nic
        self.number = number
        self.answers = answers
        self.buffer_bytes = buffer_bytes
        self.out = out
        self.locks = locks
        self.xps = xps
        self.spread = spread

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Take a packet from `ip_rcv` to where it ends; return the work on `cpu`."""
        hooks: Hooks = self.hooks
        table: Conntrack | None = hooks.conntrack
        verdict: cython.int = FOUND
        work: cython.longlong = hooks.raw_ps
        waited: cython.longlong = self.owed_ps
        self.owed_ps = 0
        hooks.in_stack += 1
        if hooks.flow_table_ps > 0 and table is not None and table.offloaded(skb.ack):
            hooks.offloaded += 1
            hooks.forwarded += 1
            waited += self._send(skb, cpu)
            return self._booked(cpu, waited, hooks.flow_table_ps)
        if hooks.drop == DROP_IN_RAW:
            hooks.dropped_raw += 1
            return self._booked(cpu, waited, work + hooks.costs.skb_free_ps)
        if table is not None:
            verdict = table.enter(skb.ack, cpu, self.sim.now)
            if self.answers:
                table.answered(skb.ack)
            waited += table.waited_ps
            work += table.find_ps if verdict == FOUND else table.make_ps
            if verdict == TABLE_FULL:
                return self._booked(cpu, waited, work + hooks.costs.skb_free_ps)
            if verdict != FOUND:
                work += hooks.nat_ps
        work += hooks.before_route_ps + hooks.route_ps
        if not hooks.routes:
            if hooks.ttl:
                hooks.hdr_errors += 1
            else:
                hooks.addr_errors += 1
            return self._dropped(cpu, waited, work, verdict)
        work += hooks.filter_ps
        if hooks.drop == DROP_IN_FILTER:
            hooks.dropped_filter += 1
            return self._dropped(cpu, waited, work, verdict)
        if verdict != FOUND:
            work += hooks.nat_ps
            table.confirm(skb.ack)
        elif hooks.flow_table_ps > 0 and table is not None:
            table.offload(skb.ack)
        hooks.forwarded += 1
        waited += self._send(skb, cpu)
        return self._booked(cpu, waited, work + hooks.output_ps)

    def _booked(self, cpu: Cpu, waited: cython.longlong, work: cython.longlong) -> cython.longlong:
        """What a packet costs in all: its work, lines that others had, and what was lost."""
        work = self.spread.vary(work) + self._lost_ps() + self._cold_ps(cpu)
        self.freer = cpu
        self.hooks.ledger.forwarding += work
        self.hooks.ledger.socket_lines += waited
        return work + waited

    def _dropped(
        self, cpu: Cpu, waited: cython.longlong, work: cython.longlong, verdict: cython.int
    ) -> cython.longlong:
        """`kfree_skb` behind connection tracking: an entry of its own goes with the packet."""
        work = self._booked(cpu, waited, work + self.hooks.costs.skb_free_ps)
        if verdict != FOUND:
            self.cpu = cpu
            self.sim.after(work, self, 0, 0, NIC)
        return work

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The entry of a dropped packet is freed: its CPU waits before the next one."""
        self.owed_ps += self.hooks.conntrack.free(self.cpu, self.sim.now)

    def _cold_ps(self, cpu: Cpu) -> cython.longlong:
        """What a CPU that has been idle since the last packet finds cold."""
        states: IdleStates = cpu.idle_states
        if states is None or states.entries == self.idle_entries:
            return 0
        self.idle_entries = states.entries
        return self.hooks.cold_ps

    def _lost_ps(self) -> cython.longlong:
        """What the packet's first line takes if the cache has lost it meanwhile."""
        cache: CacheWays
        waiting: cython.longlong
        work: cython.longlong
        if len(self.hooks.memory.caches) == 0:
            return 0
        cache = self.hooks.memory.caches[self.nic.node]
        # how many wait must not depend on when the ring was looked at last
        self.nic.advance(self.sim.now)
        waiting = self.nic.ring.count * self.buffer_bytes
        cache.waiting += waiting - self.waiting
        self.waiting = waiting
        work = cache.miss_ps * self.hooks.exposed_permille // _PERMILLE
        work = work * cache.lost_permille() // _PERMILLE // 1000 * 1000
        self.hooks.ledger.copy_misses += work
        return work

    def _send(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`__dev_queue_xmit` by the other port; return what lines and registers cost."""
        number: cython.int = -1
        nic: Nic
        lock: ContendedLine
        work: cython.longlong
        if self.xps is not None:
            number = self.xps.queue(cpu.cpu_id, 0)
        if number < 0:
            number = self.number % len(self.out)
        nic = self.out[number]
        lock = self.locks[number]
        work = lock.change(cpu, self.sim.now, self.hooks.xmit_ps)
        work += nic.transmit_cost_ps(cpu)
        skb.toucher = cpu
        nic.transmit(skb)
        nic.flush()
        return work
