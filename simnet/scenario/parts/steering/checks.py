"""What steering of packets needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.errors import InputError
from simnet.net.steering.version import steering_rules

if TYPE_CHECKING:
    from simnet.scenario.core.tree import Path, Table, Tree


__all__ = ["check_steering"]


def check_steering(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a hash of a packet that has no place in a map."""
    path: Path = (*place, "kernel")
    kernel = tree.get(path)
    if kernel["system"] != "linux":
        return
    bits, shift = (*path, "rxhash_bits"), (*path, "rps_index_shift")
    given = kernel["rxhash_bits"], kernel["rps_index_shift"]
    try:
        rules = steering_rules(kernel["version"], *given)
    except InputError as error:
        raise table.error(shift, "system", error.message, bits) from error
    if kernel["rps"] and not rules.hash_bits:
        message = f"Linux {kernel['version']} has no hash of its own: RPS needs 1 to 32 bits"
        raise table.error(bits, "system", message, (*path, "rps"))
