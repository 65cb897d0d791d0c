"""The load of a host that forwards: what comes by one of its ports and leaves by another."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from simnet.importing.host import ReadHost
from simnet.importing.rates import Rates
from simnet.importing.roles import FORWARD, Role, first_of
from simnet.importing.writing.costs import assumed, payload_bytes, table_of, workload
from simnet.scenario.parts.forward.schema import MOST_FLOWS

_BASE: Final = "router-connectx5"
# of busy time in softirqs, and of one direction in the other, where a host only forwards
_MOSTLY: Final = 0.85
_ALIKE: Final = 0.8
_LEAST_PACKETS: Final = 100
_FLOWS: Final = 1000
_RULE_OF_NFT: Final = assumed(
    "64 cycles",
    "as a rule of iptables: nft_do_chain calls each expression of a rule, and was not measured",
    "15 cycles",
    "300 cycles",
)


@dataclass(frozen=True)
class Way:
    """The way of packets through a host."""

    coming: Rates  # rates of the port by which more of them come
    leaving: Rates  # of that by which these leave; the same where a host has one port

    @property
    def back(self) -> int:
        """Packets a second that come the other way; 0 for next to none, or by one port."""
        if self.coming is self.leaving:
            return 0
        passed = min(self.leaving.rx_packets, self.coming.tx_packets)
        return round(self.leaving.rx_packets) if passed >= _LEAST_PACKETS else 0


def forwards(host: ReadHost, rates: Sequence[Rates]) -> Role | None:
    """Return that a host forwards, as rules and settings or what its ports carry show; or None."""
    told = first_of(host.roles, FORWARD)
    way = way_of(host, rates)
    if way is None:
        # what ports carry is known, and is not the same: they end here
        return None if rates and len(host.rates) > 1 else told
    if told is not None:
        return told
    busy, softirq = (host.uses.get(f"cpu.all.{name}") for name in ("busy", "softirq"))
    only = busy is not None and softirq is not None and softirq.value >= _MOSTLY * busy.value
    if way.coming is way.leaving:
        if not only:
            return None
        said = f"{way.coming.port} sends as much as it receives, and CPUs do next to nothing but"
        return Role(FORWARD, f"{said} softirqs", way.coming.source)
    said = f"{way.leaving.port} sends what {way.coming.port} receives"
    if only:
        return Role(FORWARD, said, way.coming.source)
    called, why = "a router or a proxy", "the files do not say which of the two it is"
    return Role(FORWARD, said, way.coming.source, {}, called, why)


def way_of(host: ReadHost, rates: Sequence[Rates]) -> Way | None:
    """Return the two ports of which one sends what the other receives, or the one that does both.

    Args:
        host: as it was read.
        rates: of its ports, those that carry anything to speak of.
    """
    ports = {nic.name for nic in host.nics}
    carried = [one for one in rates if one.port in ports]
    pairs = [
        Way(a, b) if a.rx_packets >= b.rx_packets else Way(b, a)
        for a, b in itertools.combinations(carried, 2)
        if _alike(a.rx_packets, b.tx_packets) and _alike(a.rx_bytes, b.tx_bytes)
        if _alike(b.rx_packets, a.tx_packets) and _alike(b.rx_bytes, a.tx_bytes)
    ]
    if pairs:
        return max(pairs, key=lambda one: one.coming.rx_packets)
    if len(carried) == 1:
        one = carried[0]
        if _alike(one.rx_packets, one.tx_packets) and _alike(one.rx_bytes, one.tx_bytes):
            return Way(one, one)
    return None


def _alike(one: float, other: float) -> bool:
    """Whether two rates are the same but for what a host says itself."""
    return min(one, other) >= _ALIKE * max(one, other) - _LEAST_PACKETS


def packets(role: Role, way: Way, nodes: int) -> tuple[str, str]:
    """Return the tables of the scenario, and what is simulated in words.

    Args:
        role: the host's, with what its files tell of connections.
        way: between two ports.
        nodes: whose ports carry traffic.
    """
    coming = way.coming
    size = payload_bytes(coming.rx_size)
    rate = max(round(coming.rx_packets), 1)
    connections = min(role.numbers.get("connections", 0), MOST_FLOWS)
    rules = {key: n for key, n in role.numbers.items() if key.endswith("_rules")}
    tracks = bool(role.numbers.get("tracks") or rules.get("nat_rules"))
    offloads = tracks and bool(role.numbers.get("flow_offload"))
    values: dict[str, Any] = {
        "rate": rate,
        "size": f"{size} B",
        "flows": connections or assumed(_FLOWS, "no file says how many connections", 16, 100_000),
        "arrivals": "poisson",
        "conntrack": tracks,
        **rules,
        **({"rule": _RULE_OF_NFT} if role.numbers.get("nft") else {}),
        **({"flow_offload": True} if offloads else {}),
    }
    flows = f"{connections:,} connections" if connections else f"{_FLOWS:,} connections, assumed"
    said = (
        f"{rate:,} packets/s of {size:,} B that come by {coming.port} and leave by"
        f" {way.leaving.port}, of {flows}"
    )
    if rules:
        listed = ", ".join(f"{n} of {key.removesuffix('_rules')}" for key, n in rules.items())
        said += f", compared with so many rules: {listed}"
    if offloads:
        said += ", until a flow table has their connection"
    if way.back:
        values |= {"answers": way.back, "answer_size": f"{payload_bytes(way.leaving.rx_size)} B"}
        said += f"; {way.back:,} packets/s go the other way"
    text = workload("forward", "forward", nodes, size)
    return f"{text}\n{table_of(_BASE, 'forward', values)}", said
