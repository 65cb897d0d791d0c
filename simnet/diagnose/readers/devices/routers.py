"""Routers: OpenWrt, rules that translate addresses, and whether connections pass by a flow table.

Containers and guests have such rules, too: these say nothing of a router.

Source: OpenWrt's /etc/openwrt_release and `ubus call system board`; firewall4's defaults; nft(8),
iptables(8).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page
from simnet.importing.parsers.roles.rules import FLOW_TABLE, OF_CONTAINERS

_IS: Final = re.compile(
    r"DISTRIB_ID='?(?:OpenWrt|LEDE)|\"distribution\": \"(?:OpenWrt|LEDE)|^Linux (?:OpenWrt|LEDE) \d"
    r"|\broot@(?:OpenWrt|LEDE):|\b(?:NAME|ID)=\"?(?:OpenWrt|LEDE|openwrt)\b"
)
# chips of which a scenario is one: targets of OpenWrt, the machine, drivers of the port
_SIMULATED: Final = re.compile(r"\b(?:bcm53xx|bcm4908|BCM5301X|bgmac)\b|\bbcm4908_enet\b")
_OFFLOADING: Final = re.compile(r"\bflow_offloading(?:=| )'?(?P<on>[01])")
_TRANSLATES: Final = re.compile(r"\bmasquerade\b|\bsnat (?:ip )?to\b|-j (?:MASQUERADE|SNAT)\b")

OUTPUTS: Final = {"router": "of OpenWrt, nft list ruleset, iptables-save"}
SIGN: Final = re.compile(
    r"OpenWrt|LEDE|openwrt|flow_offloading|masquerade|MASQUERADE|[sS](?:nat|NAT)\b|flow (?:add|off)"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield where OpenWrt is named first, its chip if simnet has it, and if it has a flow table."""
    named = False
    others = any(OF_CONTAINERS.search(line) for line in page.lines)
    for at, line in enumerate(page.lines, 1):
        if not named and _IS.search(line):
            named = True
            yield Fact("router", "", "openwrt", 0, page.name, at, "OpenWrt")
        if chip := _SIMULATED.search(line):
            yield Fact("router", "", "simulated", 0, page.name, at, chip[0])
        if found := _OFFLOADING.search(line):
            yield Fact("router", "", "flow_offloading", float(found["on"]), page.name, at)
        if not others and _TRANSLATES.search(line):
            yield Fact("router", "", "translates", 1, page.name, at, line.strip())
        if FLOW_TABLE.search(line):
            yield Fact("router", "", "flow_table", 1, page.name, at, line.strip())
