"""Which mechanism a tuning moves most: CPU time per data packet, by what it was spent on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from simnet.study.run.result import Result

__all__ = ["SIBLINGS", "Moved", "moved", "moved_text", "per_packet_us"]

SIBLINGS = "slowed by a busy SMT sibling"
"""What executing the work takes beyond the work itself."""

_US_PER_S = 10**6
_HEADERS_BYTES = 40  # IPv4 and TCP
_TIMESTAMPS_BYTES = 12


class Moved(BaseModel):
    """What one mechanism takes of a data packet with and without a tuning, microseconds of CPU.

    `placement` says that it is a cost of where things are: lines and registers of other nodes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mechanism: str
    before_us: float
    after_us: float
    placement: bool

    @property
    def change_us(self) -> float:
        """More is positive."""
        return self.after_us - self.before_us


def moved(before: Sequence[Result], after: Sequence[Result]) -> tuple[Moved, ...]:
    """Every mechanism, the one that moved most first; empty where results do not say."""
    was, now = _mean_us(before), _mean_us(after)
    placed = {name for result in (*before, *after) for name, _, place in _work(result) if place}
    found = [
        Moved(
            mechanism=name,
            before_us=was.get(name, 0.0),
            after_us=now.get(name, 0.0),
            placement=name in placed,
        )
        for name in dict.fromkeys((*was, *now))
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.change_us)))


def moved_text(one: Moved) -> str:
    """``payload from another node: +9.10 us a packet (placement)``."""
    why = " (placement)" if one.placement else ""
    return f"{one.mechanism}: {one.change_us:+.2f} us a packet{why}"


def per_packet_us(result: Result) -> dict[str, float]:
    """CPU time of a data packet in microseconds by mechanism, `SIBLINGS` last.

    The values add up to all that the CPUs were busy with. A data packet is payload as large as
    the MTU lets it be. Empty where nothing was carried. Raises KeyError for a result whose
    configuration was left out.
    """
    shares = _mean_us([result])
    if not shares:
        return {}
    busy = sum(cpu.busy for cpu in result.cpus)
    slowed = busy - sum(percent for _, percent, _ in _work(result))
    return {**shares, SIBLINGS: _US_PER_S / 100 / _data_packets_per_s(result) * slowed}


def _mean_us(results: Sequence[Result]) -> dict[str, float]:
    """CPU time of a data packet by mechanism: means over the results."""
    total: dict[str, float] = {}
    for result in results:
        packets_per_s = _data_packets_per_s(result)
        if not packets_per_s:
            continue
        scale = _US_PER_S / 100 / packets_per_s / len(results)
        for name, percent, _ in _work(result):
            total[name] = total.get(name, 0.0) + scale * percent
    return total


def _work(result: Result) -> list[tuple[str, float, bool]]:
    """Mechanism, percent of one CPU, and whether it is a cost of placement."""
    shares = result.model_dump(include={"work"}).get("work", ())
    return [(one["mechanism"], one["percent"], one["placement"]) for one in shares]


def _data_packets_per_s(result: Result) -> float:
    """Payload a second in packets as large as they get; 0 without a network."""
    host = result.configuration["host"]
    if not host["ports"]:
        return 0.0  # what passes disks are no packets
    mtu_bytes: int = min(port["nic"]["mtu_bytes"] for port in host["ports"])
    options = _TIMESTAMPS_BYTES if host["kernel"]["tcp_timestamps"] else 0
    return result.throughput_bps / 8 / (mtu_bytes - _HEADERS_BYTES - options)
