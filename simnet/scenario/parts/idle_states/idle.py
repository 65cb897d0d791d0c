"""Which limits of idle states nothing reads: those of another maker's driver."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.idle_states.schema import DRIVERS


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = {"host": effective.host}
    hosts |= {f"peers[{number}]": peer for number, peer in enumerate(effective.peers)}
    for place, host in hosts.items():
        vendor = host.cpu.vendor
        if vendor not in DRIVERS:
            yield f"{place}.kernel.idle_loop", "idle= is a parameter of x86"
        used = DRIVERS.get(vendor, "another driver")
        for maker, module in DRIVERS.items():
            if maker != vendor:
                why = f"{used}, not {module}, has the idle states of {host.name}"
                yield f"{place}.kernel.{maker}_max_cstate", why
