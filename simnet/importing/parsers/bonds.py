"""Bonds: what the kernel shows of them, and what each distribution's files say.

The kernel's own words count before those of files: `/proc/net/bonding`, `/sys/class/net/*/bonding`,
`ip -d link`; then ifcfg files (Red Hat's and SUSE's), interfaces(5), netplan, NetworkManager's and
systemd-networkd's files, and options of the module.

Source: Documentation/networking/bonding.rst of Linux, `bond_info_show_master` of
drivers/net/bonding/bond_procfs.c and the tables of bond_options.c; ifcfg-bonding(5) of wicked,
sysconfig.txt of initscripts; interfaces-bond(5); netplan(5), bonds; nm-settings-keyfile(5);
systemd.netdev(5), [Bond].
"""

import itertools
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.files.files import Files
from simnet.importing.kind import Kind, Told
from simnet.importing.outputs import INTERFACE, Outputs
from simnet.importing.parser import Parser

_PROC: Final = "proc/net/bonding"
_CLASS: Final = "sys/class/net"
_UNNAMED: Final = "bond0"
# of bond_mode_name in drivers/net/bonding/bond_main.c
_SHOWN_MODES: Final = {
    "load balancing (round-robin)": "balance-rr",
    "fault-tolerance (active-backup)": "active-backup",
    "load balancing (xor)": "balance-xor",
    "fault-tolerance (broadcast)": "broadcast",
    "IEEE 802.3ad Dynamic link aggregation": "802.3ad",
    "transmit load balancing": "balance-tlb",
    "adaptive load balancing": "balance-alb",
}
# the module takes numbers as well: bond_mode_tbl, bond_xmit_hashtype_tbl, bond_lacp_rate_tbl
_NUMBERED: Final = {
    "mode": (
        *("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad"),
        *("balance-tlb", "balance-alb"),
    ),
    "xmit_hash_policy": (
        *("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"),
    ),
    "lacp_rate": ("slow", "fast"),
}
_OPTIONS: Final = (
    *("mode", "xmit_hash_policy", "miimon", "updelay", "downdelay", "primary", "lacp_rate"),
)
_FOLDERS: Final = (
    *("etc/sysconfig/network-scripts", "etc/sysconfig/network", "etc/netplan"),
    *("etc/network/interfaces.d", "etc/NetworkManager/system-connections", "etc/systemd/network"),
    "etc/modprobe.d",
)
_FILES: Final = ("etc/network/interfaces", "etc/modprobe.conf")
_SHOWN: Final = {
    r"Transmit Hash Policy": "xmit_hash_policy",
    r"MII Polling Interval \(ms\)": "miimon",
    r"Up Delay \(ms\)": "updelay",
    r"Down Delay \(ms\)": "downdelay",
    r"Primary Slave": "primary",
    r"LACP rate": "lacp_rate",
}
_MODE: Final = re.compile(r"^Bonding Mode: (.{1,80}?) *$", re.MULTILINE)
_SLAVE: Final = re.compile(r"^Slave Interface: (\S{1,15}) *$", re.MULTILINE)
_ACTIVE: Final = re.compile(r"^Active Aggregator Info:\s+Aggregator ID: (\d{1,6})", re.MULTILINE)
_AGGREGATOR: Final = re.compile(r"^Aggregator ID: (\d{1,6}) *$", re.MULTILINE)
_SPEED: Final = re.compile(
    r"^Slave Interface: (\S{1,15}) *\n(?:(?!Slave Interface)[^\n]*\n){0,4}?"
    r"Speed: (\d{1,7}) Mbps *$",
    re.MULTILINE,
)
_OF_LINK: Final = re.compile(r"^\d{1,6}: ([^\s:@]{1,15})[@:]", re.MULTILINE)
_MASTER: Final = re.compile(r"\bmaster ([^\s:]{1,15})")
_DETAILS: Final = re.compile(r"^ +bond mode (\S{1,20}) ([^\n]{0,2000})", re.MULTILINE)
_ASSIGNED: Final = re.compile(r"\s*([A-Z][A-Z0-9_]{1,30})=(.*?)\s*")
_SLAVE_KEY: Final = re.compile(r"BONDING_SLAVE_?\d{1,3}")
_MODULE: Final = re.compile(r"^\s*options\s+(bond\w{0,11})\s+([^\n#]{1,400})", re.MULTILINE)
_IFACE: Final = re.compile(r"\s*iface\s+(\S{1,15})\s+\S+\s+\S+\s*")
_BOND_LINE: Final = re.compile(r"\s+(?:bond[-_])(\w[\w-]{1,30})\s+(\S.{0,200}?)\s*")
_SECTION: Final = re.compile(r"\s*\[([\w-]{1,40})\]\s*")
_KEY: Final = re.compile(r"\s*([A-Za-z][\w.-]{0,40})\s*=\s*(\S.{0,200}?)\s*")
_YAML: Final = re.compile(r"( *)(?:(- )|)(?:([\w.-]{1,40}):(?: +(\S.*))?|(\S+))\s*")
_MOST_LINES: Final = 5000
_OTHER_NAMES: Final = {
    "mii-monitor-interval": "miimon", "transmit-hash-policy": "xmit_hash_policy",
    "lacp-rate": "lacp_rate", "up-delay": "updelay", "down-delay": "downdelay",
    "Mode": "mode", "TransmitHashPolicy": "xmit_hash_policy", "MIIMonitorSec": "miimon",
    "LACPTransmitRate": "lacp_rate", "UpDelaySec": "updelay", "DownDelaySec": "downdelay",
}  # fmt: skip
_TIMES: Final = ("miimon", "updelay", "downdelay")
_CONFIGURED: Final = (
    r"(?ms)(?=.{0,6000}?(?:^\s*(?:BONDING_OPTS|BONDING_MODULE_OPTS|BONDING_MASTER)="
    r"|^\s+bond[-_](?:mode|slaves|master)\s|^ {0,8}bonds:\s*$|^\s*Kind=bond\s*$"
    r"|^\s*type=bond\s*$|^\s*options bond\w*\s+\S*mode=))"
)


@dataclass
class Bond:
    """A bond of a host."""

    name: str  # of its interface
    source: str  # the file that says most of it
    # of the module, as `mode` and `miimon`, in the module's words
    options: dict[str, str] = field(default_factory=dict)
    slaves: list[str] = field(default_factory=list)  # its ports that it uses, in order
    idle: dict[str, str] = field(default_factory=dict)  # its other ports, each with why

    def put(self, name: str, value: str) -> None:
        """Note an option, unless it is none of those that are read."""
        if name not in _OPTIONS or not (value := _canonical(name, value.strip("'\""))):
            return
        self.options.setdefault(name, value)

    def join(self, ports: Iterable[str]) -> None:
        """Note ports."""
        fitting = (one for one in ports if INTERFACE.fullmatch(one))
        self.slaves += [one for one in dict.fromkeys(fitting) if one not in self.slaves]


_Found = dict[str, Bond]


def _canonical(name: str, value: str) -> str:
    """Return a value as the module prints it; empty where it says nothing."""
    numbered = _NUMBERED.get(name, ())
    if numbered and value.isdecimal() and int(value[:3]) < len(numbered):
        return numbered[int(value)]
    if name in _TIMES:
        time = re.fullmatch(r"(\d{1,9})(ms|s)?", value)
        if time is None:
            return ""
        return str(int(time[1]) * (1000 if time[2] == "s" else 1))
    return "" if value in {"", "None"} else value


def bonds(files: Files, outputs: Outputs) -> dict[str, Bond]:
    """Return the bonds of a host, by name: each is what the first that knows of it says."""
    found: _Found = {}
    texts = list(_texts(files, outputs))
    ways = (
        _of_proc(files, outputs),
        _of_sysfs(files),
        _of_links(outputs),
        *(way(texts) for way in (_of_ifcfg, _of_interfaces, _of_netplan, _of_sections)),
    )
    for told in ways:
        for bond in told.values():
            known = found.setdefault(bond.name, bond)
            known.options = known.options or bond.options
            known.slaves = known.slaves or bond.slaves
    return {name: one for name, one in found.items() if one.slaves}


def bond_rates(files: Files, outputs: Outputs) -> dict[str, tuple[int, str]]:
    """Return the speed of each slave of a bond in Mbit/s, as the bond knows it, and the file."""
    return {
        slave: (int(mbps), file)
        for _, file, text in _shown(files, outputs)
        for slave, mbps in _SPEED.findall(text)
    }


def _shown(files: Files, outputs: Outputs) -> Iterator[tuple[str, str, str]]:
    """Yield name, file and text of /proc/net/bonding; one that was pasted without its name last."""
    names = files.names(_PROC)
    for name in names:
        yield name, f"{_PROC}/{name}", files.text(f"{_PROC}/{name}") or ""
    if not names:
        pasted = outputs.every("bonding")
        for told in pasted[:1] if len(pasted) == 1 else ():
            yield _UNNAMED, told.name, told.text


def _of_proc(files: Files, outputs: Outputs) -> _Found:
    found: _Found = {}
    for name, file, text in _shown(files, outputs):
        mode = _MODE.search(text)
        if mode is None or mode[1].partition(" (fail_over")[0] not in _SHOWN_MODES:
            continue
        bond = found[name] = Bond(name, file)
        bond.put("mode", _SHOWN_MODES[mode[1].partition(" (fail_over")[0]])
        for heading, option in _SHOWN.items():
            if matched := re.search(rf"^{heading}: (\S{{1,40}})", text, re.MULTILINE):
                bond.put(option, matched[1])
        ports = _SLAVE.findall(text)
        bond.idle = dict(_idle(text))
        if len(bond.idle) == len(ports):
            bond.idle = {}
        bond.join(port for port in ports if port not in bond.idle)
    return found


def _idle(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ports that a bond does not use: those that are down, or of another aggregator."""
    active = _ACTIVE.search(text)
    _, *blocks = re.split(r"(?m)^(?=Slave Interface: )", text)
    for block in blocks:
        port = _SLAVE.match(block)
        own = _AGGREGATOR.search(block)
        if port is None:
            continue
        if re.search(r"^MII Status: (?:down|going down|going back) *$", block, re.MULTILINE):
            yield port[1], "it is down"
        elif active and own and own[1] != active[1]:
            yield port[1], f"it is of aggregator {own[1]}, the bond uses {active[1]}"


def _of_sysfs(files: Files) -> _Found:
    found: _Found = {}
    for name in files.names(_CLASS):
        folder = f"{_CLASS}/{name}/bonding"
        slaves = (files.text(f"{folder}/slaves") or "").split()
        if not slaves:
            continue
        bond = found[name] = Bond(name, folder)
        bond.join(slaves)
        for option in _OPTIONS:
            words = (files.text(f"{folder}/{option}") or "").split()
            if words:
                bond.put(option, words[0])
    return found


def _of_links(outputs: Outputs) -> _Found:
    """Return the bonds of `ip -d link`, and who has one for a master."""
    found: _Found = {}
    told = outputs.one("ip link")
    if told is None:
        return found
    text = told.text
    starts = [(one[1], one.start()) for one in _OF_LINK.finditer(text)]
    blocks = [
        (name, text[start:end])
        for (name, start), (_, end) in itertools.pairwise([*starts, ("", len(text))])
    ]
    for name, block in blocks:
        if details := _DETAILS.search(block):
            bond = found[name] = Bond(name, told.name)
            bond.put("mode", details[1])
            words = details[2].split()
            for option, value in itertools.pairwise(words):
                bond.put(option, value)
    for name, block in blocks:
        master = _MASTER.search(block.partition("\n")[0])
        if master is None or master[1] not in found:
            continue
        if "mii_status DOWN" in block:
            found[master[1]].idle[name] = "it is down"
        else:
            found[master[1]].join([name])
    return found


def _texts(files: Files, outputs: Outputs) -> Iterator[tuple[str, str]]:
    """Yield name and text of the files that configure a host's network."""
    held: set[str] = set()
    names = [f"{folder}/{name}" for folder in _FOLDERS for name in files.names(folder)]
    for name in (*names, *_FILES):
        if text := files.text(name):
            held.add(text.strip())
            yield name, text
    for told in outputs.every("configuration of a bond"):
        if told.text.strip() not in held:
            yield told.name, told.text


def _of_ifcfg(texts: Iterable[tuple[str, str]]) -> _Found:
    found: _Found = {}
    joins: dict[str, list[str]] = defaultdict(list)
    modules: dict[str, dict[str, str]] = {}
    for file, text in texts:
        for called, options in _MODULE.findall(text):
            modules[_UNNAMED if called == "bonding" else called] = _pairs(options)
        for own in _blocks(text):
            name = own.get("DEVICE") or _named(file)
            if own.get("MASTER"):
                joins[own["MASTER"]].append(name)
            options = own.get("BONDING_OPTS") or own.get("BONDING_MODULE_OPTS", "")
            if options or own.get("BONDING_MASTER", "").lower() == "yes":
                bond = found[name] = Bond(name, file)
                for option, value in _pairs(options).items():
                    bond.put(option, value)
                bond.join(value for key, value in own.items() if _SLAVE_KEY.fullmatch(key))
                bond.put("mode", _NUMBERED["mode"][0])
    for name, ports in joins.items():
        if name not in found and name in modules:
            found[name] = Bond(name, "options of the module")
            for option, value in modules[name].items():
                found[name].put(option, value)
            found[name].put("mode", _NUMBERED["mode"][0])
        if name in found:
            found[name].join(ports)
    return found


def _named(file: str) -> str:
    """Return the interface that a file of ifcfg is called after; `bond0` if after none."""
    matched = re.search(r"(?:^|/)ifcfg-([\w.-]{1,15}?)(?:\.txt)?$", file)
    return matched[1] if matched else _UNNAMED


def _blocks(text: str) -> Iterator[dict[str, str]]:
    """Yield what ifcfg files assign; a second DEVICE begins another file of one text."""
    own: dict[str, str] = {}
    for line in text.splitlines()[:_MOST_LINES]:
        if (found := _ASSIGNED.fullmatch(line)) is None:
            continue
        if found[1] == "DEVICE" and "DEVICE" in own:
            yield own
            own = {}
        own[found[1]] = found[2].strip("'\"")
    yield own


def _pairs(options: str) -> dict[str, str]:
    """Return options as a shell would split them."""
    try:
        words = shlex.split(options)
    except ValueError:
        words = options.split()
    return {name: value for word in words for name, _, value in (word.partition("="),) if value}


def _of_interfaces(texts: Iterable[tuple[str, str]]) -> _Found:
    found: _Found = {}
    joins: dict[str, list[str]] = defaultdict(list)
    for file, text in texts:
        name = ""
        for line in text.splitlines()[:_MOST_LINES]:
            if iface := _IFACE.fullmatch(line):
                name = iface[1]
            elif name and (own := _BOND_LINE.fullmatch(line)):
                option = own[1].replace("-", "_")
                if option == "master":
                    joins[own[2]].append(name)
                    continue
                bond = found.setdefault(name, Bond(name, file))
                if option == "slaves" and own[2] != "none":
                    bond.join(own[2].split())
                else:
                    bond.put(option, own[2].split()[0])
    for name, ports in joins.items():
        if name in found:
            found[name].join(ports)
    for bond in found.values():
        bond.put("mode", _NUMBERED["mode"][0])
    return found


def _of_netplan(texts: Iterable[tuple[str, str]]) -> _Found:
    found: _Found = {}
    for file, text in texts:
        # keys above a line, each with its indentation
        above: list[tuple[int, str]] = []
        for line in text.splitlines()[:_MOST_LINES]:
            matched = _YAML.fullmatch(line.partition(" #")[0].rstrip())
            if matched is None or not line.strip() or line.lstrip().startswith("#"):
                continue
            # an item of a list may stand as far left as its key
            depth = len(matched[1]) + bool(matched[2])
            above = [one for one in above if one[0] < depth]
            path = [name for _, name in above]
            key, value = matched[3] or "", matched[4] or matched[5] or ""
            if "bonds" in path:
                _netplan(found, file, path[path.index("bonds") + 1 :], key, value)
            if key and not value:
                above.append((depth, key))
    return found


def _netplan(found: _Found, file: str, path: list[str], key: str, value: str) -> None:
    """Note a line of netplan, by the keys below `bonds` above it."""
    if not path:
        return
    bond = found.setdefault(path[0], Bond(path[0], file))
    if path[1:] == ["parameters"] and key and value:
        bond.put(_OTHER_NAMES.get(key, key), value)
    elif path[1:] == ["interfaces"] and not key:
        bond.join([value.strip("'\"")])
    elif len(path) == 1 and key == "interfaces":
        bond.join(one.strip(" '\"") for one in value.strip("[]").split(","))
    elif len(path) == 1 and key == "parameters":
        for pair in value.strip("{}").split(","):
            name, _, said = pair.partition(":")
            bond.put(_OTHER_NAMES.get(name.strip(), name.strip()), said.strip())


def _of_sections(texts: Iterable[tuple[str, str]]) -> _Found:
    """Return what NetworkManager's and systemd-networkd's files say."""
    found: _Found = {}
    joins: dict[str, list[str]] = defaultdict(list)
    for file, text in texts:
        for own in _sections(text):
            name = own.get("connection.interface-name", "") or own.get("NetDev.Name", "")
            kind = own.get("connection.type", "") or own.get("NetDev.Kind", "")
            if kind == "bond" and name:
                bond = found[name] = Bond(name, file)
                for key, value in own.items():
                    section, _, option = key.partition(".")
                    if section in {"bond", "Bond"}:
                        bond.put(_OTHER_NAMES.get(option, option), value)
                bond.put("mode", _NUMBERED["mode"][0])
            for key in ("connection.master", "connection.controller", "Network.Bond"):
                port = own.get("Match.Name", "") if key == "Network.Bond" else name
                if key in own and port:
                    joins[own[key]] += port.split()
    for name, ports in joins.items():
        if name in found:
            found[name].join(ports)
    return found


def _sections(text: str) -> Iterator[dict[str, str]]:
    """Yield the files of a text by `section.key`; a section that comes again begins another."""
    own: dict[str, str] = {}
    seen: set[str] = set()
    section = ""
    for line in text.splitlines()[:_MOST_LINES]:
        if head := _SECTION.fullmatch(line):
            section = head[1]
            if section in seen and section in {"connection", "Match", "NetDev"}:
                yield own
                own, seen = {}, set()
            seen.add(section)
        elif section and (pair := _KEY.fullmatch(line)):
            own[f"{section}.{pair[1]}"] = pair[2]
    yield own


def _settings(evidence: Evidence) -> Iterator[Told]:
    """Yield what the bond is set to; of several bonds none is modelled."""
    found = bonds(evidence.files, evidence.outputs)
    if len(found) != 1:
        return
    (bond,) = found.values()
    for option in _OPTIONS:
        if option in bond.options:
            yield Told(f"modprobe bonding {option}", bond.options[option], bond.source)
    for slave in bond.slaves:
        yield Told(f"ifenslave bond0 {slave}", "on", bond.source)


def _notes(evidence: Evidence) -> Iterator[str]:
    found = bonds(evidence.files, evidence.outputs)
    for bond in found.values():
        mode = bond.options.get("mode", "of a mode that no file says")
        ports = ", ".join(bond.slaves)
        if len(found) > 1:
            yield (
                f"{bond.name}, {mode}, of {ports}: read, not used; of several bonds each port is"
                " modelled by itself"
            )
            continue
        for port, why in bond.idle.items():
            yield f"{port} is in {bond.name} and carries nothing: {why}"
        if bond.name != _UNNAMED:
            yield f"{bond.name} is called bond0 in the scenario, and in commands"


PARSER: Final = Parser(
    kinds=(
        Kind("bonding", line=r"Ethernet Channel Bonding Driver|Bonding Mode: ", many=True),
        Kind("configuration of a bond", _CONFIGURED, many=True),
    ),
    trees=(f"{_PROC}/*",),
    settings=_settings,
    notes=_notes,
)
