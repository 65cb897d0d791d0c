"""How to start the processes of the workload: by the nodes that they are bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.scenario.commands.together import Together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.effective import Effective, Flow

__all__ = ["typed"]

_NETSERVER: Final = "netserver"
_NETSERVER_PORT: Final = 12865


def typed(base: Effective, tuned: Effective) -> Iterator[Together]:
    """Yield what starts the processes on other nodes, if a tuning asks for that."""
    if _rebound(base, tuned):
        yield Together(last=_processes(tuned), last_undo=_processes(base))


def _rebound(base: Effective, tuned: Effective) -> bool:
    """Whether a process has to start on other nodes."""
    before = {flow.name: _nodes(flow) for flow in base.flows}
    return any(before.get(flow.name, _nodes(flow)) != _nodes(flow) for flow in tuned.flows)


def _nodes(flow: Flow) -> tuple[int | None, int | None]:
    return flow.cpubind_node, flow.preferred_node


def _processes(effective: Effective) -> tuple[str, ...]:
    """Return how to start the processes of the workload: by the node that they are bound to."""
    groups: dict[tuple[int | None, int | None], list[Flow]] = {}
    for flow in effective.flows:
        groups.setdefault(_nodes(flow), []).append(flow)
    if effective.workload.test != _NETSERVER:
        return tuple(_comments(groups))
    lines = [f"killall {_NETSERVER}"]
    for number, (nodes, flows) in enumerate(groups.items()):
        port = f" -p {_NETSERVER_PORT + number}" if len(groups) > 1 else ""
        names = ", ".join(flow.name for flow in flows)
        lines.append(f"{_numactl(*nodes)}{_NETSERVER}{port}  # the streams of {names}")
    return tuple(lines)


def _comments(groups: dict[tuple[int | None, int | None], list[Flow]]) -> Iterator[str]:
    for nodes, flows in groups.items():
        names = ", ".join(flow.name for flow in flows)
        under = _numactl(*nodes).strip()
        yield f"# start the processes of {names} {f'under: {under}' if under else 'as they are'}"


def _numactl(cpubind: int | None, preferred: int | None) -> str:
    options = [
        f"--{name}={node}"
        for name, node in (("cpubind", cpubind), ("preferred", preferred))
        if node is not None
    ]
    return f"numactl {' '.join(options)} " if options else ""
