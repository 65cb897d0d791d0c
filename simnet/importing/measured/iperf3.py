"""`iperf3 -J`: what arrived at the receiver."""

import json
import re
from typing import Any, Final

from simnet.importing.measured.reader import Numbers, Reader

_HEAD: Final = re.compile(r'\s*\{\s*"(start|error)"')
_SHOWN: Final = 200


def _knows(text: str) -> bool:
    return _HEAD.match(text) is not None


def _read(text: str) -> Numbers:
    document: Any = json.loads(text)
    if "error" in document:
        raise ValueError(f"it failed, {str(document['error'])[:_SHOWN]!r}")
    try:
        end = document["end"]
        total = end.get("sum_received") or end["sum"]
        return {"throughput_bps": float(total["bits_per_second"])}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"expected a sum at its end, got {error!r}") from error


READER: Final = Reader("iperf3 -J", _knows, _read)
