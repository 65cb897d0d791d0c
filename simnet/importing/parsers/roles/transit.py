"""Packets that are for others: what a host forwards, and ends of tunnels, containers and guests.

That `ip_forward` is set says little by itself, as containers and guests need it, too. A router is
seen by what its ports carry, see `simnet.importing.writing.routed`, or by rules that translate
addresses, or by somebody who shows how connections are tracked. An interface that carries next to
nothing beside the ports is left out, where sar says it.

Source: ip-sysctl.rst and nf_conntrack-sysctl.rst of Linux; conntrack(8), nft(8), iptables(8),
ip-link(8), ifconfig(8), wg(8); the names that docker, containerd's plugins, Calico, Cilium,
flannel, libvirt, Proxmox, WireGuard, OpenVPN and strongSwan give.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import HAPPENED, NOT_MODELLED, Kind
from simnet.importing.parser import Parser
from simnet.importing.parsers.links import listed
from simnet.importing.parsers.roles.rules import FLOW_TABLE, OF_CONTAINERS, counted_rules
from simnet.importing.parsers.sysstat import interfaces
from simnet.importing.roles import CONTAINERS, FORWARD, GUESTS, TUNNEL, Role

_FORWARD: Final = re.compile(
    r"^net\.ipv[46]\.(?:ip_forward|conf\.(?:all|default)\.forwarding) ?= ?1$", re.MULTILINE
)
_FILE: Final = "proc/sys/net/ipv4/ip_forward"
# ports that rules name
_NAMED_PORTS: Final = re.compile(
    r"(?:\b[io]ifname \"|(?<=\s)-[io] )((?:en|eth|wan|lan|bond|ppp)[\w.-]{0,12})\b"
)
_COUNT: Final = re.compile(r"^net\.netfilter\.nf_conntrack_count ?= ?(\d{1,9})$", re.MULTILINE)
_COUNT_FILE: Final = "proc/sys/net/netfilter/nf_conntrack_count"
# what an administrator's rules for others' packets have, and not those of containers
_NAT: Final = re.compile(r"\b(?:masquerade|MASQUERADE|[sd]nat to|[SD]NAT|flowtable|FLOWOFFLOAD)\b")
_WHOLE_LISTING: Final = 300
_MANY: Final = 1000
_TWO: Final = 2
_LONGEST: Final = 10
_NFT: Final = "nft list ruleset"
_RULES: Final = (_NFT, "iptables")
_LISTED: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[@:](?![^\n]*\bstate DOWN\b)", re.MULTILINE)
_BRIDGED: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[^\n]{0,90}\bmaster ", re.MULTILINE)
_JSON: Final = re.compile(r'"ifname": ?"([^"\s/]{1,15})"')
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
    rules = [one for kind in _RULES for one in outputs.every(kind)]
    translating = [one for one in rules if _NAT.search(one.text)]
    if any(OF_CONTAINERS.search(one.text) for one in rules):
        return
    ports = {nic.name for nic in evidence.nics}
    ports.update(name for one in rules for name in _NAMED_PORTS.findall(one.text))
    several = len(ports) >= _TWO
    picked = listed is not None and listed.text.count("\n") < _WHOLE_LISTING
    passed = counted_rules(one.text for one in rules)
    if translating and "nat" not in passed:
        # a part of a listing, that translates
        passed = {**passed, "nat": 1}
    numbers = {
        "connections": count,
        "tracks": int(bool(count or tracked or translating)),
        "nft": int(bool(outputs.every(_NFT))),
        "flow_offload": int(any(FLOW_TABLE.search(one.text) for one in rules)),
        **{f"{table}_rules": n for table, n in passed.items()},
    }
    counted = tuple(one.name for one in rules) if passed else ()
    if on and (translating or tracked or (several and (picked or count >= _MANY))):
        said = "a host that forwards packets (ip_forward = 1)"
        yield Role(FORWARD, said, source, numbers, counted=counted)
    elif translating and (several or tracked):
        source, said = translating[0].name, "rules that translate addresses"
        yield Role(FORWARD, said, source, numbers, counted=counted)


def _ends(evidence: Evidence) -> Iterator[Role]:
    carried = interfaces(evidence.outputs)
    found = _interfaces(evidence, carried)
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


def named_interfaces(evidence: Evidence) -> dict[str, str]:
    """Return the file that names each interface, of lists and of sar."""
    return _interfaces(evidence, interfaces(evidence.outputs))


def _interfaces(evidence: Evidence, carried: Mapping[str, tuple[float, str]]) -> dict[str, str]:
    """Return the file that names each interface; `carried`: those of sar."""
    found: dict[str, str] = {}
    for kind, names in _LISTS.items():
        told = evidence.outputs.one(kind)
        if told is not None:
            found |= {name: told.name for name in names(told.text) if name not in found}
    return found | {name: file for name, (_, file) in carried.items() if name not in found}


def _up(kind: str, text: str) -> list[str]:
    return [name for name, up in listed(kind, text).items() if up]


_LISTS: Final[Mapping[str, Callable[[str], Iterable[str]]]] = {
    "ip link": lambda text: [*_LISTED.findall(text), *_JSON.findall(text)],
    "bridge link": _BRIDGED.findall,
    "ip -br link": partial(_up, "ip -br link"),
    "ifconfig": partial(_up, "ifconfig"),
    "wg show": _WIREGUARD.findall,
}
_HEAD: Final = r"[^\s:@]{1,15}(?:@\S{1,15})? +(?:UP|DOWN|UNKNOWN) +(?:[0-9a-f]{2}:){5}[0-9a-f]{2} <"
PARSER: Final = Parser(
    kinds=(
        Kind(
            "conntrack -S",
            line=r"cpu=\d+[ \t]+(?:searched|found)=",
            command="conntrack -S",
            folder="networking",
            idle=HAPPENED,
        ),
        Kind(
            _NFT,
            line=r"table (?:inet|ip6?|bridge|netdev) \S+ \{",
            command=_NFT,
            folder="firewall_tables",
            idle=NOT_MODELLED,
        ),
        Kind(
            "iptables",
            line=(
                r"Chain (?:INPUT|FORWARD|OUTPUT|P(?:RE|OST)ROUTING) \(|\*(?:nat|filter|mangle)$"
                r"|-[PAN] (?:INPUT|FORWARD|OUTPUT|P(?:RE|OST)ROUTING) "
            ),
            command="iptables-save",
            folder="firewall_tables",
            many=True,
            idle=NOT_MODELLED,
        ),
        Kind("ip -br link", _HEAD, line=_HEAD),
        Kind("ifconfig", line=r"\S{1,15}:? +(?:Link encap:|flags=\d+<)", idle=NOT_MODELLED),
        Kind(
            "wg show",
            r"interface: \S{1,15}\n +public key:",
            line=r"interface: \S{1,15}\n +public key:",
        ),
    ),
    roles=_roles,
)
