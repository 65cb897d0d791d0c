"""Requests over one connection: two writes, an answer, and what Nagle and delayed ACKs cost.

Measurements on Linux stand beside it, see `simnet.study.validate.nagle_comparison`.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes

from lessons.drawing import BLUE, GREY, VERMILION
from lessons.ladder import Segment, record
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from simnet.study.validate.nagle_comparison import measured, stall_ms

_MS: Final = 10**9
_RATE_BPS: Final = 10**10
_WRITES: Final = (100, 200)
_ANSWER_BYTES: Final = 10
_KERNEL: Final = "6.18"
# what is under way at the end of a picture arrives
_AFTER_MS: Final = 10


def conversation(
    until_ms: int, writes: tuple[int, ...] = _WRITES, parts: int = 1, **options: Any
) -> list[Segment]:
    """Return the segments of requests that follow each other without a pause, 2 ms one way.

    Args:
        until_ms: how much of it will be drawn.
        writes: bytes of each call of send, before the client waits.
        parts: so many equal parts of a request are answered, each with 10 bytes.
        options: more `TcpOptions`.
    """
    tcp = TcpOptions(kernel=_KERNEL, delack_limit_ps=40 * _MS, **options)
    path = PathOptions(rate_bps=_RATE_BPS, delay_ps=2 * _MS)
    client = Requester(writes, parts * _ANSWER_BYTES)
    run = TcpPath(path, tcp, client, Responder(sum(writes) // parts, _ANSWER_BYTES))
    segments = record(run)
    run.run_for((until_ms + _AFTER_MS) * _MS)
    return segments


def request_ms(
    delack_ms: float = 0.0, *, writes: tuple[int, ...] = _WRITES, **options: Any
) -> float:
    """Return the median duration of 60 requests over a path of 20 us, in ms.

    Args:
        delack_ms: largest delay of an ACK; 0 for the kernel's.
        writes: bytes of each call of send, before the client waits.
        options: more `TcpOptions`.
    """
    tcp = TcpOptions(kernel=_KERNEL, delack_limit_ps=int(delack_ms * _MS), **options)
    return stall_ms(tcp, writes=writes)


def linux_ms(*, quickack: bool = False, nodelay: bool = False) -> dict[float, float]:
    """Return what Linux took, in ms, by the largest delay in ms; 0 where none was set."""
    return {
        (stall.delack_max_us or 0) / 1e3: stall.median_ms
        for stall in measured()
        if (stall.quickack, stall.nodelay) == (quickack, nodelay)
    }


def ways() -> dict[str, tuple[float, float]]:
    """Return what was tried against the stall: durations in ms, simulated and on Linux."""
    linux = linux_ms()
    return {
        "40 ms": (request_ms(40), linux[40]),
        "5 ms": (request_ms(5), linux[5]),
        "quick ACK": (request_ms(quickack=True), linux_ms(quickack=True)[0]),
        "NODELAY": (request_ms(nodelay=True), linux_ms(nodelay=True)[0]),
    }


def staircase(axes: Axes) -> None:
    """Draw the duration of a request over the largest delay of an ACK, and what Linux took."""
    delays = np.arange(1, 45, 0.5)
    stalls = [request_ms(delay) for delay in delays]
    linux = linux_ms()
    axes.step(delays, stalls, where="pre", color=BLUE, label="simulated, HZ 250")
    axes.plot(list(linux), list(linux.values()), "o", color=VERMILION, label="Linux 6.18")
    axes.plot(delays, delays, ":", color=GREY, label="the delay itself")
    axes.set_xlabel("largest delay of an ACK (ms)")
    axes.set_ylabel("duration of a request (ms)")
    axes.set_ylim(0)
    axes.legend(loc="upper left")


def pairs(axes: Axes, found: Mapping[str, tuple[float, float]]) -> None:
    """Draw simulated and measured durations in ms side by side, by what is set."""
    places = np.arange(len(found))
    axes.bar(places - 0.2, [simulated for simulated, _ in found.values()], 0.4, color=BLUE)
    axes.bar(places + 0.2, [measured for _, measured in found.values()], 0.4, color=VERMILION)
    axes.set_yscale("log")
    axes.set_xticks(places, list(found))
    axes.set_xlabel("what is set (one at a time)")
    axes.set_ylabel("duration of a request (ms)")
