"""Ports whose packets PF_RING captures: its `info` in /proc/net/pf_ring/dev, and pfcount.

Source: PF_RING, kernel/pf_ring.c, `ring_proc_dev_get_info`; examples/pfcount.c.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import CAPTURED, Kind
from simnet.importing.parser import Parser
from simnet.importing.roles import CAPTURE, Role

_INFO: Final = "pf_ring info"
_FIELD: Final = re.compile(
    r"^(Name|Family|[RT]X Queues|Num [RT]X Slots): +(\S.{0,60})$", re.MULTILINE
)
_NUMBERS: Final = {
    "RX Queues": "rx_queues",
    "TX Queues": "tx_queues",
    "Num RX Slots": "rx_ring",
    "Num TX Slots": "tx_ring",
}
_FAMILY: Final = re.compile(r"(?:Intel|Mellanox|Broadcom) ([a-z][\w]{1,15})")


def captured(text: str) -> tuple[str, dict[str, str | int]]:
    r"""Return the port that the text is of, its driver, and how many queues and slots it has.

    >>> captured("Name:  eth2\nFamily:  Intel ice\nRX Queues:  3\n")
    ('eth2', {'driver': 'ice', 'rx_queues': 3})
    """
    fields = dict(_FIELD.findall(text))
    found: dict[str, str | int] = {}
    if family := _FAMILY.fullmatch(fields.get("Family", "").strip()):
        found["driver"] = family[1]
    for name, key in _NUMBERS.items():
        count = fields.get(name, "").strip()
        if count.isdecimal() and len(count) <= len("99999") and int(count):
            found[key] = int(count)
    return fields.get("Name", "").strip(), found


def _roles(evidence: Evidence) -> Iterator[Role]:
    for kind in (_INFO, "pfcount"):
        told = evidence.outputs.one(kind)
        if told is not None:
            yield Role(CAPTURE, "a capture of packets by PF_RING", told.name)


PARSER: Final = Parser(
    kinds=(
        Kind(_INFO, line=r"Polling Mode: +NAPI|Name: +\S+\s*\nIndex: +\d", idle=CAPTURED),
        Kind("pfcount", r"Absolute Stats: \[", line=r"Absolute Stats: \[", idle=CAPTURED),
    ),
    roles=_roles,
)
