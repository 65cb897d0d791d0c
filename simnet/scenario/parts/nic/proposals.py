"""What is tried first of a port itself: its queues, its ring, the size of its packets.

Source: ethtool(8), ip-link(8); ``Documentation/networking/scaling.txt`` of Linux.
"""

from collections.abc import Iterator
from typing import Final

from simnet.host.release import release
from simnet.scenario.core.effective import Effective, Port
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.subject import Proposal
from simnet.scenario.parts.nic.schema import Rings

_JUMBO_BYTES: Final = 9000
_MTU: Final = "ifconfig {port} mtu"
_GRO: Final = "ethtool -K {port} gro"
_RING: Final = "ethtool -G {port} rx"
_COMBINED: Final = "ethtool -L {port} combined"
_EACH_WAY: Final = ("ethtool -L {port} rx", "ethtool -L {port} tx")


def proposals(effective: Effective) -> Iterator[Proposal]:
    """Fewer queues, the largest ring, no GRO, large packets at both ends."""
    ports = effective.host.ports
    several = [port for port in ports if len(port.queue_affinity) > 1]
    queues = [knob for port in several for knob in _of_queues(effective, port)]
    if queues:
        for name, number, doc in (
            ("one-queue", "1", "one queue a port"),
            ("queues", "{number}", "as many queues a port"),
        ):
            settings = tuple((knob, number) for knob in queues)
            yield Proposal(name, doc, settings, numbered=number != "1", searched=False)
    rings = tuple(
        (_of(_RING, port), str(ring.rx_ring))
        for port in ports
        if isinstance(ring := port.nic, Rings) and ring.rx_buffers_posted < ring.rx_ring
    )
    if rings:
        doc = "as many receive buffers as a port's ring has"
        yield Proposal("ring-max", doc, rings, searched=False)
    merging = tuple((_of(_GRO, port), "off") for port in ports if getattr(port.nic, "gro", False))
    if merging:
        yield Proposal("no-gro", "no packets are merged on receipt", merging, searched=False)
    small = [port for port in ports if port.nic.mtu_bytes < _JUMBO_BYTES]
    if small:
        own = tuple((_of(_MTU, port), str(_JUMBO_BYTES)) for port in small)
        far = {port.name: port for peer in effective.peers for port in peer.ports}
        theirs = tuple(
            (f"peer:{_of(_MTU, port)}", str(_JUMBO_BYTES))
            for port in far.values()
            if port.nic.mtu_bytes < _JUMBO_BYTES
        )
        doc = "packets of 9000 bytes at both ends; each switch between has to take them"
        yield Proposal("jumbo", doc, (*own, *theirs), searched=False)


def _of(knob: str, port: Port) -> str:
    return knob.format(port=port.name)


def _of_queues(effective: Effective, port: Port) -> tuple[str, ...]:
    """The knobs of how many queues a port has, if it has one."""
    kernel, fields = release(effective.host.kernel.version), type(port.nic).model_fields
    there = {
        knob.name
        for knob in KNOBS
        if knob.fits(port.nic.driver, fields) and release(knob.since) <= kernel
    }
    chosen = (_COMBINED,) if _COMBINED in there else _EACH_WAY
    return tuple(_of(knob, port) for knob in chosen if knob in there)
