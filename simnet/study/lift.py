"""What a scenario gains when one sort of part is lifted: each is tried, nothing is concluded.

The order of bottlenecks (`bottleneck`) supposes that the work for each byte stays as it is. Whether
it does is told by a run with the same seeds and everything else as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from simnet.study.run import simulate

if TYPE_CHECKING:
    from simnet.scenario.effective import Effective, Host
    from simnet.study.result import Result

__all__ = ["Lift", "lifted_results", "lifts"]

_BY: Final = (5, 4)
_TWICE: Final = (2, 1)
_DISK_RATES: Final = ("rpm", "outer_rate_bps", "inner_rate_bps", "bus_rate_bps")
_DISK_TIMES: Final = (
    "seek_track_ps",
    "seek_average_ps",
    "seek_full_ps",
    "write_settle_ps",
    "head_switch_ps",
    "command_overhead_ps",
    "flash_read_ps",
    "flash_program_ps",
)
_BUFFERS: Final = (
    "tcp_rmem_bytes",
    "tcp_wmem_bytes",
    "tcp_recvspace_bytes",
    "tcp_sendspace_bytes",
    "sb_max_bytes",
)


class Lift(BaseModel):
    """One sort of part, lifted alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    part: str
    by: str = Field(description="what was changed, and how much")
    throughput_bps: float
    gain: float = Field(
        description="of throughput, relative; of jobs, by how much more of them would be done in"
        " the same time"
    )
    p99_us: float | None = Field(description="of messages or transactions; null of streams")
    p99_gain: float | None = Field(description="change of that, relative; less is better")


def lifts(effective: Effective) -> Iterator[tuple[str, str, Effective]]:
    """Yield name, what is changed, and configuration of everything that can be lifted."""
    tried: tuple[tuple[str, str, Callable[[Effective], Effective]], ...] = (
        ("network", "link rates + 25 %", _network),
        ("network latency", "cables and switches - 20 %", _latency),
        ("CPUs of the system", "clock + 25 %", lambda one: _clocks(one, peers=False)),
        ("CPUs of the peers", "clock + 25 %", lambda one: _clocks(one, peers=True)),
        ("TCP's buffers", "of both ends, doubled", _buffers),
        ("pagepool", "doubled", _pagepool),
        ("disks", "rates + 25 %, times - 20 %", _disks),
    )
    before = effective.digest()
    for part, what, lift in tried:
        if effective.lpars and part.startswith("CPUs"):
            # what its cores do is told as time, not in cycles
            continue
        changed = lift(effective)
        if changed.digest() != before:
            yield part, what, changed


def lifted_results(effective: Effective, base: Result) -> tuple[Lift, ...]:
    """Simulate each lift; the largest gain first."""
    found = []
    for part, what, changed in lifts(effective):
        result = simulate(changed)
        was, now = _p99_us(base), _p99_us(result)
        found.append(
            Lift(
                part=part,
                by=what,
                throughput_bps=result.throughput_bps,
                gain=_gain(base, result),
                p99_us=now,
                p99_gain=_relative(was, now),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.gain))


def _gain(base: Result, result: Result) -> float:
    """What is gained; a job that finds more in memory moves less and ends sooner."""
    was, now = (sum(job.real_s or 0.0 for job in one.jobs) for one in (base, result))
    if was and now:
        return was / now - 1
    return _relative(base.throughput_bps, result.throughput_bps) or 0.0


def _relative(before: float | None, after: float | None) -> float | None:
    return after / before - 1 if before and after is not None else None


def _p99_us(result: Result) -> float | None:
    """Of an open-loop load, or the worst of flows of transactions."""
    if result.messages is not None:
        return result.messages.latency_us.p99
    late = [
        flow.latency_us.p99
        for flow in result.flows
        if flow.transactions_per_s is not None and flow.latency_us.p99 is not None
    ]
    return max(late, default=None)


def _up(value: int, by: tuple[int, int] = _BY) -> int:
    return value * by[0] // by[1]


def _down(value: int) -> int:
    return value * _BY[1] // _BY[0]


def _copy(section: Any, **changes: Any) -> Any:
    return section.model_copy(update=changes)


def _hosts(effective: Effective, change: Callable[[Host], Host]) -> Effective:
    """Change the system and its peers."""
    peers = tuple(change(peer) for peer in effective.peers)
    changed: Effective = _copy(effective, host=change(effective.host), peers=peers)
    return changed


def _network(effective: Effective) -> Effective:
    def faster(host: Host) -> Host:
        ports = tuple(
            _copy(port, nic=_copy(port.nic, link_rate_bps=_up(port.nic.link_rate_bps)))
            for port in host.ports
        )
        changed: Host = _copy(host, ports=ports)
        return changed

    found = _hosts(effective, faster)
    for name in ("switch", "fabric", "storage"):
        part = getattr(found, name)
        if part is not None:
            rate = _copy(part, link_rate_bps=_up(part.link_rate_bps))
            found = _copy(found, **{name: rate})
    return found


def _latency(effective: Effective) -> Effective:
    found = effective
    for name in ("switch", "fabric"):
        part = getattr(found, name)
        if part is not None:
            times = {
                key: _down(getattr(part, key))
                for key in ("latency_ps", "cable_delay_ps", "switch_latency_ps")
                if hasattr(part, key)
            }
            found = _copy(found, **{name: _copy(part, **times)})
    return found


def _clocks(effective: Effective, *, peers: bool) -> Effective:
    def faster(host: Host) -> Host:
        changed: Host = _copy(host, cpu=_copy(host.cpu, clock_hz=_up(host.cpu.clock_hz)))
        return changed

    if peers:
        found: Effective = _copy(effective, peers=tuple(faster(peer) for peer in effective.peers))
    else:
        found = _copy(effective, host=faster(effective.host))
    return found


def _buffers(effective: Effective) -> Effective:
    def larger(host: Host) -> Host:
        kernel = host.kernel
        values: dict[str, Any] = {}
        for name in _BUFFERS:
            value = getattr(kernel, name)
            several = isinstance(value, tuple)
            values[name] = tuple(_up(one, _TWICE) for one in value) if several else 2 * value
        ports = tuple(
            _copy(
                port,
                recvspace_bytes=2 * port.recvspace_bytes,
                sendspace_bytes=2 * port.sendspace_bytes,
            )
            for port in host.ports
        )
        changed: Host = _copy(host, kernel=_copy(kernel, **values), ports=ports)
        return changed

    return _hosts(effective, larger) if effective.ports else effective


def _pagepool(effective: Effective) -> Effective:
    scale = effective.scale
    if scale is None:
        return effective
    found: Effective = _copy(effective, scale=_copy(scale, pagepool_bytes=2 * scale.pagepool_bytes))
    return found


def _disks(effective: Effective) -> Effective:
    def faster(host: Host) -> Host:
        disks = []
        for one in host.disks:
            disk = one.disk
            if disk is not None:
                rates = {name: _up(getattr(disk, name)) for name in _DISK_RATES}
                times = {name: _down(getattr(disk, name)) for name in _DISK_TIMES}
                disk = _copy(disk, **rates, **times)
            disks.append(_copy(one, disk=disk))
        changed: Host = _copy(host, disks=tuple(disks))
        return changed

    return _hosts(effective, faster)
