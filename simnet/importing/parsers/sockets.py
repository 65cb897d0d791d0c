"""How many TCP connections carry data: what `ss -tin` printed.

Source: ss(8).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.importing.kind import Kind
from simnet.importing.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.importing.evidence import Evidence

__all__ = ["PARSER"]

_SOCKET: Final = re.compile(
    r"^ESTAB +\d+ +\d+ +(\S+):\d+ +(\S+):\d+[^\n]*\n(\s[^\n]*)", re.MULTILINE
)
_LOCAL: Final = re.compile(r"(\[::1\]|\[::ffff:127\.|127\.)")
_BYTES: Final = re.compile(r"\bbytes_(?:received|sent|acked):(\d{1,20})")
# a connection that has carried less is a login, or idle
_LEAST_BYTES: Final = 100_000


def _uses(evidence: Evidence) -> Iterator[tuple[str, float, str]]:
    told = evidence.outputs.one("ss -tin")
    if told is None:
        return
    busy = [
        info
        for local, _, info in _SOCKET.findall(told.text)
        if not _LOCAL.match(local)
        if sum(map(int, _BYTES.findall(info))) >= _LEAST_BYTES
    ]
    yield "connections", float(len(busy)), told.name


PARSER: Final = Parser(
    kinds=(
        Kind(
            "ss -tin",
            r"State +Recv-Q +Send-Q",
            line=r"State +Recv-Q +Send-Q",
            command="ss -tin",
            folder="networking",
        ),
    ),
    uses=_uses,
)
