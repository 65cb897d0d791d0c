"""Losses per second, as sar shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.diagnose.families import percent, weight_of
from simnet.diagnose.rule import Clear, Hit, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.diagnose.evidence import Evidence
    from simnet.diagnose.families import Find
    from simnet.diagnose.rule import Found

__all__ = ["RULES"]

_SAR: Final = "man sar"


def _rate(name: str, of: str, least: float, sure: str) -> Find:
    """Look at the highest rate of a loss, against the rate of what was sent or received."""

    def find(evidence: Evidence) -> Iterator[Found]:
        for series in evidence.series("sar", name):
            worst = max(series.facts, key=lambda fact: fact.value)
            whole = max((fact.value for fact in evidence.of("sar", of, worst.subject)), default=0.0)
            share = worst.value / whole if whole else 0.0
            said = f"{worst.name} {worst.text.removesuffix(' 1/s')}"
            said += f" of {whole:,.0f}, {percent(share)}" if whole else ""
            if worst.value >= 1 and (share >= least or not whole):
                weight = weight_of(share) if whole else 45.0
                yield Hit(worst.subject, (worst,), said, weight, sure)
            else:
                yield Clear(worst, said)

    return find


RULES: Final = (
    Rule(
        "drop-rate",
        "ring",
        "Packets are lost at {subject}",
        "rxdrop/s, rxfifo/s of sar -n EDEV",
        "1 a second, and 1 packet in 10,000 where sar -n DEV tells the packets",
        "The ring or the card's buffer was full, or nobody wanted the packets.",
        "Look at ethtool -S; widen the ring, spread its interrupts.",
        _SAR,
        _rate(r"rx(drop|fifo)/s", "rxpck/s", 1e-4, "likely"),
        hides=("link-dropped",),
    ),
    Rule(
        "error-rate",
        "cable",
        "Frames arrive damaged at {subject}",
        "rxerr/s, rxfram/s of sar -n EDEV",
        "1 a second, and 1 frame in 100,000",
        "Bits change on the cable, in an optic or in the PHY.",
        "Replace or clean cable and optic. No setting helps.",
        _SAR,
        _rate(r"rx(err|fram)/s", "rxpck/s", 1e-5, "likely"),
        outside=True,
    ),
    Rule(
        "udp-error-rate",
        "socket",
        "UDP loses what it has received {subject}",
        "idgmerr/s of sar -n UDP",
        "1 a second, and 1 datagram in 1,000",
        "A socket's buffer is full: the program reads too slowly or in bursts.",
        "Raise rmem_max and the program's SO_RCVBUF; look at RcvbufErrors of nstat.",
        _SAR,
        _rate(r"idgmerr/s", "idgm/s", 1e-3, "likely"),
    ),
    Rule(
        "retransmit-rate",
        "protocol",
        "TCP sends again what was lost on the way {subject}",
        "retrans/s of sar -n ETCP against oseg/s of sar -n TCP",
        "1 a second, and 1 segment in 200",
        "Segments or acknowledgements are lost between this host and its peers.",
        "Look at ports, rings and queues of both ends; then at the network.",
        _SAR,
        _rate(r"retrans/s", "oseg/s", 5e-3, "possible"),
    ),
)
