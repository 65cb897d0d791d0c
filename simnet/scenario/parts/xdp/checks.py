"""What a program of XDP needs."""

from typing import Final

from simnet.host.release import release
from simnet.net.link.ethernet import AROUND_BYTES
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.xdp.drivers import DRIVERS

_BITS: Final = 8


def check_xdp(tree: Tree, table: Table) -> None:
    """Refuse a program without packets, or on a driver or a kernel that has none."""
    if not asks_for(tree, table, "xdp", "xdp"):
        return
    path: Path = ("workload", "test")
    if len(tree.get(("peers",))) != 1:
        message = "xdp: expected one peer, which stands for the generator"
        raise table.error(path, "workload.test", message)
    given = tree.get(("xdp",))
    nic = tree.get(("host", "ports", 0, "nic"))
    driver = nic["driver"]
    if driver not in DRIVERS:
        message = f"XDP of {driver} is not modelled: expected one of {', '.join(sorted(DRIVERS))}"
        raise table.error(path, "workload.test", message)
    kernel, first = tree.get(("host", "kernel")), DRIVERS[driver].since[given["action"]]
    if kernel["system"] != "linux" or release(kernel["version"]) < first:
        since = ".".join(map(str, first))
        message = (
            f"{driver} of {kernel['system']} {kernel['version']} knows no XDP that may"
            f" {given['action']}: Linux {since} on"
        )
        raise table.error(("xdp", "action"), "xdp.action", message, ("host", "kernel"))
    if given["cqe_compress"] and not DRIVERS[driver].compressed:
        message = f"{driver} does not compress completions"
        raise table.error(("xdp", "cqe_compress"), "xdp.cqe_compress", message)
    if given["acts_on"] > given["flows"]:
        message = f"expected at most the {given['flows']} flows that there are"
        raise table.error(("xdp", "acts_on"), "xdp.acts_on", message, ("xdp", "flows"))
    if given["action"] == "redirect" and len(tree.get(("host", "ports"))) == 1:
        message = "redirect: expected a second port to send by"
        raise table.error(("xdp", "action"), "xdp.action", message)
    most = nic["link_rate_bps"] // _BITS // (given["frame_bytes"] + AROUND_BYTES)
    if given["rate"] > most:
        message = f"the link carries {most} such frames a second"
        raise table.error(("xdp", "rate"), "xdp.rate", message, ("xdp", "frame_bytes"))
