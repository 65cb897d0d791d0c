"""Tunnels whose packets hide from a card what is inside: GRE, IPIP, ESP, PPPoE, L2TP, WireGuard.

Source: ip-link(8), ip-xfrm(8), pppd(8), wg(8), OpenWrt's names of interfaces.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_FORMS: Final = (
    (
        "ESP",
        (
            r"^\s*proto esp spi 0x|\bESP in UDP|(?:IKEv[12]|ESTABLISHED).*\bESP\b"
            r"|INSTALLED, TUNNEL"
        ),
    ),
    (
        "GRE",
        (
            r"^\s*link/gre6? (?!0\.0\.0\.0 brd)|^\s*gre remote \S+ local"
            r"|^(?P<gre>gre[1-9]\d*) .*\bLink encap:UNSPEC"
        ),
    ),
    (
        "IPIP",
        (
            r"^\s*link/(?:ipip|sit|tunnel6) (?!0\.0\.0\.0 brd|::)"
            r"|^\s*(?:ipip|sit) remote \S+ local"
        ),
    ),
    (
        "PPPoE",
        (
            r"^(?:\d+: )?(?P<ppp>pppoe-\w+)\b|\bproto '?pppoe'?\b|'?proto'? ?[:=] ?['\"]pppoe"
            r"|\brp-pppoe\.so|\bPPPoE session"
            r"|^(?:\d+: )?(?P<ppp2>ppp\d+): .*\bPOINTOPOINT\b.*\bmtu 14(?:92|88|80)\b"
        ),
    ),
    ("L2TP", r"^\s*Tunnel \d+, encap (?:UDP|IP)$"),
    ("WireGuard", r"^interface: (?P<wg>\S{1,15})$|\bkworker/\S*wg-crypt|^\d+: (?P<wg2>wg\w*): <"),
)
_PATTERNS: Final = tuple((name, re.compile(pattern)) for name, pattern in _FORMS)

OUTPUTS: Final = {"tunnel": "ip -d link, ip xfrm state"}
SIGN: Final = re.compile("(?m)" + "|".join(re.sub(r"\?P<\w+>", "?:", form) for _, form in _FORMS))


def read(page: Page) -> Iterator[Fact]:
    """Yield each tunnel once, by its interface where it has one; ESP has none."""
    seen: set[tuple[str, str]] = set()
    port = ""
    for at, line in enumerate(page.lines, 1):
        if head := re.match(r"\d+: ([^\s:@]{1,15})[@:]", line):
            port = head[1]
        for kind, pattern in _PATTERNS:
            found = pattern.search(line)
            if found is None:
                continue
            named = next((name for name in found.groups() if name), "")
            name = named or (port if kind in {"GRE", "IPIP"} else "")
            if (kind, name) not in seen and not (not name and any(one == kind for one, _ in seen)):
                seen.add((kind, name))
                yield Fact("tunnel", name, kind, 0, page.name, at, line.strip()[:80])
