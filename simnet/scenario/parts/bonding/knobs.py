"""The knobs of a bond: the driver's module parameters, its slaves, the switch, the cables.

Sources: Documentation/networking/bonding.txt and drivers/net/bonding/bond_main.c
(`bond_check_params`) of Linux 2.6.18; Cisco Catalyst 3750 Switch Command Reference.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob, ignored
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Choice, Flag, count, time
from simnet.scenario.parts.bonding.schema import Bonding
from simnet.scenario.parts.network.schema import Switch

_AGAIN: Final = "then ifconfig bond0 ADDRESS, and ifenslave each port again"


def _module(name: str, target: str, unit: str = "", note: str = "") -> Knob:
    return Knob(
        f"modprobe bonding {name}",
        value_spec(Bonding, target).doc,
        value_spec(Bonding, target),
        "bonding",
        target,
        f"modprobe -r bonding; modprobe bonding {name}={{value}}",
        unit=unit,
        note=f"{note}{_AGAIN}",
        together=True,
    )


def _ignored(name: str, doc: str, spec: Spec, **more: Any) -> Knob:
    command = f"modprobe -r bonding; modprobe bonding {name}={{value}}"
    return ignored(f"modprobe bonding {name}", doc, spec, command, together=True, **more)


def _cable(verb: str, target: str, doc: str) -> Knob:
    command = f"{verb} the cable of {{port}} after {{value}}"
    spec = time(doc, "0 s", "100000 s")
    more: dict[str, Any] = {"own": True, "by_hand": True, "undone": False}
    return Knob(f"{verb} {{port}}", doc, spec, "interface", target, command, default=0, **more)


BONDING: Final = (
    Knob(
        "ifenslave bond0 {port}",
        "port is a slave of bond0",
        Flag("on or off"),
        "interface",
        "enslaved",
        "ifenslave{detach} bond0 {port}",
        default=False,
        together=True,
    ),
    _module("mode", "mode"),
    _module("miimon", "miimon_ps", "ms", note="0 becomes 100 in 802.3ad, balance-tlb, -alb; "),
    _module("updelay", "updelay_ps", "ms"),
    _module("downdelay", "downdelay_ps", "ms"),
    _module("xmit_hash_policy", "xmit_hash_policy"),
    _module("primary", "primary"),
    _ignored(
        "lacp_rate",
        "how often LACP frames are asked for: slow 30 s, fast 1 s",
        Choice("", ("slow", "fast")),
        note="matters only where a link stays up and its partner falls silent",
    ),
    _ignored("use_carrier", "ask the driver for the link state", Flag("")),
    _ignored("arp_interval", "ARP monitoring, ms", count("", 0, 2**31 - 1)),
    Knob(
        "port-channel load-balance",
        value_spec(Switch, "load_balance").doc,
        value_spec(Switch, "load_balance"),
        "switch",
        "load_balance",
        "on the switch, configure terminal: port-channel load-balance {value}",
        by_hand=True,
    ),
    _cable("unplug", "unplugged_ps", "time from the start at which the cable is pulled; 0: never"),
    _cable("replug", "plugged_ps", "time from the start at which it is plugged again; 0: never"),
)
