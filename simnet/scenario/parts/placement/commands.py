"""How to start the processes of the workload: by where they are bound to."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.commands.together import Together
from simnet.scenario.core.effective import Effective, Flow
from simnet.scenario.core.knob import CpuList

_NETSERVER: Final = "netserver"
# streams of programs that only their host knows
_OTHERS: Final = "streams"
_NETSERVER_PORT: Final = 12865


def typed(base: Effective, tuned: Effective) -> Iterator[Together]:
    """Yield what starts the processes on other nodes, if a tuning asks for that."""
    if _rebound(base, tuned):
        yield Together(last=_processes(tuned), last_undo=_processes(base))


def _rebound(base: Effective, tuned: Effective) -> bool:
    """Whether a process has to start on other nodes."""
    before = {flow.name: (_bound(flow), flow.peer_cpus) for flow in base.flows}
    after = {flow.name: (_bound(flow), flow.peer_cpus) for flow in tuned.flows}
    return any(before.get(name, bound) != bound for name, bound in after.items())


def _bound(flow: Flow) -> str:
    """Return what a process on the system is started under."""
    return _taskset(flow.cpus) + _numactl(flow.cpubind_node, flow.preferred_node)


def _taskset(cpus: tuple[int, ...]) -> str:
    return f"taskset --cpu-list {CpuList('').text(cpus)} " if cpus else ""


def _processes(effective: Effective) -> tuple[str, ...]:
    """Return how to start the processes of the workload: by where they are bound to."""
    groups: dict[str, list[Flow]] = {}
    for flow in effective.flows:
        groups.setdefault(_bound(flow), []).append(flow)
    far = [
        f"# on each peer: start the processes under: {_taskset(cpus).strip()}"
        for cpus in dict.fromkeys(flow.peer_cpus for flow in effective.flows)
        if cpus
    ]
    if effective.workload.test != _NETSERVER or effective.workload.type == _OTHERS:
        return (*_comments(groups), *far)
    lines = [f"killall {_NETSERVER}"]
    for number, (bound, flows) in enumerate(groups.items()):
        port = f" -p {_NETSERVER_PORT + number}" if len(groups) > 1 else ""
        names = ", ".join(flow.name for flow in flows)
        lines.append(f"{bound}{_NETSERVER}{port}  # the streams of {names}")
    return (*lines, *far)


def _comments(groups: dict[str, list[Flow]]) -> Iterator[str]:
    for bound, flows in groups.items():
        names = ", ".join(flow.name for flow in flows)
        under = bound.strip()
        yield f"# start the processes of {names} {f'under: {under}' if under else 'as they are'}"


def _numactl(cpubind: int | None, preferred: int | None) -> str:
    options = [
        f"--{name}={node}"
        for name, node in (("cpubind", cpubind), ("preferred", preferred))
        if node is not None
    ]
    return f"numactl {' '.join(options)} " if options else ""
