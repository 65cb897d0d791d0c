"""Packets that are too large for the way."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.rule import Found, Hit, Rule

# percent: all but a stray one, hardly any
_ALL: Final = 90
_NONE: Final = 10


def _too_long(evidence: Evidence) -> Iterator[Found]:
    holes = list(_hole(evidence))
    yield from holes
    for fact in evidence.of("fits")[:1] if not holes else ():
        said = f"{fact.text}"
        yield Hit("", (fact,), said, 72, "certain")


def _hole(evidence: Evidence) -> Iterator[Found]:
    """Large packets to a target all vanish, smaller ones arrive."""
    for target in evidence.subjects("echo"):
        runs = evidence.of("echo", r"lost \d+", target)
        arrive = [fact for fact in runs if fact.value <= _NONE]
        vanish = [fact for fact in runs if fact.value >= _ALL]
        largest = max(arrive, key=_size, default=None)
        larger = [fact for fact in vanish if largest and _size(fact) > _size(largest)]
        if largest is not None and larger and not any(_size(f) <= _size(largest) for f in vanish):
            least = min(larger, key=_size)
            said = f"ping to {target}: {_size(largest)} bytes arrive, {_size(least)} are all lost"
            yield Hit("", (least, largest), said, 73, "likely")


def _size(fact: Fact) -> int:
    return int(fact.name.rpartition(" ")[2])


RULES: Final = (
    Rule(
        "path-mtu",
        "protocol",
        "Packets do not fit: an MTU on the way is smaller {subject}",
        "the errors of ping -M do and of others; pings of several sizes",
        "always; 90 % of the larger lost, 10 % of the smaller at most",
        "What is larger is dropped, and whoever sent it hears nothing where ICMP is filtered:"
        " connections open, and hang with the first full packet.",
        "Lower the MTU of the port or tunnel to what fits, clamp the MSS (--clamp-mss-to-pmtu), let"
        " ICMP through; net.ipv4.tcp_mtu_probing=1 finds out by itself.",
        "RFC 1191; RFC 2923, 2.1 (black holes); RFC 4821; man ping, -M",
        _too_long,
        hides=("lossy-path",),
    ),
)
