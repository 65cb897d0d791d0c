"""A result for reading: the totals, the busy CPUs, the ports and the flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.host.cpulist import cpulist_text
from simnet.printable import few, printable, titled
from simnet.report.columns import columns
from simnet.rows import or_dash
from simnet.scenario.parts.memcached.columns import KeyValueUse
from simnet.scenario.parts.netem.columns import WayUse
from simnet.scenario.parts.scale.columns import JobRow, LparRow, totals
from simnet.study.run.duration_text import in_unit, late, time_text
from simnet.study.run.loss import Messages, kind_of
from simnet.study.run.measures import rate_text, transactions_per_s
from simnet.study.run.rows import PORT_COLUMNS, CpuUse, FlowRates, PortRates, telling
from simnet.terminal import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.run.result import Result

_NEARLY_IDLE_PERCENT = 1.0
_RING = "ring"
_OPEN_LOOP = ("offered_per_s", "delivered_per_s")
_WORKERS = (
    *("user", "system", "softirq", "idle", "interrupts_per_s", "polls_per_s", "sleeps_per_s"),
    *("packets_per_poll", "events_per_wait"),
)
_JOBS = ("real_s", "cpu_s", "io_wait_s", "read_bytes", "written_bytes")
# so many flows are listed one by one
_MOST_FLOWS: Final = 32
_PARTITION = ("cores", "utilisation_percent", "read_bps", "write_bps", "hit_percent")


def text(result: Result) -> str:
    """The result on less than a screen, CPUs that are nearly idle left out."""
    totals = (
        f"{titled(result.scenario, result.tunings, sorted(result.settings.items()))}: "
        f"{_carried(result)}, CPUs {result.cpu_busy_percent:.2f} % busy "
        f"(mean of {len(result.cpus)})\n"
        f"{result.simulated_s:g} simulated seconds after {result.warmup_s:g} s of warm-up, "
        f"seed {result.seed}, fingerprint {result.fingerprint}\n"
    )
    totals += _intervals(result) + "".join(
        f"warning: {printable(text)}\n" for text in result.warnings
    )
    if result.jobs:
        return folded("\n".join([totals, jobs_text(result)]))
    parts = [totals, _cpus(result), _ports(result), _way(result), _drops(result)]
    parts += [_flows(result) + _stalls(result)]
    parts += [_key_value(result), _messages(result) + _lost(result)]
    return folded("\n".join(part for part in parts if part))


def _carried(result: Result) -> str:
    """The rate of what was delivered: of requests and responses, few bytes of which say little."""
    rate = transactions_per_s(result)
    carried = rate_text(result.throughput_bps, 1)
    return carried if rate is None else f"{rate:,.0f} transactions/s, {carried}"


def _intervals(result: Result) -> str:
    if not result.half_width_percent:
        return ""
    shown = ", ".join(
        f"{name.rpartition('_')[0]} {'-' if width is None else f'±{width:.2f} %'}"
        for name, width in result.half_width_percent.items()
    )
    return f"95 % intervals, relative: {shown}\n"


def _cpus(result: Result) -> str:
    busy = [cpu for cpu in result.cpus if cpu.busy >= _NEARLY_IDLE_PERCENT]
    if not busy:
        return ""
    shares = ("user", "system", "softirq", "irq", *(["steal"] if result.partition else ()), "idle")
    table = columns(
        ("CPU", "node", *CpuUse.headings(shares)),
        [(str(cpu.id), str(cpu.node), *cpu.cells(shares)) for cpu in busy],
    )
    hidden = len(result.cpus) - len(busy)
    if result.partition is not None:
        use = result.partition
        table += (
            f"# {use.processors:.3f} physical processors, {use.entitled_percent:.1f} % of the "
            f"entitlement; dispatched {use.dispatches_per_s:.0f} times a second\n"
        )
    idle = "1 CPU is" if hidden == 1 else f"{hidden} CPUs are"
    return table + (f"# {idle} less than 1 % busy\n" if hidden else "")


def _ports(result: Result) -> str:
    if not result.ports:
        return ""
    serving = {
        column.port: [c for c, r in column.by_cpu.items() if r] for column in result.interrupts
    }
    return columns(
        ("port", "node", "CPU", *PortRates.headings(PORT_COLUMNS)),
        [
            (
                port.name,
                str(port.node),
                cpulist_text(serving.get(port.name, ())) or "-",
                *port.cells(PORT_COLUMNS),
            )
            for port in result.ports
        ],
    )


def _way(result: Result) -> str:
    """What became of the frames between the hosts, in each direction."""
    if not result.netem:
        return ""
    seldom = ("reordered", "duplicated", "early", "marked")
    more = [name for name in seldom if any(getattr(one, name) for one in result.netem)]
    shown = ("frames", "lost", "dropped", "lost_percent", *more)
    return columns(
        ("way between the hosts", *WayUse.headings(shown)),
        [(one.name, *one.cells(shown)) for one in result.netem],
    )


def _drops(result: Result) -> str:
    """Where packets were dropped; the rings alone are in the table of the ports."""
    if all(drop.place == _RING for drop in result.drops):
        return ""
    table = columns(
        ("dropped in", "of", "packets"),
        [(drop.place, drop.at, str(drop.packets)) for drop in result.drops],
        left=2,
    )
    share = f"# {100 * result.loss:.4f} % of the packets that came\n" if result.loss else ""
    return table + share


def _messages(result: Result) -> str:
    """What became of an open-loop load."""
    if result.messages is None:
        return ""
    found = result.messages
    of = found.latency_us
    loss = or_dash(None if result.loss is None else 100 * result.loss, ".4f")
    quantiles = (of.p50, of.p99, of.p999)
    unit, scale = in_unit(quantiles)
    heads = (f"{late(of.kind, 'p50')} {unit}", f"p99 {unit}", f"p99.9 {unit}")
    return columns(
        ("messages", *Messages.headings(_OPEN_LOOP), "lost pkt %", *heads),
        [("all", *found.cells(_OPEN_LOOP), loss, *(time_text(one, scale) for one in quantiles))],
    )


def _lost(result: Result) -> str:
    """Where packets that nobody sends again were lost, by the kernel's counters."""
    lost = result.udp or result.forward or result.xdp or result.listen
    return "" if lost is None else f"# {lost.sentence}\n"


def _key_value(result: Result) -> str:
    """The workers' CPUs as sar has them, and how their queues were served."""
    found = result.key_value
    if found is None:
        return ""
    return columns(
        ("workers' CPUs", *KeyValueUse.headings(_WORKERS)), [("mean", *found.cells(_WORKERS))]
    )


def _flows(result: Result) -> str:
    """Flows, three of many; where latencies are of several kinds each row says which."""
    if not result.flows:
        return ""
    transactions = any(flow.transactions_per_s is not None for flow in result.flows)
    unit, scale = in_unit(flow.latency_us.p99 for flow in result.flows)
    rate = "transactions_per_s" if transactions else "goodput_bps"
    kinds = {flow.latency_us.kind for flow in result.flows}
    several = len(kinds) > 1
    flows, which = telling(result.flows)
    first = f"p50 {unit}" if several else f"{late(kind_of(kinds), 'p50')} {unit}"
    table = columns(
        (
            "flow",
            "port",
            *FlowRates.headings([rate]),
            first,
            f"p99 {unit}",
            *(["latency"] if several else []),
        ),
        [
            (
                flow.name,
                flow.port,
                *flow.cells([rate]),
                time_text(flow.latency_us.p50, scale),
                time_text(flow.latency_us.p99, scale),
                *([flow.latency_us.kind] if several else []),
            )
            for flow in flows
        ],
        left=2,
    )
    return table + (f"# {which}; all: --json\n" if which else "")


def telling(flows: Sequence[FlowRates]) -> tuple[Sequence[FlowRates], str]:
    """Return the flows to list, and which of how many they are; nothing where they are all."""
    if len(flows) <= _MOST_FLOWS:
        return flows, ""
    ranked = sorted(flows, key=lambda flow: flow.transactions_per_s or flow.goodput_bps)
    shown = (ranked[0], ranked[len(ranked) // 2], ranked[-1])
    return shown, f"the slowest of {len(flows):,} flows, the middle one and the fastest"


def _stalls(result: Result) -> str:
    """How often what was written waited for a timer, and for which."""
    stalled = [one for one in result.tcp if one.stalls]
    if not stalled:
        return ""
    count = sum(one.stalls for one in stalled)
    mean_ms = sum(one.stalled_ms for one in stalled) / count
    names = printable(few([one.name for one in stalled]))
    sentence = f"# stalls: {count} times in {result.simulated_s:g} s what was written waited to be"
    sentence += f" sent, {mean_ms:.0f} ms on average ({names})"
    delayed = sum(one.delayed_acks for one in stalled)
    if 2 * delayed >= count and not any(one.timeouts for one in stalled):
        sentence += (
            "; the other end delays the ACK for which Nagle's algorithm, or a small window, waits"
        )
        if any(flow.transactions_per_s is not None for flow in result.flows):
            sentence += ". iperf -N=on (TCP_NODELAY) switches Nagle's algorithm off"
    return f"{sentence}\n"


def jobs_text(result: Result) -> str:
    """Jobs by kind with their sums, then the partitions, then what passed to and fro."""
    kinds: dict[str, list[JobRow]] = {}
    for job in result.jobs:
        kinds.setdefault(job.kind, []).append(job)
    rows = [_sums(kind, kinds[kind]) for kind in sorted(kinds)]
    if len(kinds) > 1:
        rows.append(_sums("all", list(result.jobs)))
    table = columns(("jobs", "number", *JobRow.headings(_JOBS)), rows)
    unfinished = totals(result.jobs, result.lpars).unfinished
    note = f"# {unfinished} jobs had not ended\n" if unfinished else ""
    return "\n".join([table + note, _lpars(result), _series(result)])


def _sums(name: str, jobs: list[JobRow]) -> tuple[str, ...]:
    sums = {field: sum(getattr(job, field) or 0.0 for job in jobs) for field in _JOBS}
    shown = (JobRow.shown(field).text(total) for field, total in sums.items())
    return name, str(len(jobs)), *shown


def _lpars(result: Result) -> str:
    return columns(
        ("partition", *LparRow.headings(_PARTITION)),
        [(lpar.name, *lpar.cells(_PARTITION)) for lpar in result.lpars],
    )


def _series(result: Result) -> str:
    series = result.series
    if series is None:
        return ""
    mean, peak = series.cells(("mean", "peak"))
    return f"traffic: mean {mean} GB/s, largest mean of {series.interval_s} s {peak} GB/s\n"
