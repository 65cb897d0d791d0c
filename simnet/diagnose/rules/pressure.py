"""What tasks wait for, and memory of other nodes."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import Find, percent
from simnet.diagnose.rule import Clear, Found, Hit, Rule

_PSI: Final = "Linux Documentation/accounting/psi.rst"
_REMOTE: Final = 0.2
_PAGES: Final = 1_000_000


def _waits(what: str, who: str, least: float) -> Find:
    def find(evidence: Evidence) -> Iterator[Found]:
        for fact in evidence.of("pressure", who, what):
            said = f"{fact.text} of the last seconds {who} tasks waited for {what}"
            if fact.value >= least:
                sure = "likely" if fact.value >= 2 * least else "possible"
                yield Hit("", (fact,), said, 30 + 0.4 * fact.value, sure)
            else:
                yield Clear(fact, f"pressure of {what} {fact.text}")

    return find


def _nodes(evidence: Evidence) -> Iterator[Found]:
    for node in evidence.subjects("numa"):
        away = evidence.last("numa", "numa_miss", node)
        hits = evidence.value("numa", "numa_hit", node) or 0.0
        if away is None or not hits + away.value:
            continue
        share = away.value / (hits + away.value)
        said = (
            f"numa_miss {away.shown} of {hits + away.value:,.0f} pages on {node}, {percent(share)}"
        )
        if share >= _REMOTE and away.value >= _PAGES:
            yield Hit(node, (away,), said, 36, "possible")
        else:
            yield Clear(away, said)


RULES: Final = (
    Rule(
        "cpu-pressure",
        "CPU",
        "Tasks wait for a CPU {subject}",
        "/proc/pressure/cpu, cpu.pressure",
        "25 % of the time: some task was ready and had no CPU",
        "There is more to run than CPUs, or than a group may use: threads come late to their"
        " sockets, and buffers fill meanwhile.",
        "See who runs (top, pidstat), and whether a limit stops it (cpu.stat).",
        _PSI,
        _waits("cpu", "some", 25),
    ),
    Rule(
        "memory-pressure",
        "CPU",
        "Tasks wait for memory {subject}",
        "/proc/pressure/memory, memory.pressure",
        "5 % of the time all tasks waited",
        "The kernel looks for pages to free while tasks wait: everything is late.",
        "Give more memory or take less; see swap (vmstat) and the group's limit.",
        _PSI,
        _waits("memory", "full", 5),
    ),
    Rule(
        "io-pressure",
        "disk",
        "Tasks wait for disks {subject}",
        "/proc/pressure/io, io.pressure",
        "20 % of the time all tasks waited",
        "Nothing runs as all wait for storage: the network waits with them.",
        "Look at iostat -x: which drive, and who reads or writes.",
        _PSI,
        _waits("io", "full", 20),
    ),
    Rule(
        "remote-pages",
        "CPU",
        "Memory was given from another node than wanted: {subject}",
        "numa_miss of numastat",
        "a fifth of the pages, and a million",
        "The wanted node had no free memory, so pages are on the other: each access crosses the"
        " link between sockets.",
        "Spread or bind memory (numactl), see numastat -m which node is full.",
        "Linux Documentation/admin-guide/numastat.rst",
        _nodes,
    ),
)
