"""/proc/interrupts, /proc/softirqs: which CPU took how many interrupts, what came of them."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_HEAD: Final = re.compile(r"\s*CPU\d+(?:\s+CPU\d+)*\s*")
_ROW: Final = re.compile(r"\s*(?P<irq>\d+):(?P<counts>(?:\s+\d+)+)\s+(?P<rest>\D.*|\d+\S*[a-z-].*)")
_SOFT: Final = re.compile(r"\s*(?P<kind>NET_RX|NET_TX):(?P<counts>(?:\s+\d+)+)\s*")

# a name of the kernel has less
_LONGEST: Final = 60

OUTPUTS: Final = {"irq": "interrupts", "softirq": "softirqs"}
SIGN: Final = re.compile(r"(?m)^\s*CPU0\s|^\s*NET_RX:|^\s*\d+:\s+\d+.*(?:MSI|APIC|GIC|edge|level)")


def read(page: Page) -> Iterator[Fact]:
    """Yield counts above zero, by vector (`56 eth0-rx-0`) and CPU, and how many CPUs there are.

    Of softirqs, those of the network. Their columns are the CPUs that there might be.
    """
    cpus: list[str] = []
    head = 0
    for at, line in enumerate(page.lines, 1):
        if _HEAD.fullmatch(line):
            cpus, head = line.split(), at
        elif soft := _SOFT.fullmatch(line):
            for place, count in enumerate(soft["counts"].split()):
                yield Fact("softirq", soft["kind"], f"CPU{place}", number(count), page.name, at)
        elif row := _ROW.match(line):
            if head:
                yield Fact("cpus", "", "interrupts", float(len(cpus)), page.name, head)
                head = 0
            counts = row["counts"].split()
            names = cpus if len(cpus) == len(counts) else [f"CPU{n}" for n in range(len(counts))]
            if not cpus:  # the head was left out, as grep does
                cpus = names
                yield Fact("cpus", "", "interrupts", float(len(names)), page.name, at)
            words = row["rest"].split()
            action = words[-1][:_LONGEST] if words else ""
            subject = f"{row['irq'][:6]} {action}"
            if not any(int(count[:18]) for count in counts):
                yield Fact("irq", subject, "CPU0", 0.0, page.name, at)
            for cpu, count in zip(names, counts, strict=False):
                if value := int(count[:18]):
                    yield Fact("irq", subject, cpu, float(value), page.name, at)
