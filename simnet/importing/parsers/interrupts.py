"""Which CPU serves the interrupt of each queue.

`/proc/interrupts` has the name that a driver gave the interrupt, and so its queue: `eth0-TxRx-3`,
`mlx5_comp3@pci:0000:3b:00.0`, `virtio0-input.3`. Where it goes is in `effective_affinity`; kernels
before 4.13 have `smp_affinity` only, which allows several CPUs where one may serve all.

Source: Documentation/core-api/irq/irq-affinity.rst of Linux; `request_irq` in the drivers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from simnet.host.cpulist import MOST_CPUS, parse_cpulist, parse_cpumask
from simnet.importing.evidence import Evidence
from simnet.importing.files.files import Files
from simnet.importing.kind import Kind
from simnet.importing.parser import Parser
from simnet.importing.read_nic import ReadNic

_LINE: Final = re.compile(r"^ *(\d{1,5}):((?: +\d{1,20})+) +(\S.*)$", re.MULTILINE)
_CPU: Final = re.compile(r"CPU(\d{1,5})")
_AFFINITIES: Final = ("effective_affinity", "smp_affinity")
# a share of an interrupt's counts from which one CPU has served it
_NEARLY_ALL: Final = 0.9
_QUEUE: Final = re.compile(r"(\d{1,4})$")
_DRIVER: Final = "virtio_net"
# the queue of an interrupt that only has its port's name
_PLAIN: Final = -1
_VIRTIO: Final = re.compile(r"(virtio\d{1,4})-input\.(\d{1,4})")


@dataclass(frozen=True)
class QueueInterrupt:
    """The interrupt of a receive queue."""

    irq: int  # its number
    cpus: frozenset[int]  # that serve it; empty if nothing says it
    source: str  # the file that says it
    served: int = 0  # how many there were


def interrupt_counts(text: str) -> dict[int, tuple[dict[int, int], str]]:
    """Return, of each interrupt of a listing, its count by CPU, and what stands behind.

    Where the head was left out, as grep does, columns are the CPUs from 0 on.
    """
    cpus = [int(cpu) for cpu in _CPU.findall(text.partition("\n")[0]) if int(cpu) < MOST_CPUS]
    rows = [(int(irq), counts.split(), rest) for irq, counts, rest in _LINE.findall(text)]
    if not cpus and len({len(counts) for _, counts, _ in rows}) == 1:
        cpus = list(range(min(len(rows[0][1]), MOST_CPUS)))
    return {
        irq: (dict(zip(cpus, map(int, counts), strict=False)), rest) for irq, counts, rest in rows
    }


def queue_interrupts(evidence: Evidence) -> dict[str, dict[int, QueueInterrupt]]:
    """Return the interrupts of the ports' receive queues, by port and queue."""
    told = evidence.outputs.one("interrupts")
    if told is None:
        return {}
    found: dict[str, dict[int, QueueInterrupt]] = {}
    lines = interrupt_counts(told.text)
    devices = {m[1] for _, rest in lines.values() for m in (_VIRTIO.search(rest),) if m}
    virtio = _virtio_devices(evidence.nics, devices)
    for nic in evidence.nics:
        names = _Names(nic, virtio.get(nic.name, ""))
        queues: dict[int, int] = {}
        plain: list[int] = []
        for irq, (_, rest) in lines.items():
            queue = names.queue_of(rest)
            if queue is not None:
                queues.setdefault(queue, irq)
            if queue == _PLAIN:
                plain.append(irq)
        if len(plain) > 1 and set(queues) == {_PLAIN}:
            # all have the port's name alone: in their order
            queues = dict(enumerate(plain[: nic.number("rx_queues", len(plain))]))
        # beside interrupts of queues, one of the plain name is for changes of the link
        if len(queues) > 1:
            queues.pop(_PLAIN, None)
        # some drivers count from 1
        own = {queue: queues[queue] for queue in sorted(queues)}
        if own and 0 not in own:
            own = dict(enumerate(own.values()))
        if own:
            found[nic.name] = {
                queue: _served(evidence.files, irq, lines[irq][0], told.name)
                for queue, irq in own.items()
            }
    return found


def named_queues(text: str, port: str, cpus: int) -> tuple[int, str]:
    """Return how many queues of a port have interrupts, and why that is only assumed.

    Several interrupts of one name are those of queues, one for each CPU at most, and further ones.
    """
    names = _Names(ReadNic(port), "")
    rows = [names.queue_of(rest) for _, rest in interrupt_counts(text).values()]
    numbered = {queue for queue in rows if queue is not None and queue != _PLAIN}
    if numbered:
        return len(numbered), ""
    plain = rows.count(_PLAIN)
    if plain > 1:
        why = f"{plain} interrupts have the port's name alone: the first, one a CPU, are queues"
        return min(plain, cpus), why
    return plain, "one interrupt: one queue" if plain else ""


def _virtio_devices(nics: Iterable[ReadNic], devices: set[str]) -> dict[str, str]:
    """Return the virtio device of each port that is one.

    Without `/sys` it follows from the order: devices are numbered as their PCI slots are probed.

    Args:
        nics: the ports.
        devices: those that have queues called `input`: network ports.
    """
    known = {nic.name: nic.text("virtio") for nic in nics if nic.text("virtio")}
    slots = sorted((nic.text("slot"), nic.name) for nic in nics if nic.text("driver") == _DRIVER)
    if known or len(slots) != len(devices):
        return known
    numbered = sorted(devices, key=lambda device: int(device.removeprefix("virtio")))
    return {name: device for (_, name), device in zip(slots, numbered, strict=True)}


class _Names:
    """What drivers call the interrupts of a port's queues.

    Args:
        nic: the port.
        device: its name among virtio devices; empty if it is none.
    """

    def __init__(self, nic: ReadNic, device: str) -> None:
        self._device = device
        self._name = nic.name
        name, slot = re.escape(nic.name), re.escape(nic.text("slot", "none"))
        self._own = re.compile(
            rf"(?<![^\s,])(?P<prefix>[A-Za-z]\w*-)?{name}"
            r"(?:[-:@](?P<rest>[^\s,]+)| \(queue (?P<queue>\d{1,4})\))?(?![^\s,])"
        )
        self._slot = re.compile(rf"(?<![^\s,])(?P<rest>[^\s,]+)@(?:pci:)?{slot}(?![^\s,])")

    def queue_of(self, rest: str) -> int | None:
        """Return the receive queue that an interrupt serves, or `_PLAIN`; None for any other."""
        virtio = _VIRTIO.search(rest)
        if virtio:
            return int(virtio[2]) if virtio[1] == self._device else None
        matched = self._own.search(rest) or self._slot.search(rest)
        if matched is None:
            return None
        found = matched.groupdict()
        if found.get("queue"):
            return int(found["queue"])
        role = (found["rest"] or "").lower()
        if not role:
            return _PLAIN
        queue = _QUEUE.search(role)
        if queue is None or "async" in role or ("tx" in role and "rx" not in role):
            return None
        return int(queue[1])


def _served(files: Files, irq: int, counts: dict[int, int], source: str) -> QueueInterrupt:
    cpus: frozenset[int] = frozenset()
    place = ""
    for affinity in _AFFINITIES:
        place = f"proc/irq/{irq}/{affinity}"
        listed, mask = files.text(f"{place}_list"), files.text(place)
        if listed or mask:
            place += "_list" if listed else ""
            parsed = parse_cpulist(listed) if listed else parse_cpumask(mask or "")
            cpus = parsed or frozenset()
        if cpus:
            break
    total = sum(counts.values())
    most = max(counts, key=lambda cpu: counts[cpu], default=0)
    if len(cpus) != 1 and total and counts[most] > _NEARLY_ALL * total:
        return QueueInterrupt(irq, frozenset((most,)), source, total)
    return QueueInterrupt(irq, cpus, place if cpus else "", total)


PARSER: Final = Parser(
    kinds=(
        Kind(
            "interrupts",
            r"\s+CPU\d+\s",
            line=r"[ \t]+CPU\d+(?:[ \t]+CPU\d+)*[ \t]*$",
            files=("proc/interrupts",),
        ),
    ),
    trees=tuple(f"proc/irq/*/{name}{form}" for name in _AFFINITIES for form in ("", "_list")),
)
