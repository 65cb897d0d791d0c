"""The peer: the machine at the other end, with the host's hardware and without its faults.

Its kernel and its drivers have their defaults: what the host has set is not the peer's. Where a
port of the host has one queue the peer's has more, so that the peer is not what the host waits for.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import tomlkit

from simnet.importing.lookup import nearest_nic
from simnet.importing.read_nic import ReadNic
from simnet.importing.writing.lines import PortLines
from simnet.importing.writing.models import Draft
from simnet.importing.writing.ranked import Note, Rank
from simnet.importing.writing.tuning import LIKE
from simnet.printable import few
from simnet.scenario.parts.nic.schema import Nic

_SERVER: Final = "server.toml"
_PEER_SERVER: Final = "peer.toml"
_MOST: Final = 8
_HAS_QUEUES: Final = (
    "{}: the peer's port is assumed to have a queue for each CPU of its node, at most"
    f" {_MOST}, so that the peer is not what the host waits for"
)
_QUEUES: Final = ("rx_queues", "tx_queues")
_RINGS: Final = ("rx_buffers_posted", "tx_ring")
_DEFAULT: Final = "assumed of the peer: the driver's default"


def healthy(
    drafts: dict[str, Draft],
    nics: Sequence[ReadNic],
    own: Mapping[str, PortLines],
    lines: Mapping[str, PortLines],
    near: Mapping[str, frozenset[int]],
) -> tuple[str, Mapping[str, PortLines], list[Note]]:
    """Return the peer's server, the interrupts of its ports, and what is said of it.

    Args:
        drafts: the models, by file; those of a peer that is not quite like the host are added.
        nics: the host's ports.
        own: their interrupts, with the queues in use.
        lines: the same with all queues that each card can have.
        near: the CPUs of the node of each port.
    """
    one_queue, rings = _of_one_queue(nics, own), _with_set_rings(nics, drafts)
    if not one_queue and not rings:
        return _SERVER, lines, []
    found = _with_peer(drafts, one_queue, rings, lines, near)
    said = [Note(_HAS_QUEUES.format(few(one_queue)), Rank.PEER)] if one_queue else []
    return _PEER_SERVER, found, said


def _of_one_queue(nics: Iterable[ReadNic], lines: Mapping[str, PortLines]) -> tuple[str, ...]:
    """Return the names of the ports with one queue: cards have no more, or nobody knows."""
    return tuple(
        nic.name
        for nic in nics
        if lines[nic.name].queues == 1 and _may_have_one(nic.text("driver"))
    )


def _may_have_one(driver: str) -> bool:
    section = Nic.variants().get(driver)
    return not nearest_nic(driver)[1] or (section is not None and section.one_queue)


def _with_set_rings(nics: Iterable[ReadNic], drafts: Mapping[str, Draft]) -> tuple[str, ...]:
    """Return the names of the ports whose rings were read: the host may have set them."""
    return tuple(
        nic.name
        for nic in nics
        if any(drafts[f"nic-{nic.name}.toml"].default(key) is not None for key in _RINGS)
    )


def _with_peer(
    drafts: dict[str, Draft],
    one_queue: Sequence[str],
    rings: Sequence[str],
    lines: Mapping[str, PortLines],
    near: Mapping[str, frozenset[int]],
) -> dict[str, PortLines]:
    """Add a peer that is like the host, with more queues and with its drivers' rings.

    Args:
        drafts: the models, by file.
        one_queue: the ports that have one queue.
        rings: the ports whose rings were read.
        lines: the interrupts of the host's ports.
        near: the CPUs of the node of each port.

    Returns:
        The interrupts of the peer's ports.
    """
    found = dict(lines)
    taken = {number for own in lines.values() for number in own.numbers}
    free = (one for one in itertools.count(max(taken) + 1) if one not in taken)
    peer = _likened(drafts[_SERVER], "the peer, like the host but for its ports")
    tables = tomlkit.aot()
    for port in drafts[_SERVER].document["ports"]:
        table = tomlkit.table()
        table.update(port)
        name = str(port["name"])
        nic = None
        if name in one_queue or name in rings:
            like = drafts[f"nic-{name}.toml"]
            like = _with_queues(like) if name in one_queue else like
            nic = _likened(like, f"{name} of the peer")
            _default_rings(nic, drafts[f"nic-{name}.toml"])
            drafts[f"peer-nic-{name}.toml"] = nic
            table["nic"] = f"peer-nic-{name}.toml"
        if nic is not None and name in one_queue:
            count = min(len(near[name]), _MOST)
            for key in _QUEUES:
                nic.assume(key, count, "assumed of the peer: one for each CPU of the port's node")
            numbers = tuple(itertools.islice(free, count))
            found[name] = PortLines(numbers, count)
            table.update({"irq": numbers[0], "next_irqs": list(numbers[1:])})
        tables.append(table)
    peer.document["ports"] = tables
    drafts[_PEER_SERVER] = peer
    return found


def _with_queues(draft: Draft) -> Draft:
    """Return a port's model if it can have more queues, else a neutral card as fast."""
    if _QUEUES[0] in draft.document:
        return draft
    made = Draft("nic", "", nearest_nic("")[0])
    for key in ("link_rate", "mtu"):
        made.document[key] = draft.document[key]
    return made


def _default_rings(nic: Draft, own: Draft) -> None:
    """Give the peer's port the rings of its driver, as far as the card's are as large."""
    most = own.document.get("rx_ring")
    for key in _RINGS:
        value = own.default(key)
        if value is None:
            continue
        if key == _RINGS[0] and most is not None:
            value = min(value, most["value"])
        nic.assume(key, value, _DEFAULT)


def _likened(draft: Draft, description: str) -> Draft:
    """Return the same of the peer, where nothing is read; ports are left out."""
    made = Draft(draft.document["kind"], description)
    for key, value in draft.document.items():
        if isinstance(value, dict) and value.get("state") == "measured":
            made.assume(key, value["value"], LIKE)
        elif key not in {"kind", "description", "ports"}:
            made.document[key] = value
    return made
