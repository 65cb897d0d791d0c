"""Results in the formats of the tools of the era: `FORMATS` is by what ``--format`` calls them.

A format is imported when a result is shown in it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.study.calibrate.capture import Capture
    from simnet.study.run.result import Result


def compare(result: Result, capture: Capture | None = None) -> str:
    """The result beside a captured listing, and how far off it is.

    Without a capture it is the listing of a document, and the result must be of its setup.
    """
    from simnet.report.compare import compare as text

    if capture is not None:
        from simnet.study.calibrate.listing import compare as pairs

        return text(pairs(result, capture))
    from simnet.study.validate.document import beside_listing

    return text(beside_listing(result))


def _json(result: Result) -> str:
    return result.to_json() + "\n"


def _of(module: str, function: str) -> Callable[[Result], str]:
    def text(result: Result) -> str:
        made: str = getattr(import_module(f"simnet.report.{module}"), function)(result)
        return made

    return text


FORMATS: Final[dict[str, Callable[[Result], str]]] = {
    "text": _of("text", "text"),
    "json": _json,
    "sar": _of("sar", "sar"),
    "interrupts": _of("sar", "interrupts"),
    "mpstat": _of("sar", "mpstat"),
    "vmstat": _of("sar", "vmstat"),
    "netperf": _of("netperf", "netperf"),
    "iostat": _of("iostat", "iostat"),
    "iperf": _of("iperf", "iperf"),
    "fio": _of("fio", "fio"),
    "fio-json": _of("fio", "fio_json"),
    "ethtool": _of("ethtool", "ethtool"),
    "prometheus": _of("tools.prometheus", "run"),
    "compare": compare,
}
