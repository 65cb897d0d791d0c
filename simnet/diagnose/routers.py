"""What helps routers: the commands that several rules give."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.diagnose.actions import PORT, named
from simnet.diagnose.rule import Action
from simnet.diagnose.vectors import ports
from simnet.host.release import release_in
from simnet.scenario.parts.forward.commands import NO_FLOW_TABLE, flow_table

if TYPE_CHECKING:
    from simnet.diagnose.evidence import Evidence

_OTHER_PORT: Final = "eth1"
_TWO: Final = 2
# the port that a rule translates for
_OUTSIDE: Final = re.compile(r"(?:\boifname \"|(?<=\s)-o )([\w.-]{1,15})\b")
# of Linux
_FIRST_FLOW_TABLE: Final = (4, 16)


def by_flow_table(evidence: Evidence, _subject: str = "") -> tuple[Action, ...]:
    """Return what lets connections of a router with NAT pass by a flow table, if none does yet."""
    translating = evidence.of("router", "translates")
    if not translating or evidence.of("router", "flow_table"):
        return ()
    kernel = evidence.said("kernel", "release")
    if kernel and release_in(kernel) < _FIRST_FLOW_TABLE:
        return ()
    outside = (name for one in translating for name in _OUTSIDE.findall(one.text))
    told = (*outside, *ports(evidence), *evidence.subjects("driver"), *_carrying(evidence))
    known = dict.fromkeys(told)
    names = [one for one in known if named(one) == one][:_TWO]
    if len(names) < _TWO:
        names = [PORT, _OTHER_PORT]
    return (Action(flow_table(names), NO_FLOW_TABLE, "nft flowtable=on"),)


def _carrying(evidence: Evidence) -> list[str]:
    """Ports with counters, that with most packets first."""
    found = [one for one in evidence.subjects("stat") if evidence.packets(one, "rx")]
    return sorted(found, key=lambda one: -evidence.packets(one, "rx"))
