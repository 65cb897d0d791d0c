"""InfiniBand and RoCE: ibstat, ibv_devinfo, perfquery, rdma statistic, counters of /sys."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_ADAPTER: Final = re.compile(r"\s*(?:CA|hca_id:) '?(?P<name>\w{1,40})'?")
_PERF: Final = re.compile(r"(?P<name>[A-Z][A-Za-z0-9]{3,40}):\.{2,60}(?P<value>\d{1,20})\s*")
_LINK: Final = re.compile(r"\s*link (?P<name>[\w-]{1,40}/\d{1,3}) (?P<rest>.*)")
_PAIR: Final = re.compile(r"\b([a-z][a-z0-9_]{2,60}) (\d{1,20})\b")
_SYS: Final = re.compile(
    r"/?sys/class/infiniband/(?P<name>[\w-]{1,40})/ports/\d{1,3}/(?:hw_)?counters/(?P<what>\w{1,60}):\s*"
    r"(?P<value>\d{1,20})"
)
_STATE: Final = re.compile(
    r"\s*(?P<name>State|Physical state|Rate|CA type|Link layer): ?(?P<value>\w[\w .]{0,40})"
)
# what perfquery calls as /sys does in other letters
_PERF_NAMES: Final = {
    "SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed", "PortRcvErrors": "port_rcv_errors",
    "PortXmitDiscards": "port_xmit_discards", "PortXmitWait": "port_xmit_wait",
    "PortXmitPkts": "port_xmit_packets", "PortRcvPkts": "port_rcv_packets",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
}  # fmt: skip

OUTPUTS: Final = {"rdma": "rdma statistic, perfquery"}
SIGN: Final = re.compile(
    r"(?m)^\s*CA '|^\s*hca_id:|Counter:\.{2}|^\s*link \S+/\d+ |sys/class/infiniband/"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield the counters of each adapter by the names of /sys, and the state of its ports."""
    adapter = ""
    for at, line in enumerate(page.lines, 1):
        if head := _ADAPTER.fullmatch(line):
            adapter = head["name"]
        elif perf := _PERF.fullmatch(line):
            called = _PERF_NAMES.get(perf["name"], perf["name"])
            yield Fact("rdma", adapter, called, number(perf["value"]), page.name, at)
        elif file := _SYS.match(line):
            value = number(file["value"])
            yield Fact("rdma", file["name"], file["what"], value, page.name, at)
        elif link := _LINK.match(line):
            for name, value in _PAIR.findall(link["rest"]):
                yield Fact("rdma", link["name"], name, number(value), page.name, at)
        elif adapter and (state := _STATE.fullmatch(line)):
            name, text = state["name"].lower(), state["value"]
            yield Fact("rdma", adapter, name, number(text), page.name, at, text)
