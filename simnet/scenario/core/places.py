"""Which places in the tree of values a knob changes: hosts, ports, queues, interrupts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.host.release import release
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.specs import Feature
from simnet.scenario.core.subject import HostPart, host_parts, model_section, parts
from simnet.scenario.core.tree import DEFAULT, dotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.tree import Entry, Path, Tree

_OF_PORTS: Final = ("interface", "irq", "rx-queue", "tx-queue", "nic", "none")


def irqs_of(first: int, following: Sequence[int], queues: int) -> tuple[int, ...]:
    """The interrupts of so many queues; those that are not listed follow the last one."""
    listed = (first, *following)
    more = range(listed[-1] + 1, listed[-1] + 1 + queues - len(listed))
    return (*listed, *more)[:queues]


class Places:
    """Looks up hosts, ports, queues and interrupts.

    Args:
        tree: the values.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def hosts(self, *, peers: bool) -> tuple[Path, ...]:
        """Return the places of all peers, or of the system under test."""
        if not peers:
            return (("host",),)
        return tuple(("peers", number) for number in range(len(self._tree.get(("peers",)))))

    def everywhere(
        self, entry: Entry, knob: Knob, named: Mapping[str, str], hosts: tuple[Path, ...]
    ) -> tuple[Path, ...]:
        """Return the places on all hosts that have the knob; it is an error if none has."""
        paths: list[Path] = []
        refused: list[InputError] = []
        for host in hosts:
            try:
                paths += self._places(entry, knob, named, host)
            except InputError as error:
                refused.append(error)
        if refused and len(refused) == len(hosts):
            raise refused[0]
        return tuple(paths)

    def _places(
        self, entry: Entry, knob: Knob, named: Mapping[str, str], host: Path
    ) -> Iterator[Path]:
        """Yield the places in the tree that a knob changes on one host."""
        part = next((one for one in parts() if one.place == knob.scope), None)
        if (part or knob.own) and host != ("host",):
            raise entry.error("only for the system under test, not for its peers")
        if knob.scope == "workload":
            yield (knob.scope, knob.target)
            return
        if part:
            if part.place not in self._tree.values:
                raise entry.error(part.absent or f"the scenario has no {part.place}")
            yield (part.place, knob.target)
            return
        top, *inner = knob.scope.split(".")
        inside = next((one for one in host_parts() if one.place == top), None)
        if not inside and top not in _OF_PORTS:
            return
        self._check_kernel(entry, knob, host)
        if inside and inside.item:
            yield (*host, top, self._chosen(entry, inside, named, host), *inner, knob.target)
            return
        if inside and top not in self._tree.get(host):
            name = self._tree.get((*host, "name"))
            raise entry.error(f"{name} {inside.absent or f'has no {top}'}")
        if inside:
            yield (*host, knob.scope, knob.target)
            return
        if knob.scope == "none" and not named and not knob.drivers:
            return
        for number in self._chosen_ports(entry, knob, named, host):
            yield from self._of_port(entry, knob, named, (*host, "ports", number))

    def unknown(self, knob: Knob, named: Mapping[str, str], hosts: Iterable[Path]) -> str:
        """Return why nobody knows what a knob does to the port that it names; empty: it is known.

        Args:
            knob: any.
            named: what its name says of port, interrupt and queue.
            hosts: which may have the port.
        """
        ports = [port for host in hosts for port in self._tree.get((*host, "ports"))]
        of_it = (_unknown(knob, one["nic"]) for one in ports if one["name"] == named.get("port"))
        return next((why for why in of_it if why), "")

    def _chosen(self, entry: Entry, part: HostPart, named: Mapping[str, str], host: Path) -> int:
        names, name = self.items((host,))[part.item], named[part.item]
        if name not in names:
            machine = self._tree.get((*host, "name"))
            legal = f"expected one of {', '.join(names)}" if names else "it has none"
            raise entry.error(f"{machine} has no {part.item} {name}: {legal}")
        return names.index(name)

    def items(self, hosts: tuple[Path, ...]) -> dict[str, list[str]]:
        """Return the names of what hosts have several of, by what stands for them in knobs."""
        return {
            part.item: [
                one["name"] for host in hosts for one in self._tree.get((*host, part.place))
            ]
            for part in host_parts()
            if part.item
        }

    def _check_kernel(self, entry: Entry, knob: Knob, host: Path) -> None:
        """Refuse a knob that the host's kernel does not have."""
        kernel = self._tree.get((*host, "kernel"))
        version, system = kernel["version"], kernel["system"]
        if system != knob.system:
            names = {"linux": "Linux", "aix": "AIX"}
            machine = self._tree.get((*host, "name"))
            message = f"only in {names[knob.system]}; {machine} runs {names[system]} {version}"
            raise entry.error(message)
        if release(version) < release(knob.since):
            raise entry.error(f"not in Linux {version}: it came with Linux {knob.since}")
        if knob.feature and not kernel[knob.feature]:
            raise entry.error(self._missing(knob.feature, (*host, "kernel")))

    def _missing(self, feature: str, kernel: Path) -> str:
        """Say that a kernel has no such thing, or that its model does not say so."""
        name, version = feature.upper(), self._tree.get((*kernel, "version"))
        spec = spec_of(model_section("kernel"), feature)
        if self._tree.provenance[dotted((*kernel, feature))].source != DEFAULT:
            return f"not in this kernel, Linux {version}: it has no {name}"
        since = f"; Linux has it since {spec.since}" if isinstance(spec, Feature) else ""
        message = f"the model of this kernel, Linux {version}, does not say whether it has {name}"
        return f"{message}: kernel.{feature}=on does{since}"

    def _of_port(
        self, entry: Entry, knob: Knob, named: Mapping[str, str], port: Path
    ) -> Iterator[Path]:
        if knob.scope in {"rx-queue", "tx-queue"}:
            for queue in self._chosen_queues(entry, knob, named, port):
                yield (*port, knob.target, queue)
        elif knob.scope == "irq" and self.queues(port) > 1:
            yield (*port, "queue_affinity", self.irqs(port).index(int(named["irq"])))
        elif knob.scope == "nic":
            for target in (knob.target, *knob.also):
                yield (*port, "nic", target)
        elif knob.scope != "none":
            yield (*port, knob.target)

    def _chosen_ports(
        self, entry: Entry, knob: Knob, named: Mapping[str, str], host: Path
    ) -> list[int]:
        ports = self._tree.get((*host, "ports"))
        machine = self._tree.get((*host, "name"))
        chosen = [
            number
            for number, port in enumerate(ports)
            if named.get("port", port["name"]) == port["name"]
            and int(named.get("irq", port["irq"])) in self.irqs((*host, "ports", number))
        ]
        if not ports:
            raise entry.error(f"{machine} has no ports here")
        if not chosen:
            what = f"port {named['port']}" if "port" in named else f"interrupt {named['irq']}"
            irqs = [irq for n in range(len(ports)) for irq in self.irqs((*host, "ports", n))]
            legal = ", ".join(port["name"] for port in ports if "port" in named) or ranges(irqs)
            raise entry.error(f"{machine} has no {what}: expected one of {legal}")
        fitting = [n for n in chosen if knob.fits(ports[n]["nic"]["driver"], ports[n]["nic"])]
        if not fitting and not _unknown(knob, ports[chosen[0]]["nic"]):
            driver = ports[chosen[0]]["nic"]["driver"]
            sections: Mapping[str, Any] = model_section("nic").variants()
            having = [name for name, one in sections.items() if knob.fits(name, one.model_fields)]
            raise entry.error(lacking(driver, having, sections[driver].without(knob.name)))
        return fitting

    def queues(self, port: Path, way: str = "rx") -> int:
        """Return how many receive or transmit queues a port has."""
        return int(self._tree.get((*port, "nic")).get(f"{way}_queues", 1))

    def irqs(self, port: Path) -> tuple[int, ...]:
        """Return a port's interrupts: one a receive queue."""
        listed = self._tree.get((*port, "irq")), self._tree.get((*port, "next_irqs"))
        return irqs_of(*listed, self.queues(port))

    def _chosen_queues(
        self, entry: Entry, knob: Knob, named: Mapping[str, str], port: Path
    ) -> range:
        way = knob.scope.removesuffix("-queue")
        queues = self.queues(port, way)
        if named["queue"] == "*":
            return range(queues)
        chosen = int(named["queue"])
        if chosen >= queues:
            legal = f"{way}-0" if queues == 1 else f"{way}-0 to {way}-{queues - 1}"
            raise entry.error(f"{named['port']} has no queue {way}-{chosen}: it has {legal}")
        return range(chosen, chosen + 1)

    def online(self, host: Path) -> tuple[int, ...]:
        """Return the logical CPUs of a host that run."""
        listed = self._tree.get((*host, "machine"))["node_cpus"]
        if listed:
            return tuple(sorted(chain.from_iterable(listed)))
        return tuple(range(self.cpu_count(host)))

    def cpu_count(self, host: Path) -> int:
        """Return how many numbers the logical CPUs of a host have."""
        for part in host_parts():
            if part.cpus and part.place in self._tree.get(host):
                return int(getattr(part.section(**self._tree.get((*host, part.place))), part.cpus))
        machine = self._tree.get((*host, "machine"))
        if machine["node_cpus"]:
            return 1 + int(max(chain.from_iterable(machine["node_cpus"])))
        cpu = self._tree.get((*host, "cpu"))
        sockets = machine["nodes"] * machine["sockets_per_node"]
        return int(sockets * cpu["cores_per_socket"] * cpu["threads_per_core"])

    def check_cpus(self, entry: Entry, cpus: Any, host: Path) -> None:
        """Refuse CPUs that a machine does not have."""
        if not cpus:
            return
        cpu_count = self.cpu_count(host)
        if cpus[-1] >= cpu_count:
            name = self._tree.get((*host, "name"))
            raise entry.error(
                f"CPU {cpus[-1]} is beyond the machine: {name} has CPUs 0 to {cpu_count - 1}"
            )
        if not set(cpus).intersection(self.online(host)):
            raise entry.error(f"no CPU of {ranges(list(cpus))} is on line")


def lacking(driver: str, having: Iterable[str], why: str = "") -> str:
    """Return that a port's driver has no such knob, perhaps why, and which drivers have it."""
    reason = f": {why}" if why else ""
    return f"the driver {driver} has no such knob{reason}; it belongs to {', '.join(having)}"


def _unknown(knob: Knob, nic: Mapping[str, Any]) -> str:
    """Return why nobody knows what a knob does to a NIC that has not got it."""
    driver: Any = model_section("nic").variants()[nic["driver"]]
    return "" if knob.fits(nic["driver"], nic) else driver.unknown(knob.name, nic)


def ranges(numbers: list[int]) -> str:
    """Return ascending numbers, neighbours joined, as in ``80-87, 90``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, dict.fromkeys((run[0], run[-1])))) for run in runs)
