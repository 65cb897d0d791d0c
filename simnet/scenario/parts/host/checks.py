"""What a machine has to be before interrupts, queues and processes can have a place on it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from simnet.errors import InputError
from simnet.host.release import release
from simnet.scenario.core.knob import Stage
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.subject import Steps, model_section
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.host.schema import Memory
from simnet.time_units import PS_PER_S

# what rules of the fair scheduler were read for
_FAIR: Final = (5, 4)
_LISTED: Final = ("node_cpus", "package_cpus", "core_cpus")
# of each two the first is nearer, and costs no more; what a machine has several of then
_NEARER: Final = (
    ("local_latency_ps", "remote_latency_ps", "nodes"),
    ("same_node_dirty_ps", "remote_dirty_ps", "nodes"),
    ("same_bus_dirty_ps", "same_node_dirty_ps", "buses_per_node"),
)


class Machines(Steps):
    """Checks machines before interrupts, queues and processes get a place on them."""

    def after(self, stage: Stage) -> None:
        """Check the system under test and its peers when the values of models are set."""
        if stage is Stage.VALUES:
            places = self.settings.places
            for place in (*places.hosts(peers=False), *places.hosts(peers=True)):
                _check_machine(self.settings.tree, place, self.settings)


def _check_machine(tree: Tree, place: Path, table: Table) -> None:
    _check_ports(tree, place, table)
    _check_links(tree, place, table)
    _check_cpus(tree, place, table)
    _check_memory(tree, place, table)
    _check_cache(tree, (*place, "cpu"), table)
    _check_scheduler(tree, (*place, "kernel"), table)


def check_timer(tree: Tree, kernel: Path, attribute: str, table: Table) -> None:
    """Refuse a time that a kernel's timers round to 0."""
    given, hz = tree.get((*kernel, attribute)), tree.get((*kernel, "hz"))
    spec, jiffy_ps = value_spec(model_section("kernel"), attribute), PS_PER_S // hz
    if given < jiffy_ps:
        message = f"{spec.text(given)} is less than a jiffy, {spec.text(jiffy_ps)} at HZ {hz}"
        raise table.error((*kernel, attribute), "system", message, (*kernel, "hz"))


def _check_scheduler(tree: Tree, place: Path, table: Table) -> None:
    kernel = tree.get(place)
    if kernel["scheduler"] == "fair" and release(kernel["version"]) < _FAIR:
        message = f"of Linux {kernel['version']} it is not modelled: expected 5.4 or later"
        raise table.error((*place, "scheduler"), "system", message, place)


def _check_ports(tree: Tree, place: Path, table: Table) -> None:
    machine, ports = tree.get((*place, "machine")), tree.get((*place, "ports"))
    nodes: Path = (*place, "machine", "nodes")
    for number, port in enumerate(ports):
        here: Path = (*place, "ports", number)
        if port["node"] >= machine["nodes"]:
            message = f"{port['name']} is at NUMA node {port['node']}: {_last(machine)}"
            raise table.error((*here, "node"), "system", message, nodes)
        if port["name"] in [earlier["name"] for earlier in ports[:number]]:
            raise table.error((*here, "name"), "system", f"{port['name']} is used twice")
        before = [irq for earlier in ports[:number] for irq in _listed(earlier)]
        for field in ("irq", "next_irqs"):
            for irq in _listed(port, field):
                if irq in before:
                    raise table.error((*here, field), "system", f"{irq} is used twice")
                before.append(irq)


def _listed(port: Mapping[str, Any], *fields: str) -> Iterator[int]:
    """The interrupts that a port's table lists, or those of some of its fields."""
    if not fields or "irq" in fields:
        yield port["irq"]
    if not fields or "next_irqs" in fields:
        yield from port["next_irqs"]


def _check_links(tree: Tree, place: Path, table: Table) -> None:
    machine = tree.get((*place, "machine"))

    def error(message: str, field: str, *others: str) -> InputError:
        paths = ((*place, "machine", name) for name in others)
        return table.error((*place, "machine", field), "system", message, *paths)

    for end in sorted({end for link in machine["links"] for end in link}):
        if end >= machine["nodes"]:
            message = f"a link ends at NUMA node {end}: {_last(machine)}"
            raise error(message, "links", "nodes")
    if len(_reached_from_0(machine["links"])) < machine["nodes"]:
        message = f"some of {machine['nodes']} nodes cannot be reached from others"
        raise error(message, "links", "nodes")
    sockets, buses = machine["sockets_per_node"], machine["buses_per_node"]
    if sockets % buses:
        message = f"the sockets of a node must fill its buses: {sockets} sockets, {buses} buses"
        raise error(message, "buses_per_node", "sockets_per_node")


def _check_cpus(tree: Tree, place: Path, table: Table) -> None:
    """Refuse lists of CPUs that do not fit each other."""
    machine = tree.get((*place, "machine"))
    listed = {field: [set(cpus) for cpus in machine[field]] for field in _LISTED}

    def error(message: str, field: str, *others: str) -> InputError:
        paths = ((*place, "machine", name) for name in others)
        return table.error((*place, "machine", field), "system", message, *paths)

    every = [set().union(*sets) for sets in listed.values()]
    if not any(every):
        return
    if any(one != every[0] for one in every):
        raise error("expected the same CPUs in all three lists, or no list", *_LISTED)
    if len(listed["node_cpus"]) != machine["nodes"]:
        message = f"expected a list for each of {machine['nodes']} nodes"
        raise error(message, "node_cpus", "nodes")
    if machine["buses_per_node"] != 1:
        raise error("expected 1 where CPUs are listed", "buses_per_node", "node_cpus")
    for field in ("node_cpus", "package_cpus"):
        for core in listed["core_cpus"]:
            if not any(core <= cpus for cpus in listed[field]):
                message = f"the CPUs of a core are in several lists: {sorted(core)}"
                raise error(message, field, "core_cpus")


def _check_memory(tree: Tree, place: Path, table: Table) -> None:
    path: Path = (*place, "cpu", "memory")
    memory, machine = tree.get(path), tree.get((*place, "machine"))
    for near, far, several in _NEARER:
        if machine[several] > 1 and memory[near] > memory[far]:
            message = f"{_shown(near, memory)} is more than {_shown(far, memory)}"
            message += ": what is farther costs no less"
            raise table.error((*path, near), "system", message, (*path, far))


def _check_cache(tree: Tree, path: Path, table: Table) -> None:
    """Refuse a last-level cache whose part for devices holds no cache line."""
    cpu = tree.get(path)
    line_bytes = cpu["cache_line_bytes"]
    share_bytes = cpu["llc_bytes"] * cpu["ddio_ways"] // cpu["llc_ways"]
    if cpu["llc_bytes"] and share_bytes < line_bytes:
        least_bytes = -(-line_bytes * cpu["llc_ways"] // cpu["ddio_ways"])
        message = f"expected 0 B or at least {least_bytes} B, a cache line in the ways of devices"
        raise table.error((*path, "llc_bytes"), "system", message, (*path, "ddio_ways"))


def _shown(field: str, memory: dict[str, Any]) -> str:
    spec = value_spec(Memory, field)
    return f"{spec.key(field)} ({spec.text(memory[field])})"


def _last(machine: dict[str, Any]) -> str:
    return f"the machine has nodes 0 to {machine['nodes'] - 1}"


def _reached_from_0(links: tuple[tuple[int, int], ...]) -> set[int]:
    """Return the nodes with a way to node 0; networkx would cost its import at every start."""
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        for link in links:
            if reached.intersection(link):
                reached.update(link)
    return reached
