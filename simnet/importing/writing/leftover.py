"""What was understood and has no part in the scenario: tests, rates, shares, ports left out."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from simnet.importing.host import ReadHost
from simnet.importing.writing.tuning import Unused

_LOAD: Final = "the scenario has another load"
_NO_LOAD: Final = "the load that it is of is not simulated"
_LEFT_OUT: Final = "the port is not in the model"
_OBSERVED: Final = "it was observed, and is no setting"
# of a port that is left out, what nothing says of it
_DERIVED: Final = ("carried_bps", "usual_bps")
_FACTS: Final = {
    "hypervisor": "what is below a guest is simulated for ports of virtio",
    "tuned_profile": "what the profile has set is read by itself",
}
_NUMBER: Final = re.compile(r"(?<=\.)\d+(?=\.)")
_MEGA: Final = 1e6


def leftover(host: ReadHost, ports: Collection[str], load: str, *, below: bool) -> Iterator[Unused]:
    """Yield what parsers told of a host and no model, setting or load has.

    Args:
        host: as it was read.
        ports: of the model.
        load: the file that shows the load; empty if none does.
        below: the host is simulated as a guest.
    """
    other = _LOAD if load else _NO_LOAD
    for test in host.tests:
        if test.source != load:
            rate = f", {test.rate_bps / _MEGA:,.1f} Mbit/s" if test.rate_bps else ""
            value = f"{test.connections} of {test.message_bytes} B{rate}"
            yield Unused(f"{test.tool} {test.test}", value, test.source, other)
    for one in host.rates:
        if one.source != load or one.port not in ports:
            received, sent = one.rx_bytes * 8 / _MEGA, one.tx_bytes * 8 / _MEGA
            value = f"{received:,.1f} Mbit/s received, {sent:,.1f} Mbit/s sent"
            why = other if one.port in ports else _LEFT_OUT
            yield Unused(f"rate of {one.port}", value, one.source, why)
    for nic in host.nics:
        if nic.name not in ports:
            own = ((key, read) for key, read in nic.facts.items() if key not in _DERIVED)
            for key, read in own:
                yield Unused(f"{nic.name} {key}", str(read.value), read.source, _LEFT_OUT)
    for key, why in _FACTS.items():
        fact = host.facts.get(key)
        if fact is not None and not (below and key == "hypervisor"):
            yield Unused(key, str(fact.value), fact.source, why)
    yield from _observed(host)


def _observed(host: ReadHost) -> Iterator[Unused]:
    """Yield what was observed, with one line for all CPUs, disks or ports of a kind."""
    found: dict[tuple[str, str], list[float]] = {}
    for name, use in host.uses.items():
        found.setdefault((_NUMBER.sub("N", name), use.source), []).append(use.value)
    for (name, source), values in found.items():
        if name == "connections" or (name == "established" and host.rates):
            continue
        value = f"{values[0]:,.6g}"
        if len(values) > 1:
            value = f"{min(values):,.6g} to {max(values):,.6g}, {len(values)} of them"
        yield Unused(name, value, source, _OBSERVED)
