"""Which mechanism a tuning moves most: CPU time per data packet, by what it was spent on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from simnet.study.result import Result

__all__ = ["Moved", "moved", "said"]

_US_PER_S = 10**6
_HEADERS_BYTES = 40  # IPv4 and TCP
_TIMESTAMPS_BYTES = 12
_NOTHING_US = 0.05


class Moved(BaseModel):
    """What one mechanism takes of a data packet with and without a tuning, microseconds of CPU.

    The remote part was spent waiting for cache lines and registers of other nodes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mechanism: str
    before_us: float
    after_us: float
    remote_before_us: float
    remote_after_us: float

    @property
    def change_us(self) -> float:
        """More is positive."""
        return self.after_us - self.before_us

    @property
    def remote_change_us(self) -> float:
        """The part of the change that is spent on what lies in other nodes."""
        return self.remote_after_us - self.remote_before_us


def moved(before: Sequence[Result], after: Sequence[Result]) -> tuple[Moved, ...]:
    """Every mechanism, the one that moved most first; empty where results do not tell."""
    was, now = _mean_us(before), _mean_us(after)
    found = [
        Moved(
            mechanism=name,
            before_us=was.get(name, (0.0, 0.0))[0],
            after_us=now.get(name, (0.0, 0.0))[0],
            remote_before_us=was.get(name, (0.0, 0.0))[1],
            remote_after_us=now.get(name, (0.0, 0.0))[1],
        )
        for name in dict.fromkeys((*was, *now))
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.change_us)))


def said(one: Moved) -> str:
    """``copy to user: +9.1 us a packet, +8.7 us of it on lines and registers of other nodes``."""
    sentence = f"{one.mechanism}: {one.change_us:+.1f} us a packet"
    if abs(one.remote_change_us) < _NOTHING_US:
        return sentence
    return f"{sentence}, {one.remote_change_us:+.1f} us of it on lines and registers of other nodes"


def _mean_us(results: Sequence[Result]) -> dict[str, tuple[float, float]]:
    """CPU time of a data packet by mechanism, and its remote part: means over the results."""
    total: dict[str, tuple[float, float]] = {}
    for result in results:
        packets_per_s = _data_packets_per_s(result)
        if not packets_per_s:
            continue
        scale = _US_PER_S / 100 / packets_per_s / len(results)
        for name, percent, remote in _work(result):
            all_us, remote_us = total.get(name, (0.0, 0.0))
            total[name] = all_us + scale * percent, remote_us + scale * remote
    return total


def _work(result: Result) -> list[tuple[str, float, float]]:
    """Mechanism, percent of one CPU, and the remote part of that."""
    shares = result.model_dump(include={"work"}).get("work", ())
    return [(one["mechanism"], one["percent"], one["remote_percent"]) for one in shares]


def _data_packets_per_s(result: Result) -> float:
    """Payload a second in packets as large as they get."""
    host = result.configuration["host"]
    mtu_bytes: int = min(port["nic"]["mtu_bytes"] for port in host["ports"])
    options = _TIMESTAMPS_BYTES if host["kernel"]["tcp_timestamps"] else 0
    return result.throughput_bps / 8 / (mtu_bytes - _HEADERS_BYTES - options)
