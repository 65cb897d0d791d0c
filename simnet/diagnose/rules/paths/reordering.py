"""Segments that overtake each other: TCP takes what is late for lost."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import tool
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Clear, Found, Hit, Rule

COUNTERS: Final = "TcpExtTCP(?:SACK|TS|Reno|FACK)Reorder"
"""What counts how often segments came in another order than they were sent."""
MANY: Final = 10_000
"""From when on that matters."""


def _reordered(evidence: Evidence) -> Iterator[Found]:
    counts = evidence.series("snmp", COUNTERS)
    if not counts:
        return
    most = max(counts, key=lambda one: one.value)
    said = f"{most.last.name} {most.last.shown}"
    if most.value < MANY or not most.growing:
        yield Clear(most.last, said)
        return
    matches = [one.last for one in evidence.series("stat", "fdir_match") if one.value >= MANY]
    for match in matches[:1]:
        # without ntuple ixgbe's own filters (ATR) send a flow after the CPU that it was sent by
        said += f", and the card moves flows: fdir_match {match.shown}"
        action = tool("-K", match.subject, "ntuple", "on", "off")
        yield Hit(match.subject, (most.last, match), said, 64, "likely", (action,))
    if not matches:
        yield Hit("", (most.last,), said, 40, "possible")


RULES: Final = (
    Rule(
        "reordered",
        "protocol",
        "TCP's segments overtake each other {subject}",
        "TCPSACKReorder, TCPTSReorder; fdir_match of ethtool -S",
        "10,000 reorderings; likely where the card itself moves flows between queues",
        "Two ways of unequal length (a bond in turn, routes by packet, RPS without a hash), or a"
        " card that moves a flow to another queue as soon as its process runs on another CPU (ATR"
        " of ixgbe): what was queued on the old CPU comes later than what is new.",
        "Keep processes on their CPUs; with ixgbe switch ATR off (ntuple on); bonds and routes by"
        " flow. A larger tcp_reordering helps against repeats, not against the cause.",
        "Linux Documentation/networking/snmp_counter.rst, TCPSACKReorder; drivers/net/ethernet/"
        "intel/ixgbe/ixgbe_main.c, ixgbe_atr",
        _reordered,
    ),
)
