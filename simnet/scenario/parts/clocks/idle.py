"""Which words on clocks nothing reads: of another maker, or of a clock that is not above."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.clocks.schema import OFF


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = {"host": effective.host}
    hosts |= {f"peers[{number}]": peer for number, peer in enumerate(effective.peers)}
    for place, host in hosts.items():
        cpu = host.cpu
        for maker, (name, off) in OFF.items():
            if maker != cpu.vendor:
                yield f"{place}.kernel.{name}", f"{host.name} has no processor of this maker"
            elif getattr(host.kernel, name) == off and cpu.clock_hz < cpu.base_clock_hz:
                why = f"the clock of {host.name} is below its nominal one without that"
                yield f"{place}.kernel.{name}", why
