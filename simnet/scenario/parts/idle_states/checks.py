"""What idle states have to be known for, and limits of another maker's driver."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.idle_states.schema import DRIVERS, IdleKernel


def check_idle_states(tree: Tree, place: Path, table: Table) -> None:
    """Refuse to limit idle states of which nothing is known."""
    host = tree.get(place)
    if host["cpu"]["idle_exit_ps"]:
        return
    for name in IdleKernel.__annotations__:
        if host["kernel"].get(name, _usual(name)) != _usual(name):
            message = (
                f"the idle states of {host['name']} are not known: set cpu.idle_exit, and"
                " cpu.deep_idle_exit and cpu.deep_idle_residency where there is a deeper one"
            )
            raise table.error((*place, "kernel", name), f"kernel.{name}", message)


def _usual(name: str) -> object:
    return IdleKernel.model_fields[name].default


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    for place, host in effective.places.items():
        vendor = host.cpu.vendor
        if vendor not in DRIVERS:
            yield f"{place}.kernel.idle_loop", "idle= is a parameter of x86"
        used = DRIVERS.get(vendor, "another driver")
        for maker, module in DRIVERS.items():
            if maker != vendor:
                why = f"{used}, not {module}, has the idle states of {host.name}"
                yield f"{place}.kernel.{maker}_max_cstate", why
