"""Programs that take packets themselves: captures, polling programs, the host's side of guests."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import ratio
from simnet.diagnose.rule import Clear, Found, Hit, Rule

# of a thread of its own, whether or not it is bound to a CPU
_WORKER: Final = re.compile(r"vhost-\d+|napi/\S+|irq/\d+-\S+|kworker/\S+")
_FULL: Final = 90.0
_MANY: Final = 1000


def _worker(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("process"):
        fact = series.last
        if _WORKER.fullmatch(fact.subject) and fact.value >= _FULL:
            said = f"{fact.subject} takes {fact.shown} of a CPU"
            yield Hit(fact.subject, (fact,), said, 58, "likely")


def _xsk(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("xsk"):
        said = f"{series.last.name} {series.last.shown}"
        if series.value >= _MANY and series.growing:
            yield Hit("", (series.last,), said, 66, "certain")
        else:
            yield Clear(series.last, said)


RULES: Final = (
    Rule(
        "xsk-full",
        "application",
        "The program behind an AF_XDP socket takes packets too slowly {subject}",
        "rx queue full, fill ring empty of xdpsock (getsockopt XDP_STATISTICS)",
        "1,000 packets",
        "The ring to the program was full, or it had given no buffers back: the kernel had the"
        " packet and dropped it.",
        "Let the program run on another CPU than the softirq of its queue, or let it poll (busy"
        " polling, SO_PREFER_BUSY_POLL); larger rings; more queues with a socket each.",
        "Linux Documentation/networking/af_xdp.rst, XDP_STATISTICS",
        _xsk,
    ),
    Rule(
        "capture-drops",
        "socket",
        "A capture loses packets that have reached the host",
        "what tcpdump prints at its end; capture.kernel_drops of Suricata",
        "1 packet in 1,000",
        "The packet socket's buffer was full: the program takes packets too slowly, or comes too"
        " late for bursts. The card and the kernel had delivered them.",
        "A larger buffer (tcpdump -B, Suricata's ring-size), more threads with a ring each"
        " (cluster_flow), a filter that takes less, a snapshot of headers alone.",
        "Linux Documentation/networking/packet_mmap.rst, PACKET_STATISTICS; man tcpdump",
        ratio("dropped", "total", kind="packet socket"),
    ),
    Rule(
        "dpdk-missed",
        "ring",
        "The program that polls {subject} comes too late",
        "RX-missed of testpmd and others of DPDK",
        "1 packet in 10,000",
        "The card had no free descriptor: the polling core takes longer for a packet than packets"
        " come, or was away for longer than the ring holds.",
        "More queues with a core each, more descriptors (--rxd), cores that nothing else runs on"
        " (isolcpus), memory and cores on the card's node.",
        "Linux Documentation/networking/statistics.rst; DPDK rte_eth_stats.imissed",
        ratio("missed", "packets", kind="dpdk", at_least=1e-4),
    ),
    Rule(
        "dpdk-no-mbuf",
        "ring",
        "The pool of buffers of {subject} is empty",
        "RX-nombuf of testpmd and others of DPDK",
        "1 packet in 10,000",
        "Descriptors find no buffer: too few are in the pool for all rings and caches, or the"
        " program does not give them back.",
        "More buffers (--total-num-mbufs), and look for a leak.",
        "Linux Documentation/networking/statistics.rst; DPDK rte_eth_stats.rx_nombuf",
        ratio("nombuf", "packets", kind="dpdk", at_least=1e-4),
    ),
    Rule(
        "worker-full",
        "application",
        "One thread of the kernel is full: {subject}",
        "top",
        "90 % of a CPU",
        "vhost carries all packets of one queue of a guest, napi those of one queue of a card: more"
        " than one CPU can do does not pass.",
        "More queues: of the guest (queues=N of its interface, ethtool -L combined in it), of the"
        " card (ethtool -L); keep the thread on CPUs of the card's node.",
        "Linux drivers/vhost/vhost.c; Documentation/networking/napi.rst, threaded NAPI",
        _worker,
        hides=("one-cpu-full",),
    ),
)
