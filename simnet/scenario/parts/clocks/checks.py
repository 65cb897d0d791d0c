"""The clock of CPUs that may not rise above the nominal one, and words on it that nothing reads."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
from simnet.scenario.core.tree import Path, Table, Tree, dotted
from simnet.scenario.parts.clocks.schema import OFF


def check_clock(tree: Tree, place: Path, table: Table) -> None:
    """Give CPUs their nominal clock where turbo is off; refuse that where it is not known."""
    host = tree.get(place)
    cpu, kernel = host["cpu"], host["kernel"]
    name, off = OFF.get(cpu["vendor"], ("", ""))
    if not name or kernel[name] != off:
        return
    clock: Path = (*place, "cpu", "clock_hz")
    base = cpu["base_clock_hz"]
    if not base:
        message = f"the nominal clock of {host['name']} is not known: set cpu.base_clock"
        raise table.error((*place, "kernel", name), f"kernel.{name}", message)
    if dotted(clock) not in table.origins and base < cpu["clock_hz"]:
        known = tree.provenance[dotted((*place, "cpu", "base_clock_hz"))]
        source = f"turbo is off; {known.source}"
        tree.put(clock, known.model_copy(update={"source": source}))


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    for place, host in effective.places.items():
        cpu = host.cpu
        for maker, (name, off) in OFF.items():
            if maker != cpu.vendor:
                yield f"{place}.kernel.{name}", f"{host.name} has no processor of this maker"
            elif getattr(host.kernel, name) == off and cpu.clock_hz < cpu.base_clock_hz:
                why = f"the clock of {host.name} is below its nominal one without that"
                yield f"{place}.kernel.{name}", why
