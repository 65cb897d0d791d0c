"""netperf's own text: TCP_STREAM, TCP_MAERTS and TCP_RR; several reports of one load add up.

`send_tcp_stream` and `send_tcp_rr` of src/nettest_bsd.c: the rate is the fifth number of a stream
(after both buffers, message and time), and the sixth of requests.
"""

import re
from typing import Final

from simnet.importing.measured.reader import Numbers, Reader

_TEST: Final = re.compile(
    r"^(?:MIGRATED )?TCP (?P<test>STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST", re.MULTILINE
)
_ROW: Final = re.compile(r"^ *\d+ +\d+ +\d+ +[\d.]+ +[\d.]+[ \d.-]*$", re.MULTILINE)
_STREAM: Final = (4, "throughput_bps", 1e6)
_REQUESTS: Final = (5, "transactions_per_s", 1.0)


def _knows(text: str) -> bool:
    return _TEST.match(text) is not None


def _read(text: str) -> Numbers:
    found: dict[str, float] = {}
    tests = list(_TEST.finditer(text))
    ends = [one.start() for one in tests[1:]] + [len(text)]
    for test, end in zip(tests, ends, strict=True):
        place, metric, scale = _REQUESTS if test["test"] == "REQUEST/RESPONSE" else _STREAM
        row = _ROW.search(text, test.end(), end)
        words = row[0].split() if row else []
        if len(words) <= place:
            raise ValueError("expected a row of numbers below each heading")
        found[metric] = found.get(metric, 0.0) + float(words[place]) * scale
    return found


READER: Final = Reader("netperf", _knows, _read)
