"""What to type for a bond: its driver takes all options at once, when it is loaded.

Source: Documentation/networking/bonding.txt of Linux 2.6.18, configuring bonding manually.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simnet.scenario.commands.together import Together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.effective import Effective

__all__ = ["Bond", "bond_of", "rebuild", "typed"]

_OPTION: Final = "modprobe bonding "
_SLAVE: Final = "ifenslave bond0 "


@dataclass(frozen=True)
class Bond:
    """What was typed for a bond.

    Attributes:
        options: of the module, as ``mode=balance-rr miimon=100``.
        slaves: ports, in order; without any there is no bond.
    """

    options: str
    slaves: tuple[str, ...]


def typed(base: Effective, tuned: Effective) -> Iterator[Together]:
    """Yield what makes another bond, if a tuning asks for one."""
    old, new = bond_of(base), bond_of(tuned)
    if old == new:
        return
    keep = "# where ifcfg-bond0 has BONDING_MODULE_OPTS, change it there instead"
    yield Together(
        first=tuple(rebuild(old, new)),
        first_undo=tuple(rebuild(new, old)),
        options=(f"options bonding {new.options}",) if new.slaves else (),
        keep=(keep,) if new.slaves else (),
    )


def bond_of(effective: Effective) -> Bond:
    """Return the bond of a configuration as its knobs have it."""
    options, slaves = [], []
    for knob in effective.applied:
        if knob.name.startswith(_OPTION):
            options.append(f"{knob.name.removeprefix(_OPTION)}={knob.value}")
        elif knob.name.startswith(_SLAVE) and knob.value == "on":
            slaves.append(knob.name.removeprefix(_SLAVE))
    return Bond(" ".join(options), tuple(slaves))


def rebuild(old: Bond, new: Bond) -> list[str]:
    """Return the commands that take one bond apart and make the other."""
    lines = ["ifconfig bond0 down", "modprobe -r bonding"] if old.slaves else []
    if new.slaves:
        lines += [
            f"modprobe bonding {new.options}",
            "ifconfig bond0 up  # with its address and netmask",
            f"ifenslave bond0 {' '.join(new.slaves)}",
        ]
    return lines
