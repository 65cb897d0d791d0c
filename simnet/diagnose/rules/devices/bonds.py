"""Bonds: ports that are down, or that the switch does not put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.diagnose.rule import Clear, Hit, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.diagnose.evidence import Evidence
    from simnet.diagnose.fact import Fact
    from simnet.diagnose.rule import Found

__all__ = ["RULES"]

_BONDING: Final = "Linux Documentation/networking/bonding.rst"
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


RULES: Final = (
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
