"""What the drivers of network interfaces refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.core.tree import DEFAULT, dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simnet.errors import InputError
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree


__all__ = ["check_nics"]

_UD_HEADERS_BYTES: Final = 4
_CM_LARGEST_MTU_BYTES: Final = 65520


def check_nics(tree: Tree, place: Path, table: Table) -> None:
    """Refuse rings, queues and moderation that a port of a host cannot have."""
    for number, port in enumerate(tree.get((*place, "ports"))):
        here: Path = (*place, "ports", number)
        _check_nic((*here, "nic"), port["nic"], table)
        _check_gro(tree, (*place, "kernel"), (*here, "nic"), table)
        _check_sorted(tree, here, port, table)


def _check_nic(path: Path, nic: dict[str, Any], table: Table) -> None:
    """Refuse what the driver refuses (tg3_set_ringparam, tg3_set_coalesce)."""

    def error(field: str, message: str, *others: str) -> InputError:
        paths: Iterator[Path] = ((*path, other) for other in others)
        return table.error((*path, field), "system", message, *paths)

    most = {
        "connected": _CM_LARGEST_MTU_BYTES,
        "datagram": nic["ib_mtu_bytes"] - _UD_HEADERS_BYTES,
    }.get(nic["ipoib_mode"])
    if most and nic["mtu_bytes"] > most:
        message = f"{nic['ipoib_mode']}: an MTU of at most {most} B"
        raise error("mtu_bytes", message, "ipoib_mode", "ib_mtu_bytes")
    if (nic["ipoib_mode"] != "none") != (nic["moderation"] == "completions"):
        message = "ipoib_mode only, and always, with moderation = completions"
        raise error("ipoib_mode", message, "moderation")
    if nic["rx_buffers_posted"] >= nic["rx_ring"]:
        message = f"at most {nic['rx_ring'] - 1} buffers in a ring of {nic['rx_ring']}"
        raise error("rx_buffers_posted", message, "rx_ring")
    _check_queues(nic, error)
    for direction in ("rx", "tx"):
        if nic["moderation"] not in {"coalesce", "status-blocks"}:
            continue
        usecs, frames = nic[f"{direction}_usecs_ps"], nic[f"{direction}_frames"]
        if not usecs and not frames:
            message = f"{direction} usecs and frames are 0: there would be no interrupt at all"
            raise error(f"{direction}_usecs_ps", message, f"{direction}_frames")


def _check_gro(tree: Tree, kernel: Path, nic: Path, table: Table) -> None:
    """Refuse GRO on a kernel whose model says that it has none."""
    said = tree.provenance[dotted((*kernel, "gro"))].source != DEFAULT
    if tree.get((*nic, "gro")) and said and not tree.get((*kernel, "gro")):
        message = f"GRO is on, Linux {tree.get((*kernel, 'version'))} has none: nic.gro=off"
        raise table.error((*nic, "gro"), "system", message, (*kernel, "gro"), kernel)


def _check_queues(nic: dict[str, Any], error: Callable[..., InputError]) -> None:
    """Refuse queues that the driver cannot have, and indirection tables that no chip has."""
    if nic["moderation"] != "status-blocks":
        for field in ("rx_queues", "tx_queues"):
            if nic[field] > 1:
                message = "several queues only with moderation = status-blocks"
                raise error(field, message, "moderation")
    entries, equal = nic["rss_table_entries"], nic["rss_equal"]
    if entries & (entries - 1):
        raise error("rss_table_entries", f"expected a power of two, got {entries}")
    sorted_to = nic["rx_queues"] - (nic["rss_default_queue"] and nic["rx_queues"] > 1)
    if equal > sorted_to:
        message = f"RSS sorts to {sorted_to} queues: expected 0 to {sorted_to}"
        raise error("rss_equal", message, "rx_queues", "rss_default_queue")


def _check_sorted(tree: Tree, path: Path, port: dict[str, Any], table: Table) -> None:
    """Refuse queues that nothing would sort packets to: of streams, or of a bond's slave."""
    test = tree.get(("workload", "test"))
    for field in ("rx_queues", "tx_queues"):
        if port["nic"][field] == 1 or (test == "relay" and not port["enslaved"]):
            continue
        what = "a slave of a bond" if port["enslaved"] else f"workload.test = {test}"
        message = f"{port['name']} has several queues, {what} uses one: expected 1"
        raise table.error((*path, "nic", field), "system", message)
