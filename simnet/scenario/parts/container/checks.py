"""What a container needs."""

from simnet.scenario.core.places import Places
from simnet.scenario.core.tree import Path, Table, Tree


def check_container(tree: Tree, table: Table) -> None:
    """Refuse a container without a load that comes to it, and CPUs that are not there."""
    if "container" not in tree.values:
        return
    path: Path = ("workload", "test")
    test = tree.get(path)
    if test != "udp_stream":
        message = f"{test} in a container is not modelled: expected udp_stream, or no [container]"
        raise table.error(path, "workload.test", message, ("container", "network"))
    cpus = Places(tree).cpu_count(("host",))
    for cpu in tree.get(("container", "rps_cpus")):
        if cpu >= cpus:
            message = f"CPU {cpu}, but the machine has 0 to {cpus - 1}"
            raise table.error(("container", "rps_cpus"), "container.rps_cpus", message)
