"""How many TCP connections carry data: what `ss -tin` printed; of `ss -s` those there are.

Source: ss(8).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind
from simnet.importing.outputs import Output
from simnet.importing.parser import Parser

_SOCKET: Final = re.compile(
    r"^ESTAB +\d+ +\d+ +(\S+):\d+ +(\S+):\d+[^\n]*\n(\s[^\n]*)", re.MULTILINE
)
_ESTABLISHED: Final = re.compile(r"^TCP: +\d{1,9} \(estab (\d{1,7})\b", re.MULTILINE)
_LOCAL: Final = re.compile(r"(\[::1\]|\[::ffff:127\.|127\.)")
_BYTES: Final = re.compile(r"\bbytes_(?:received|sent|acked):(\d{1,20})")
# a connection that has carried less is a login, or idle
_LEAST_BYTES: Final = 100_000


def _uses(evidence: Evidence) -> Iterator[tuple[str, float, str]]:
    for told in lists(evidence):
        connections = _SOCKET.findall(told.text)
        busy = [
            info
            for local, _, info in connections
            if not _LOCAL.match(local)
            if sum(map(int, _BYTES.findall(info))) >= _LEAST_BYTES
        ]
        if connections or told.name.endswith("ss_-tin"):
            yield "connections", float(len(busy)), told.name
            return
    summary = evidence.outputs.one("ss -s")
    if summary is not None and (established := _ESTABLISHED.search(summary.text)):
        yield "established", float(established[1]), summary.name


def lists(evidence: Evidence) -> list[Output]:
    """Return what ss printed of sockets, that of `ss -tin` first."""
    first = evidence.outputs.one("ss -tin")
    others = evidence.outputs.every("ss")
    return [*([first] if first is not None else []), *others]


_HEAD: Final = r"(?:Netid +)?State +Recv-Q +Send-Q"
PARSER: Final = Parser(
    kinds=(
        Kind("ss -tin", command="ss -tin", folder="networking"),
        Kind("ss", _HEAD, line=_HEAD, command="ss -uanm", folder="networking", many=True),
        Kind(
            "ss -s",
            r"Total: \d+(?: \(|$)",
            line=r"Total: \d+(?: \(|$)",
            command="ss -s",
            folder="networking",
        ),
    ),
    uses=_uses,
)
