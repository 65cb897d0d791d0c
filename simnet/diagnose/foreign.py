"""Systems that are not Linux, by what only they print: their words mean other things."""

import re
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_SYSTEMS: Final = (
    (
        "FreeBSD",
        (
            r"^FreeBSD \S+ \d|\[[\d.]+-RELEASE\]\[|^dev\.\w{2,8}\.\d+\.|\bmbufs in use\b"
            r"|kernel\{if_io_tqg|intr\{(?:irq|swi)|^hw\.(?:ix|igb|em|mlxen)\."
        ),
    ),
    (
        "Windows",
        (
            r"^PS [A-Z]:\\|^[A-Z]:\\[^>\n]{0,80}>|\bGet-Net(?:Adapter|TCP)\w*"
            r"|^Windows IP Configuration"
            r"|\bnetsh (?:int|interface)\b|Receive Window Auto-Tuning Level"
        ),
    ),
    ("macOS", r"\bDarwin Kernel Version\b|^\w+: flags=88[46][23]<|\bnetworkQuality\b"),
    (
        "ESXi",
        r"^(?:\[root@[^\]\n]{1,60}\] ?)?(?:esxcli|vsish|esxtop|net-stats)\b|\bvmkernel: cpu\d",
    ),
    ("Solaris", r"^SunOS \S+ \d|^\s*(?:kstat|dladm) "),
    ("AIX", r"^\s*(?:entstat|oslevel|lsattr -El)\b|^AIX \S+ \d"),
    ("OpenBSD", r"^OpenBSD \S+ \d"),
)
_LINUX: Final = re.compile(
    r"(?m)^\s*(?:Ip|Tcp|Udp|TcpExt)[A-Z]\w+ +\d|%soft\b|\bqdisc \w|\bethtool -\w|\bsi,.*\bst\b"
    r"|\bRX-OK\b|^\s*\d+: .*PCI-MSI|^[0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{8}|"
    r"^Linux |\bLinux version|/proc/|/sys/(?:class|devices)|^\d+: \S+: <|^NIC statistics:"
    r"|^driver: "
)

OUTPUTS: Final = {"system": "of another system"}
_SIGN: Final = re.compile("(?m)" + "|".join(f"(?:{pattern})" for _, pattern in _SYSTEMS))


def system(page: Page) -> Fact | None:
    """Return the system that a text is of; None where something in it is of Linux, or nothing."""
    if not _SIGN.search(page.text) or _LINUX.search(page.text):
        return None
    for name, pattern in _SYSTEMS:
        if found := re.search(f"(?m){pattern}", page.text):
            return Fact("system", "", "name", 0, page.name, page.line_of(found.start()), name)
    return None
