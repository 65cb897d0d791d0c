"""What to type to apply a tuning, to undo it, and to keep it over a reboot.

The commands are shell text, line by line: commands and comments, nothing else. What no command can
do (rebuild a kernel, start a user's process) is a comment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simnet.printable import printable
from simnet.scenario.commands.distribution import Distribution, distribution_of
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.parts.bonding.commands import bond_of, is_of_bond, rebuild

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simnet.scenario.core.effective import Effective, Flow, Host
    from simnet.scenario.core.knob import AppliedKnob, Knob
    from simnet.scenario.parts.relay.schema import Relay

__all__ = ["Commands", "Turned", "commands", "turned"]

_PEER: Final = "peer:"
# at the switch, by hand, and in a program
_NO_COMMAND: Final = frozenset({"switch", "cable", "application", "model"})
_NETSERVER: Final = "netserver"
_NETSERVER_PORT: Final = 12865


@dataclass(frozen=True)
class Commands:
    """Shell lines for one machine, or for each of several that are alike.

    Attributes:
        where: the machine.
        apply: sets the tuning.
        undo: restores what was before.
        keep: makes it survive a reboot.
        drop: undoes that.
    """

    where: str
    apply: tuple[str, ...]
    undo: tuple[str, ...]
    keep: tuple[str, ...]
    drop: tuple[str, ...]


@dataclass(frozen=True)
class Turned:
    """A knob that a tuning sets.

    Attributes:
        name: as typed.
        knob: which it is.
        parts: port or interrupt in its name.
        value: what it is set to.
        before: what it was; empty where that is not known.
        modelled: whether a simulation depends on it.
    """

    name: str
    knob: Knob
    parts: dict[str, str]
    value: str
    before: str
    modelled: bool

    @property
    def on_peers(self) -> bool:
        """Whether it is the peers' knob."""
        return self.name.startswith(_PEER)


def turned(base: Effective, tuned: Effective) -> list[Turned]:
    """Return the knobs that a tuning sets, in the order to set them.

    One that it sets to what the model takes for granted is among them: the machine may have drifted
    from that, and an interrupt that irqbalance has placed moves at the next boot without it.
    irqbalance comes first when it is stopped and last when it is started: where it runs, it
    moves interrupts.
    """
    already = {applied.name: applied.value for applied in base.applied}
    found = [
        _turned(applied, already.get(applied.name, applied.before))
        for applied in tuned.applied
        if already.get(applied.name) != applied.value
    ]
    return sorted(found, key=_place)


def _turned(applied: AppliedKnob, before: str) -> Turned:
    name = applied.name.removeprefix(_PEER)
    knob, parts = next((k, found) for k in KNOBS if (found := k.match(name)) is not None)
    return Turned(applied.name, knob, parts, applied.value, before, applied.modelled)


def _place(one: Turned) -> int:
    if one.knob.scope != "irqbalance":
        return 0
    return -1 if one.value == "off" else 1


@dataclass
class _Lines:
    """Lines as they come together."""

    apply: list[str] = field(default_factory=list)
    undo: list[str] = field(default_factory=list)  # in the order of `apply`, hence backwards
    start: list[str] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    sysctls: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    around: tuple[list[str], list[str]] = ([], [])  # before everything else; undone after it

    def add(self, apply: str, undo: str, *, in_script: bool = False) -> None:
        apply, undo = _safe(apply, undo)
        self.apply.append(apply)
        self.undo.append(undo)
        if in_script:
            self.start.append(apply)
            self.stop.append(undo)


def commands(base: Effective, tuned: Effective) -> list[Commands]:
    """Return what to type for a tuning, first on the system under test, then on its peers.

    Args:
        base: the configuration without it.
        tuned: the configuration with it.
    """
    changes = turned(base, tuned)
    own = [one for one in changes if not one.on_peers]
    theirs = [one for one in changes if one.on_peers]
    found = []
    lines = _Lines()
    old, new = bond_of(base), bond_of(tuned)
    if old != new:
        lines.around = rebuild(old, new), rebuild(new, old)
        if new.slaves:
            lines.options.append(f"options bonding {new.options}")
            lines.keep.append(
                "# where ifcfg-bond0 has BONDING_MODULE_OPTS, change it there instead"
            )
    processes = (_processes(base), _processes(tuned)) if _rebound(base, tuned) else ((), ())
    if base.relay and tuned.relay and base.relay != tuned.relay:
        processes = _workers(base.relay), _workers(tuned.relay)
    if own or any(processes):
        found.append(_for_host(tuned.host, tuned.host.name, own, lines, processes))
    if theirs:
        names = ", ".join(sorted({peer.name for peer in tuned.peers}))
        where = f"each peer ({names})"
        found.append(_for_host(tuned.peers[0], where, theirs, _Lines(), ((), ())))
    return found


def _for_host(
    host: Host,
    where: str,
    changes: Iterable[Turned],
    lines: _Lines,
    processes: tuple[tuple[str, ...], tuple[str, ...]],
) -> Commands:
    style = distribution_of(host.kernel.distribution, host.kernel.version)
    for one in changes:
        if one.knob.scope != "flows" and not is_of_bond(one.name):
            _add(lines, one, style, host)
    before, after = processes
    keep = [*lines.keep, *style.keep_lines(style.sysctl_file, lines.sysctls)]
    if lines.sysctls and style.sysctl_boot:
        keep.append(style.sysctl_boot)
    keep += style.keep_lines(style.modprobe_file, lines.options)
    keep += style.keep_script(lines.start, lines.stop[::-1])
    if after:
        keep.append("# the processes: in whatever starts them at boot")
    drop = [
        *style.drop_script(lines.start),
        *style.drop_lines(style.modprobe_file, lines.options),
        *style.drop_lines(style.sysctl_file, lines.sysctls),
        *lines.drop[::-1],
    ]
    return Commands(
        where=printable(where),
        apply=_safe(*lines.around[0], *lines.apply, *after),
        undo=_safe(*before, *lines.undo[::-1], *lines.around[1]),
        keep=_safe(*keep),
        drop=_safe(*drop),
    )


def _safe(*lines: str) -> tuple[str, ...]:
    """The lines as lines: values are legal ones, but names of files stand in comments."""
    return tuple(map(printable, lines))


def _add(lines: _Lines, one: Turned, style: Distribution, host: Host) -> None:
    knob = one.knob
    if knob.compile_time or knob.scope in _NO_COMMAND:
        lines.add(f"# {_typed(one, one.value)}", f"# {_typed(one, one.before)}")
    elif knob.scope == "irqbalance":
        _add_daemon(lines, one, style)
    elif knob.name.startswith("modprobe "):
        _add_option(lines, one, host)
    elif knob.system == "aix":
        _add_attribute(lines, one)
    else:
        unknown = f"# {one.name}: the value before is not known; write it down first"
        undo = _typed(one, one.before) if one.before else unknown
        sysctl = knob.command.startswith("sysctl ")
        # what is typed at the management console stays as it is set
        kept = sysctl or knob.name.startswith("lpar ")
        lines.add(_typed(one, one.value), undo, in_script=not kept)
        if sysctl:
            lines.sysctls.append(f"{knob.name} = {one.value}")


def _add_attribute(lines: _Lines, one: Turned) -> None:
    """Set an attribute of AIX: chdev keeps it over a reboot, no does with -p."""
    apply, undo = _typed(one, one.value), _typed(one, one.before) if one.before else ""
    lines.add(apply, undo or f"# {one.name}: the value before is not known; write it down first")
    if apply.startswith("no "):
        lines.keep.append(apply.replace("no ", "no -p ", 1))
        if undo:
            lines.drop.append(undo.replace("no ", "no -p ", 1))


def _typed(one: Turned, value: str) -> str:
    return one.knob.typed(value, one.parts)


def _add_daemon(lines: _Lines, one: Turned, style: Distribution) -> None:
    on = one.value == "on"
    verbs, states = ("start", "stop"), style.states
    lines.add(style.irqbalance.format(verb=verbs[not on]), style.irqbalance.format(verb=verbs[on]))
    lines.keep.append(style.at_boot.format(state=states[not on]))
    lines.drop.append(style.at_boot.format(state=states[on]))


def _add_option(lines: _Lines, one: Turned, host: Host) -> None:
    """Reload the driver with an option; the driver takes a value for each of its ports."""
    _, module, option = one.knob.name.split()
    ports = sum(port.nic.driver == module for port in host.ports)

    def reload(value: str) -> str:
        return f"modprobe -r {module}; modprobe {module} {option}={_each(value, ports)}"

    lines.add(reload(one.value), reload(one.before))
    lines.options.append(f"options {module} {option}={_each(one.value, ports)}")


def _each(value: str, ports: int) -> str:
    return ",".join([value] * max(ports, 1))


def _workers(relay: Relay) -> tuple[str, ...]:
    """Return what the relay's own configuration has to say, which no command can."""
    where = (
        "worker k on CPU k" if relay.placement == "pinned" else "workers where the kernel puts them"
    )
    how = f"connections handed out {relay.balance.replace('_', '-')}"
    return (f"# the relay: {relay.workers} workers, {where}, {how}",)


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
