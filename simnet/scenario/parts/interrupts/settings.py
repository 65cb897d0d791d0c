"""Settings of interrupts and queues: how many there are, and which CPUs serve them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.core.entries import is_peer, parsed
from simnet.scenario.core.knob import CpuMask
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.places import Places, ranges
from simnet.scenario.core.tree import Entry
from simnet.scenario.parts.host.schema import Cpu, Kernel, Machine
from simnet.scenario.parts.interrupts.build_apic import apic_mode_of

if TYPE_CHECKING:
    from simnet.scenario.core.files import IrqbalanceTable, OtherDevices
    from simnet.scenario.core.toml import Document
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["IRQ_MAP", "OF_RECEIVE_QUEUES", "Interrupts"]

IRQ_MAP: Final = "irqbalance.map"
_DAEMON: Final = "irqbalance.daemon"
# what can be set of a port's receive queues, beside the masks of their interrupts
OF_RECEIVE_QUEUES: Final[dict[str, Any]] = {
    "napi_defer_hard_irqs": None,
    "gro_flush_timeout_ps": None,
    "irq_suspend_timeout_ps": None,
    "napi_cpus": (),
    "rps_cpus": (),
    "rps_flow_cnt": 0,
}
# likewise of its transmit queues
_OF_TRANSMIT_QUEUES: Final[dict[str, Any]] = {
    "xps_cpus": (),
    "bql_limit_min_bytes": 0,
    "bql_limit_max_bytes": 0,
}
_NO_MAP: Final = ("daemon", "none")


class Interrupts:
    """Interrupts and queues of all ports.

    Args:
        tree: the values.
        remarks: one line each, for people.
        irqbalance: of the scenario.
        document: its file.
    """

    def __init__(
        self, tree: Tree, remarks: list[str], irqbalance: IrqbalanceTable, document: Document
    ) -> None:
        self.tree = tree
        self.remarks = remarks
        self._places = Places(tree)
        self._irqbalance = irqbalance
        self._document = document
        self._moved: list[str] = []  # interrupts that were placed by hand and are still there
        self._map = irqbalance.map
        self._map_entry = Entry(
            IRQ_MAP, irqbalance.map, document.file, document.line(("irqbalance", "map"))
        )

    def choose(self, given: list[Entry]) -> None:
        """Take the map, or the simulated daemon, that the last of the settings says."""
        if any(entry.name == _DAEMON for entry in given):
            self._map = "daemon"  # who chooses one wants it simulated
        for entry in given:
            if entry.name == IRQ_MAP:
                self._map, self._map_entry = str(entry.raw), entry

    def size_queues(self) -> None:
        """Give each queue of a port that has several what can be set of it."""
        for host in (*self._places.hosts(peers=False), *self._places.hosts(peers=True)):
            for number in range(len(self.tree.get((*host, "ports")))):
                port: Path = (*host, "ports", number)
                receiving, sending = (self._places.queues(port, way) for way in ("rx", "tx"))
                several = receiving > 1
                self.tree.put_plain((*port, "queue_affinity"), [()] * (receiving * several))
                for setting, value in OF_RECEIVE_QUEUES.items():
                    self.tree.put_plain((*port, setting), [value] * receiving)
                for setting, value in _OF_TRANSMIT_QUEUES.items():
                    self.tree.put_plain((*port, setting), [value] * sending)

    def set_masks(self) -> None:
        """Give every interrupt the mask that the chosen map says, or the kernel's default."""
        self.tree.put_plain(("irqbalance",), "daemon" if self._map == "daemon" else "settled")
        for host in (*self._places.hosts(peers=False), *self._places.hosts(peers=True)):
            everyone = self._places.online(host)
            for number in range(len(self.tree.get((*host, "ports")))):
                parameter = Parameter(
                    value=everyone,
                    unit="",
                    source="kernel default: every CPU",
                    state="datasheet",
                    text=CpuMask("").text(everyone),
                )
                port: Path = (*host, "ports", number)
                self.tree.put((*port, "smp_affinity"), parameter)
                for queue in range(len(self.tree.get((*port, "queue_affinity")))):
                    self.tree.put((*port, "queue_affinity", queue), parameter)
        self._use_map()
        if self._map == "daemon" and self._irqbalance.other_devices:
            self._occupy(self._irqbalance.other_devices)

    def _occupy(self, others: OtherDevices) -> None:
        """Set the CPUs that serve other devices, which the daemon takes into account."""
        key = ("irqbalance", "other_devices", "smp_affinity")
        entry = Entry(
            ".".join(key),
            others.smp_affinity,
            self._document.file,
            self._document.line(key),
            others.source,
            others.state,
        )
        spec = CpuMask("")
        value = parsed(entry, spec)
        self.check_mask(entry, value, ("host",))
        self.tree.put(("occupied_cpus",), entry.parameter(spec, value))

    def switch_irqbalance(self, *, on: bool) -> None:
        """Stop the daemon, which leaves the interrupts alone, or start it, which moves them."""
        if not on:
            self.tree.put_plain(("irqbalance",), "off")
            return
        self.tree.put_plain(("irqbalance",), "daemon" if self._map == "daemon" else "settled")
        if self._moved and self._map not in _NO_MAP:
            names = ", ".join(self._moved)
            self.remarks.append(f"{names}: overwritten by irqbalance, which is started after it")
            self._moved.clear()
            self._use_map()

    def place_by_hand(self, entry: Entry, cpus: tuple[int, ...]) -> None:
        """Note a mask that was written, and which of several CPUs take interrupts."""
        if is_peer(entry):
            return
        self._moved.append(entry.name)
        if len(cpus) > 1:
            host = self.tree.get(("host",))
            mode = apic_mode_of(
                Machine.model_construct(**host["machine"]),
                Cpu.model_construct(**host["cpu"]),
                Kernel.model_construct(**host["kernel"]),
            )
            self.remarks.append(f"{entry.name}: {mode.meaning(cpus)}")

    def _use_map(self) -> None:
        if self._map in _NO_MAP:
            return
        if self._map not in self._irqbalance.maps:
            legal = (*self._irqbalance.maps, *_NO_MAP)
            raise self._map_entry.error(
                f"unknown map {self._map!r}: expected one of {', '.join(legal)}"
            )
        chosen = self._irqbalance.maps[self._map]
        ports = self.tree.get(("host", "ports"))
        known: dict[str, Path] = {}
        for port in range(len(ports)):
            here: Path = ("host", "ports", port)
            irqs = self._places.irqs(here)
            several = len(irqs) > 1
            for queue, number in enumerate(irqs):
                last: Path = ("queue_affinity", queue) if several else ("smp_affinity",)
                known[str(number)] = (*here, *last)
        for irq, mask in chosen.smp_affinity.items():
            key = ("irqbalance", "maps", self._map, "smp_affinity", irq)
            line = self._document.line(key)
            entry = Entry(
                ".".join(key), mask, self._document.file, line, chosen.source, chosen.state
            )
            if irq not in known:
                numbers = ranges([int(number) for number in known])
                raise entry.error(f"no such interrupt: expected one of {numbers}")
            spec = CpuMask("")
            value = parsed(entry, spec)
            self.check_mask(entry, value, ("host",))
            self.tree.put(known[irq], entry.parameter(spec, value))

    def check_mask(self, entry: Entry, cpus: Any, host: Path) -> None:
        """Refuse CPUs that a machine does not have."""
        cpu_count = self._places.cpu_count(host)
        if cpus and cpus[-1] >= cpu_count:
            name = self.tree.get((*host, "name"))
            raise entry.error(
                f"CPU {cpus[-1]} is beyond the machine: {name} has CPUs 0 to {cpu_count - 1}"
            )
        if cpus and not set(cpus).intersection(self._places.online(host)):
            raise entry.error(f"no CPU of {ranges(list(cpus))} is on line")

    def check_queues(self, entry: Entry, count: Any, path: Path) -> None:
        """Refuse more queues than the adapter has; those that go take their settings along."""
        port: Path = path[:-2]
        most = self.tree.get(path)
        if count > most:
            name = self.tree.get((*port, "name"))
            raise entry.error(f"{name} has {most} queues: expected 1 to {most}")
        if path[-1] == "tx_queues":
            for setting in _OF_TRANSMIT_QUEUES:
                del self.tree.get((*port, setting))[count:]
            return
        for setting in OF_RECEIVE_QUEUES:
            del self.tree.get((*port, setting))[count:]
        del self.tree.get((*port, "queue_affinity"))[count if count > 1 else 0 :]

    def warn(self) -> None:
        """Remark on settings that the daemon undoes, or does not have."""
        if self._moved and self.tree.get(("irqbalance",)) != "off":
            self.remarks.append(
                f"{', '.join(self._moved)}: irqbalance is on and would move this again within 10 s;"
                " set irqbalance=off too"
            )
        self._warn_about_options()

    def _warn_about_options(self) -> None:
        balancer = self.tree.get(("balancer",))
        daemon = balancer["daemon"]
        if balancer["powerthresh"] and daemon != "1.0":
            self.remarks.append(f"irqbalance.powerthresh: {daemon} has no such option")
        if balancer["oneshot"] and daemon in {"first-fit", "hand"}:
            self.remarks.append(f"irqbalance.oneshot: {daemon} has no such option")
