"""Receive queues of a port: which one takes most packets, and RPS, which spreads a queue's.

Source: Linux Documentation/networking/scaling.rst, RPS.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.rule import Action
from simnet.diagnose.vectors import cpus

NEARLY_ALL: Final = 0.9
"""Share of the packets from which on one queue has nearly all."""
NO_BUFFER: Final = (
    r"rx_missed(_errors)?|rx_out_of_buffer|rx_no_buffer\w*|rx_no_dma_resources|(port_)?rx_nodesc_drop\w*"
    r"|rx_fifo(_errors)?|rx_over(_errors)?|rx_overruns?|rx_discards|rx_dropped|(port[._])?rx_discards"
    r"|rx_queue_\d+_drops?|(?:\[\d+\]: )?rx_(?!discards_phy|prio)\w*discards?\w*"
    r"|rx\d*_?no_buf\w*|rx\d+_dropped|rx_mpc|mpc"
    r"|rx_missed_packets|rx_buf_unavail\w*|rx_stat_discard|rx_desc_err\w*|rnbc|port\.rx_dropped"
    r"|rx_ring_full|rx_overflow\w*|rx_buffer_overflow\w*|rx_priority_\d_discard\w*"
    r"|rx_dropped_pkt|rx_queue_drop_cnt|rx_no_buffers_posted|vf_rx_dropped|rx_total_discard_pkts"
    r"|rx\d+_drops?|rx_queue_drops?|no_buff_discards|rx\d+_wqe_err|imissed|rx_drops?"
)
"""Counters of drivers for frames that found no buffer in a receive ring."""
# packets, fewer of which are too few to tell
_FEWEST: Final = 100_000
# CPUs of a mask of one word
_WORD: Final = 32
_PACKETS: Final = r"(?:rx_?queue_?|rx-|rx|queue_)(\d+)(?:_|\.)?(?:rx_)?(?:packets|pkts|cnt)"


class Fullest(NamedTuple):
    """The queue of a port that takes most packets."""

    port: str
    queue: int | None  # its number; None where the counter's name has none
    fact: Fact  # the newest count
    share: float  # of the packets of all queues
    queues: int  # how many there are


def fullest_queues(evidence: Evidence, *, least: int) -> Iterator[Fullest]:
    """Yield it of each port that has `least` queues and enough packets to tell."""
    for port in evidence.subjects("stat"):
        queues = evidence.series("stat", _PACKETS, port)
        whole = sum(one.value for one in queues)
        if len(queues) < least or whole < _FEWEST:
            continue
        most = max(queues, key=lambda one: one.value)
        number = re.search(r"\d+", most.last.name)
        queue = int(number[0]) if number else None
        yield Fullest(port, queue, most.last, most.value / whole, len(queues))


def every_cpu(evidence: Evidence, *, unknown: int = 0xFF) -> int:
    """Return a mask of all CPUs; `unknown` where no file says how many, or a word is too small."""
    count = cpus(evidence)
    return (1 << count) - 1 if 1 < count <= _WORD else unknown


def handed_to(port: str, queue: int, mask: int) -> Action:
    """Return what has RPS hand the packets of a queue to the CPUs of a mask."""
    file = f"/sys/class/net/{named(port)}/queues/rx-{queue}/rps_cpus"
    return Action(f"echo {mask:x} > {file}", f"echo 0 > {file}", f"{file}={mask:x}")
