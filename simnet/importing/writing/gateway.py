"""A router of a home: its port to the switch, streams that pass it, and the hosts at both sides."""

from typing import Final

from simnet.importing.host import ReadHost
from simnet.importing.parsers.roles.routers import DRIVERS
from simnet.importing.read_nic import ReadNic
from simnet.importing.roles import FORWARD, Role, first_of
from simnet.importing.writing.costs import table_of, workload
from simnet.importing.writing.models import Draft

TEST: Final = "gateway"
"""The test of a router of a home."""
SIDES: Final = {
    "peer": "fast-peer",
    "peer_kernel": "linux-6.1",
    "peers": "count = 2\n",
    "before": "200 ms",
    "during": "300 ms",
}
"""Of the scenario: a machine at each side, which is never the limit, and how long a run is."""
SAID: Final = (
    "the hosts at both sides, in the Internet and in the local network, are assumed never to be the"
    " limit"
)
"""What is said of them."""
_BASE: Final = "home-router"
_MESSAGE_BYTES: Final = 128 << 10
_OF_SERVER: Final = (
    *("memory_per_node", "memory_bandwidth", "bus_bandwidth", "link_bandwidth", "io_bandwidth"),
    "apic",
)


def port_of(host: ReadHost) -> ReadNic | None:
    """Return the port to the switch of a router that is simulated; None of other hosts."""
    role = first_of(host.roles)
    if role is None or role.name != FORWARD or not role.numbers.get("gateway"):
        return None
    return next((nic for nic in host.nics if nic.text("driver") in DRIVERS.values()), None)


def streams(role: Role, nodes: int) -> tuple[str, str]:
    """Return the tables of the scenario, and what is simulated in words."""
    text = workload(TEST, TEST, nodes, _MESSAGE_BYTES)
    ports = {"switch_ports": "dsa" if role.numbers.get("dsa") else "vlan"}
    said = (
        "one TCP stream from the Internet to the local network, with NAT, as fast as it passes: no"
        " file says what the router carries"
    )
    return f"{text}\n{table_of(_BASE, TEST, ports)}", said


def around(drafts: dict[str, Draft], host: ReadHost) -> None:
    """Give the machine the memory and buses of such a router, and put it at its switch."""
    base = Draft("server", "", f"router-{str(host.facts['soc'].value).lower()}")
    server = drafts["server.toml"].document
    for key in _OF_SERVER:
        known = server.get(key)
        if known is None or known["state"] == "assumed":
            server[key] = base.document[key]
    switch = Draft("switch", "the switch on the chip, and its ports", "gigabit-switch")
    drafts["switch.toml"] = switch
