"""Cards that spread flows by addresses alone: all between two hosts is one queue's."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import percent
from simnet.diagnose.queues import NEARLY_ALL, fullest_queues
from simnet.diagnose.rule import Action, Found, Hit, Rule
from simnet.diagnose.vectors import alone
from simnet.printable import typed

_PORTS: Final = "L4 bytes"


def _addresses(evidence: Evidence) -> Iterator[Found]:
    full = {one.port: one for one in fullest_queues(evidence, least=2) if one.share >= NEARLY_ALL}
    for fact in evidence.of("hash"):
        if _PORTS in fact.text or "IP SA" not in fact.text:
            continue
        said = f"flows of {fact.name} are spread by {fact.text}"
        typed_as = ("ethtool", "-N", named(fact.subject), "rx-flow-hash", fact.name)
        actions = (Action(typed(*typed_as, "sdfn"), typed(*typed_as, "sd")),)
        one, busy = full.get(fact.subject), alone(evidence)
        if one is not None:
            said += f"; {one.fact.name} has {percent(one.share)} of the packets"
            yield Hit(fact.subject, (one.fact, fact), said, 74, "likely", actions)
        elif busy is not None:
            said += f", and %soft {busy.shown} on {busy.subject}, no other"
            yield Hit(fact.subject, (busy, fact), said, 73, "possible", actions)
        else:
            yield Hit(fact.subject, (fact,), said, 24, "possible", actions)


RULES: Final = (
    Rule(
        "hash-of-addresses",
        "card",
        "The card spreads flows of {subject} by addresses alone",
        "ethtool -n PORT rx-flow-hash udp4 (tcp4, udp6, tcp6)",
        "fields without ports; likely where one queue has 90 % of the packets, before other causes"
        " where one CPU alone is full of softirqs",
        "All flows between two hosts have one hash and come by one queue, as of tunnels (VXLAN,"
        " GTP-U), DNS or media between two ends. Many drivers have it so for UDP, for fragments.",
        "Let ports count (sdfn), unless datagrams are fragmented: their parts would come by"
        " different queues. Where the card refuses it, RPS.",
        "man ethtool, rx-flow-hash; Linux Documentation/networking/scaling.rst, RSS",
        _addresses,
        hides=("rss-one-queue",),
    ),
)
