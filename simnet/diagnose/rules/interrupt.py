"""Interrupts: which CPU serves them, and when the card raises them."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from simnet.diagnose.actions import named, tool
from simnet.diagnose.families import logged, percent
from simnet.diagnose.rule import Action, Clear, Hit, Rule
from simnet.printable import typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.diagnose.evidence import Evidence
    from simnet.diagnose.fact import Fact
    from simnet.diagnose.rule import Found

__all__ = ["RULES"]

_SCALING: Final = "Linux Documentation/networking/scaling.rst"
_QUEUE: Final = re.compile(
    r"(?P<port>[A-Za-z][\w.@]*?)"
    r"(?:[-_:](?:rxtx|txrx|tx-?rx|input|output|rx|tx|fp|ch|q|queue|ring|Tx-Rx|TxRx)[-_.]?\d*|-\d+)+",
    re.IGNORECASE,
)
_DRIVER_FIRST: Final = re.compile(
    r"(?:i40e|ice|iavf|mlx5_comp\d+|bnxt_en|hns3|ena|virtio\d+)-(?P<port>[A-Za-z]\w+)-TxRx-\d+"
)
_MLX: Final = re.compile(r"(?:mlx5_comp|mlx4-|mlx4_comp)\d+@(?P<port>\S+)")
_PORT: Final = re.compile(r"(?:eth|en[ospx]|em|p\d+p|ib|bond|wl|dsl|lan|wan|ens|virtio)[\w.]*")
_NOT_DATA: Final = re.compile(r"(?i)misc|event|async|aq|admin|mgmnt|config|cmd|firmware|fdir|ptp")
_MANY: Final = 100_000
_MOSTLY: Final = 0.9
_WAITS_US: Final = 400


def _ports(evidence: Evidence) -> dict[str, dict[str, list[Fact]]]:
    """Return for each port its vectors, and of each vector the newest counts by CPU."""
    found: dict[str, dict[str, dict[str, Fact]]] = defaultdict(lambda: defaultdict(dict))
    for fact in evidence.of("irq"):
        action = fact.subject.partition(" ")[2]
        if _NOT_DATA.search(action) and not re.search(r"(?i)tx-?rx|rx", action):
            continue
        port = next(
            (m["port"] for p in (_DRIVER_FIRST, _MLX, _QUEUE) if (m := p.fullmatch(action))),
            action if _PORT.fullmatch(action) else "",
        )
        if port:
            found[port][fact.subject][fact.name] = fact
    return {
        port: {vector: list(by_cpu.values()) for vector, by_cpu in vectors.items()}
        for port, vectors in found.items()
    }


def _loads(vectors: dict[str, list[Fact]]) -> dict[str, float]:
    loads: dict[str, float] = defaultdict(float)
    for facts in vectors.values():
        for fact in facts:
            loads[fact.name] += fact.value
    return loads


def _cpus(evidence: Evidence) -> int:
    return int(evidence.value("cpus", r"interrupts|CPU\(s\)") or 0)


def _spread(vectors: dict[str, list[Fact]], cpus: int) -> tuple[Action, ...]:
    """Return commands that give each vector its own CPU; the busiest ones only."""
    busiest = sorted(vectors, key=lambda one: -sum(fact.value for fact in vectors[one]))
    actions = []
    for place, vector in enumerate(sorted(busiest[: min(4, cpus)])):
        irq = vector.partition(" ")[0]
        file = typed(f"/proc/irq/{irq}/smp_affinity_list")
        before = max(vectors[vector], key=lambda fact: fact.value).name.removeprefix("CPU")
        if before == str(place):
            continue
        actions.append(
            Action(
                f"echo {place} > {file}",
                f"echo {before} > {file}",
                f"/proc/irq/{irq}/smp_affinity_list={place}",
            )
        )
    return tuple(actions)


def _one_cpu(evidence: Evidence) -> Iterator[Found]:
    cpus = _cpus(evidence)
    for port, vectors in _ports(evidence).items():
        loads = _loads(vectors)
        whole = sum(loads.values())
        busy = {
            name: facts
            for name, facts in vectors.items()
            if sum(f.value for f in facts) > whole / 1000
        }
        if len(busy) < 2 or cpus < 2 or whole < _MANY:  # noqa: PLR2004 - nothing to spread
            continue
        cpu, most = max(loads.items(), key=lambda item: item[1])
        best = max(sum(f.value for f in facts) for facts in busy.values())
        fact = max(
            (f for facts in busy.values() for f in facts if f.name == cpu), key=lambda f: f.value
        )
        share, could = most / whole, max(best / whole, 1 / min(len(busy), cpus))
        said = f"{cpu} took {percent(share)} of {whole:,.0f} interrupts of {len(busy)} vectors"
        shared = [
            one for one, facts in busy.items() if max(facts, key=lambda f: f.value).name == cpu
        ]
        actions = _spread(busy, cpus)
        if share >= _MOSTLY and could < 0.8:  # noqa: PLR2004 - spreading would change much
            yield Hit(port, (fact,), f"{said}; there are {cpus} CPUs", 66, "likely", actions)
        elif share >= 1.3 * could and share > 1.5 / cpus and len(shared) > 1:
            said += f", {len(shared)} vectors; one CPU each would be {percent(could)}"
            said += f" (at most {share / could:.2f} times as much, if that CPU is the limit)"
            yield Hit(port, (fact,), said, 42, "possible", actions)
        else:
            yield Clear(fact, f"{cpu} took {percent(share)} of the interrupts")


def _one_vector(evidence: Evidence) -> Iterator[Found]:
    cpus = _cpus(evidence)
    for port, vectors in _ports(evidence).items():
        if len(vectors) != 1 or cpus < 2:  # noqa: PLR2004 - nothing to spread to
            continue
        facts = next(iter(vectors.values()))
        most = max(facts, key=lambda fact: fact.value)
        pasted = not most.file.startswith(("/", "proc/", "sos_commands/"))
        if (
            pasted
            and most.value >= 10 * _MANY
            and most.value >= _MOSTLY * sum(fact.value for fact in facts)
        ):
            said = f"one vector, {most.shown} interrupts on {most.name} of {cpus} CPUs"
            file = f"/sys/class/net/{named(port)}/queues/rx-0/rps_cpus"
            mask = f"{((1 << min(cpus, 32)) - 1) & ~(1 << int(most.name[3:])) or 1:x}"
            action = Action(f"echo {mask} > {file}", f"echo 0 > {file}", f"{file}={mask}")
            yield Hit(port, (most,), said, 27, "possible", (action,))


def _no_timer(evidence: Evidence) -> Iterator[Found]:
    for port in evidence.subjects("coalesce"):
        for side in ("rx", "tx"):
            for masked in ("", "-irq"):
                frames = evidence.last("coalesce", f"{side}-frames{masked}", port)
                usecs = evidence.last("coalesce", f"{side}-usecs{masked}", port)
                if frames is None or usecs is None:
                    continue
                adaptive = evidence.said("coalesce", f"adaptive-{side}", port) == "on"
                if frames.value > 1 and usecs.value == 0 and not adaptive:
                    said = f"{frames.name} {frames.shown} with {usecs.name} 0"
                    said += f": {frames.value - 1:.0f} frames wait for the next ones, without end"
                    weight, sure = (80, "certain") if side == "rx" else (20, "possible")
                    action = tool("-C", port, frames.name, 1, frames.shown)
                    yield Hit(port, (frames, usecs), said, weight, sure, (action,))
                elif side == "rx" and usecs.value:
                    yield Clear(usecs, f"{usecs.name} {usecs.shown}")


def _long(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("coalesce", r"rx-usecs(-irq)?"):
        adaptive = evidence.said("coalesce", "adaptive-rx", fact.subject) == "on"
        if fact.value >= _WAITS_US and not adaptive:
            said = f"{fact.name} {fact.shown}: a packet waits up to {fact.shown} us"
            action = tool("-C", fact.subject, fact.name, 30, fact.shown)
            yield Hit(fact.subject, (fact,), said, 35, "likely", (action,))


def _few_queues(evidence: Evidence) -> Iterator[Found]:
    cpus = _cpus(evidence)
    for now in evidence.of("channels", "combined"):
        most = evidence.last("channels", "combined most", now.subject)
        if most and now.value == 1 and most.value >= 4 and cpus != 1:  # noqa: PLR2004 - a card made to spread
            said = f"{now.shown} queue of {most.shown} that the card has"
            queues = int(min(most.value, cpus or most.value))
            action = tool("-L", now.subject, "combined", queues, now.shown)
            yield Hit(now.subject, (now, most), said, 30, "possible", (action,))


def _nodes(evidence: Evidence) -> dict[int, set[int]]:
    """Return the CPUs of each NUMA node, as lscpu lists them."""
    found: dict[int, set[int]] = {}
    for fact in evidence.of("cpus", r"NUMA node\d+ CPU\(s\)"):
        node = re.match(r"NUMA node(\d{1,4}) ", fact.name)
        cpus: set[int] = set()
        for first, last in re.findall(r"(\d{1,5})(?:-(\d{1,5}))?", fact.text):
            cpus.update(range(int(first), min(int(last or first), int(first) + 4096) + 1))
        if node:
            found[int(node[1])] = cpus
    return found


def _remote(evidence: Evidence) -> Iterator[Found]:
    nodes = _nodes(evidence)
    if len(nodes) < 2:  # noqa: PLR2004 - none is remote
        return
    for port, vectors in _ports(evidence).items():
        device = evidence.last("sysfs", "device/numa_node", port)
        if device is None or int(device.value) not in nodes:
            continue
        loads = _loads(vectors)
        whole = sum(loads.values())
        own = {f"CPU{cpu}" for cpu in nodes[int(device.value)]}
        away = sum(load for cpu, load in loads.items() if cpu not in own)
        if whole >= _MANY and away / whole >= 0.5:  # noqa: PLR2004 - most
            said = f"the card is on node {device.value:.0f}, {percent(away / whole)} of its"
            said += " interrupts are served by other nodes"
            yield Hit(port, (device,), said, 35, "possible")


RULES: Final = (
    Rule(
        "irq-one-cpu",
        "interrupt",
        "One CPU serves the interrupts of {subject}",
        "/proc/interrupts",
        "90 % on one CPU, or a third more than one CPU a vector would have",
        "All packets of the port pass through one CPU, and so do the softirqs after them.",
        "Give each vector a CPU of its own, or run irqbalance.",
        f"{_SCALING}, RSS IRQ configuration; Documentation/core-api/irq/irq-affinity.rst",
        _one_cpu,
    ),
    Rule(
        "one-vector",
        "interrupt",
        "{subject} has one interrupt: one CPU receives everything",
        "/proc/interrupts, pasted",
        "a million interrupts of one vector on one of several CPUs",
        "The card or its driver has one queue: all packets pass through the CPU of its interrupt.",
        "Where that CPU is full (mpstat: %soft), let RPS hand packets to the others.",
        f"{_SCALING}, RPS",
        _one_vector,
    ),
    Rule(
        "frames-without-timer",
        "interrupt",
        "{subject} waits for more packets without a timer",
        "ethtool -c",
        "frames above 1 with usecs 0, no adaptive moderation",
        "The interrupt comes after so many frames, and nothing else raises it: the last ones wait"
        " for ever, all others until the next.",
        "Interrupt after each frame, or set a timer.",
        "Linux include/linux/ethtool.h, struct ethtool_coalesce: usecs and"
        " frames must not both be 0",
        _no_timer,
    ),
    Rule(
        "long-timer",
        "interrupt",
        "{subject} delays its interrupts for long",
        "ethtool -c",
        "400 us without adaptive moderation: longer than most round trips of a network",
        "Each packet that comes alone waits for the timer.",
        "Shorten it, or let it adapt.",
        "Linux include/linux/ethtool.h, rx_coalesce_usecs",
        _long,
    ),
    Rule(
        "one-queue",
        "interrupt",
        "{subject} uses one of many queues",
        "ethtool -l",
        "one queue in use of four or more",
        "One CPU takes all packets of the port.",
        "Use more queues, unless the load is small.",
        f"{_SCALING}, RSS configuration",
        _few_queues,
    ),
    Rule(
        "remote-interrupts",
        "interrupt",
        "Interrupts of {subject} are served on a remote node",
        "numa_node of the device, lscpu, /proc/interrupts",
        "half of the interrupts on other nodes",
        "Each packet is fetched across the sockets: cycles and bandwidth, no loss by itself.",
        "Serve the interrupts on CPUs of the card's own node.",
        f"{_SCALING}, suggested configuration",
        _remote,
    ),
    Rule(
        "irq-nobody-cared",
        "interrupt",
        "The kernel has switched an interrupt off: {subject}",
        "the kernel's log",
        "always",
        "An interrupt was raised 100,000 times and no driver took it: it is polled from then on.",
        "Update firmware and driver; boot with irqpoll to find out; try MSI.",
        "Linux kernel/irq/spurious.c",
        logged(r"(?P<subject>irq \d+): nobody cared|Disabling IRQ #\d+", weight=70),
    ),
)
