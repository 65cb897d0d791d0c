"""Interrupts: which CPU serves them, and when the card raises them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from simnet.diagnose.actions import tool
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import logged, percent
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.diagnose.vectors import (
    MANY,
    MOSTLY,
    alone,
    busiest,
    cpus,
    handed_on,
    loads,
    ports,
    receives_alone,
    spread,
)
from simnet.printable import typed

_SCALING: Final = "Linux Documentation/networking/scaling.rst"
_SENDS: Final = re.compile(r"(?i)(?<!rx)[-_.](?:tx|output)(?![-_]?rx)")
_WAITS_US: Final = 400
# commands for as many interrupts
_SHOWN: Final = 4


def _one_cpu(evidence: Evidence) -> Iterator[Found]:
    count = cpus(evidence)
    for port, vectors in ports(evidence).items():
        by_cpu = loads(vectors)
        whole = sum(by_cpu.values())
        busy = {
            name: facts
            for name, facts in vectors.items()
            if sum(f.value for f in facts) > whole / 1000
        }
        if len(busy) < 2 or count < 2 or whole < MANY:  # noqa: PLR2004 - nothing to spread
            continue
        cpu, most = max(by_cpu.items(), key=lambda item: item[1])
        best = max(sum(f.value for f in facts) for facts in busy.values())
        fact = max(
            (f for facts in busy.values() for f in facts if f.name == cpu), key=lambda f: f.value
        )
        share, could = most / whole, max(best / whole, 1 / min(len(busy), count))
        said = f"{cpu} took {percent(share)} of {whole:,.0f} interrupts of {len(busy)} vectors"
        shared = [
            one for one, facts in busy.items() if max(facts, key=lambda f: f.value).name == cpu
        ]
        actions = spread(busy, count)
        if share >= MOSTLY and could < 0.8:  # noqa: PLR2004 - spreading would change much
            yield Hit(port, (fact,), f"{said}; there are {count} CPUs", 66, "likely", actions)
        elif share >= 1.3 * could and share > 1.5 / count and len(shared) > 1:
            said += f", {len(shared)} vectors; one CPU each would be {percent(could)}"
            said += f" (at most {share / could:.2f} times as much, if that CPU is the limit)"
            yield Hit(port, (fact,), said, 42, "possible", actions)
        elif share < MOSTLY:
            yield Clear(fact, f"{cpu} took {percent(share)} of the interrupts")


def _one_vector(evidence: Evidence) -> Iterator[Found]:
    count = cpus(evidence)
    for port, vectors in ports(evidence).items():
        if len(vectors) != 1 or count < 2:  # noqa: PLR2004 - nothing to spread to
            continue
        facts = next(iter(vectors.values()))
        most = busiest(facts)
        pasted = not most.file.startswith(("/", "proc/", "sos_commands/"))
        if (
            pasted
            and most.value >= 10 * MANY
            and most.value >= MOSTLY * sum(fact.value for fact in facts)
        ):
            said = f"one vector, {most.shown} interrupts on {most.name} of {count} CPUs"
            actions = handed_on(port, port, most.name, count)
            yield Hit(port, (most,), said, 27, "possible", actions)


def _one_busy_vector(evidence: Evidence) -> Iterator[Found]:
    count = cpus(evidence)
    for port, every in ports(evidence).items():
        vectors = {
            name: facts
            for name, facts in every.items()
            if name.partition(" ")[2] != port and not _SENDS.search(name)
        }
        if len(vectors) < 2 or count < 2:  # noqa: PLR2004 - nothing to compare
            continue
        sums = {name: sum(fact.value for fact in facts) for name, facts in vectors.items()}
        hot = max(sums, key=lambda name: sums[name])
        whole = sum(sums.values())
        most = busiest(vectors[hot])
        if sums[hot] < 10 * MANY or most.file.startswith(("/", "proc/", "sos_commands/")):
            continue
        share = sums[hot] / whole
        said = f"{hot.partition(' ')[2]} took {percent(share)} of {whole:,.0f} interrupts"
        said += f" of {len(vectors)} vectors"
        if share >= MOSTLY:
            actions = handed_on(port, hot, most.name, count)
            yield Hit(port, (most,), said, 48, "likely", actions)
        else:
            yield Clear(most, said)


def _one_receives(evidence: Evidence) -> Iterator[Found]:
    most = receives_alone(evidence)
    if most is not None and not evidence.of("irq"):
        every = {fact.name: fact.value for fact in evidence.of("softirq", subject="NET_RX")}
        whole = sum(every.values())
        said = f"{most.name} took {percent(most.value / whole)} of {whole:,.0f} NET_RX softirqs"
        said += f" of {len(every)} CPUs"
        yield Hit("", (most,), said, 40, "likely")


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
    count = cpus(evidence)
    for now in evidence.of("channels", "combined"):
        most = evidence.last("channels", "combined most", now.subject)
        if most and now.value == 1 and most.value >= 4 and count != 1:  # noqa: PLR2004 - a card made to spread
            said = f"{now.shown} queue of {most.shown} that the card has"
            queues = int(min(most.value, count or most.value))
            action = tool("-L", now.subject, "combined", queues, now.shown)
            full = alone(evidence)
            if full is None:
                yield Hit(now.subject, (now, most), said, 30, "possible", (action,))
            else:
                said += f", and %soft {full.shown} on {full.subject}"
                yield Hit(now.subject, (now, most, full), said, 71, "likely", (action,))


def _nodes(evidence: Evidence) -> dict[int, set[int]]:
    """Return the CPUs of each NUMA node, as lscpu lists them."""
    found: dict[int, set[int]] = {}
    for fact in evidence.of("cpus", r"NUMA node\d+ CPU\(s\)"):
        node = re.match(r"NUMA node(\d{1,4}) ", fact.name)
        if node:
            found[int(node[1])] = _listed(fact.text)
    return found


def _listed(text: str) -> set[int]:
    """Return the CPUs of a list as the kernel prints it."""
    cpus: set[int] = set()
    for first, last in re.findall(r"(\d{1,5})(?:-(\d{1,5}))?", text):
        cpus.update(range(int(first), min(int(last or first), int(first) + 4096) + 1))
    return cpus


def _remote(evidence: Evidence) -> Iterator[Found]:
    nodes = _nodes(evidence)
    if len(nodes) < 2:  # noqa: PLR2004 - none is remote
        return
    for port, vectors in ports(evidence).items():
        device = evidence.last("sysfs", "device/numa_node", port)
        if device is None or int(device.value) not in nodes:
            continue
        by_cpu = loads(vectors)
        whole = sum(by_cpu.values())
        own = {f"CPU{cpu}" for cpu in nodes[int(device.value)]}
        away = sum(load for cpu, load in by_cpu.items() if cpu not in own)
        if whole >= MANY and away / whole >= 0.5:  # noqa: PLR2004 - most
            said = f"the card is on node {device.value:.0f}, {percent(away / whole)} of its"
            said += " interrupts are served by other nodes"
            yield Hit(port, (device,), said, 35, "possible")
    for port, masks in _allowed(evidence).items():
        device = evidence.last("sysfs", "device/numa_node", port)
        if device is None or int(device.value) not in nodes:
            continue
        near = nodes[int(device.value)]
        far = [fact for fact in masks if not near & _listed(fact.text)]
        if 2 * len(far) >= len(masks):
            said = f"the card is on node {device.value:.0f}, {len(far)} of its {len(masks)}"
            said += " interrupts may only be served by CPUs of other nodes"
            yield Hit(port, (device, far[0]), said, 40, "likely", _home(far, near))


def _allowed(evidence: Evidence) -> dict[str, list[Fact]]:
    """Return the CPUs that may serve each interrupt of a port, where no counts say which do."""
    found = {port: evidence.of("mask", ".*", port) for port in evidence.subjects("mask")}
    for port, vectors in ports(evidence).items():
        if sum(loads(vectors).values()) >= MANY:
            continue
        lists = [
            replace(fact, name=irq)
            for name in vectors
            if (irq := name.partition(" ")[0])
            and (fact := evidence.last("sysfs", rf"proc/irq/{irq}/smp_affinity_list"))
        ]
        if lists:
            found.setdefault(port, lists)
    return found


def _home(masks: list[Fact], cpus: set[int]) -> tuple[Action, ...]:
    """Return what gives the first interrupts CPUs of the card's node."""
    return tuple(
        Action(
            f"echo {cpu} > /proc/irq/{fact.name}/smp_affinity_list",
            f"echo {typed(fact.text)} > /proc/irq/{fact.name}/smp_affinity_list",
            f"/proc/irq/{fact.name}/smp_affinity_list={cpu}",
        )
        for fact, cpu in zip(masks[:_SHOWN], sorted(cpus), strict=False)
        if fact.name.isdecimal()
    )


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
        "one-busy-queue",
        "interrupt",
        "One queue of {subject} takes nearly all its interrupts",
        "/proc/interrupts, pasted",
        "90 % of a million interrupts, with two receive vectors and more: queues would share them",
        "The card's hash sends all packets to one queue, so one CPU takes them: it is one flow, or"
        " the card cannot look into the packets (PPPoE, tunnels, IPsec, fragments), or its"
        " indirection table names one queue.",
        "Look at ethtool -x and at the number of flows; let RPS hand the packets of that queue to"
        " other CPUs: it looks into tunnels where cards do not. One flow stays on one CPU.",
        f"{_SCALING}, RSS and RPS",
        _one_busy_vector,
    ),
    Rule(
        "receives-alone",
        "interrupt",
        "One CPU does nearly all the work of receiving",
        "/proc/softirqs",
        "90 % of 100,000 NET_RX softirqs, of several CPUs; interrupts, where known, say more",
        "The interrupts of all queues go to this CPU, or all packets to one queue.",
        "See /proc/interrupts and ethtool -x: give each vector a CPU of its own, spread over all"
        " rings; where there is one queue, let RPS hand packets to other CPUs.",
        f"{_SCALING}, RSS and RPS",
        _one_receives,
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
