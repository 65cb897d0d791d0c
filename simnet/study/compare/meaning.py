"""What a comparison says about the model: the rule.

A metric is off when what was measured lies outside its 95 % interval. In this order:

1. Nothing is off: what was measured does not contradict the model.
2. What is carried is off (throughput, requests, transactions, packets). Where a CPU is full in the
   simulation, the costs of what runs there are too high or too low. Where none is, something else
   limits the host: windows, buffers, the link, the peer.
3. The rate of interrupts is off: that is moderation and the number of queues, which are read from
   the host (`ethtool -c`, `-l`) and no costs.
4. CPU time of a context is off: its costs are, as `CONTEXTS` names them. The sum over all CPUs says
   whether they are too high or too low, and where the sum is as predicted, work is on other CPUs.
   Where what is carried is off, too, this may follow from that.
5. Latency is off and nothing else: idle states, wake-ups and moderation.
6. A disk is off: its model or its load.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.study.compare.row import Row

CONTEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "user": ("user_recv", "user_send", "user_request"),
    "system": ("syscall", "copy_line", "skb_free", "tcp_tx", "wakeup", "context_switch"),
    "softirq": ("poll", "driver_rx", "skb_alloc", "ip_rx", "tcp_rx", "ack_tx", "ack_rx"),
    "irq": ("hardirq",),
}
"""Names of the costs that make up most of a context's time, without `_cycles`."""
_CARRIED: Final = (
    *("throughput_bps", "requests_per_s", "transactions_per_s"),
    *("rx_bps", "tx_bps", "rx_packets_per_s", "tx_packets_per_s"),
)
_FULL_PERCENT: Final = 90.0


def meaning(rows: Iterable[Row], busiest_percent: float) -> tuple[str, ...]:
    """Sentences, the most telling first.

    Args:
        rows: of the comparison.
        busiest_percent: busy time of the busiest CPU in the simulation.
    """
    every = {row.metric: row for row in rows}
    off = {metric: row for metric, row in every.items() if not row.inside}
    if not off:
        return ("what was measured does not contradict the model",)
    return tuple(_sentences(off, every, busiest_percent))


def _sentences(
    off: Mapping[str, Row], every: Mapping[str, Row], busiest_percent: float
) -> Iterator[str]:
    names = {metric.rpartition(".")[2] for metric in off}
    carried = next((off[metric] for metric in off if metric.rpartition(".")[2] in _CARRIED), None)
    if carried is not None:
        more = carried.measured > carried.predicted
        if busiest_percent >= _FULL_PERCENT:
            costs = "high" if more else "low"
            why = (
                f"a CPU is full in the simulation, so the costs of what runs there are too {costs}"
            )
        else:
            why = "no CPU is full in the simulation, so costs do not explain it:"
            why += " look at windows, buffers, the link and the peer"
        yield f"{'more' if more else 'less'} is carried than predicted: {why}"
    if "interrupts_per_s" in names:
        yield (
            "the rate of interrupts is off: that is moderation and queues, not costs:"
            " see ethtool -c and -l"
        )
    for context, costs_of in CONTEXTS.items():
        if not _of_context(off, context):
            continue
        sum_of = _sum(every, context)
        if sum_of is None:
            yield f"{context} time is on other CPUs than predicted, and together as much"
        else:
            less = sum_of < 0
            listed = ", ".join(f"{name}_cycles" for name in costs_of)
            sentence = f"{context} time is off, with it these costs: {listed} are too"
            also = "; or it follows from what is carried" if carried is not None else ""
            yield f"{sentence} {'high' if less else 'low'}{also}"
    yield from _others(off)


def _of_context(rows: Mapping[str, Row], context: str) -> list[Row]:
    return [
        row
        for metric, row in rows.items()
        if metric.startswith(("cpu.", "workers.")) and metric.endswith(f".{context}")
    ]


def _sum(every: Mapping[str, Row], context: str) -> float | None:
    """How much more time all CPUs spent than predicted; None where that is as predicted.

    The row of all CPUs together says so itself; without it the rows of single ones add up.
    """
    whole = every.get(f"cpu.all.{context}")
    if whole is not None:
        return None if whole.inside else whole.measured - whole.predicted
    return sum(row.measured - row.predicted for row in _of_context(every, context))


def _others(off: Mapping[str, Row]) -> Iterator[str]:
    if all(metric.startswith("latency_us.") for metric in off):
        yield "only latency is off: look at idle states, wake-ups and moderation"
    if any(metric.startswith("disk.") for metric in off):
        yield "a disk is off: its model, or what it is asked for"
    if any(metric.endswith(".kernel") for metric in off) and not any(
        metric.endswith((".system", ".softirq", ".irq")) for metric in off
    ):
        yield "sar's %system is off: mpstat -P ALL tells system, softirq and irq apart"
