"""XDP in a driver (native mode): a program of BPF says in the poll what becomes of a packet.

Source: Linux 4.18 and 5.4, include/uapi/linux/bpf.h (`enum xdp_action`), net/core/filter.c
(`xdp_do_redirect_map`), kernel/bpf/devmap.c (`bq_enqueue`, `bq_xmit_all`, DEV_MAP_BULK_SIZE), and
of drivers i40e_txrx.c (`i40e_run_xdp`, `i40e_clean_rx_irq`, `i40e_finalize_xdp_rx`,
`i40e_xdp_xmit`) and mlx5 en/xdp.c (`mlx5e_xdp_handle`, `mlx5e_xdp_xmit`).

XDP_DROP: the page goes back into the ring. XDP_PASS: an `sk_buff` is made, as without a program.
XDP_TX: the frame is put into the port's own ring for XDP; the doorbell is written after the poll.
XDP_REDIRECT: the frame waits in a bulk of 16, which another port's driver takes (`ndo_xdp_xmit`);
the rest and the doorbell follow when the poll ends.

A port has a ring for XDP for each CPU that its channels have, and uses the one with the number of
the CPU that polls. On a CPU beyond them there is none: -ENXIO, and the packet is dropped. What
finds the ring full is dropped, too.

Reading a packet's first line costs what the last-level cache takes, or memory if the line is lost.
Devices write into few ways of the cache, and buffers lie a page or half a page apart: their first
lines share the sets of one line in each, so that as many are kept as buffers fit into those ways.
"""

from dataclasses import dataclass

import cython

from simnet.host.cache import CacheWays
from simnet.kernel.compiled import Public
from simnet.net.link.skb import Skb, SkbQueue

XDP_DROP: cython.int = 1
XDP_PASS: cython.int = 2
XDP_TX: cython.int = 3
XDP_REDIRECT: cython.int = 4
BULK: cython.int = 16
"""DEV_MAP_BULK_SIZE."""

_WHOLE: cython.longlong = 1000


@dataclass(frozen=True)
class XdpCosts:
    """What a packet costs the CPU, in ps."""

    run_ps: int  # descriptor, program, and giving the page back
    tx_ps: int = 0  # putting a frame into a ring for XDP
    redirect_ps: int = 0  # looking up the other port, and the bulk's share of a packet
    clean_ps: int = 0  # freeing a frame that has left
    line_ps: int = 0  # its first line from the last-level cache


@cython.final
@cython.cclass
class Xdp:
    """The program of one receive queue.

    Args:
        verdict: what becomes of a packet on which it acts; the others pass.
        first_port, last_port: it acts on packets with these source ports of UDP.
        costs: of a packet.
        cache: what keeps first lines of packets; None: none is lost.
        buffer_bytes: from one receive buffer to the next.
        refill: buffers that the driver hands back at a time.
        counted: what a program has taken is in the driver's count of packets.

    Attributes:
        targets: channels whose ring a CPU sends by, by its number; those beyond have none.
        queue: channels are redirected to here before the doorbell.
        drop, passed, tx, redirect: packets by verdict; the last two once a ring has them.
        tx_full: that found the ring full.
        redirect_err: that no ring was there for.
    """

    verdict: Public[cython.int] = 0
    first_port: cython.int = 0
    last_port: cython.int = 0
    run_ps: cython.longlong = 0
    tx_ps: cython.longlong = 0
    redirect_ps: cython.longlong = 0
    clean_ps: cython.longlong = 0
    line_ps: cython.longlong = 0
    cache: CacheWays = None
    buffer_bytes: cython.longlong = 0
    refill: cython.int = 0
    counted: cython.bint = False
    targets: Public[list[object]] = None
    bulk: SkbQueue = None
    posted: SkbQueue = None
    drop: cython.longlong = 0
    passed: cython.longlong = 0
    tx: cython.longlong = 0
    redirect: cython.longlong = 0
    tx_full: cython.longlong = 0
    redirect_err: cython.longlong = 0
    seen: cython.longlong = 0

    def __init__(
        self,
        verdict: int,
        costs: XdpCosts,
        *,
        first_port: int = 0,
        last_port: int = 65535,
        cache: CacheWays | None = None,
        buffer_bytes: int = 0,
        refill: int,
        counted: bool = True,
    ) -> None:
        self.verdict = verdict
        self.first_port = first_port
        self.last_port = last_port
        self.run_ps = costs.run_ps
        self.tx_ps = costs.tx_ps
        self.redirect_ps = costs.redirect_ps
        self.clean_ps = costs.clean_ps
        self.line_ps = costs.line_ps
        self.cache = cache
        self.buffer_bytes = buffer_bytes
        self.refill = refill
        self.counted = counted
        self.targets = []
        self.bulk = SkbQueue()
        self.posted = SkbQueue()

    def says(self, skb: Skb) -> cython.int:
        """Its verdict on a packet."""
        if skb.header is None or self.first_port <= skb.header.source_port <= self.last_port:
            return self.verdict
        return XDP_PASS

    def sees(self, packets: cython.longlong) -> cython.int:
        """So many packets are in the ring."""
        if self.cache is not None:
            self.cache.waiting += (packets - self.seen) * self.buffer_bytes
            self.seen = packets
        return 0

    def read_ps(self) -> cython.longlong:
        """What a packet costs until its verdict is known; its line is read."""
        work: cython.longlong = self.run_ps + self.line_ps
        if self.cache is not None:
            work += self.cache.miss_ps * self.cache.lost_permille() // _WHOLE
            self.cache.waiting -= self.buffer_bytes
            self.seen -= 1
        return work

    def counters(self) -> dict[str, int]:
        """Packets by verdict, and what was lost on the way out."""
        return {
            "drop": self.drop,
            "pass": self.passed,
            "tx": self.tx,
            "redirect": self.redirect,
            "tx_full": self.tx_full,
            "redirect_err": self.redirect_err,
            "in_bulk": self.bulk.count + self.posted.count,
        }
