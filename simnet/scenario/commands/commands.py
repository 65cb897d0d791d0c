"""What to type to apply a tuning, to undo it, and to keep it over a reboot.

The commands are shell text, line by line: commands and comments, nothing else. What no command can
do (rebuild a kernel, start a user's process) is a comment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simnet.printable import printable
from simnet.scenario.commands.distribution import Distribution, distribution_of
from simnet.scenario.commands.loops import looped
from simnet.scenario.commands.network_files import PortSetting, dropped, keeps, kept
from simnet.scenario.commands.together import CUT_OFF
from simnet.scenario.core.knobs import knob_of
from simnet.scenario.core.subject import subjects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simnet.scenario.commands.together import Together
    from simnet.scenario.core.effective import Effective, Host
    from simnet.scenario.core.knob import AppliedKnob, Knob

EACH_PEER: Final = "each peer"
"""How commands for all peers begin to say where they are for."""
_FRESH: Final = {
    "connections": "# acts on connections that begin afterwards",
    # a socket that a listener accepts is a copy of it
    "sockets": "# acts on sockets that are opened afterwards: restart the programs (ss -tulnp)",
}
_RESTARTS: Final = "# the port may restart for it: a session over it stands still for seconds then"
_PEER: Final = "peer:"
_NAMELESS: Final = "the host"
# the name of a machine that has none: the file of its model
_FILE: Final = ".toml"


@dataclass(frozen=True)
class Commands:
    """Shell lines for one machine, or for each of several that are alike."""

    where: str  # the machine
    apply: tuple[str, ...]  # sets the tuning
    undo: tuple[str, ...]  # restores what was before
    keep: tuple[str, ...]  # makes it survive a reboot
    drop: tuple[str, ...]  # undoes that


@dataclass(frozen=True)
class ChangedKnob:
    """A knob that a tuning sets."""

    name: str  # as typed
    knob: Knob  # which it is
    parts: dict[str, str]  # port or interrupt in its name
    value: str  # what it is set to
    before: str  # what it was; empty where that is not known
    modelled: bool  # whether a simulation depends on it
    unknown: str = ""  # why nobody knows what it does here; empty where that is known

    @property
    def on_peers(self) -> bool:
        """Whether it is the peers' knob."""
        return self.name.startswith(_PEER)


def changed_knobs(base: Effective, tuned: Effective) -> list[ChangedKnob]:
    """Return the knobs that a tuning sets, in the order to set them.

    One that it sets to what the model takes for granted is among them: the machine may have drifted
    from that, and an interrupt that irqbalance has placed moves at the next boot without it.
    irqbalance comes first when it is stopped and last when it is started: where it runs, it
    moves interrupts.
    """
    already = {applied.name: applied.value for applied in base.applied}
    found = [
        _changed_knob(applied, already.get(applied.name, applied.before))
        for applied in tuned.applied
        if already.get(applied.name) != applied.value
    ]
    return sorted(found, key=_place)


def _changed_knob(applied: AppliedKnob, before: str) -> ChangedKnob:
    name = applied.name.removeprefix(_PEER)
    found = knob_of(name)
    if found is None:
        raise LookupError(name)
    knob, parts = found
    return ChangedKnob(
        applied.name, knob, dict(parts), applied.value, before, applied.modelled, applied.unknown
    )


def _place(one: ChangedKnob) -> int:
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
    ports: list[PortSetting] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

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
    changes = changed_knobs(base, tuned)
    own = [one for one in changes if not one.on_peers]
    theirs = [one for one in changes if one.on_peers]
    found = []
    together = [one for subject in subjects() for one in subject.typed(base, tuned)]
    if own or any(one.last or one.last_undo for one in together):
        name = tuned.host.name
        where = _NAMELESS if name.endswith(_FILE) else name
        found.append(_for_host(tuned.host, where, own, together))
    if theirs:
        names = ", ".join(sorted({one.name for one in tuned.peers if not one.name.endswith(_FILE)}))
        where = f"{EACH_PEER} ({names})" if names else EACH_PEER
        found.append(_for_host(tuned.peers[0], where, theirs))
    return found


def _for_host(
    host: Host, where: str, changes: Iterable[ChangedKnob], together: Iterable[Together] = ()
) -> Commands:
    lines = _Lines()
    style = distribution_of(host.kernel.distribution, host.kernel.version)
    for several in together:
        lines.options += several.options
        lines.keep += several.keep
        lines.drop += several.drop
    for one in changes:
        if not one.knob.together:
            _add(lines, one, style, host)
    keep = [*lines.keep, *style.keep_lines(style.sysctl_file, lines.sysctls)]
    if lines.sysctls and style.sysctl_boot:
        keep.append(style.sysctl_boot)
    keep += style.keep_lines(style.modprobe_file, lines.options)
    keep += kept(style, lines.ports)
    keep += style.keep_script(looped(lines.start), looped(lines.stop[::-1]))
    if any(several.last for several in together):
        keep.append("# the processes: in what starts them at boot")
    drop = [
        *style.drop_script(lines.start),
        *dropped(style, lines.ports),
        *style.drop_lines(style.modprobe_file, lines.options),
        *style.drop_lines(style.sysctl_file, lines.sysctls),
        *lines.drop[::-1],
    ]
    first, first_undo, last, last_undo = (
        [line for several in together for line in getattr(several, name)]
        for name in ("first", "first_undo", "last", "last_undo")
    )
    return Commands(
        where=printable(where),
        apply=_safe(*lines.before, *first, *looped(lines.apply), *lines.after, *last),
        undo=_safe(*lines.before, *last_undo, *looped(lines.undo[::-1]), *lines.after, *first_undo),
        keep=_safe(*keep),
        drop=_safe(*drop),
    )


def _safe(*lines: str) -> tuple[str, ...]:
    """The lines as lines: values are legal ones, but names of files stand in comments."""
    return tuple(map(printable, lines))


def _add(lines: _Lines, one: ChangedKnob, style: Distribution, host: Host) -> None:
    knob = one.knob
    if knob.compile_time or knob.by_hand:
        lines.add(f"# {_typed(one, one.value, style)}", f"# {_typed(one, one.before, style)}")
    elif knob.scope == "irqbalance":
        _add_daemon(lines, one, style)
    elif knob.name.startswith("modprobe "):
        _add_option(lines, one, host)
    else:
        unknown = f"# {one.name}: the value before is not known; write it down first"
        undo = _typed(one, one.before, style) if one.before else unknown
        sysctl = knob.command.startswith("sysctl ")
        managed = keeps(style, knob.name)
        in_script = not sysctl and not managed and knob.keep is None
        lines.add(_typed(one, one.value, style), undo, in_script=in_script)
        if knob.restarts and _RESTARTS not in lines.before:
            lines.before.append(_RESTARTS)
        remark = _FRESH.get(knob.fresh)
        if remark is not None and remark not in lines.after:
            lines.after.append(remark)
        if managed:
            port = PortSetting(one.parts["port"], knob.name, one.value, one.before)
            lines.ports.append(port)
        if sysctl:
            lines.sysctls.append(f"{knob.name} = {one.value}")
        if knob.keep:
            lines.keep.append(knob.keep.format(value=one.value, **one.parts))
            if one.before:
                lines.drop.append(knob.keep.format(value=one.before, **one.parts))


def _typed(one: ChangedKnob, value: str, style: Distribution) -> str:
    return one.knob.typed(value, one.parts, today=style.today)


def _add_daemon(lines: _Lines, one: ChangedKnob, style: Distribution) -> None:
    on = one.value == "on"
    verbs, states = ("start", "stop"), style.states
    lines.add(style.irqbalance.format(verb=verbs[not on]), style.irqbalance.format(verb=verbs[on]))
    lines.keep.append(style.at_boot.format(state=states[not on]))
    lines.drop.append(style.at_boot.format(state=states[on]))


def _add_option(lines: _Lines, one: ChangedKnob, host: Host) -> None:
    """Reload the driver with an option; the driver takes a value for each of its ports."""
    _, module, option = one.knob.name.split()
    ports = sum(port.nic.driver == module for port in host.ports)

    def reload(value: str) -> str:
        return f"modprobe -r {module}; modprobe {module} {option}={_each(value, ports)}"

    warning = f"# the ports of {module} go down: a session over them {CUT_OFF}"
    lines.apply.append(warning)
    lines.add(reload(one.value), reload(one.before))
    lines.undo.append(warning)
    lines.options.append(f"options {module} {option}={_each(one.value, ports)}")


def _each(value: str, ports: int) -> str:
    return ",".join([value] * max(ports, 1))
