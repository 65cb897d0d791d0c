"""What `ethtool -S` shows of each port: packets, bytes and drops, by its driver's own names.

Source: the drivers' tables of names, such as `igb_gstrings_stats`, `ice_gstrings_vsi_stats`,
`i40e_gstrings_net_stats`, `sw_stats_desc` of mlx5 and `rtl8169_gstrings`; ethtool(8). A driver
counts since it was loaded, here since the measurement began. What it has for each queue is not
shown, nor what is 0 in any simulation. Bytes are those of frames without FCS; some cards count it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.errors import InputError
from simnet.scenario.parts.nic.schema import Nic

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.run.rows import PortRates

_BITS_PER_BYTE = 8


def ethtool(result: Result) -> str:
    """A listing for each port of the host, each after the command that would show it.

    Raises:
        InputError: it has no port whose driver's names are known.
    """
    cards = {one["name"]: one["nic"] for one in _ports(result)}
    known = [port for port in result.ports if _driver(cards.get(port.name, {})).statistics]
    if not known:
        drivers = sorted({str(one.get("driver")) for one in cards.values()})
        called = " and ".join(drivers) or "a host without a port"
        message = f"what ethtool -S of {called} is called is not known"
        raise InputError(message, key="--format")
    return "".join(_listing(port, _driver(cards[port.name]), result) for port in known)


def _ports(result: Result) -> list[dict[str, Any]]:
    host: dict[str, Any] = result.configuration.get("host") or {}
    return list(host.get("ports") or ())


def _driver(card: dict[str, Any]) -> type[Nic]:
    return Nic.variants().get(str(card.get("driver")), Nic)


def _listing(port: PortRates, driver: type[Nic], result: Result) -> str:
    seconds = result.simulated_s
    counted = {
        "rx_packets": port.rx_packets_per_s * seconds,
        "tx_packets": port.tx_packets_per_s * seconds,
        "rx_bytes": port.rx_bps * seconds / _BITS_PER_BYTE,
        "tx_bytes": port.tx_bps * seconds / _BITS_PER_BYTE,
    }
    rows = {driver.statistics[name]: n for name, n in counted.items() if name in driver.statistics}
    rows[driver.ring_counter] = port.drops
    lines = (f"     {name}: {value:.0f}" for name, value in rows.items())
    return "\n".join((f"# ethtool -S {port.name}", "NIC statistics:", *lines, ""))
