"""Commands that several rules give: what to type, what takes it back, and what simnet is asked."""

import re
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import Act
from simnet.diagnose.rule import Action
from simnet.importing.lookup import nearest_nic
from simnet.printable import typed
from simnet.scenario.core.library import find_model, read_model
from simnet.scenario.parts.nic.schema import Nic

PORT: Final = "eth0"
"""What stands in a command for a port that no file names."""
_NEUTRAL: Final = 4096
# dev_valid_name, and nothing that a knob or a shell would take apart
_NAME: Final = re.compile(r"(?!-)[\w.-]{1,15}")


def _size_of(driver: str, side: str) -> int:
    """Return the largest ring that the model of a driver's card has."""
    model = read_model("nic", find_model("nic", nearest_nic(driver)[0]))[0]
    size = getattr(model, f"{side}_ring", None)
    return _NEUTRAL if size is None else int(size.value)


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
    """Return what gives a port the largest ring, or shows how large it may be."""

    def act(evidence: Evidence, port: str) -> tuple[Action, ...]:
        most = evidence.value("ring", f"{side} most", port)
        now = evidence.value("ring", side, port)
        if most is None:
            # no file says how large it may be: what shows it, and what simnet can be asked
            driver = evidence.said("driver", "driver", port)
            known = Nic.variants().get(driver)
            if known is not None and known.fixed_rings:
                return ()
            asked = f"ethtool -G {named(port)} {side}={_size_of(driver, side)}"
            return (Action(typed("ethtool", "-g", named(port)), "", asked),)
        if now is not None and now >= most:
            return ()
        before = "" if now is None else f"{now:.0f}"
        return (tool("-G", port, side, int(most), before),)

    return act


def sysctl(evidence: Evidence, name: str, value: str, *, modelled: bool = False) -> Action:
    """Return the command that sets one sysctl, undone to what the files say it has."""
    before = " ".join(evidence.said("sysctl", re.escape(name)).split())
    undo = typed("sysctl", "-w", f"{name}={before}") if before else ""
    return Action(
        typed("sysctl", "-w", f"{name}={value}"), undo, f"{name}={value}" if modelled else ""
    )


def look(*words: str) -> Action:
    """Return a command that only shows something."""
    return Action(typed(*words))
