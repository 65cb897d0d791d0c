"""Which CPUs a port's queues are steered to, and how its polls defer interrupts.

Source: Documentation/ABI/testing/sysfs-class-net-queues and sysfs-class-net of Linux.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Told
from simnet.importing.parser import Parser

_CLASS: Final = "sys/class/net"
_OF_QUEUE: Final = (("rx", "rps_cpus"), ("rx", "rps_flow_cnt"), ("tx", "xps_cpus"))
_OF_PORT: Final = ("napi_defer_hard_irqs", "gro_flush_timeout", "threaded")
_QUEUE: Final = re.compile(r"[rt]x-\d{1,4}")


def _settings(evidence: Evidence) -> Iterator[Told]:
    files = evidence.files
    for nic in evidence.nics:
        place = nic.place or f"{_CLASS}/{nic.name}"
        names = [name for name in files.names(f"{place}/queues") if _QUEUE.fullmatch(name)]
        for way, setting in _OF_QUEUE:
            queues = sorted((name for name in names if name.startswith(way)), key=_number)
            texts = {
                queue: text.strip()
                for queue in queues
                if (text := files.text(f"{place}/queues/{queue}/{setting}"))
            }
            if len(texts) == len(queues) and len(set(texts.values())) == 1:
                texts = {f"{way}-*": texts[queues[0]]}
            for queue, value in texts.items():
                name = f"queues/{queue}/{setting}"
                yield Told(f"/{_CLASS}/{nic.name}/{name}", value, f"{place}/{name}")
        for setting in _OF_PORT:
            text = files.text(f"{place}/{setting}")
            if text:
                yield Told(f"/{_CLASS}/{nic.name}/{setting}", text.strip(), f"{place}/{setting}")


def _number(queue: str) -> int:
    return int(queue[len("rx-") :])


PARSER: Final = Parser(
    trees=(
        *(f"{_CLASS}/{{port}}/queues/{way}-*/{setting}" for way, setting in _OF_QUEUE),
        *(f"{_CLASS}/{{port}}/{setting}" for setting in _OF_PORT),
    ),
    settings=_settings,
)
