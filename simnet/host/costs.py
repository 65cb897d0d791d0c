"""Costs of the data path's steps on one kind of CPU, in whole nanoseconds kept as ps."""

from __future__ import annotations

from collections.abc import Mapping

import cython

from simnet.host.ledger import Ledger

COST_NAMES = (
    "hardirq",
    "softirq_entry",
    "poll",
    "driver_rx",
    "skb_alloc",
    "skb_free",
    "ip_rx",
    "tcp_rx",
    "backlog",
    "ack_tx",
    "ack_rx",
    "tcp_tx",
    "bond_tx",
    "tx_completion",
    "wakeup",
    "context_switch",
    "ipi",
    "syscall",
    "user_recv",
    "user_send",
    "user_relay",
    "user_request",
    "user_loop",
    "epoll_event",
    "copy_line",
    "csum_line",
    "rx_page",
    "page_zone",
    "rps",
    "gso",
    "bio",
    "page",
)


def whole_ns(time_ps: int) -> int:
    """Round to whole nanoseconds: SMT stretching is then exact in ps."""
    return (time_ps + 500) // 1000 * 1000


def cycles_ps(cycles: int, clock_hz: int) -> int:
    """Return how long cycles take at a clock, in whole nanoseconds."""
    return whole_ns(cycles * 10**12 // clock_hz)


@cython.cclass
class Costs:
    """Work of each step at full speed, and the ledger in which it is booked.

    Args:
        cycles: cycles of each step of `COST_NAMES`.
        clock_hz: clock of the CPU.
        line_bytes: cache line.
        copy_overlap: how many line fetches a copy keeps in flight.
        stores_overlap: it asks for lines that it writes ahead, too; else they come one by one.
    """

    hardirq_ps: cython.longlong = 0
    softirq_entry_ps: cython.longlong = 0
    poll_ps: cython.longlong = 0
    driver_rx_ps: cython.longlong = 0
    skb_alloc_ps: cython.longlong = 0
    skb_free_ps: cython.longlong = 0
    ip_rx_ps: cython.longlong = 0
    tcp_rx_ps: cython.longlong = 0
    backlog_ps: cython.longlong = 0
    ack_tx_ps: cython.longlong = 0
    ack_rx_ps: cython.longlong = 0
    tcp_tx_ps: cython.longlong = 0
    bond_tx_ps: cython.longlong = 0
    tx_completion_ps: cython.longlong = 0
    wakeup_ps: cython.longlong = 0
    context_switch_ps: cython.longlong = 0
    ipi_ps: cython.longlong = 0
    syscall_ps: cython.longlong = 0
    user_recv_ps: cython.longlong = 0
    user_send_ps: cython.longlong = 0
    user_relay_ps: cython.longlong = 0
    user_request_ps: cython.longlong = 0
    user_loop_ps: cython.longlong = 0
    epoll_event_ps: cython.longlong = 0
    copy_line_ps: cython.longlong = 0
    csum_line_ps: cython.longlong = 0
    rx_page_ps: cython.longlong = 0
    page_zone_ps: cython.longlong = 0
    rps_ps: cython.longlong = 0
    gso_ps: cython.longlong = 0
    bio_ps: cython.longlong = 0
    page_ps: cython.longlong = 0
    line_bytes: cython.int = 0
    copy_overlap: cython.int = 0
    stores_overlap: cython.bint = False
    ledger: Ledger = None

    def __init__(
        self,
        cycles: Mapping[str, int],
        clock_hz: int,
        line_bytes: int,
        copy_overlap: int,
        *,
        stores_overlap: bool = False,
    ) -> None:
        ps = {name: cycles_ps(cycles[name], clock_hz) for name in COST_NAMES}
        self.hardirq_ps = ps["hardirq"]
        self.softirq_entry_ps = ps["softirq_entry"]
        self.poll_ps = ps["poll"]
        self.driver_rx_ps = ps["driver_rx"]
        self.skb_alloc_ps = ps["skb_alloc"]
        self.skb_free_ps = ps["skb_free"]
        self.ip_rx_ps = ps["ip_rx"]
        self.tcp_rx_ps = ps["tcp_rx"]
        self.backlog_ps = ps["backlog"]
        self.ack_tx_ps = ps["ack_tx"]
        self.ack_rx_ps = ps["ack_rx"]
        self.tcp_tx_ps = ps["tcp_tx"]
        self.bond_tx_ps = ps["bond_tx"]
        self.tx_completion_ps = ps["tx_completion"]
        self.wakeup_ps = ps["wakeup"]
        self.context_switch_ps = ps["context_switch"]
        self.ipi_ps = ps["ipi"]
        self.syscall_ps = ps["syscall"]
        self.user_recv_ps = ps["user_recv"]
        self.user_send_ps = ps["user_send"]
        self.user_relay_ps = ps["user_relay"]
        self.user_request_ps = ps["user_request"]
        self.user_loop_ps = ps["user_loop"]
        self.epoll_event_ps = ps["epoll_event"]
        self.copy_line_ps = ps["copy_line"]
        self.csum_line_ps = ps["csum_line"]
        self.rx_page_ps = ps["rx_page"]
        self.page_zone_ps = ps["page_zone"]
        self.rps_ps = ps["rps"]
        self.gso_ps = ps["gso"]
        self.bio_ps = ps["bio"]
        self.page_ps = ps["page"]
        self.line_bytes = line_bytes
        self.copy_overlap = copy_overlap
        self.stores_overlap = stores_overlap
        self.ledger = Ledger()

    @cython.cfunc
    def lines(self, length: cython.longlong) -> cython.longlong:
        """Cache lines that `length` bytes take."""
        return (length + self.line_bytes - 1) // self.line_bytes

    @cython.cfunc
    def overlapping_ps(self, fetches_ps: cython.longlong) -> cython.longlong:
        """What a copy waits for lines whose fetches last `fetches_ps` in all, in whole ns."""
        return fetches_ps // 1000 // self.copy_overlap * 1000

    @cython.cfunc
    def storing_ps(self, fetches_ps: cython.longlong) -> cython.longlong:
        """What a copy waits for lines that it writes, whose fetches last so long in all."""
        return self.overlapping_ps(fetches_ps) if self.stores_overlap else fetches_ps

    @cython.cfunc
    def checksum_ps(self, length: cython.longlong) -> cython.longlong:
        """Book the CPU's checksum of a payload, and return its work."""
        work: cython.longlong = self.lines(length) * self.csum_line_ps
        self.ledger.checksum += work
        return work


@cython.final
@cython.cclass
class Spread:
    """Luck with caches and buses: work varies evenly by up to `permille` / 1000 of itself.

    The numbers are those of the C standard's example generator, so that they are the same
    in every engine.

    Args:
        seed: of this component's numbers.
        permille: largest deviation, in 1/1000.
    """

    state: cython.longlong = 0
    permille: cython.longlong = 0

    def __init__(self, seed: cython.ulonglong, permille: cython.longlong) -> None:
        self.state = seed & 0x7FFFFFFF
        self.permille = permille

    def vary(self, work_ps: cython.longlong) -> cython.longlong:
        """Draw the actual work for a mean of `work_ps`, in whole nanoseconds."""
        if self.permille == 0:
            return work_ps
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        # ns * permille * (0..65535) / 65536 stays far below 2**63
        return (
            work_ps
            - work_ps // 1000 * self.permille // 1000 * 1000
            + (work_ps // 1000 * self.permille * ((self.state >> 8) & 0xFFFF) // 32_768_000) * 1000
        )
