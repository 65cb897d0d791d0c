"""What a stream carries over a long way: by its buffers, the round trip, and what is lost."""

from collections.abc import Iterable
from typing import Final

from simnet.study.run.run import run

# a window that doubles with every round trip fills any of these ways, and finds its rhythm
_TRIPS: Final = 16
_LEAST_MS: Final = 300
_LONG_MS: Final = 4000


def carried_mbit(
    scenario: str, trip_ms: float, tunings: Iterable[str] = (), *, loss_percent: float = 0
) -> float:
    """Simulate a stream over a way, and return its throughput in Mbit/s.

    Args:
        scenario: with one stream.
        trip_ms: round trip of the way.
        tunings: of the scenario.
        loss_percent: frames that are lost in each direction, each by itself.
    """
    settings = {"netem.delay": f"{trip_ms / 2:g} ms"}
    if loss_percent:
        settings["netem.loss"] = f"{loss_percent:g} %"
    # losses are rare: the window needs some of them to find its mean, and the mean some more
    least = _LONG_MS if loss_percent else _LEAST_MS
    warm_up, duration = max(_TRIPS * trip_ms, least // 2), max(2 * trip_ms, least)
    result = run(
        scenario,
        settings=settings,
        tunings=tuple(tunings),
        warm_up=f"{warm_up:g} ms",
        duration=f"{duration:g} ms",
    )
    return result.throughput_bps / 1e6
