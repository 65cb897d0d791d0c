"""/proc/net/bonding: the ports of a bond, and whether the switch makes one link of them."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_BOND: Final = re.compile(r"/bonding/(?P<bond>[A-Za-z][\w.-]{0,14})")
_SLAVE: Final = re.compile(r"\s*Slave Interface: (?P<port>[A-Za-z][\w.@-]{0,14})\s*")
_LINE: Final = re.compile(
    r"\s*(?P<name>Bonding Mode|Transmit Hash Policy|MII Status|Link Failure Count|Aggregator ID"
    r"|Partner Mac Address|Partner Churn State|Currently Active Slave|Speed):\s*(?P<value>\S.*?)\s*"
)

# other outputs of the same text name it
_ELSEWHERE: Final = re.compile(r"(?<![\w/.-])bond\d{1,3}(?![\w-])")

# what ifcfg, interfaces(5), netplan and module options say of a bond that sends in turn
_OPTIONS: Final = re.compile(
    r"\s*(?:BONDING_OPTS=[\"'].*?\bmode=(?P<ifcfg>balance-rr|0)\b.*"
    r"|bond[-_]mode (?P<debian>balance-rr|0)"
    r"|options bond(?:ing|\d+) .*\bmode=(?P<module>balance-rr|0)\b.*"
    r"|mode: (?P<netplan>balance-rr))\s*"
)

OUTPUTS: Final = {"bond": "/proc/net/bonding", "bonding": "settings of bonds"}
SIGN: Final = re.compile(r"Slave Interface: |balance-rr|BONDING_OPTS|bond[-_]mode|options bond")


def read(page: Page) -> Iterator[Fact]:
    """Yield what is said of each port of the bond; of the bond itself the subject is its name."""
    named = _BOND.search(page.name)
    others = set(_ELSEWHERE.findall(page.text))
    alone = others.pop() if len(others) == 1 else "the bond"
    bond, port = named["bond"] if named else alone, ""
    for at, line in enumerate(page.lines, 1):
        if (option := _OPTIONS.fullmatch(line)) is not None:
            mode = next(one for one in option.groups() if one)
            yield Fact("bonding", bond, "mode", 0, page.name, at, mode)
        elif (typed := _BOND.search(line)) and not port:
            bond = typed["bond"]
        elif slave := _SLAVE.fullmatch(line):
            port = slave["port"]
            yield Fact("bond", port, "of", 0, page.name, at, bond)
        elif said := _LINE.fullmatch(line):
            name, text = said["name"], said["value"]
            yield Fact("bond", port or bond, name, number(text), page.name, at, text)
        elif line.startswith("Ethernet Channel Bonding Driver"):
            port = ""
