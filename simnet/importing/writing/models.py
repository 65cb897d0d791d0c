"""Model files of a host: what was read is measured, all else is assumed, and says from where."""

import pickle
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Final

import tomlkit

from simnet.errors import InputError
from simnet.files import read_text
from simnet.host.cpulist import cpulist_text
from simnet.importing.host import ReadHost
from simnet.importing.lookup import (
    distribution_of,
    nearest_cpu,
    nearest_kernel,
    nearest_nic,
    release_of,
)
from simnet.importing.parsers.cpus.clocks import IDLE_SHARE
from simnet.importing.read_nic import Read, ReadNic
from simnet.importing.writing.lines import PortLines
from simnet.importing.writing.link_rates import UNKNOWN_LINK_BPS, link_of
from simnet.printable import printable
from simnet.scenario.core.library import MODELS, find_model
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.tree import walk
from simnet.scenario.core.units import UnitError

_LONGEST: Final = 300
_MOST_MEMORY: Final = 1 << 44
_LONGEST_NAME: Final = 100


class Draft:
    """A model in the making, from one of ours or from nothing.

    Args:
        kind: of model.
        description: one line.
        base: the name of our model that it starts from, of which every value is only assumed;
            empty for none.
        wider: give costs half to twice their value.
        same: the base is a model of the same thing, so what its maker publishes holds.

    Attributes:
        document: the file.
        refused: what was read and the model does not take: key, value, source, why.
    """

    def __init__(
        self,
        kind: Any,
        description: str,
        base: str = "",
        *,
        wider: bool = False,
        same: bool = False,
    ) -> None:
        self.refused: list[tuple[str, str, str, str]] = []
        self._before: dict[str, Any] = {}
        if base:
            text = read_text(find_model(kind, base))
            self.document = pickle.loads(_assumed(text, base, wider, same))  # noqa: S301 - made here
        else:
            self.document = tomlkit.document()
        self.document["kind"] = kind
        self.document["description"] = plain(description, _LONGEST_NAME)

    def read(self, key: str, value: Any, source: str, why: str = "") -> None:
        """Set what was read from a file; what the model does not take is only noted.

        Args:
            key: of the model.
            value: as the model writes it.
            source: the file.
            why: it is only assumed; empty if the file says it.

        Raises:
            InputError: the model does not take it, and has no other value.
        """
        spec = self._specs.get(key)
        try:
            if spec is not None:
                spec.parse(value)
        except UnitError as error:
            if key not in self.document:
                raise InputError(str(error), file=source, key=key) from error
            self.refused.append((key, str(value), source, str(error)))
        else:
            if key in self.document:
                self._before[key] = self.document[key]
            state, said = ("assumed", why) if why else ("measured", f"read from {source}")
            self._set(key, value, state, said)

    def refuse(self, key: str, why: str) -> bool:
        """Take back what was read, and note why; False if there was nothing else before."""
        if key not in self._before:
            return False
        read = self.document[key]
        self.document[key] = self._before.pop(key)
        self.refused.append((key, str(read["value"]), str(read["source"]), why))
        return True

    def default(self, key: str) -> Any:
        """Return what the base has where something else was read; None if nothing was read."""
        return self._before[key]["value"] if key in self._before else None

    @cached_property
    def _specs(self) -> dict[str, Spec]:
        """What each value of the model may be."""
        section = MODELS[str(self.document["kind"])]
        if section.by:
            section = section.variants()[str(self.document[section.by])]
        found = ((path, spec) for path, spec in walk(section) if len(path) == 1)
        return {spec.key(str(path[0])): spec for path, spec in found}

    def assume(self, key: str, value: Any, why: str, low: Any = None, high: Any = None) -> None:
        """Set what is not known."""
        self._set(key, value, "assumed", why)
        if low is not None:
            self.document[key]["low"], self.document[key]["high"] = low, high

    def _set(self, key: str, value: Any, state: str, source: str) -> None:
        table = tomlkit.inline_table()
        table.update({"value": value, "state": state, "source": plain(source, _LONGEST)})
        self.document[key] = table

    def text(self) -> str:
        """Return the file."""
        return tomlkit.dumps(self.document)


@lru_cache(maxsize=64)
def _assumed(text: str, base: str, wider: bool, same: bool) -> bytes:  # noqa: FBT001 - a cache's key
    """Return one of our models with every value assumed, as `pickle` has it: copies cost little."""
    # the line that says where the schema is would be wrong in another folder
    document: Any = tomlkit.parse(text.removeprefix(text.partition("kind = ")[0]))
    for key in ("notes", "stands_for"):
        document.pop(key, None)
    for table in (document, *(v for v in document.values() if _is_section(v))):
        for value in table.values():
            if not isinstance(value, dict) or "state" not in value:
                continue
            if not same or value["state"] != "datasheet":
                value["state"] = "assumed"
            value["source"] = plain(f"as in {base}: {value['source']}", _LONGEST)
            number, _, unit = str(value["value"]).partition(" ")
            if wider and unit == "cycles" and number.isdecimal() and int(number):
                value["low"] = f"{int(number) // 2} cycles"
                value["high"] = f"{2 * int(number)} cycles"
    return pickle.dumps(document)


def plain(text: str, most: int) -> str:
    """Return a stranger's text on one line, without control characters, and not too long."""
    return printable(" ".join(text.split()))[:most]


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) and "state" not in value


def _text_of(host: ReadHost, key: str) -> str:
    found = host.facts.get(key)
    return str(found.value) if found is not None else ""


def cpu_draft(host: ReadHost) -> Draft:
    """Return the processor: clock, threads and caches as read, costs of a related one."""
    parts = (_text_of(host, key) for key in ("soc", "cpu_model", "vendor"))
    name = " ".join(filter(None, parts))
    base = nearest_cpu(name)
    said = f"{name or 'a processor of unknown name'}; costs as in {base}"
    draft = Draft("cpu", said, base, wider=True)
    topology = host.topology
    clock = host.facts.get("clock_hz")
    if clock is not None:
        mhz = int(clock.value) // 10**6
        if clock.why:
            draft.assume(
                "clock", f"{mhz} MHz", clock.why, f"{int(IDLE_SHARE * mhz)} MHz", f"{mhz} MHz"
            )
        else:
            draft.read("clock", f"{mhz} MHz", clock.source)
    # that of a related processor says nothing
    draft.document.pop("base_clock", None)
    if (nominal := host.facts.get("base_clock_hz")) is not None:
        draft.read("base_clock", f"{int(nominal.value) // 10**6} MHz", nominal.source)
    threads = max(map(len, topology.cores))
    packages = max(len(topology.packages), 1)
    guessed = topology.guessed
    draft.read("threads_per_core", threads, topology.source, guessed.get("threads", ""))
    if threads > 1 and "low" not in draft.document["smt_slowdown"]:
        # the related processor was measured with one thread a core
        draft.assume("smt_slowdown", *_OF_TWO_THREADS)
    cores = -(-len(topology.cores) // packages)
    draft.read("cores_per_socket", cores, topology.source, guessed.get("cores_per_socket", ""))
    vendor = _text_of(host, "vendor")
    if vendor in {"GenuineIntel", "AuthenticAMD"}:
        maker = "amd" if vendor == "AuthenticAMD" else "intel"
        draft.read("vendor", maker, host.facts["vendor"].source)
    lines = [cache.line_bytes for cache in topology.caches if cache.line_bytes]
    if lines:
        draft.read("cache_line", f"{max(lines)} B", topology.source)
    private = [
        cache
        for cache in topology.caches
        if cache.size_bytes and any(cache.cpus <= core for core in topology.cores)
    ]
    if private:
        largest = max(private, key=lambda cache: cache.level)
        draft.read("cache", f"{largest.size_bytes >> 10} KiB", topology.source)
    return draft


_THREADS: Final = (
    "two threads together do 1.1 to 1.6 times the work of one: Ruan, Pai, Nahum, Tracey, SIGMETRICS"
    " 2005 (network servers on Xeons: slight gains); IBM, Linux 2.4.19 on a Xeon: up to 1.3, once"
    " 1.5; x460 Listing 1: 1.6"
)
_OF_TWO_THREADS: Final = ("1.5", _THREADS, "1.25", "1.8")


def kernel_draft(host: ReadHost) -> Draft:
    """Return the kernel: version as read, constants of the nearest version."""
    version = _text_of(host, "kernel")
    base = nearest_kernel(version or "6.18", _text_of(host, "distribution"))
    release = release_of(version)
    draft = Draft(
        "kernel",
        f"Linux {version or 'of unknown version'}; constants as in {base}",
        base,
        same=release[:2] == release_of(base.removeprefix("linux-"))[:2],
    )
    if release:
        draft.document["version"] = ".".join(map(str, release))
        named = distribution_of(version, _text_of(host, "distribution"))
        draft.document["distribution"] = named
        if _RED_HAT.search(version):
            draft.assume(
                "hz", _RED_HAT_HZ, "CONFIG_HZ_1000 of Red Hat's and Fedora's kernels on x86"
            )
        if release >= _TWO_JIFFIES:
            usecs = 2 * 10**6 // int(draft.document["hz"]["value"])
            draft.assume("netdev_budget_usecs", usecs, "net/core/dev.c: two jiffies")
    if any(one.name.endswith("/threaded") and one.raw == "1" for one in host.told):
        draft.assume(
            "scheduler", "fair", "threads of NAPI share CPUs with others, as the kernel does"
        )
    return draft


def nic_draft(nic: ReadNic, most_queues: int = 0, *, guest: bool = False) -> Draft:
    """Return a port: link, rings and queues as read, the rest of its driver's model.

    Args:
        nic: as it was read.
        most_queues: how many queues it is to have, where more than are in use can be set.
        guest: it is the device of a guest.
    """
    driver = nic.text("driver")
    base, same = nearest_nic(driver, guest=guest, called=nic.text("called"))
    known = "" if same else "; the driver has no rules of its own here"
    said = f"{nic.name}, {driver or 'a driver of unknown name'}{known}"
    draft = Draft("nic", said, base, same=same)
    if not same and driver:
        draft.document["stands_in_for"] = plain(driver, _LONGEST_NAME)
    for key, name, unit in _OF_NIC:
        found = nic.facts.get(name)
        if found is None or key not in draft.document or (guest and key == "rx_ring"):
            continue
        number = int(found.value)
        if key == "rx_ring":
            # what can be set is the hardware's; what is set is how many buffers are posted
            largest = nic.facts.get("most_rx_ring", found)
            found = largest if int(largest.value) >= number else found
            number = int(found.value)
        if key.endswith("_queues"):
            number, found = _queues(nic, found, most_queues)
        draft.read(key, f"{number} {unit}" if unit else number, found.source, found.why)
    queues = nic.facts.get("rx_queues")
    if queues is not None and "tx_queues" not in nic.facts and "tx_queues" in draft.document:
        count = most_queues or int(queues.value)
        if draft.document["tx_queues"]["value"] != count:
            draft.read("tx_queues", count, queues.source, "not said: as many as receive queues")
    ring = nic.facts.get("rx_ring")
    if ring is not None and "rx_buffers_posted" in draft.document:
        draft.read("rx_buffers_posted", ring.value, ring.source, ring.why)
    if guest:
        # there is no wire
        return draft
    rate, why = link_of(nic)
    if not why:
        draft.read("link_rate", f"{rate // 10**6} Mbit/s", nic.facts["link_bps"].source)
    elif rate == UNKNOWN_LINK_BPS and why == _NOT_SAID:
        draft.assume("link_rate", f"{rate // 10**9} Gbit/s", why, "1 Gbit/s", "100 Gbit/s")
    else:
        # cards of one driver may have links of several speeds
        known = draft.document["link_rate"] if f"as in {base}" in why else {}
        ends = (known.get("low"), known.get("high"))
        draft.assume("link_rate", f"{rate // 10**6} Mbit/s", why, *ends)
    return draft


# on other processors than those of x86 they have another
_RED_HAT: Final = re.compile(r"\.(?:el|fc)\d(?!.*(?:aarch64|ppc64|s390|riscv64|ia64))")
# before, 2,000 us whatever a jiffy takes
_TWO_JIFFIES: Final = (5, 7)
_RED_HAT_HZ: Final = 1000
_NOT_SAID: Final = "no file says it"
_OF_NIC: Final = (
    ("mtu", "mtu_bytes", "B"),
    ("rx_ring", "rx_ring", ""),
    ("tx_ring", "tx_ring", ""),
    ("rx_queues", "rx_queues", ""),
    ("tx_queues", "tx_queues", ""),
)


def _queues(nic: ReadNic, found: Read, most: int) -> tuple[int, Read]:
    """Return how many queues the model is to have, and what says so."""
    number = int(found.value)
    if most > number:
        return most, nic.facts.get("most_queues", found)
    if 0 < most < number:
        why = f"{found.source} says {number}: a port of the model has {most} at most"
        return most, replace(found, why=why)
    return number, found


def server_draft(host: ReadHost, ports: Iterable[tuple[str, int, PortLines]]) -> Draft:
    """Return the machine.

    Args:
        host: as it was read.
        ports: name, place of the node in the model, and interrupts of each.
    """
    topology = host.topology
    nodes, packages = placed(host)
    draft = Draft("server", _text_of(host, "distribution") or "an imported host")
    draft.document["cpu"] = "cpu.toml"
    source = topology.source
    guessed = {**topology.guessed}
    counted = guessed.get("cpus", "")
    draft.read("nodes", len(nodes), source, guessed.get("nodes", counted))
    draft.assume("sockets_per_node", max(-(-len(packages) // len(nodes)), 1), "packages by nodes")
    draft.assume("buses_per_node", 1, "a memory controller a node")
    memory = max((node.memory_bytes for node in topology.nodes), default=0)
    if 1 << 20 <= memory <= _MOST_MEMORY:
        draft.read("memory_per_node", f"{memory >> 20} MiB", source)
    else:
        draft.assume("memory_per_node", "16 GiB", "not said")
    for key, value, low, high in _BANDWIDTHS:
        draft.assume(key, value, "not measured: of servers since 2010", low, high)
    names = {name for name, _, _ in ports}
    # devices in the chipset call their slot slower than their link is
    slots = [
        slot
        for nic in host.nics
        if nic.name in names and (slot := host.slots.get(nic.name)) is not None
        if slot.bytes_per_s * 8 >= link_of(nic)[0]
    ]
    if slots:
        slot = max(slots, key=lambda one: one.bytes_per_s)
        draft.read("io_bandwidth", f"{slot.bytes_per_s / 1e9:.3f} GB/s", slot.source)
    links = [[a, b] for a in range(len(nodes)) for b in range(a + 1, len(nodes))]
    draft.assume("links", links, "each node reaches each other one by one link")
    for key, sets, why in (
        ("node_cpus", nodes, guessed.get("nodes", "")),
        ("package_cpus", packages, guessed.get("package_cpus", guessed.get("packages", ""))),
        ("core_cpus", topology.cores, guessed.get("cores", "")),
    ):
        draft.read(key, [cpulist_text(cpus) for cpus in sets], source, why or counted)
    tables = tomlkit.aot()
    for name, node, lines in ports:
        first, *others = lines.numbers
        listed = {} if lines.follow else {"next_irqs": others}
        table = tomlkit.table()
        table.update({"name": name, "node": node, "irq": first, **listed})
        table["nic"] = f"nic-{name}.toml"
        tables.append(table)
    draft.document["ports"] = tables
    return draft


_BANDWIDTHS: Final = (
    ("memory_bandwidth", "100 GB/s", "20 GB/s", "400 GB/s"),
    ("bus_bandwidth", "100 GB/s", "20 GB/s", "400 GB/s"),
    ("link_bandwidth", "20 GB/s", "6 GB/s", "60 GB/s"),
    ("io_bandwidth", "15 GB/s", "3.9 GB/s", "31 GB/s"),
)


def placed(host: ReadHost) -> tuple[list[frozenset[int]], list[frozenset[int]]]:
    """Return the CPUs of each node and of each package, so that every CPU and core is in one.

    Nodes without CPUs are left out. A CPU in several nodes is in the smallest; one in none is in
    the first; a core in parts of several packages or nodes is where its first CPU is.
    """
    topology = host.topology
    nodes = [node.cpus for node in topology.nodes if node.cpus] or [topology.cpus]
    return (
        _partition(nodes, topology.cores),
        _partition(list(topology.packages) or [topology.cpus], topology.cores),
    )


def nodes_of(host: ReadHost, chosen: Iterable[ReadNic], nodes: int) -> dict[str, int]:
    """Return the node of each port by name, as a number of the model's `nodes`."""
    numbers = [node.number for node in host.topology.nodes if node.cpus]
    found = {}
    for nic in chosen:
        number = nic.number("node", numbers[0] if numbers else 0)
        place = numbers.index(number) if number in numbers else 0
        found[nic.name] = min(place, nodes - 1)
    return found


def _partition(sets: list[frozenset[int]], cores: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    found: list[set[int]] = [set() for _ in sets]
    smallest = sorted(range(len(sets)), key=lambda number: len(sets[number]))
    for core in cores:
        place = next((number for number in smallest if min(core) in sets[number]), 0)
        found[place] |= core
    return [frozenset(cpus) for cpus in found if cpus]


def switch_draft(rate_bps: int) -> Draft:
    """Return the switch between the host and its peer, as fast as the host's fastest port."""
    draft = Draft("switch", "the way to the peer, of which nothing is known", "ethernet-10g")
    draft.assume("link_rate", f"{rate_bps // 10**6} Mbit/s", "as fast as the host's fastest port")
    return draft
