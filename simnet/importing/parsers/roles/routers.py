"""Routers of homes: what shows that a host is one, its chip, and what OpenWrt has set there.

Ports of the switch on the chip are devices of their own (DSA) or VLANs of one port (swconfig): all
targets that are simulated have DSA since OpenWrt 22.03.

Source: OpenWrt's /etc/openwrt_release, `ubus call system board` and target/linux; its release notes
of 22.03; arch/arm/mach-bcm/bcm_5301x.c of Linux (the name of the machine); firewall4's defaults.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind, Told
from simnet.importing.outputs import Output
from simnet.importing.parser import Parser
from simnet.importing.parsers.cpus.cpuinfo import cpuinfo_fields
from simnet.importing.parsers.roles.transit import named_interfaces
from simnet.importing.read_nic import Read
from simnet.importing.roles import FORWARD, TUNNEL, Role

_SYSTEMS: Final = ("ubus board", "os-release", "openwrt_release")
_OPENWRT: Final = re.compile(r"OpenWrt|LEDE", re.IGNORECASE)
_CALLED: Final = re.compile(r"^Linux (OpenWrt|LEDE) \d", re.MULTILINE)
_PPPOE: Final = re.compile(r"pppoe-\S+|ppp\d+")
_TARGET: Final = re.compile(
    r"(?:\"target\": \"|OPENWRT_BOARD=[\"']?|LEDE_BOARD=[\"']?|DISTRIB_TARGET=[\"']?)([\w/-]{1,60})"
)
_RELEASE: Final = re.compile(
    r"(?:\"version\": \"|DISTRIB_RELEASE='?|VERSION(?:_ID)?=\"?)(\d{2})\.\d"
)
DRIVERS: Final = {"bcm53xx": "bgmac", "bcm4908": "bcm4908_enet"}
"""Of the targets of which a home router is simulated, the driver of the port to the switch."""
_MACHINE: Final = "BCM5301X"
_MIPS: Final = re.compile(r"^Linux .*\bmips(?:64|el)?\b", re.MULTILINE)
# BogoMIPS from which on a Cortex-A9 has the 1.4 GHz of a BCM47094
_FAST_BOGOMIPS: Final = 2400.0
_FIRST_WITH_DSA: Final = 22
_PORTS_OF_SWITCH: Final = re.compile(r"\b(?:wan|lan\d?)@eth\d|\"name\": ?\"lan\d")
_VLANS: Final = re.compile(r"\beth0\.\d")
_CLASS: Final = "sys/class/net"
_BRIDGE: Final = f"{_CLASS}/br-lan/queues/rx-0/rps_cpus"
_OFFLOAD: Final = "uci firewall.@defaults[0].flow_offloading"
_OFFLOADING: Final = re.compile(r"\bflow_offloading(?P<hw>_hw)?(?:=| )'?(?P<on>[01])")


@dataclass(frozen=True)
class Router:
    """What shows that a host is a router of a home."""

    said: str  # in words
    source: str  # the file
    target: str  # of OpenWrt, as `bcm53xx/generic`; empty if nothing says it
    session: str  # of PPPoE; empty if there is none
    soc: str  # the chip, where it is one that is simulated
    ports: str  # what the switch's ports are, `dsa` or `vlan`
    hardware: bool  # the chip forwards connections by itself

    @property
    def driver(self) -> str:
        """The driver of the port to the switch; empty where it is not known."""
        return DRIVERS.get(self.target.partition("/")[0], "")


def router_of(evidence: Evidence) -> Router | None:
    """Return what shows that a host is a router of a home; None if nothing does."""
    outputs = evidence.outputs
    systems = [one for kind in _SYSTEMS if (one := outputs.one(kind)) is not None]
    system = next((one for one in systems if _OPENWRT.search(one.text)), None)
    cpuinfo, uname = outputs.one("cpuinfo"), outputs.one("uname -a")
    fields = {} if cpuinfo is None else cpuinfo_fields(cpuinfo.text)
    said, source = "OpenWrt", "" if system is None else system.name
    by_driver = {driver: target for target, driver in DRIVERS.items()}
    known = next((nic for nic in evidence.nics if nic.text("driver") in by_driver), None)
    if system is None:
        named = _CALLED.search(uname.text) if uname is not None else None
        prompted, file = outputs.prompted
        if uname is not None and named is not None:
            said, source = f"a host called {named[1]}", uname.name
        elif _OPENWRT.fullmatch(prompted):
            said, source = f"a host called {prompted}", file
        elif cpuinfo is not None and fields.get("Hardware") == _MACHINE:
            said, source = f"a {_MACHINE}, a chip of home routers", cpuinfo.name
        elif known is not None:
            driver = known.facts["driver"]
            said, source = f"the driver {driver.value}, of chips of home routers", driver.source
        else:
            return None
    target = next((found[1] for one in systems if (found := _TARGET.search(one.text))), "")
    if not target and fields.get("Hardware") == _MACHINE:
        target = "bcm53xx"
    if not target and known is not None:
        target = by_driver[known.text("driver")]
    names = named_interfaces(evidence)
    session = next((name for name in names if _PPPOE.fullmatch(name)), "")
    hardware = any(one["hw"] and one["on"] == "1" for one in _offloading(evidence))
    soc = _soc(target.partition("/")[0], fields)
    return Router(said, source, target, session, soc, _ports(evidence, systems), hardware)


def _soc(target: str, fields: Mapping[str, str]) -> str:
    if target != "bcm53xx":
        return "BCM4908" if target == "bcm4908" else ""
    bogomips = re.match(r"\d{1,5}(?:\.\d+)?", fields.get("BogoMIPS", ""))
    fast = bogomips is not None and float(bogomips[0]) >= _FAST_BOGOMIPS
    return "BCM47094" if fast else "BCM4708"


def _ports(evidence: Evidence, systems: list[Output]) -> str:
    listed = evidence.outputs.one("ip link")
    text = listed.text if listed is not None else ""
    ports = {nic.name for nic in evidence.nics}
    if _PORTS_OF_SWITCH.search(text) or any(re.fullmatch(r"wan|lan\d", one) for one in ports):
        return "dsa"
    if _VLANS.search(text) or any(_VLANS.fullmatch(one) for one in ports):
        return "vlan"
    release = next((found[1] for one in systems if (found := _RELEASE.search(one.text))), "0")
    return "dsa" if int(release) >= _FIRST_WITH_DSA or release == "0" else "vlan"


def _offloading(evidence: Evidence) -> list[re.Match[str]]:
    told = evidence.outputs.one("uci firewall")
    return [] if told is None else list(_OFFLOADING.finditer(told.text))


def seen_of_router(evidence: Evidence, values: dict[str, Read]) -> None:
    """Note of the ports of a router what such ports have, where no file says it."""
    router = router_of(evidence)
    if router is None:
        return
    system = values.get("distribution")
    called = router.said if system is None else str(system.value)
    source = router.source if system is None else system.source
    for nic in evidence.nics:
        nic.put("usual_bps", 10**9, source, f"ports of routers with {called}")
        if router.driver and nic.name == "eth0":
            why = f"no file says it: the port to the switch of a {router.soc} has it"
            nic.put("driver", router.driver, router.source, why)


def _roles(evidence: Evidence) -> Iterator[Role]:
    router = router_of(evidence)
    if router is None:
        yield from _others(evidence)
        return
    said = router.said
    if router.session:
        said += f", and a session of PPPoE, {router.session}"
    lacks = []
    if not router.driver:
        known = " and ".join(DRIVERS)
        chip = f"this one's is {router.target}" if router.target else "no file says this one's"
        lacks.append(f"home-router is one with a chip of the targets {known}, and {chip}")
    if router.session:
        lacks.append("what PPPoE wraps is not simulated")
    if router.hardware:
        lacks.append("what the chip forwards by itself (flow_offloading_hw) is not simulated")
    if router.driver and not any(nic.text("driver") == router.driver for nic in evidence.nics):
        lacks.append(f"no file names the port to the switch, of the driver {router.driver}")
    called = "a home router with PPPoE" if router.session else "a home router"
    numbers = {"tracks": 1, "gateway": int(not lacks), "dsa": int(router.ports == "dsa")}
    yield Role(FORWARD, said, router.source, numbers, called, "; ".join(lacks))


def _others(evidence: Evidence) -> Iterator[Role]:
    names = named_interfaces(evidence)
    for name in [one for one in names if _PPPOE.fullmatch(one)][:1]:
        said = f"an end of PPPoE: {name}"
        why = "what PPPoE wraps is not simulated"
        yield Role(TUNNEL, said, names[name], {}, "an end of PPPoE", why)
    uname = evidence.outputs.one("uname -a")
    if uname is not None and _MIPS.search(uname.text):
        called, why = "a router or another small device", "no router of MIPS is modelled"
        yield Role(FORWARD, "a processor of MIPS", uname.name, {}, called, why)


def _facts(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    router = router_of(evidence)
    if router is not None and router.soc:
        yield "soc", router.soc, router.source


def _settings(evidence: Evidence) -> Iterator[Told]:
    router = router_of(evidence)
    if router is None or not router.driver:
        return
    if text := (evidence.files.text(_BRIDGE) or "").strip():
        yield Told(f"/{_BRIDGE}", text, _BRIDGE)
    told = evidence.outputs.one("uci firewall")
    for one in _offloading(evidence):
        if not one["hw"] and told is not None:
            yield Told(_OFFLOAD, "on" if one["on"] == "1" else "off", told.name)


PARSER: Final = Parser(
    kinds=(
        Kind(
            "uci firewall",
            line=r"firewall\.[@\w\[\]]{1,40}\.\w+=|config defaults\b",
            files=("etc/config/firewall",),
        ),
    ),
    trees=(_BRIDGE,),
    facts=_facts,
    settings=_settings,
    roles=_roles,
)
