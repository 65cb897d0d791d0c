"""What the switch counts at its port to the host."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import Find, percent, weight_of
from simnet.diagnose.rule import Clear, Found, Hit, Rule


def _counted(names: str, of: str, least: float) -> Find:
    def find(evidence: Evidence) -> Iterator[Found]:
        for series in evidence.series("switch", names):
            fact = series.last
            whole = max(
                (one.value for one in evidence.series("switch", of, fact.subject)), default=0.0
            )
            share = series.value / whole if whole else 0.0
            said = f"{fact.name} {fact.shown}"
            said += f" of {whole:,.0f} packets, {percent(share)}" if whole else ""
            many = series.value >= 1000  # noqa: PLR2004 - without anything to compare with
            if (share >= least or (not whole and many)) and series.growing:
                heavy = weight_of(share) if whole else 40.0
                yield Hit(fact.subject, (fact,), said, heavy, "likely")
            else:
                yield Clear(fact, said)

    return find


RULES: Final = (
    Rule(
        "switch-drops",
        "cable",
        "The switch drops what it should send by {subject}",
        "output drops, output discards of the switch",
        "1 packet in 10,000",
        "More came for this port than it sends, in bursts or for long: the switch's buffer was"
        " full."
        " The host never sees these packets; TCP sends them again.",
        "A faster port to the host, fewer senders at once, ECN or flow control; larger buffers of"
        " the switch (its queue settings).",
        "RFC 2863, ifOutDiscards; RFC 7567",
        _counted("output drops|output discard", "output packet", 1e-4),
        outside=True,
    ),
    Rule(
        "switch-errors",
        "cable",
        "The switch receives damaged frames at {subject}",
        "CRC, input errors of the switch",
        "1 frame in 100,000",
        "What the host sends arrives damaged: cable, optic, or the host's transmitter.",
        "Replace or clean cable and optic. No setting helps.",
        "RFC 2863, ifInErrors; IEEE 802.3, 4.2.4.1",
        _counted("CRC|input error", "input packet", 1e-5),
        outside=True,
    ),
)
