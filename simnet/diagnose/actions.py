"""Commands that several rules give: what to type, what takes it back, and what simnet is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.diagnose.rule import Action
from simnet.printable import typed

if TYPE_CHECKING:
    from simnet.diagnose.evidence import Evidence
    from simnet.diagnose.families import Act

__all__ = ["PORT", "look", "named", "sysctl", "tool", "wider_ring"]

PORT: Final = "eth0"
"""What stands in a command for a port that no file names."""
# dev_valid_name, and nothing that a knob or a shell would take apart
_NAME: Final = re.compile(r"(?!-)[\w.-]{1,15}")


def named(port: str) -> str:
    """Return a port as a command takes it; `PORT` where none is known."""
    return port if _NAME.fullmatch(port) else PORT


def tool(flag: str, port: str, name: str, value: object, before: str = "") -> Action:
    """Return a call of ethtool that sets one value; `before` is what it has, if known."""
    port = named(port)
    return Action(
        typed("ethtool", flag, port, name, str(value)),
        typed("ethtool", flag, port, name, before) if before else "",
        f"ethtool {flag} {port} {name}={value}",
    )


def wider_ring(side: str = "rx") -> Act:
    """Return what makes the command for the largest ring of a port."""

    def act(evidence: Evidence, port: str) -> tuple[Action, ...]:
        most = evidence.value("ring", f"{side} most", port)
        now = evidence.value("ring", side, port)
        if most is not None and now is not None and now >= most:
            return ()
        before = "" if now is None else f"{now:.0f}"
        larger = 4096 if most is None else int(most)
        return (tool("-G", port, side, larger, before),)

    return act


def sysctl(evidence: Evidence, name: str, value: str, *, modelled: bool = False) -> Action:
    """Return the command that sets one sysctl, undone to what the files say it has."""
    before = evidence.said("sysctl", re.escape(name))
    undo = typed("sysctl", "-w", f"{name}={before}") if before else ""
    return Action(
        typed("sysctl", "-w", f"{name}={value}"), undo, f"{name}={value}" if modelled else ""
    )


def look(*words: str) -> Action:
    """Return a command that only shows something."""
    return Action(typed(*words))
