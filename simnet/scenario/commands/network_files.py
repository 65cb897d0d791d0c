"""What of a port's settings its distribution keeps where it configures ports, and how.

Sources: nm-settings-nmcli(5) (802-3-ethernet.mtu; ethtool.ring-*, ethtool.coalesce-* and
ethtool.feature-*, which NetworkManager of RHEL 8 has); netplan(5), whose files are merged by their
names; interfaces(5); sysconfig.txt of initscripts (MTU of ifcfg files); ifcfg(5) of wicked, in
whose files a later line counts, as a shell reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.scenario.commands.distribution import Distribution

_MTU: Final = re.compile(r"ifconfig \{port\} mtu")
_RING: Final = re.compile(r"ethtool -G \{port\} (rx|tx)")
_COALESCE: Final = re.compile(r"ethtool -C \{port\} ((?:adaptive-)?[rt]x(?:-usecs|-frames)?)")
_FEATURE: Final = re.compile(r"ethtool -K \{port\} (gro|gso|tso|lro|rx|tx|sg|ntuple|rxhash)")
_NETPLAN: Final = "/etc/netplan/90-simnet-tuning.yaml"
_INTERFACES: Final = "/etc/network/interfaces"
_IFCFG: Final = "/etc/sysconfig/network-scripts/ifcfg"
_IFCFG_OF_WICKED: Final = "/etc/sysconfig/network/ifcfg"


@dataclass(frozen=True)
class PortSetting:
    """A setting of a port."""

    port: str
    knob: str  # name of the knob, with `{port}`
    value: str  # what it is set to
    before: str  # what it was; empty where that is not known


def keeps(style: Distribution, knob: str) -> bool:
    """Whether a distribution keeps a setting of ports where it configures them."""
    return bool(style.network) and (
        bool(_MTU.fullmatch(knob)) or (style.keeps_ethtool and bool(_property(knob)))
    )


def kept(style: Distribution, settings: Sequence[PortSetting]) -> list[str]:
    """Return the commands that keep settings of ports."""
    return list(_WAYS[style.network][0](settings)) if settings else []


def dropped(style: Distribution, settings: Sequence[PortSetting]) -> list[str]:
    """Return the commands that undo that."""
    return list(_WAYS[style.network][1](settings)) if settings else []


def _property(knob: str) -> str:
    """What NetworkManager calls a setting; empty if it has none."""
    if _MTU.fullmatch(knob):
        return "802-3-ethernet.mtu"
    for pattern, form in ((_RING, "ring"), (_COALESCE, "coalesce"), (_FEATURE, "feature")):
        if matched := pattern.fullmatch(knob):
            return f"ethtool.{form}-{matched[1]}"
    return ""


def _by_port(settings: Sequence[PortSetting]) -> dict[str, list[PortSetting]]:
    found: dict[str, list[PortSetting]] = {}
    for one in settings:
        found.setdefault(one.port, []).append(one)
    return found


def _nmcli(settings: Sequence[PortSetting], *, undo: bool = False) -> list[str]:
    lines = []
    for port, own in _by_port(settings).items():
        name = f'"$(nmcli -g GENERAL.CONNECTION device show {port})"'
        pairs = " ".join(f"{_property(one.knob)} {_managed(one, undo=undo)}" for one in own)
        lines.append(f"nmcli connection modify {name} {pairs}")
    return lines


def _managed(one: PortSetting, *, undo: bool) -> str:
    if undo:
        return one.before if _MTU.fullmatch(one.knob) and one.before else "''"
    number = {"on": "1", "off": "0"}.get(one.value, one.value)
    return number if "coalesce" in _property(one.knob) else one.value


def _netplan(settings: Sequence[PortSetting]) -> list[str]:
    ports = [line for one in settings for line in (f"    {one.port}:", f"      mtu: {one.value}")]
    head = ["network:", "  version: 2", "  ethernets:"]
    return [f"cat > {_NETPLAN} <<'END'", *head, *ports, "END", f"chmod 600 {_NETPLAN}"]


def _no_netplan(settings: Sequence[PortSetting]) -> list[str]:  # noqa: ARG001 - as all ways
    return [f"rm {_NETPLAN}"]


def _interfaces(settings: Sequence[PortSetting]) -> list[str]:
    return [
        f"sed -i '/^iface {one.port} inet /a\\    mtu {one.value}' {_INTERFACES}"
        for one in settings
    ]


def _no_interfaces(settings: Sequence[PortSetting]) -> list[str]:
    return [
        f"sed -i '/^iface {one.port} inet /{{n;/^    mtu {one.value}$/d}}' {_INTERFACES}"
        for one in settings
    ]


def _ifcfg(settings: Sequence[PortSetting]) -> list[str]:
    return [f"echo MTU={one.value} >> {_IFCFG}-{one.port}" for one in settings]


def _no_ifcfg(settings: Sequence[PortSetting]) -> list[str]:
    return [f"sed -i '/^MTU={one.value}$/d' {_IFCFG}-{one.port}" for one in settings]


def _wicked(settings: Sequence[PortSetting]) -> list[str]:
    return [f"echo \"MTU='{one.value}'\" >> {_IFCFG_OF_WICKED}-{one.port}" for one in settings]


def _no_wicked(settings: Sequence[PortSetting]) -> list[str]:
    return [f"sed -i \"/^MTU='{one.value}'$/d\" {_IFCFG_OF_WICKED}-{one.port}" for one in settings]


def _no_nmcli(settings: Sequence[PortSetting]) -> list[str]:
    return _nmcli(settings, undo=True)


_Way = Callable[[Sequence[PortSetting]], list[str]]
_WAYS: Final[Mapping[str, tuple[_Way, _Way]]] = {
    "nmcli": (_nmcli, _no_nmcli),
    "netplan": (_netplan, _no_netplan),
    "interfaces": (_interfaces, _no_interfaces),
    "ifcfg": (_ifcfg, _no_ifcfg),
    "wicked": (_wicked, _no_wicked),
}
