"""What idle states have to be known for."""

from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.idle_states.schema import IdleKernel


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
