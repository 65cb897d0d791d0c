"""What a result predicts of each metric that a tool of a host measures.

Names are those of `simnet.importing.measured`. `kernel` is what sar calls `%system`: system,
softirq and irq together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from simnet.scenario.parts.storage.columns import row_of
from simnet.study.run.measures import LOSS, MEASURES, METRICS, P50, P99, THROUGHPUT, TRANSACTIONS

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.run.rows import CpuUse

_SHARES: Final[Mapping[str, Callable[[CpuUse], float]]] = {
    "user": lambda cpu: cpu.user,
    "system": lambda cpu: cpu.system,
    "softirq": lambda cpu: cpu.softirq,
    "irq": lambda cpu: cpu.irq,
    "kernel": lambda cpu: cpu.system + cpu.softirq + cpu.irq,
    "iowait": lambda cpu: cpu.iowait,
    "steal": lambda cpu: cpu.steal,
    "idle": lambda cpu: cpu.idle,
    "busy": lambda cpu: cpu.busy,
}
_PORT: Final = {
    **dict.fromkeys(
        ("rx_bps", "tx_bps", "rx_packets_per_s", "tx_packets_per_s"), MEASURES[THROUGHPUT].kind
    ),
    "interrupts_per_s": MEASURES["interrupts_per_s"].kind,
}
_DISK: Final = {
    "reads_per_s": ("r_s", "storage throughput"),
    "writes_per_s": ("w_s", "storage throughput"),
    "read_kb_per_s": ("rkb_s", "storage throughput"),
    "written_kb_per_s": ("wkb_s", "storage throughput"),
    "await_ms": ("await_ms", "storage latency"),
    "queue": ("avgqu_sz", "storage queue"),
    "util_percent": ("util", "share"),
}
_WORKERS: Final = ("user", "system", "softirq", "idle")
_QUANTILES: Final = ("p50", "p99")
_OF_EACH: Final[Mapping[str, Collection[str]]] = {"cpu": _SHARES, "port": _PORT, "disk": _DISK}
_OF_ALL: Final[Mapping[str, Collection[str]]] = {"workers": _WORKERS, "latency_us": _QUANTILES}
_OF_MEASURES: Final = {TRANSACTIONS: TRANSACTIONS, "latency_us.p50": P50, "latency_us.p99": P99}
_WHOLE: Final = {
    **{name: MEASURES[name].kind for name in (THROUGHPUT, TRANSACTIONS, "interrupts_per_s")},
    "requests_per_s": MEASURES[TRANSACTIONS].kind,
    "polls_per_s": "rate of polls",
    "backlog_drops_per_s": METRICS[LOSS].kind,
    "latency_us": MEASURES[P50].kind,
}


def predicted(result: Result) -> dict[str, float]:
    """The result's numbers by metric."""
    return dict(_metrics(result))


def is_metric(metric: str) -> bool:
    """Whether there can be such a metric, on some host."""
    first, _, rest = metric.partition(".")
    named, _, last = rest.rpartition(".")
    if first in _OF_EACH:
        return bool(named) and last in _OF_EACH[first]
    return rest in _OF_ALL[first] if first in _OF_ALL else metric in _WHOLE


def kind_of(metric: str) -> str:
    """The kind of quantity that a metric is, see `kinds`."""
    first, _, rest = metric.partition(".")
    last = rest.rpartition(".")[2]
    if first == "port":
        kind = _PORT[last]
    elif first == "disk":
        kind = _DISK[last][1]
    else:
        kind = _WHOLE.get(first, "CPU share")
    return kind


def _metrics(result: Result) -> Iterator[tuple[str, float]]:
    yield from _of_flows(result)
    for name, share in _SHARES.items():
        if result.cpus:
            yield f"cpu.all.{name}", sum(map(share, result.cpus)) / len(result.cpus)
        for cpu in result.cpus:
            yield f"cpu.{cpu.id}.{name}", share(cpu)
    for port in result.ports:
        for name in _PORT:
            yield f"port.{port.name}.{name}", getattr(port, name)
    for disk in result.disks:
        row = row_of(disk)
        for name, (column, _) in _DISK.items():
            yield f"disk.{disk['name']}.{name}", getattr(row, column)
    lost = sum(one.packets for one in result.drops if one.place == "backlog")
    yield "backlog_drops_per_s", lost / result.simulated_s
    use = result.key_value
    if use is not None:
        yield "interrupts_per_s", use.interrupts_per_s
        yield "polls_per_s", use.polls_per_s
        for name in _WORKERS:
            yield f"workers.{name}", getattr(use, name)


def _of_flows(result: Result) -> Iterator[tuple[str, float]]:
    if result.flows:
        yield THROUGHPUT, result.throughput_bps
    if result.messages is not None:
        yield "requests_per_s", result.messages.delivered_per_s
    for name, column in _OF_MEASURES.items():
        value = MEASURES[column].of(result)
        if value is not None:
            yield name, value
