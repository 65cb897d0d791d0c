"""Which CPUs may serve the interrupts of a port, as loops of a shell and vendors' scripts print it.

Such a loop names the port (`for i in $(grep eth0 /proc/interrupts ...)`), and prints for each
interrupt its number and its mask, or the mask alone.

Source: Linux Documentation/core-api/irq/irq-affinity.rst; show_irq_affinity.sh of mlnx-tools.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page
from simnet.host.cpulist import parse_cpumask

_LIST: Final = re.compile(r"smp_affinity_list|effective_affinity_list")
_MASK: Final = re.compile(r"smp_affinity\b|effective_affinity\b|show_irq_affinity")
_PORT: Final = re.compile(
    r"""(?x)
    (?:grep\ (?:-\S+\ )*["']?|show_irq_affinity(?:_cpulist)?(?:\.sh)?\ )
    (?P<port>(?=[\w.]*\d)[A-Za-z][\w.]{1,14})
    """
)
_ROW: Final = re.compile(
    r"\s*(?:(?:/?proc/irq/)?(?P<irq>\d{1,6})(?:/\w+)?\s*(?::|\s|=|->)\s*)?"
    r"(?P<cpus>[0-9a-f][0-9a-f,-]{0,200})\s*"
)

OUTPUTS: Final = {"mask": "smp_affinity"}
SIGN: Final = re.compile(r"_affinity")


def read(page: Page) -> Iterator[Fact]:
    """Yield the CPUs of each interrupt as a list; of the port, by the interrupt's number."""
    for part in page.parts:
        command = part.command or ""
        port = _PORT.search(command)
        listed = bool(_LIST.search(command))
        if port is None or not (listed or _MASK.search(command)):
            continue
        for at, line in enumerate(part.lines, part.first):
            row = _ROW.fullmatch(line)
            if row is None:
                continue
            mask = () if listed else sorted(parse_cpumask(row["cpus"]) or ())
            cpus = row["cpus"] if listed else ",".join(map(str, mask))
            if cpus and re.fullmatch(r"[\d,-]+", cpus):
                name = row["irq"] or str(at)
                yield Fact("mask", port["port"], name, 0, page.name, at, cpus)
