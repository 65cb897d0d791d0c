"""What `ethtool -S` shows of each port: packets, bytes and drops, by its driver's own names.

Source: the drivers' tables of names, such as `igb_gstrings_stats`, `ice_gstrings_vsi_stats`,
`i40e_gstrings_net_stats`, `sw_stats_desc` of mlx5 and `rtl8169_gstrings`; ethtool(8). A driver
counts since it was loaded, here since the measurement began. What is 0 in any simulation is not
shown. Bytes are those of frames without FCS; some cards count it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.errors import InputError
from simnet.scenario.parts.nic.schema import Nic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.study.run.result import Result
    from simnet.study.run.rows import PortRates

_BITS_PER_BYTE = 8


def ethtool(result: Result) -> str:
    """A listing for each port of the host, each after the command that would show it.

    Raises:
        InputError: it has no port whose driver's names are known.
    """
    cards = {one["name"]: one["nic"] for one in _ports(result)}
    known = [port for port in result.ports if _known(_driver(cards.get(port.name, {})))]
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


def _known(driver: type[Nic]) -> bool:
    return bool(driver.statistics or driver.queue_statistics)


def _listing(port: PortRates, driver: type[Nic], result: Result) -> str:
    seconds = result.simulated_s
    counted = {
        "rx_packets": round(port.rx_packets_per_s * seconds),
        "tx_packets": round(port.tx_packets_per_s * seconds),
        "rx_bytes": round(port.rx_bps * seconds / _BITS_PER_BYTE),
        "tx_bytes": round(port.tx_bps * seconds / _BITS_PER_BYTE),
        "drops": port.drops,
    }
    rows = _named(driver.statistics, counted)
    if driver.shows_ring:
        rows[driver.ring_counter] = port.drops
    queues = [vars(one) for one in result.queues if one.port == port.name] or [counted]
    for number, queue in enumerate(queues):
        names = {of: name.format(number) for of, name in driver.queue_statistics.items()}
        rows |= _named(names, queue)
    lines = (f"     {name}: {value}" for name, value in rows.items())
    return "\n".join((f"# ethtool -S {port.name}", "NIC statistics:", *lines, ""))


def _named(names: Mapping[str, str], counted: Mapping[str, int]) -> dict[str, int]:
    return {name: counted[of] for of, name in names.items()}
