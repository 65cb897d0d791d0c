"""Rings between card and kernel: full, empty, unread."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import look, named, wider_ring
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import counted, logged, percent, weight_of
from simnet.diagnose.queues import NO_BUFFER
from simnet.diagnose.rule import Found, Hit, Rule

_STATISTICS: Final = "Linux Documentation/networking/statistics.rst"
# words of drivers that mean: the card had a packet and no place for it
_OTHER: Final = (
    r"(?!.*(?:tx|phy|prio|pause|crc|csum|vlan|filter|unknown|xdp|xsk|ptp|tstamp|timestamp|arfs|steer|ecn"
    r"|level|length|oversize|tls|ipsec|macsec|alloc|cache|mcast|bcast|broadcast|multicast|err_l2))"
)
_FAMILY: Final = (
    rf"{_OTHER}(?=(?:.*[_. ])?(?:rx|recv|received?|mbuf|rbuf))"
    r".*(?:no_?(?:dma_|skb_|host_)?(?:buf|desc|wqe|frag|pbuf|txpb|erx|resource|mem_buf)\w*|nodesc\w*"
    r"|bds_empty|(?:ring|queue|q)_full\w*|overrun\w*|ovr?fl(?:ow)?\w*|overflow\w*|fifo_err\w*|missed\w*"
    r"|lwm_thresh_hit|frames_dropped|resource_err\w*|bm_drops|starv\w*)"
    r"|InDroppedDma|IEEE_rx_macerr|dev_rx_discards|rxq_\d+_\w*(?:full|bm)_drops"
)
_DROPS: Final = rf"{_OTHER}(?=(?:.*[_. ])?(?:rx|recv|received?|in)).*(?:drop|discard)\w*"
_NEAR: Final = 0.02
_ALLOCATIONS: Final = counted(
    r".*alloc_(rx_)?(page|buff)\w*(failed|err)\w*|rx_(page_|skb_|buff_)?alloc_(err|fail)\w*"
    r"|.*rx buf(?:fer)? alloc\w* fail\w*|rx_alloc_failed|rx_skb_alloc\w*|page_alloc_fail"
)


def _unread(evidence: Evidence) -> Iterator[Found]:
    """A lost share of (n - 1) / n, with n queues: all but one of them are read by nobody."""
    for port in evidence.subjects("stat"):
        queues = max(
            (
                fact.value
                for kind, name in (
                    ("pf_ring", "rx queues"),
                    ("channels", "combined|rx"),
                    ("rss", "rings"),
                )
                for fact in evidence.of(kind, name, port)
            ),
            default=0.0,
        )
        packets = evidence.packets(port, "rx")
        if not 2 <= queues <= 16 or not packets:  # noqa: PLR2004 - beyond, (n - 1) / n says nothing
            continue
        expected = (queues - 1) / queues
        for series in evidence.series("stat", r"rx_dropped|rx_missed(_errors)?|rx_discards", port):
            share = series.value / packets
            captures = [
                one
                for one in evidence.of("capture", "dropped")
                if (all_of := evidence.value("capture", "total", one.subject))
                and abs(one.value / all_of - expected) < _NEAR
            ]
            if series.value > 1000 and abs(share - expected) < _NEAR:  # noqa: PLR2004 - enough to tell
                said = (
                    f"{series.last.name} {series.last.shown} of {packets:,.0f} packets,"
                    f" {percent(share)}: (n - 1) / n with {queues:.0f} queues"
                )
                facts = (series.last, *captures[:1])
                sure = "certain" if captures else "likely"
                yield Hit(
                    port,
                    facts,
                    said,
                    weight_of(share) + 2,
                    sure,
                    (look("ethtool", "-L", named(port), "combined", "1"),),
                )


RULES: Final = (
    Rule(
        "unread-queues",
        "ring",
        "Nobody reads all but one of the queues of {subject}",
        "drops against packets of ethtool -S, and the number of queues",
        "the lost share is (n - 1) / n within 2 percentage points",
        "RSS spreads packets over all queues, and the application has opened one: the rings of the"
        " others fill up and stay full. It is no matter of speed.",
        "Open all queues, or set one queue (combined 1).",
        "Linux Documentation/networking/scaling.rst, RSS",
        _unread,
        hides=("ring-full", "link-dropped"),
    ),
    Rule(
        "ring-full",
        "ring",
        "Packets are lost before the receive ring of {subject}",
        "rx_missed, rx_fifo, out_of_buffer, rx_no_buffer, rx_discards of ethtool -S",
        "1 packet in 10,000: TCP at 10 ms loses half of its rate from there on",
        "The card had a packet and no free buffer: the CPU that empties the ring came too late"
        " (too busy, woke up late, interrupts on one CPU) for the size of the ring.",
        "Widen the ring, spread the port's interrupts over CPUs, keep CPUs from deep idle states.",
        f"{_STATISTICS}, rx_missed_errors, rx_fifo_errors, rx_over_errors",
        lambda evidence: (
            *counted(f"{NO_BUFFER}|{_FAMILY}", act=wider_ring())(evidence),
            *counted(r"rx_(missed|overruns)", kinds=("link",), act=wider_ring())(evidence),
        ),
        hides=("link-dropped", "port-errors"),
    ),
    Rule(
        "mac-fifo",
        "card",
        "The MAC of {subject} overflows before memory takes its frames",
        "IEEE_rx_macerr of ethtool -S (driver fec)",
        "1 packet in 10,000",
        "The bus between an i.MX processor's MAC and memory carries less than the line: i.MX6 470"
        " Mbit/s for both ways together. No ring is involved.",
        "Flow control both ways (ethtool -A rx on tx on), so that the switch waits; a port on PCIe"
        " or USB where more is needed.",
        "Linux drivers/net/ethernet/freescale/fec_main.c, fec_stats; i.MX 6 erratum ERR004512",
        counted(r"IEEE_rx_macerr"),
        hides=("ring-full", "link-dropped", "port-errors"),
    ),
    Rule(
        "card-drops",
        "card",
        "{subject} drops what it received, by a counter of its driver",
        "counters of ethtool -S with drop or discard in their names",
        "1 packet in 1,000: some drop what nobody wants, too",
        "The driver counts packets that it did not hand to the kernel; what for, its name and the"
        " driver's documentation say.",
        "Look at it twice, some seconds apart, under load: if it grows with the load, widen the"
        " ring and spread the interrupts; if it does not, it counts what nobody wants.",
        f"{_STATISTICS}, Driver-defined statistics",
        counted(rf"(?!(?:{NO_BUFFER}|{_FAMILY})(?:\[.*)?$){_DROPS}", possible=1e-3, scale=0.8),
        hides=("link-dropped",),
    ),
    Rule(
        "phy-discards",
        "ring",
        "The buffer of {subject} overflows",
        "rx_discards_phy, rx_prio_discards of ethtool -S of mlx5",
        "1 packet in 10,000",
        "Frames are lost in the port's buffer, before any ring: PCIe or memory takes them too"
        " slowly, or rings are full.",
        "Look at PCIe width, IOMMU and rings; pause frames move the wait to the sender.",
        "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
        counted(r"rx_discards_phy|rx_prio\d_discards", act=wider_ring()),
        hides=("link-dropped",),
    ),
    Rule(
        "no-memory",
        "ring",
        "The driver of {subject} gets no memory for receive buffers",
        "alloc_rx_page_failed and the like of ethtool -S; page allocation failure in the log",
        "1 in 10,000 packets",
        "The ring stays short of buffers: memory is short or fragmented.",
        "Raise vm.min_free_kbytes; look at what takes the memory.",
        "Linux Documentation/admin-guide/sysctl/vm.rst, min_free_kbytes",
        lambda evidence: (
            *logged(
                r"(?:swapper|ksoftirqd|napi)/?\S*: page allocation failure"
                r"|page allocation failure: order:\d+, mode:\S*ATOMIC",
                weight=56,
                sure="likely",
            )(evidence),
            *_ALLOCATIONS(evidence),
        ),
    ),
    Rule(
        "tx-ring-full",
        "ring",
        "The transmit ring of {subject} is full",
        "tx_busy, tx_restart_queue, queue stops of ethtool -S",
        "1 in 100 packets: a queue that stops now and then is how the stack waits",
        "Packets are given faster than the card sends or completes them.",
        "Widen the transmit ring; complete sooner (tx-usecs); look for pause frames.",
        "Linux Documentation/networking/driver.rst, transmit path",
        counted(
            r"tx_busy|tx_restart_queue|tx_queue_stopped|tx\d+_stopped|tx_ring_full|.*ring full"
            r"|stop_queue",
            side="tx",
            possible=1e-2,
            fewest=100_000,
            act=wider_ring("tx"),
            scale=0.6,
        ),
    ),
    Rule(
        "tx-dropped",
        "ring",
        "{subject} drops what it should send",
        "tx_dropped, tx errors of ethtool -S or ip -s link",
        "1 packet in 10,000",
        "The driver or the queue above it threw packets away: ring full, no memory, link down.",
        "Widen the transmit ring; look at tc -s qdisc.",
        f"{_STATISTICS}, tx_dropped",
        counted(
            r"tx_dropped|tx_errors|tx_fifo(_errors)?|tx_aborted_errors|tx_overruns|.*pkts tx err"
            r"|.*drv dropped tx total|tx_queue_dropped|tx_discards?|tx_queue_\d+_drops?"
            r"|tx\d+_dropped",
            side="tx",
            kinds=("stat", "link"),
            act=wider_ring("tx"),
        ),
    ),
    Rule(
        "vmxnet3-ring",
        "ring",
        "The guest's receive ring of {subject} is empty",
        "pkts rx OOB, drv dropped rx of ethtool -S of vmxnet3",
        "1 packet in 10,000",
        "The hypervisor had a packet and the guest no buffer: the guest's CPU was late or stolen.",
        "Widen the ring in the guest, use more queues, spread their interrupts.",
        "Linux drivers/net/vmxnet3/vmxnet3_ethtool.c, vmxnet3_rq_dev_stats",
        counted(r".*pkts rx oob|.*drv dropped rx total|.*pkts rx err", act=wider_ring()),
        hides=("link-dropped",),
    ),
    Rule(
        "xdp-full",
        "ring",
        "XDP finds no place to send to at {subject}",
        "xdp_tx_full, xdp_redirect_fail, xdp drops of ethtool -S",
        "1 packet in 10,000",
        "A program returns XDP_TX or XDP_REDIRECT and the target's ring is full or absent.",
        "Give each CPU that runs the program a transmit ring; widen it.",
        "Linux Documentation/bpf/redirect.rst",
        counted(
            r".*xdp_(tx_)?(full|redirect_fail\w*|err\w*|redirect_err\w*)|rx_xdp_tx_full\w*"
            r"|.*xdp_tx_err\w*|.*tx_xdp_full"
        ),
    ),
    Rule(
        "link-dropped",
        "ring",
        "The kernel counts drops at {subject}",
        "rx_dropped of ip -s link, ifconfig, netstat -i, /proc/net/dev",
        "1 packet in 1,000: packets of unknown protocols and VLANs count here, too",
        "Full rings count here with some drivers, and what nobody wanted: ethtool -S tells.",
        "Look at ethtool -S and /proc/net/softnet_stat; widen the ring if the card says missed.",
        f"{_STATISTICS}, rx_dropped",
        counted(
            r"rx_dropped",
            kinds=("link",),
            possible=1e-3,
            scale=0.75,
            act=lambda _e, port: (look("ethtool", "-S", named(port)),),
        ),
    ),
)
