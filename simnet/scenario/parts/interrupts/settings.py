"""Which CPUs interrupts go to: by hand, by the daemon, or by a map of where it left them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.core.entries import is_peer, parsed
from simnet.scenario.core.knob import CpuMask, Knob, Stage
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.places import ranges
from simnet.scenario.core.subject import Steps
from simnet.scenario.core.tree import Entry
from simnet.scenario.parts.host.schema import Cpu, Kernel, Machine
from simnet.scenario.parts.interrupts.build_apic import apic_mode_of

if TYPE_CHECKING:
    from simnet.scenario.core.settings import Settings
    from simnet.scenario.core.tree import Path
    from simnet.scenario.parts.irqbalance.schema import IrqbalanceTable, IrqMap, OtherDevices

_IRQ_MAP: Final = "irqbalance.map"
_DAEMON: Final = "irqbalance.daemon"
_NO_MAP: Final = ("daemon", "none")
_MASK: Final = CpuMask("")


class Interrupts(Steps):
    """Interrupts of all ports."""

    names = (_IRQ_MAP,)
    scopes = ("irqbalance",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._irqbalance: IrqbalanceTable = settings.form.irqbalance
        document = settings.document
        self._moved: tuple[str, ...] = ()  # interrupts that were placed by hand and are still there
        self._map = self._irqbalance.map
        line = document.line(("irqbalance", "map"))
        self._map_entry = Entry(_IRQ_MAP, self._map, document.file, line)

    @property
    def _running(self) -> bool:
        return bool(self.settings.tree.get(("irqbalance",)) != "off")

    def begin(self, given: list[Entry]) -> None:
        """Take the map, or the simulated daemon, that the last of the settings says."""
        if any(entry.name == _DAEMON for entry in given):
            self._map = "daemon"  # who chooses one wants it simulated
        for entry in given:
            if entry.name == _IRQ_MAP:
                self._map, self._map_entry = str(entry.raw), entry

    def after(self, stage: Stage) -> None:
        """Give every interrupt the mask that the chosen map says, or the kernel's default."""
        if stage is not Stage.CPUS:
            return
        self._start()
        tree, places = self.settings.tree, self.settings.places
        for host in (*places.hosts(peers=False), *places.hosts(peers=True)):
            everyone = places.online(host)
            parameter = Parameter(
                value=everyone,
                unit="",
                source="kernel default: every CPU",
                state="datasheet",
                text=_MASK.text(everyone),
            )
            for number in range(len(tree.get((*host, "ports")))):
                port: Path = (*host, "ports", number)
                tree.put((*port, "smp_affinity"), parameter)
                for queue in range(len(tree.get((*port, "queue_affinity")))):
                    tree.put((*port, "queue_affinity", queue), parameter)
        self._use_map()
        others = self._irqbalance.other_devices
        if self._map == "daemon" and others:
            key = ("irqbalance", "other_devices", "smp_affinity")
            self._place(("occupied_cpus",), self._written(key, others.smp_affinity, others))

    def _start(self) -> None:
        """Have the daemon run, or settled where the map says it left the interrupts."""
        running = "daemon" if self._map == "daemon" else "settled"
        self.settings.tree.put_plain(("irqbalance",), running)

    def _written(self, key: tuple[str, ...], mask: str, by: IrqMap | OtherDevices) -> Entry:
        """A mask that the scenario's file has."""
        document = self.settings.document
        name, line = ".".join(key), document.line(key)
        return Entry(name, mask, document.file, line, by.source, by.state)

    def _place(self, path: Path, entry: Entry) -> None:
        """Put a mask of CPUs that there are."""
        value = parsed(entry, _MASK)
        self.settings.places.check_cpus(entry, value, ("host",))
        self.settings.tree.put(path, entry.parameter(_MASK, value))

    def turn(self, entry: Entry, knob: Knob, value: Any) -> bool:  # noqa: ARG002 - one switch
        """Stop the daemon, which leaves the interrupts alone, or start it, which moves them."""
        before = self._running
        if not value:
            self.settings.tree.put_plain(("irqbalance",), "off")
            return before
        self._start()
        if self._moved and self._map not in _NO_MAP:
            names = ", ".join(self._moved)
            self.settings.remarks.append(
                f"{names}: overwritten by irqbalance, which is started after it"
            )
            self._moved = ()
            self._use_map()
        return before

    def turned(self, entry: Entry, knob: Knob, value: Any) -> None:
        """Note a mask that was written, and which of several CPUs take interrupts."""
        if knob.scope != "irq" or is_peer(entry):
            return
        self._moved += (entry.name,)
        if len(value) > 1:
            host = self.settings.tree.get(("host",))
            mode = apic_mode_of(
                Machine.model_construct(**host["machine"]),
                Cpu.model_construct(**host["cpu"]),
                Kernel.model_construct(**host["kernel"]),
            )
            self.settings.remarks.append(f"{entry.name}: {mode.meaning(value)}")

    def _use_map(self) -> None:
        if self._map in _NO_MAP:
            return
        if self._map not in self._irqbalance.maps:
            legal = (*self._irqbalance.maps, *_NO_MAP)
            raise self._map_entry.error(
                f"unknown map {self._map!r}: expected one of {', '.join(legal)}"
            )
        chosen = self._irqbalance.maps[self._map]
        known: dict[str, Path] = {}
        for port in range(len(self.settings.tree.get(("host", "ports")))):
            here: Path = ("host", "ports", port)
            irqs = self.settings.places.irqs(here)
            several = len(irqs) > 1
            for queue, number in enumerate(irqs):
                last: Path = ("queue_affinity", queue) if several else ("smp_affinity",)
                known[str(number)] = (*here, *last)
        for irq, mask in chosen.smp_affinity.items():
            key = ("irqbalance", "maps", self._map, "smp_affinity", irq)
            entry = self._written(key, mask, chosen)
            if irq not in known:
                numbers = ranges([int(number) for number in known])
                raise entry.error(f"no such interrupt: expected one of {numbers}")
            self._place(known[irq], entry)

    def end(self) -> None:
        """Remark on settings that the daemon undoes, or does not have."""
        if self._moved and self._running:
            self.settings.remarks.append(
                f"{', '.join(self._moved)}: irqbalance is on and would move this again within 10 s;"
                " set irqbalance=off too"
            )
        self._warn_about_options()

    def _warn_about_options(self) -> None:
        balancer = self.settings.tree.get(("balancer",))
        daemon = balancer["daemon"]
        if balancer["powerthresh"] and daemon != "1.0":
            self.settings.remarks.append(f"irqbalance.powerthresh: {daemon} has no such option")
        if balancer["oneshot"] and daemon in {"first-fit", "hand"}:
            self.settings.remarks.append(f"irqbalance.oneshot: {daemon} has no such option")
