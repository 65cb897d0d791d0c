"""Packets that are for others: what a host forwards, and ends of tunnels, containers and guests.

That `ip_forward` is set says little by itself, as containers and guests need it, too. A router is
seen by what its ports carry, see `simnet.importing.writing.routed`, or by rules that translate
addresses, or by somebody who shows how connections are tracked. An interface that carries next to
nothing beside the ports is left out, where sar says it.

Source: ip-sysctl.rst and nf_conntrack-sysctl.rst of Linux; conntrack(8), nft(8), iptables(8),
ip-link(8), ifconfig(8), wg(8); the names that docker, containerd's plugins, Calico, Cilium,
flannel, libvirt, Proxmox, WireGuard, OpenVPN and strongSwan give.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.parsers.sysstat import interfaces
from simnet.importing.roles import CONTAINERS, FORWARD, GUESTS, TUNNEL, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER"]

_FORWARD: Final = re.compile(
    r"^net\.ipv[46]\.(?:ip_forward|conf\.(?:all|default)\.forwarding) ?= ?1$", re.MULTILINE
)
_FILE: Final = "proc/sys/net/ipv4/ip_forward"
_COUNT: Final = re.compile(r"^net\.netfilter\.nf_conntrack_count ?= ?(\d{1,9})$", re.MULTILINE)
_COUNT_FILE: Final = "proc/sys/net/netfilter/nf_conntrack_count"
# what an administrator's rules for others' packets have, and not those of containers
_NAT: Final = re.compile(r"\b(?:masquerade|MASQUERADE|[sd]nat to|[SD]NAT|flowtable|FLOWOFFLOAD)\b")
_OF_CONTAINERS: Final = re.compile(r"\bDOCKER|\bKUBE-|\bCNI-|\bcni\b|libvirt|LIBVIRT|lxcbr|podman")
_WHOLE_LISTING: Final = 300
_MANY: Final = 1000
_TWO: Final = 2


_LONGEST: Final = 10
_RULES: Final = ("nft list ruleset", "iptables")
_NO_LOAD: Final = "no simulation depends on it"
_LISTED: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[@:](?![^\n]*\bstate DOWN\b)", re.MULTILINE)
_BRIEF: Final = re.compile(r"^([^\s:@]{1,15})(?:@\S{1,15})? +(?:UP|UNKNOWN) ", re.MULTILINE)
_JSON: Final = re.compile(r'"ifname": ?"([^"\s/]{1,15})"')
_IFCONFIG: Final = re.compile(r"^([^\s:]{1,15}):? +(?:Link encap:|flags=\d+<UP)", re.MULTILINE)
_WIREGUARD: Final = re.compile(r"^interface: (\S{1,15})$", re.MULTILINE)
_NAMES: Final = (
    (
        CONTAINERS,
        re.compile(
            r"veth\S+|cali\S+|lxc\S+|cilium\S*|cni\d+|eni[0-9a-f]{11}|podman\d*|flannel\S*|vxlan\.calico"
        ),
        "container",
    ),
    (GUESTS, re.compile(r"vnet\d+|tap\d+i\d+|fwpr\d+\S*|vif\d+\.\d+"), "guest"),
    (
        TUNNEL,
        re.compile(
            r"wg\S*|tun\d+|ipsec\d+|vti\d+|xfrm\d+|gre[1-9]\d*|gretap[1-9]\d*|vxlan\S*|geneve\S*|l2tp\S*|nordlynx|tailscale\d+"
        ),
        "tunnel",
    ),
)
_SHOWN: Final = 3
# of what all interfaces carry
_NOTHING: Final = 0.02


def _roles(evidence: Evidence) -> Iterator[Role]:
    yield from _ends(evidence)
    yield from _forwarding(evidence)


def _forwarding(evidence: Evidence) -> Iterator[Role]:
    outputs = evidence.outputs
    listed = outputs.one("sysctl -a")
    on = listed is not None and bool(_FORWARD.search(listed.text))
    source = listed.name if on and listed is not None else _FILE
    on = on or (evidence.files.text(_FILE) or "").strip() == "1"
    count = 0 if listed is None else int((_COUNT.search(listed.text) or ("", "0"))[1])
    text = (evidence.files.text(_COUNT_FILE) or "").strip()
    count = count or (int(text) if text.isdecimal() and len(text) < _LONGEST else 0)
    tracked = outputs.one("conntrack -S")
    rules = [one for kind in _RULES if (one := outputs.one(kind)) is not None]
    translating = [one for one in rules if _NAT.search(one.text)]
    if any(_OF_CONTAINERS.search(one.text) for one in rules):
        return
    several = len(evidence.nics) >= _TWO
    picked = listed is not None and listed.text.count("\n") < _WHOLE_LISTING
    numbers = {
        "connections": count,
        "tracks": int(bool(count or tracked)),
        "rules": len(translating),
    }
    if on and (translating or tracked or (several and (picked or count >= _MANY))):
        yield Role(FORWARD, "a host that forwards packets (ip_forward = 1)", source, numbers)
    elif translating and (several or tracked):
        yield Role(FORWARD, "rules that translate addresses", translating[0].name, numbers)


def _ends(evidence: Evidence) -> Iterator[Role]:
    found = _interfaces(evidence)
    carried = interfaces(evidence.outputs)
    total = max((frames for frames, _ in carried.values()), default=0.0)
    for role, pattern, of in _NAMES:
        names = [
            name
            for name in found
            if pattern.fullmatch(name)
            if name not in carried or carried[name][0] > _NOTHING * total
        ]
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            ends = f"an end of a {of}" if len(names) == 1 else f"{len(names)} ends of {of}s"
            said = f"{ends}: {', '.join(names[:_SHOWN])}{more}"
            yield Role(role, said, found[names[0]], {"interfaces": len(names)})


def _interfaces(evidence: Evidence) -> dict[str, str]:
    """Return the file that names each interface."""
    found: dict[str, str] = {}
    for kind, patterns in _LISTS.items():
        told = evidence.outputs.one(kind)
        if told is not None:
            for pattern in patterns:
                for name in pattern.findall(told.text):
                    found.setdefault(name, told.name)
    for name, (_, source) in interfaces(evidence.outputs).items():
        found.setdefault(name, source)
    return found


_LISTS: Final = {
    "ip link": (_LISTED, _JSON),
    "ip -br link": (_BRIEF,),
    "ifconfig": (_IFCONFIG,),
    "wg show": (_WIREGUARD,),
}
_HEAD: Final = r"[^\s:@]{1,15}(?:@\S{1,15})? +(?:UP|DOWN|UNKNOWN) +(?:[0-9a-f]{2}:){5}[0-9a-f]{2} <"
PARSER: Final = Parser(
    kinds=(
        Kind(
            "conntrack -S",
            line=r"cpu=\d+[ \t]+(?:searched|found)=",
            idle="what happened, and no setting",
        ),
        Kind(
            "nft list ruleset",
            line=r"table (?:inet|ip6?|bridge|netdev) \S+ \{",
            command="nft list ruleset",
            folder="firewall_tables",
            idle=_NO_LOAD,
        ),
        Kind(
            "iptables",
            line=r"Chain (?:INPUT|FORWARD|OUTPUT|P(?:RE|OST)ROUTING) \(|\*(?:nat|filter|mangle)$",
            idle=_NO_LOAD,
        ),
        Kind("ip -br link", _HEAD, line=_HEAD),
        Kind(
            "ifconfig",
            line=r"\S{1,15}:? +(?:Link encap:|flags=\d+<)",
            idle="no simulation depends on it",
        ),
        Kind(
            "wg show",
            r"interface: \S{1,15}\n +public key:",
            line=r"interface: \S{1,15}\n +public key:",
        ),
    ),
    roles=_roles,
)
