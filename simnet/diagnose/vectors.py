"""Interrupts by port: its vectors, which CPUs take them, and what would spread them."""

import re
from collections import defaultdict
from typing import Final

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.rule import Action
from simnet.printable import typed

# a CPU of a mask of one word
_WORD: Final = 32
# percent of its time
_FULL: Final = 90.0
MANY: Final = 100_000
"""Interrupts, or softirqs, from which on their places say something."""
MOSTLY: Final = 0.9
"""Share of them from which on one place has nearly all."""
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
# drivers of chips whose interrupts are named after the driver, not after the port
_DRIVER: Final = re.compile(
    r"(?:mvneta|mvpp2|bgmac|bcm4908_enet|mtk_eth|ag71xx|fec|stmmac|dwmac|macb|gianfar|cpsw|sky2)\w*"
)
_NOT_DATA: Final = re.compile(r"(?i)misc|event|async|aq|admin|mgmnt|config|cmd|firmware|fdir|ptp")


def alone(evidence: Evidence) -> Fact | None:
    """Return the share of the one CPU that softirqs fill while all others have time left."""
    every = {fact.subject: fact for fact in evidence.of("cpu", "soft") if fact.subject != "all"}
    full = [fact for fact in every.values() if fact.value >= _FULL]
    return full[0] if len(full) == 1 and len(every) > 1 else None


def receives_alone(evidence: Evidence) -> Fact | None:
    """Return the softirqs of the CPU that has nearly all those that receive, of several CPUs."""
    counts = {fact.name: fact for fact in evidence.of("softirq", subject="NET_RX")}
    most = max(counts.values(), key=lambda fact: fact.value, default=None)
    whole = sum(fact.value for fact in counts.values())
    if most is None or len(counts) == 1 or whole < MANY or most.value < MOSTLY * whole:
        return None
    return most


def ports(evidence: Evidence) -> dict[str, dict[str, list[Fact]]]:
    """Return for each port its vectors, and of each vector the newest counts by CPU."""
    found: dict[str, dict[str, dict[str, Fact]]] = defaultdict(lambda: defaultdict(dict))
    for fact in evidence.of("irq"):
        action = fact.subject.partition(" ")[2]
        if _NOT_DATA.search(action) and not re.search(r"(?i)tx-?rx|rx", action):
            continue
        port = next(
            (m["port"] for p in (_DRIVER_FIRST, _MLX, _QUEUE) if (m := p.fullmatch(action))),
            action if _PORT.fullmatch(action) or _DRIVER.fullmatch(action) else "",
        )
        if port:
            found[port][fact.subject][fact.name] = fact
    return {
        port: {vector: list(by_cpu.values()) for vector, by_cpu in vectors.items()}
        for port, vectors in found.items()
    }


def loads(vectors: dict[str, list[Fact]]) -> dict[str, float]:
    """Return how many interrupts each CPU took."""
    found: dict[str, float] = defaultdict(float)
    for facts in vectors.values():
        for fact in facts:
            found[fact.name] += fact.value
    return found


def cpus(evidence: Evidence) -> int:
    """Return how many CPUs the host has; 0 if no file says it."""
    told = evidence.value("cpus", r"CPU\(s\)")
    # columns of /proc/interrupts may have been cut
    return int(told or evidence.value("cpus", "interrupts") or 0)


def spread(vectors: dict[str, list[Fact]], count: int) -> tuple[Action, ...]:
    """Return commands that give each vector a CPU of its own; the busiest vectors only."""
    heaviest = sorted(vectors, key=lambda one: -sum(fact.value for fact in vectors[one]))
    actions = []
    for place, vector in enumerate(sorted(heaviest[: min(4, count)])):
        irq = vector.partition(" ")[0]
        file = typed(f"/proc/irq/{irq}/smp_affinity_list")
        before = busiest(vectors[vector]).name.removeprefix("CPU")
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


def busiest(facts: list[Fact]) -> Fact:
    """Return the count of the CPU that took most interrupts of a vector."""
    return max(facts, key=lambda fact: fact.value)


def handed_on(port: str, vector: str, cpu: str, count: int) -> tuple[Action, ...]:
    """Return what lets RPS hand the packets of a vector to all CPUs but the interrupt's own."""
    if _DRIVER.fullmatch(port):
        return ()
    number = re.search(r"(\d{1,3})$", vector)
    alone = vector.partition(" ")[2] == port
    queue = int(number[1]) if number and not alone else 0
    file = f"/sys/class/net/{named(port)}/queues/rx-{queue}/rps_cpus"
    own = int(cpu[3:])
    mask = ((1 << min(count, _WORD)) - 1) & ~((1 << own) if own < _WORD else 0)
    if not mask:
        return ()
    return (Action(f"echo {mask:x} > {file}", f"echo 0 > {file}", f"{file}={mask:x}"),)
