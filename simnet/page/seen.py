"""What is seen of the first pair of runs: the CPUs by node, where CPU time goes; and the host.

Drawn as plain elements: at once, in the colours of the page, and as narrow as the window.
"""

from collections.abc import Mapping
from typing import Any, Final

from simnet.report.html.cases import machine_picture
from simnet.report.html.page import environment
from simnet.study.run.result import Result
from simnet.study.whatif.mechanism import per_unit_us, unit_of
from simnet.study.work.cases import Case, Member

_LEAST_SHARE: Final = 0.01


def cpus_shown(results: Mapping[str, Result]) -> str:
    """A square for each logical CPU, as dark as it is busy."""
    cases = {
        case: {
            node: [cpu for cpu in result.cpus if cpu.node == node]
            for node in sorted({cpu.node for cpu in result.cpus})
        }
        for case, result in results.items()
    }
    return _rendered("cpus.html", cases=cases)


def work_shown(results: Mapping[str, Result]) -> str:
    """A bar for each mechanism and case, the longest first; empty where nothing was delivered."""
    shares = {case: per_unit_us(result) for case, result in results.items()}
    if not all(shares.values()):
        return ""
    placed = {one.mechanism for result in results.values() for one in result.work if one.placement}
    names = dict.fromkeys(name for found in shares.values() for name in found)
    most = {name: max(found.get(name, 0.0) for found in shares.values()) for name in names}
    totals = {case: sum(found.values()) for case, found in shares.items()}
    least = _LEAST_SHARE * max(totals.values())
    drawn = sorted((name for name in names if most[name] >= least), key=lambda n: -most[n])
    rows = [
        (
            name,
            "placement" if name in placed else "",
            [one.get(name, 0.0) for one in shares.values()],
        )
        for name in drawn
    ]
    rest = [sum(us for name, us in one.items() if name not in drawn) for one in shares.values()]
    return _rendered(
        "work.html",
        cases=list(shares),
        rows=[*rows, ("all else", "", rest)],
        totals=list(totals.values()),
        longest=max(most.values()) or 1.0,
        unit=unit_of(next(iter(results.values()))),
    )


def host_shown(base: Case) -> str:
    """The machine: nodes, links, buses, sockets, memory, ports and their queues."""
    drawn = machine_picture("host", Member(base).effective())
    return "" if drawn is None else _rendered("host.html", drawn=drawn)


def _rendered(template: str, **values: Any) -> str:
    return environment("simnet.page").get_template(template).render(**values)
