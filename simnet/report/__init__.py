"""Results as text: tables in the formats of the tools of the era, and comparisons.

`FORMATS` maps the name of `simnet run --format NAME` to a function from a result to text.
"""

from __future__ import annotations

from collections.abc import Callable

from simnet.report.compare import compare as _compare
from simnet.report.fio import fio, fio_json
from simnet.report.iostat import iostat
from simnet.report.iperf import iperf
from simnet.report.netperf import netperf
from simnet.report.sar import interrupts, mpstat, sar
from simnet.report.text import text
from simnet.report.vmstat import vmstat
from simnet.study.calibrate.capture import Capture
from simnet.study.calibrate.listing import compare as pairs
from simnet.study.run.result import Result

__all__ = [
    "FORMATS",
    "compare",
    "fio",
    "fio_json",
    "interrupts",
    "iostat",
    "iperf",
    "mpstat",
    "netperf",
    "prometheus",
    "sar",
    "text",
    "vmstat",
]


def compare(result: Result, capture: Capture | None = None) -> str:
    """The result beside a captured listing, and how far off it is.

    Without a capture it is the listing of a document, and the result must be of its setup.
    """
    if capture is not None:
        return _compare(pairs(result, capture))
    # half of the other formats' import time
    from simnet.study.validate.document import beside_listing

    return _compare(beside_listing(result))


def prometheus(result: Result) -> str:
    """Every measure in the text exposition format of Prometheus."""
    from simnet.report.tools.prometheus import run  # with verdicts, which no other format needs

    return run(result)


def _json(result: Result) -> str:
    return result.to_json() + "\n"


FORMATS: dict[str, Callable[[Result], str]] = {
    "text": text,
    "json": _json,
    "sar": sar,
    "interrupts": interrupts,
    "mpstat": mpstat,
    "vmstat": vmstat,
    "netperf": netperf,
    "iostat": iostat,
    "iperf": iperf,
    "fio": fio,
    "fio-json": fio_json,
    "prometheus": prometheus,
    "compare": compare,
}
