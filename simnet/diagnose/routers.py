"""What helps routers: the commands that several rules give."""

import re
from typing import Final

from simnet.diagnose.actions import PORT, named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Action
from simnet.diagnose.vectors import ports
from simnet.host.release import release_in
from simnet.scenario.parts.forward.commands import NO_FLOW_TABLE, flow_table

_OFFLOAD: Final = "firewall.@defaults[0].flow_offloading"
_OTHER_PORT: Final = "eth1"
_TWO: Final = 2
# the port that a rule translates for
_OUTSIDE: Final = re.compile(r"(?:\boifname \"|(?<=\s)-o )([\w.-]{1,15})\b")
# of Linux
_FIRST_FLOW_TABLE: Final = (4, 16)


def by_flow_table(evidence: Evidence, _subject: str = "") -> tuple[Action, ...]:
    """Return what lets connections of a router pass by a flow table, if none does yet.

    OpenWrt has a setting for it. Any other host is a router here if its rules translate addresses.
    """
    if evidence.of("router", "openwrt"):
        return _of_openwrt(evidence)
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


def _of_openwrt(evidence: Evidence) -> tuple[Action, ...]:
    if evidence.value("router", "flow_offloading"):
        return ()
    line = "uci set {}={}; uci commit firewall; service firewall restart"
    on, off = (line.format(_OFFLOAD, value) for value in (1, 0))
    known = bool(evidence.of("router", "simulated"))
    return (Action(on, off, f"uci {_OFFLOAD}=on" if known else ""),)


def _carrying(evidence: Evidence) -> list[str]:
    """Ports with counters, that with most packets first."""
    found = [one for one in evidence.subjects("stat") if evidence.packets(one, "rx")]
    return sorted(found, key=lambda one: -evidence.packets(one, "rx"))
