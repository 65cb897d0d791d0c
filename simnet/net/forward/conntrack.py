"""Connection tracking: the table of connections, and what finds no room in it.

Source: net/netfilter/nf_conntrack_core.c of Linux 4.18 (`resolve_normal_ct`,
`__nf_conntrack_alloc`, `early_drop`, `__nf_conntrack_confirm`, `nf_conntrack_free`). The first
packet of a connection makes an entry, which is in nobody's way until the packet leaves the last
hook: then it is confirmed, and found by those that follow. If the packet is dropped before, its
entry goes with it, and the next packet makes another.

Each entry that is made or freed changes one counter of all CPUs (`net->ct.count`). Beyond
`nf_conntrack_max` the kernel looks for entries that are not assured, in eight buckets from that of
the packet, and frees those of the first bucket that has any (`early_drop`). If there are none, the
packet is dropped ("nf_conntrack: table full, dropping packet").

A connection is assured from the first packet on that follows an answer
(net/netfilter/nf_conntrack_proto_udp.c, `udp_packet`; IPS_SEEN_REPLY is set behind it). An answer
whose entry is gone makes one. Time-outs (30 s) are beyond what is simulated.

A rule `flow add` puts a connection that has an answer into a flow table, with the answer itself if
that passes the rule (net/netfilter/nft_flow_offload.c, `nft_flow_offload_eval`). It leaves with its
entry: a connection that makes room for others is dead, and so is its flow.
"""

from array import array
from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Array
from simnet.kernel.random import RandomStream
from simnet.net.forward.contended_line import ContendedLine

FOUND: cython.int = 0
MADE: cython.int = 1
TABLE_FULL: cython.int = 2
_EVICTION_RANGE: cython.longlong = 8
# of an entry
_SEEN_REPLY: cython.int = 1
_ASSURED: cython.int = 2
_OFFLOADED: cython.int = 4


@cython.final
@cython.cclass
class Conntrack:
    """The connections of one network namespace.

    Args:
        flows: that may come; each is a connection.
        most: `nf_conntrack_max`; 0 for no limit.
        buckets: `nf_conntrack_buckets`.
        line: the counter of entries.
        make_ps: making an entry, and freeing it if its packet is dropped.
        find_ps: finding one.
        luck: random numbers: the secret of the hash.
    """

    most: cython.longlong = 0
    buckets: cython.longlong = 0
    line: ContendedLine = None
    make_ps: cython.longlong = 0
    find_ps: cython.longlong = 0
    bucket_of: Array[cython.longlong] = None
    confirmed: Array[cython.schar] = None
    status: Array[cython.schar] = None
    chains: dict[Any, Any] = None
    count: cython.longlong = 0  # entries (`nf_conntrack_count`)
    # what the last call cost beside its own work, for the counter's line
    waited_ps: cython.longlong = 0
    # entries that made room (`early_drop` of `/proc/net/stat/nf_conntrack`)
    early_drops: cython.longlong = 0
    drops: cython.longlong = 0  # packets that found no room (`drop`)
    made: cython.longlong = 0  # entries that were made

    def __init__(
        self,
        flows: int,
        *,
        most: int,
        buckets: int,
        line: ContendedLine,
        make_ps: int,
        find_ps: int,
        luck: RandomStream,
    ) -> None:
        self.most = most
        self.buckets = buckets
        self.line = line
        self.make_ps = make_ps
        self.find_ps = find_ps
        self.bucket_of = array("q", [luck.below(buckets) for _ in range(flows)])
        self.confirmed = array("b", [0]) * flows
        self.status = array("b", [0]) * flows
        self.chains = {}

    def enter(self, flow: cython.longlong, cpu: Cpu, now: cython.longlong) -> cython.int:
        """`nf_conntrack_in` of a packet: its entry is found, made, or has no room."""
        self.waited_ps = 0
        if self.confirmed[flow] != 0:
            if self.status[flow] & _SEEN_REPLY:
                self.status[flow] |= _ASSURED
            return FOUND
        self.waited_ps = self.line.change(cpu, now, 0)
        if 0 < self.most <= self.count and not self._early_drop(self.bucket_of[flow]):
            self.drops += 1
            return TABLE_FULL
        self.count += 1
        self.made += 1
        return MADE

    def renew(self, cpu: Cpu, now: cython.longlong) -> cython.int:
        """The packet begins another connection, and an older one ends: as many as before."""
        self.waited_ps = self.line.change(cpu, now, 0)
        self.made += 1
        return MADE

    def answered(self, flow: cython.longlong) -> cython.int:
        """The packet that has entered is an answer."""
        if self.confirmed[flow] != 0:
            self.status[flow] |= _SEEN_REPLY
        return 0

    def offload(self, flow: cython.longlong) -> cython.int:
        """The packet that has entered passes a rule `flow add`."""
        if self.confirmed[flow] != 0 and self.status[flow] & _SEEN_REPLY:
            self.status[flow] |= _OFFLOADED
        return 0

    def offloaded(self, flow: cython.longlong) -> cython.bint:
        """Whether a flow table has the connection."""
        return self.confirmed[flow] != 0 and self.status[flow] & _OFFLOADED != 0

    def _early_drop(self, first: cython.longlong) -> cython.bint:
        """`early_drop`: free what is not assured in the first bucket that has such; False: none."""
        number: cython.longlong
        bucket: cython.longlong
        for number in range(_EVICTION_RANGE):
            bucket = (first + number) % self.buckets
            chain = self.chains.get(bucket, ())
            kept = [flow for flow in chain if self.status[flow] & _ASSURED]
            if len(kept) == len(chain):
                continue
            for flow in chain:
                self.confirmed[flow] = self.status[flow] & _ASSURED != 0
            self.count -= len(chain) - len(kept)
            self.early_drops += len(chain) - len(kept)
            del self.chains[bucket]
            if kept:
                self.chains[bucket] = kept
            return True
        return False

    def confirm(self, flow: cython.longlong) -> cython.bint:
        """`__nf_conntrack_confirm`: the packet has passed; False if another was before it."""
        bucket: cython.longlong = self.bucket_of[flow]
        if self.confirmed[flow] != 0:
            self.count -= 1
            return False
        self.confirmed[flow] = 1
        self.status[flow] = 0
        if bucket in self.chains:
            self.chains[bucket].append(flow)
        else:
            self.chains[bucket] = [flow]
        return True

    def free(self, cpu: Cpu, now: cython.longlong) -> cython.longlong:
        """`nf_conntrack_free` of a packet that was dropped; return what the CPU waits."""
        self.count -= 1
        return self.line.change(cpu, now, 0)
