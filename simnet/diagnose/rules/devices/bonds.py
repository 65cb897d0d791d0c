"""Bonds: ports that are down, or that the switch does not put together."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import percent
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.diagnose.rules.paths.reordering import COUNTERS, MANY
from simnet.printable import typed

_BONDING: Final = "Linux Documentation/networking/bonding.rst"
_HASHING: Final = re.compile(r"802\.3ad|\(xor\)|balance-xor")
_BY_ADDRESS: Final = ("layer2", "layer2+3", "encap2+3", "vlan+srcmac")
_ENOUGH: Final = 100_000
# kB/s or packets/s
_ENOUGH_A_SECOND: Final = 1000
_TIMES_EVEN: Final = 1.6
_NEARLY_ALL: Final = 0.9
_TURNS: Final = re.compile(r"round-robin|balance-rr")
_NOBODY: Final = "00:00:00:00:00:00"


def _slaves(evidence: Evidence, name: str) -> list[Fact]:
    return [one for one in evidence.of("bond", name) if evidence.of("bond", "of", one.subject)]


def _down(evidence: Evidence) -> Iterator[Found]:
    for status in _slaves(evidence, "MII Status"):
        bond = evidence.said("bond", "of", status.subject)
        if status.text != "up":
            said = f"MII Status of {status.subject} of {bond}: {status.text}"
            yield Hit(status.subject, (status,), said, 60, "certain")
        else:
            yield Clear(status, f"{status.subject} of {bond} is up")


def _apart(evidence: Evidence) -> Iterator[Found]:
    """Ports of an 802.3ad bond that are in several aggregators: one of them carries nothing."""
    bonds: dict[str, list[Fact]] = {}
    for one in _slaves(evidence, "Aggregator ID"):
        bonds.setdefault(evidence.said("bond", "of", one.subject), []).append(one)
    for bond, every in bonds.items():
        if len({one.value for one in every}) < 2:  # noqa: PLR2004 - one of all
            yield Clear(every[0], f"all ports of {bond} are in one aggregator")
            continue
        said = ", ".join(f"{one.subject} {one.shown}" for one in every[:4])
        said = f"aggregators of {bond}: {said}"
        partner = evidence.last("bond", "Partner Mac Address", bond)
        facts = list(every[:4])
        if partner and partner.text == _NOBODY:
            facts.append(partner)
            said += f"; Partner Mac Address {_NOBODY}: the switch speaks no LACP"
        yield Hit(bond, tuple(facts), said, 64, "certain")


def _uneven(evidence: Evidence) -> Iterator[Found]:
    """Ports of a bond that hashes: one of them sends nearly everything."""
    bonds: dict[str, list[str]] = {}
    for one in evidence.of("bond", "of"):
        if one.subject not in bonds.setdefault(one.text, []):
            bonds[one.text].append(one.subject)
    for bond, slaves in bonds.items():
        mode = evidence.last("bond", "Bonding Mode", bond)
        if mode is None or not _HASHING.search(mode.text) or len(slaves) < 2:  # noqa: PLR2004 - of several
            continue
        sent = [fact for name in slaves if (fact := _sent(evidence, name)) is not None]
        total = sum(one.value for one in sent)
        enough = _ENOUGH_A_SECOND if sent and sent[0].kind == "sar" else _ENOUGH
        if len(sent) < len(slaves) or total < enough or len({one.name for one in sent}) > 1:
            continue
        most = max(sent, key=lambda one: one.value)
        share = most.value / total
        if share * len(sent) < _TIMES_EVEN and share < _NEARLY_ALL:
            yield Clear(most, f"the ports of {bond} send alike: {percent(share)} at most")
            continue
        policy = evidence.last("bond", "Transmit Hash Policy", bond)
        said = f"{most.subject} sends {percent(share)} of what {len(sent)} ports of {bond} send"
        facts: tuple[Fact, ...] = (most,)
        actions: tuple[Action, ...] = ()
        if policy is not None:
            word = policy.text.split()[0]
            said += f"; it hashes by {word}"
            facts = (most, policy)
            if word in _BY_ADDRESS and named(bond) == bond:
                file = f"/sys/class/net/{named(bond)}/bonding/xmit_hash_policy"
                actions = (Action(f"echo layer3+4 > {file}", f"echo {typed(word)} > {file}"),)
        # before a full line of that port, which it explains
        yield Hit(bond, facts, said, 58, "likely", actions)


def _in_turn(evidence: Evidence) -> Iterator[Found]:
    """Ports that take packets in turn bring them into another order: TCP takes that for loss."""
    modes = [
        one for one in evidence.of("bond", "Bonding Mode") if _TURNS.search(one.text)
    ] or evidence.of("bonding", "mode")
    counts = evidence.of("snmp", COUNTERS)
    reordered = max(counts, key=lambda one: one.value, default=None)
    for mode in modes[:1]:
        facts = (mode,) if reordered is None else (mode, reordered)
        said = f"mode {mode.text}"
        many = reordered is not None and reordered.value >= MANY
        if many and reordered is not None:
            said += f", {reordered.name} {reordered.shown}"
        yield Hit(mode.subject, facts, said, 66 if many else 34, "likely" if many else "possible")


def _sent(evidence: Evidence, port: str) -> Fact | None:
    """Return the bytes that a port has sent, or its packets; or how many a second."""
    for kind, name in (
        *(("link", "tx_bytes"), ("stat", "tx_bytes"), ("link", "tx_packets")),
        *(("sar", "txkB/s"), ("sar", "txbyt/s"), ("sar", "txpck/s")),
    ):
        if (found := evidence.last(kind, name, port)) is not None:
            return found
    return None


RULES: Final = (
    Rule(
        "bond-in-turn",
        "card",
        "The ports of {subject} take packets in turn, which changes their order",
        "Bonding Mode of /proc/net/bonding, BONDING_OPTS of ifcfg, mode of netplan; reordering",
        "always; likely where TCP counts 10,000 reorderings",
        "balance-rr sends one packet by each port: those of one stream overtake each other, TCP"
        " repeats what was only late, and its window stays small.",
        "Take 802.3ad or active-backup, as the switch has it; one stream then has one port.",
        f"{_BONDING}, balance-rr; Linux Documentation/networking/ip-sysctl.rst, tcp_reordering",
        _in_turn,
        hides=("reordered",),
    ),
    Rule(
        "bond-uneven",
        "card",
        "One port of {subject} sends nearly all of its packets",
        "Transmit Hash Policy of /proc/net/bonding, tx bytes of ip -s link, sar -n DEV",
        "1.6 times an even share, or 9 of 10 packets",
        "The bond chooses a port by a hash of addresses: with one gateway or few partners all"
        " hashes are alike, and one flow never has more than one port.",
        "Let the hash see ports of TCP and UDP (layer3+4); what comes in is the switch's hash.",
        f"{_BONDING}, xmit_hash_policy",
        _uneven,
    ),
    Rule(
        "bond-port-down",
        "cable",
        "{subject} is down, a port of a bond",
        "/proc/net/bonding",
        "always",
        "The bond carries on with the other ports: at a part of the rate that it was made for.",
        "Look at cable, optic and the port of the switch.",
        f"{_BONDING}, miimon",
        _down,
        outside=True,
    ),
    Rule(
        "bond-apart",
        "cable",
        "The ports of {subject} are no one link for the switch",
        "Aggregator ID of /proc/net/bonding",
        "ports in two aggregators: only those of one carry traffic",
        "LACP has not put the ports together: the switch has no port channel for them, has two, or"
        " the ports differ in speed.",
        "Put both ports into one channel with LACP at the switch.",
        f"{_BONDING}, 802.3ad; IEEE 802.1AX",
        _apart,
        outside=True,
    ),
)
