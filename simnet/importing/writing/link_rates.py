"""How fast a port's link is taken to be of which no file says it: by its name, or by its driver.

Source: MODULE_DESCRIPTION and the data sheets of the chips that each driver of Linux's
drivers/net/ethernet is for; where a driver is for chips of several speeds it is not in the list.
"""

import re
from typing import Final

from simnet.importing.lookup import nearest_nic
from simnet.importing.read_nic import ReadNic
from simnet.scenario.core.library import find_model, flat, read_model

UNKNOWN_LINK_BPS: Final = 10 * 10**9
"""What a port is assumed to have of which nothing is known."""
_G: Final = 10**9
# of IEEE 802.3, that servers have
_SPEEDS: Final = (_G, 5 * _G // 2, 10 * _G, 25 * _G, 40 * _G, 50 * _G, 100 * _G, 200 * _G, 400 * _G)
_CALLED: Final = (
    (re.compile(r"\bXXV710|E810-XXV|\b25 ?G(?:b|igabit)"), 25 * _G),
    (re.compile(r"\b100 ?G(?:b|igabit)|E810-C\b|100GbE"), 100 * _G),
    (re.compile(r"\b50 ?G(?:b|igabit)"), 50 * _G),
    (re.compile(r"\b40 ?G(?:b|igabit)|40-Gigabit|XL710\b"), 40 * _G),
    (re.compile(r"\b10[ -]?G(?:b|igabit)|10GbE|10GBASE|10-Gigabit|\bX710\b"), 10 * _G),
    (re.compile(r"\b2\.5 ?G(?:b|igabit)|2\.5GbE|I22[56]\b"), 5 * _G // 2),
    (re.compile(r"Gigabit|\bGbE\b|1000BASE"), _G),
    (re.compile(r"Fast Ethernet|10/100(?!/)|100BASE"), _G // 10),
)
_GIGABIT: Final = (
    "igb igbvf e1000 e1000e bnx2 tg3 r8169 sky2 skge forcedeth atl1c atl1e alx jme sis190"
    " via_velocity ns83820 mvneta fec macb gianfar cpsw"
    " mv643xx_eth bcmgenet qca8k ax88179_178a"
    " r8152 nss-dp dwmac-sun8i"
)
_OF_DRIVERS: Final = {
    **dict.fromkeys(_GIGABIT.split(), _G),
    **dict.fromkeys(
        ("8139too", "8139cp", "e100", "3c59x", "natsemi", "sis900", "pcnet32"), _G // 10
    ),
    "igc": 5 * _G // 2,
    "r8125": 5 * _G // 2,
    "ixgbe": 10 * _G,
    "ixgbevf": 10 * _G,
    "atlantic": 10 * _G,
    "vmxnet3": 10 * _G,
    "nvethernet": 10 * _G,
    "be2net": 10 * _G,
    "bnx2x": 10 * _G,
    "sfc": 10 * _G,
}


def link_of(nic: ReadNic) -> tuple[int, str]:
    """Return a port's rate in bit/s, and why it is only assumed; empty if a file says it."""
    read = nic.facts.get("link_bps")
    if read is not None:
        return int(read.value), read.why
    rate, why = _assumed(nic)
    carried = nic.facts.get("carried_bps")
    if carried is None or int(carried.value) <= rate:
        return rate, why
    faster = next((one for one in _SPEEDS if one >= int(carried.value)), rate)
    return faster, f"no file says it: {carried.source} shows {int(carried.value) / _G:.3g} Gbit/s"


def _assumed(nic: ReadNic) -> tuple[int, str]:
    """Return what a port is taken for by its name or its driver, and why."""
    called, driver = nic.text("called"), nic.text("driver")
    for pattern, rate in _CALLED:
        if matched := pattern.search(called):
            return rate, f"no file says it: {nic.facts['called'].source} calls it {matched[0]}"
    if driver in _OF_DRIVERS:
        return _OF_DRIVERS[driver], f"no file says it: what cards of the driver {driver} have"
    base, same = nearest_nic(driver)
    rate = _of_model(base) if same else 0
    if rate:
        return rate, f"no file says it: as in {base}, of the driver {driver}"
    if (usual := nic.facts.get("usual_bps")) is not None:
        return int(usual.value), f"no file says it: {usual.why} ({usual.source})"
    return UNKNOWN_LINK_BPS, "no file says it"


def _of_model(base: str) -> int:
    """Return the rate that a model has; 0 if it has none."""
    text = str(flat(read_model("nic", find_model("nic", base))[0])[0].get("link_rate", ""))
    matched = _RATE.search(text)
    return round(float(matched[1]) * _UNITS[matched[2]]) if matched else 0


_RATE: Final = re.compile(r"(\d{1,7}(?:\.\d{1,6})?) (Gbit/s|Mbit/s|kbit/s|bit/s)")
_UNITS: Final = {"Gbit/s": _G, "Mbit/s": 10**6, "kbit/s": 1000, "bit/s": 1}
