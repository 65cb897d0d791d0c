"""What a scenario gains when one sort of part is lifted: each is tried, nothing is concluded.

The order of bottlenecks (`bottleneck`) supposes that the work for each byte stays as it is. Whether
it does is told by a run with the same seeds and everything else as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from simnet.study.run.run import simulate

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective, Host
    from simnet.scenario.parts.disks.schema import Disk
    from simnet.study.explain.bottleneck import Limit, ResourceUse
    from simnet.study.run.result import Result

__all__ = ["Lift", "lifted_results", "lifts", "not_lifted"]

_BY: Final = (5, 4)
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
_PERMILLE: Final = 1000
_NETWORK: Final = "network"
_CPUS: Final = "CPUs of the system"
_CPUS_OF_PEERS: Final = "CPUs of the peers"
_CPUS_OF_SERVERS: Final = "CPUs of the servers"
_ENTITLEMENT: Final = "entitlement of the system"
_ENTITLEMENT_OF_PEERS: Final = "entitlement of the peers"
_POOL: Final = "pool of processors"
_TCP: Final = "TCP's buffers"
_LATENCY: Final = "network latency"
_DISKS: Final = "disks"
_QUEUES: Final = "requests at a disk"
_BUSES: Final = "network adapters' buses"
_SAS: Final = "SAS"
_NSD: Final = "NSD threads"
_PART_OF: Final = {
    "cpu": _CPUS,
    "peer cpu": _CPUS_OF_PEERS,
    "server cpu": _CPUS_OF_SERVERS,
    "port": _NETWORK,
    "peer port": _NETWORK,
    "client port": _NETWORK,
    "server port": _NETWORK,
    "link": _NETWORK,
    "switch": _NETWORK,
    "PCIe": _BUSES,
    "partition": _ENTITLEMENT,
    "peer partition": _ENTITLEMENT_OF_PEERS,
    "pool": _POOL,
    "disk": _DISKS,
    "disks": _DISKS,
    "SAS": _SAS,
    "NSD threads": _NSD,
}
"""What lifts a resource, by its kind."""
_PART_FOR: Final = {
    "send buffer": _TCP,
    "receive window": _TCP,
    "congestion window": _LATENCY,
    "response": _LATENCY,
    "queue depth": _QUEUES,
    "request limit": _QUEUES,
    "nr_requests": _QUEUES,
}
"""What lifts a limit on what may be outstanding, by its reason."""
_SERVER_TIMES: Final = ("request_ps", "net_kib_ps", "checksum_kib_ps", "parity_kib_ps")
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
        (_NETWORK, "link rates + 25 %", _network),
        (_LATENCY, "cables and switches - 20 %", _latency),
        (_BUSES, "rates + 25 %", _buses),
        (_CPUS, "clock + 25 %", lambda one: _clocks(one, peers=False)),
        (_CPUS_OF_PEERS, "clock + 25 %", lambda one: _clocks(one, peers=True)),
        (_CPUS_OF_SERVERS, "clock + 25 %", _servers),
        (_ENTITLEMENT, "processors + 25 %", lambda one: _entitlements(one, peers=False)),
        (_ENTITLEMENT_OF_PEERS, "processors + 25 %", lambda one: _entitlements(one, peers=True)),
        (_POOL, "processors + 25 %", _pool),
        (_TCP, "of both ends, doubled", _buffers),
        ("pagepool", "doubled", _pagepool),
        (_NSD, "doubled", _threads),
        (_SAS, "adapters and paths + 25 %", _sas),
        (_DISKS, "rates + 25 %, times - 20 %", _disks),
        (_QUEUES, "doubled", _queues),
    )
    before = effective.digest()
    for part, what, lift in tried:
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


def not_lifted(
    limits: Iterable[Limit], resources: Iterable[ResourceUse], lifted: Iterable[Lift]
) -> tuple[str, ...]:
    """Name what holds flows back, or would be next, and no lift made larger."""
    kinds = {one.name: one.kind for one in resources}
    parts = {one.part for one in lifted}
    found: dict[str, None] = {}
    for limit in limits:
        for name in (limit.first, limit.next):
            if name is not None and _PART_OF.get(kinds.get(name, "")) not in parts:
                found[name] = None
        if limit.verdict in {"window", "latency"}:
            reason = limit.waits[0].reason
            if _PART_FOR.get(reason) not in parts:
                found[reason] = None
    return tuple(found)


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


def _up(value: int) -> int:
    return value * _BY[0] // _BY[1]


def _down(value: int) -> int:
    return value * _BY[1] // _BY[0]


def _twice(value: int) -> int:
    return 2 * value


def _copy(section: Any, **changes: Any) -> Any:
    return section.model_copy(update=changes)


def _changed(
    effective: Effective, name: str, change: Callable[[int], int], *attributes: str
) -> Effective:
    """Change attributes of a section, where it is there."""
    section = getattr(effective, name)
    if section is None:
        return effective
    values = {attribute: change(getattr(section, attribute)) for attribute in attributes}
    found: Effective = _copy(effective, **{name: _copy(section, **values)})
    return found


def _hosts(
    effective: Effective, change: Callable[[Host], Host], *, system: bool = True, peers: bool = True
) -> Effective:
    """Change the system, its peers, or both."""
    far = tuple(change(peer) for peer in effective.peers) if peers else effective.peers
    host = change(effective.host) if system else effective.host
    changed: Effective = _copy(effective, host=host, peers=far)
    return changed


def _network(effective: Effective) -> Effective:
    if effective.hypervisor:
        # a virtual LAN has no links: processors copy
        return effective

    def quicker(host: Host) -> Host:
        ports = tuple(
            _copy(port, nic=_copy(port.nic, link_rate_bps=_up(port.nic.link_rate_bps)))
            for port in host.ports
        )
        changed: Host = _copy(host, ports=ports)
        return changed

    found = _hosts(effective, quicker)
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
    """Faster CPUs; what the cores of a file system's clients do is told as time, not in cycles."""

    def quicker(host: Host) -> Host:
        changed: Host = _copy(host, cpu=_copy(host.cpu, clock_hz=_up(host.cpu.clock_hz)))
        return changed

    lpars = effective.lpars
    if lpars is None:
        return _hosts(effective, quicker, system=not peers, peers=peers)
    if peers:
        return effective
    found: Effective = _copy(
        effective, lpars=_copy(lpars, speed_permille=_up(lpars.speed_permille))
    )
    return found


def _servers(effective: Effective) -> Effective:
    return _changed(effective, "storage", _down, *_SERVER_TIMES)


def _buses(effective: Effective) -> Effective:
    found = _changed(effective, "storage", _up, "adapter_bus_bps")
    return _changed(found, "lpars", _up, "adapter_bus_bps")


def _sas(effective: Effective) -> Effective:
    return _changed(effective, "storage", _up, "sas_adapters_bps", "path_rate_bps")


def _threads(effective: Effective) -> Effective:
    return _changed(effective, "filesystem", _twice, "nsd_max_worker_threads")


def _pagepool(effective: Effective) -> Effective:
    return _changed(effective, "scale", _twice, "pagepool_bytes")


def _pool(effective: Effective) -> Effective:
    """More processors; a pool of all that the server has cannot have more."""
    return _changed(effective, "pool", lambda have: -(-have * _BY[0] // _BY[1]), "processors")


def _entitlements(effective: Effective, *, peers: bool) -> Effective:
    """A larger entitlement, as much as its virtual processors can have, in the steps there are."""
    hypervisor = effective.hypervisor
    if hypervisor is None:
        return effective
    step = hypervisor.entitlement_step_permille

    def larger(host: Host) -> Host:
        partition = host.partition
        if partition is None:
            return host
        units = min(_up(partition.proc_units_permille), partition.procs * _PERMILLE)
        units = units // step * step
        changed: Host = _copy(host, partition=_copy(partition, proc_units_permille=units))
        return changed

    return _hosts(effective, larger, system=not peers, peers=peers)


def _buffers(effective: Effective) -> Effective:
    def larger(host: Host) -> Host:
        kernel = host.kernel
        values: dict[str, Any] = {}
        for name in _BUFFERS:
            value = getattr(kernel, name)
            several = isinstance(value, tuple)
            values[name] = tuple(map(_twice, value)) if several else _twice(value)
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

    found = _hosts(effective, larger) if effective.ports else effective
    return _changed(found, "lpars", _twice, "tcp_window_bytes")


def _disks(effective: Effective) -> Effective:
    def of(host: Host) -> Host:
        disks = tuple(_copy(one, disk=_quicker(one.disk)) for one in host.disks)
        changed: Host = _copy(host, disks=disks)
        return changed

    found: Effective = _copy(_hosts(effective, of), disk=_quicker(effective.disk))
    return found


def _quicker(disk: Disk | None) -> Disk | None:
    if disk is None:
        return None
    rates = {name: _up(getattr(disk, name)) for name in _DISK_RATES}
    times = {name: _down(getattr(disk, name)) for name in _DISK_TIMES}
    found: Disk = _copy(disk, **rates, **times)
    return found


def _queues(effective: Effective) -> Effective:
    """More requests in each queue, and under way to its disk."""

    def longer(host: Host) -> Host:
        disks = []
        for one in host.disks:
            queue = one.queue
            more = {name: 2 * getattr(queue, name) for name in ("nr_requests", "queue_depth")}
            disks.append(_copy(one, queue=_copy(queue, **more)))
        changed: Host = _copy(host, disks=tuple(disks))
        return changed

    return _changed(_hosts(effective, longer), "vscsi", _twice, "request_limit")
