"""What to type for a bond: its driver takes all options at once, when it is loaded.

Some options can be set while it is up. It is kept in the files that configure the network.

Sources: Documentation/networking/bonding.txt of Linux 2.6.18, configuring bonding manually;
``drivers/net/bonding/bond_options.c`` of Linux 3.14: what lacks ``BOND_OPTFLAG_IFDOWN``;
netplan(5), bonds; interfaces-bond(5); ifcfg-bonding(5) of wicked; sysconfig.txt of initscripts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from simnet.host.release import release
from simnet.scenario.commands.distribution import distribution_of
from simnet.scenario.commands.together import CUT_OFF, Together
from simnet.scenario.core.effective import Effective

_OPTION: Final = "modprobe bonding "
_SLAVE: Final = "ifenslave bond0 "
_FIRST_SET_WHILE_UP: Final = (3, 14)
_SET_WHILE_UP: Final = ("xmit_hash_policy", "miimon", "updelay", "downdelay", "primary")
_CUT_OFF: Final = f"# bond0 goes down: a session over it {CUT_OFF}"
# with files of options in sysfs; that of the hash cannot be written while the bond is up
_FIRST_WITH_FILES: Final = (2, 6, 18)
_SET_WHILE_DOWN: Final = ("xmit_hash_policy",)
_ELSEWHERE: Final = "# where ifcfg-bond0 has BONDING_MODULE_OPTS, change it there instead"
_NETPLAN: Final = "/etc/netplan/91-simnet-bond.yaml"
_IN_NETPLAN: Final = {
    "miimon": "mii-monitor-interval",
    "updelay": "up-delay",
    "downdelay": "down-delay",
    "xmit_hash_policy": "transmit-hash-policy",
}


@dataclass(frozen=True)
class Bond:
    """What was typed for a bond."""

    options: str  # of the module, as ``mode=balance-rr miimon=100``
    slaves: tuple[str, ...]  # ports, in order; without any there is no bond


def typed(base: Effective, tuned: Effective) -> Iterator[Together]:
    """Yield what makes another bond, if a tuning asks for one."""
    old, new = bond_of(base), bond_of(tuned)
    if old == new:
        return
    kernel = tuned.host.kernel
    style = distribution_of(kernel.distribution, kernel.version)
    changed = _changed(base, tuned)
    known = release(kernel.version)
    in_files = old.slaves == new.slaves and all(
        name in _SET_WHILE_UP and before for name, (before, _) in changed.items()
    )
    up = "ip link set dev bond0 {}" if style.today else "ifconfig bond0 {}"
    if in_files and known >= _FIRST_WITH_FILES:
        first = [_set(name, after) for name, (_, after) in changed.items()]
        undo = [_set(name, before) for name, (before, _) in changed.items()][::-1]
        if known < _FIRST_SET_WHILE_UP and any(name in changed for name in _SET_WHILE_DOWN):
            first = [_CUT_OFF, up.format("down"), *first, up.format("up")]
            undo = [_CUT_OFF, up.format("down"), *undo, up.format("up")]
    else:
        first, undo = rebuild(old, new, today=style.today), rebuild(new, old, today=style.today)
    kept = _KEPT.get(style.network)
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    if new.slaves:
        keep = kept(new.options) if kept else (_ELSEWHERE,)
    if kept and new.slaves and old.slaves:
        drop = (f"rm {_NETPLAN}",) if kept is _netplan else kept(old.options)
    yield Together(
        first=tuple(first),
        first_undo=tuple(undo),
        options=(f"options bonding {new.options}",) if new.slaves and not kept else (),
        keep=keep,
        drop=drop,
    )


def _nmcli(options: str) -> tuple[str, ...]:
    return (f"nmcli connection modify bond0 +bond.options {options.replace(' ', ',')}",)


def _netplan(options: str) -> tuple[str, ...]:
    """Return a file of its own: netplan merges all files by their keys."""
    pairs = (option.partition("=") for option in options.split())
    lines = (f"        {_IN_NETPLAN.get(name, name)}: {value}" for name, _, value in pairs)
    head = ("network:", "  version: 2", "  bonds:", "    bond0:", "      parameters:")
    return (f"cat > {_NETPLAN} <<'END'", *head, *lines, "END", f"chmod 600 {_NETPLAN}")


def _interfaces(options: str) -> tuple[str, ...]:
    pairs = (option.partition("=") for option in options.split())
    lines = (f"bond-{name.replace('_', '-')} {value}" for name, _, value in pairs)
    return (f"# in /etc/network/interfaces, a line each below iface bond0: {', '.join(lines)}",)


def _ifcfg(options: str) -> tuple[str, ...]:
    return (f'# in /etc/sysconfig/network-scripts/ifcfg-bond0: BONDING_OPTS="{options}"',)


def _wicked(options: str) -> tuple[str, ...]:
    return (f"# in /etc/sysconfig/network/ifcfg-bond0: BONDING_MODULE_OPTS='{options}'",)


_KEPT: Final[Mapping[str, Callable[[str], tuple[str, ...]]]] = {
    "nmcli": _nmcli,
    "netplan": _netplan,
    "interfaces": _interfaces,
    "ifcfg": _ifcfg,
    "wicked": _wicked,
}


def _changed(base: Effective, tuned: Effective) -> dict[str, tuple[str, str]]:
    """Options with another value than before: name, then the value before and after."""
    old = {one.name: one.value for one in base.applied}
    return {
        one.name.removeprefix(_OPTION): (old.get(one.name, one.before), one.value)
        for one in tuned.applied
        if one.name.startswith(_OPTION) and old.get(one.name) != one.value
    }


def _set(name: str, value: str) -> str:
    return f"echo {value} > /sys/class/net/bond0/bonding/{name}"


def bond_of(effective: Effective) -> Bond:
    """Return the bond of a configuration as its knobs have it."""
    options, slaves = [], []
    for knob in effective.applied:
        if knob.name.startswith(_OPTION):
            options.append(f"{knob.name.removeprefix(_OPTION)}={knob.value}")
        elif knob.name.startswith(_SLAVE) and knob.value == "on":
            slaves.append(knob.name.removeprefix(_SLAVE))
    return Bond(" ".join(options), tuple(slaves))


def rebuild(old: Bond, new: Bond, *, today: bool = False) -> list[str]:
    """Return the commands that take one bond apart and make the other.

    Args:
        old: what is there.
        new: what is to be.
        today: whether the machine has ip(8) in place of ifconfig and ifenslave.
    """
    up, down = (
        ("ip link set dev bond0 up", "ip link set dev bond0 down")
        if today
        else ("ifconfig bond0 up", "ifconfig bond0 down")
    )
    lines = []
    if old.slaves:
        lines = [_CUT_OFF, down, "modprobe -r bonding"]
    if new.slaves:
        lines.append(f"modprobe bonding {new.options}")
        bound = [
            line
            for slave in new.slaves
            for line in (f"ip link set dev {slave} down", f"ip link set dev {slave} master bond0")
        ]
        lines += bound if today else []
        lines.append(f"{up}  # with its address and netmask")
        lines += [] if today else [f"ifenslave bond0 {' '.join(new.slaves)}"]
    return lines
