"""Which mechanism a tuning moves most: CPU time by what it was spent on, of what was delivered.

That is a transaction where requests are answered one by one, a message of an open-loop load, and
else a data packet: payload as large as the MTU lets it be.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from simnet.rows import Row
from simnet.study.run.result import Result

SIBLINGS = "slowed by a busy SMT sibling"
"""What executing the work takes beyond the work itself."""

_PACKET = "data packet"
_US_PER_S = 10**6
_HEADERS_BYTES = 40  # IPv4 and TCP
_TIMESTAMPS_BYTES = 12


class Moved(Row):
    """What one mechanism takes of a unit with and without a tuning, microseconds of CPU.

    `placement` says that it is a cost of where things are: lines and registers of other nodes.
    """

    mechanism: str
    before_us: float
    after_us: float
    placement: bool
    unit: str = Field(default=_PACKET, description="what was delivered, see `unit_of`")

    @property
    def change_us(self) -> float:
        """More is positive."""
        return self.after_us - self.before_us


def moved(before: Sequence[Result], after: Sequence[Result]) -> tuple[Moved, ...]:
    """Every mechanism, the one that moved most first; empty where results do not say."""
    was, now = _mean_us(before), _mean_us(after)
    results = (*before, *after)
    placed = {name for result in results for name, _, place in _work(result) if place}
    found = [
        Moved(
            mechanism=name,
            before_us=was.get(name, 0.0),
            after_us=now.get(name, 0.0),
            placement=name in placed,
            unit=unit_of(before[0]),
        )
        for name in dict.fromkeys((*was, *now))
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.change_us)))


def moved_text(one: Moved) -> str:
    """``payload from another node: +9.10 us a packet (placement)``."""
    why = " (placement)" if one.placement else ""
    unit = one.unit.removeprefix("data ")
    return f"{one.mechanism}: {one.change_us:+.2f} us a {unit}{why}"


def unit_of(result: Result) -> str:
    """What was delivered, of which each takes CPU time: a transaction, a message, a data packet."""
    if any(flow.transactions_per_s is not None for flow in result.flows):
        return "transaction"
    return _PACKET if result.messages is None else "message"


def per_unit_us(result: Result) -> dict[str, float]:
    """CPU time of a unit (`unit_of`) in microseconds by mechanism, `SIBLINGS` last.

    The values add up to all that the CPUs were busy with. Empty where nothing was delivered. Raises
    KeyError for a stream's result whose configuration was left out.
    """
    shares = _mean_us([result])
    if not shares:
        return {}
    busy = sum(cpu.busy for cpu in result.cpus)
    slowed = busy - sum(percent for _, percent, _ in _work(result))
    return {**shares, SIBLINGS: _US_PER_S / 100 / _delivered_per_s(result) * slowed}


def _mean_us(results: Sequence[Result]) -> dict[str, float]:
    """CPU time of a unit by mechanism: of all that the results spent, over all they delivered."""
    delivered_per_s = sum(map(_delivered_per_s, results))
    if not delivered_per_s:
        return {}
    total: dict[str, float] = {}
    for name, percent, _ in (work for result in results for work in _work(result)):
        total[name] = total.get(name, 0.0) + _US_PER_S / 100 * percent / delivered_per_s
    return total


def _work(result: Result) -> list[tuple[str, float, bool]]:
    """Mechanism, percent of one CPU, and whether it is a cost of placement."""
    shares = result.model_dump(include={"work"}).get("work", ())
    return [(one["mechanism"], one["percent"], one["placement"]) for one in shares]


def _delivered_per_s(result: Result) -> float:
    """Units a second; 0 without a network: what passes disks are no packets."""
    unit = unit_of(result)
    if unit == "transaction":
        return sum(flow.transactions_per_s or 0.0 for flow in result.flows)
    if result.messages is not None:
        return result.messages.delivered_per_s
    host = result.configuration["host"]
    if not host["ports"]:
        return 0.0
    mtu_bytes: int = min(port["nic"]["mtu_bytes"] for port in host["ports"])
    options = _TIMESTAMPS_BYTES if host["kernel"]["tcp_timestamps"] else 0
    return result.throughput_bps / 8 / (mtu_bytes - _HEADERS_BYTES - options)
