"""Tables of a scenario that is not of streams: its workload, and the costs of one of ours."""

from collections.abc import Mapping
from typing import Any, Final

import tomlkit

from simnet.files import read_text
from simnet.importing.writing.models import plain
from simnet.scenario.parts.nic.schema import DATAGRAM_HEADERS_BYTES
from simnet.scenario.scenarios import find_scenario

_LONGEST: Final = 300


def workload(kind: str, test: str, nodes: int, message_bytes: int = 1) -> str:
    """Return the table of a workload."""
    document = tomlkit.document()
    document["workload"] = {
        "type": kind,
        "test": test,
        "nodes": nodes,
        "message": f"{message_bytes} B",
    }
    return tomlkit.dumps(document)


def payload_bytes(frame_bytes: float) -> int:
    """Return what a datagram in a frame of that mean size carries."""
    return max(round(frame_bytes) - DATAGRAM_HEADERS_BYTES, 1)


def assumed(value: Any, why: str, low: Any = None, high: Any = None) -> dict[str, Any]:
    """Return a value that no file says, with its range if it has one."""
    ends = {} if low is None else {"low": low, "high": high}
    return {"value": value, **ends, "state": "assumed", "source": plain(why, _LONGEST)}


def table_of(scenario: str, key: str, values: Mapping[str, Any]) -> str:
    """Return a table with the costs that one of our scenarios has in it, and values of the host.

    Args:
        scenario: the name of ours.
        key: of the table.
        values: of the host, by key; a cost among them is what the host has.
    """
    base = tomlkit.parse(read_text(find_scenario(scenario)))[key]
    table = tomlkit.table()
    costs = {
        name: assumed(one["value"], f"as in {scenario}: {one['source']}", one["low"], one["high"])
        for name, one in dict(base).items()
        if isinstance(one, dict) and "state" in one and name not in values
    }
    for name, value in {**values, **costs}.items():
        item: Any = value
        if isinstance(value, dict):
            item = tomlkit.inline_table()
            item.update(value)
        table[name] = item
    document = tomlkit.document()
    document[key] = table
    return tomlkit.dumps(document)
