"""The rows of a result: shares, rates and counts between two snapshots, by CPU, port and flow."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from simnet.errors import SimulationError
from simnet.host.ledger import MECHANISMS, PLACEMENT
from simnet.rows import Percent, Rate, Row, Shown
from simnet.scenario.system.system import CpuTimes, FlowCounts, PortCounts
from simnet.study.run.activity import idle_shares
from simnet.study.run.loss import Latency, between, latency_in
from simnet.time_units import PS_PER_S

RxRate = Annotated[Rate, Shown("rx Mbit/s", 1, 1e-6)]
TxRate = Annotated[Rate, Shown("tx Mbit/s", 1, 1e-6)]
RxPackets = Annotated[Rate, Shown("rx pkt/s")]
TxPackets = Annotated[Rate, Shown("tx pkt/s")]
"""What a port carries."""


class CpuUse(Row):
    """Exact shares of the measured time of one logical CPU, in percent; they add up to 100."""

    id: int
    node: int
    user: Annotated[Percent, Shown("%user", 2)]
    system: Annotated[Percent, Shown("%system", 2)]
    softirq: Annotated[Percent, Shown("%softirq", 2)]
    irq: Annotated[Percent, Shown("%irq", 2)]
    iowait: Percent
    steal: Annotated[Percent, Shown("%steal", 2)]
    idle: Annotated[Percent, Shown("%idle", 2)]

    @property
    def busy(self) -> float:
        """Percent of the time in which the CPU worked (not idle, not stolen, no wait for I/O)."""
        return self.user + self.system + self.softirq + self.irq


class CpuTicks(Row):
    """Shares of the timer ticks of one logical CPU in sar's columns, in percent."""

    id: int
    node: int
    user: Percent
    nice: Percent
    system: Percent
    iowait: Percent
    steal: Percent
    idle: Percent
    count: int = Field(ge=0, description="number of ticks that were sampled")


class WorkShare(Row):
    """CPU time of one mechanism, in percent of one logical CPU, summed over all CPUs.

    It is the work asked for; executing it takes longer where SMT siblings slow each other.
    """

    mechanism: str
    percent: Rate
    placement: bool = Field(description="whether it is a cost of where things are")


class PortRates(Row):
    """Rates of one network port; `drops` is the number of frames dropped while measured."""

    name: str
    node: int
    rx_bps: RxRate
    tx_bps: TxRate
    rx_packets_per_s: RxPackets
    tx_packets_per_s: TxPackets
    interrupts_per_s: Annotated[Rate, Shown("interrupts/s")]
    drops: Annotated[int, Shown("drops")] = Field(ge=0)


PORT_COLUMNS: Final = ("rx_bps", "tx_bps", "rx_packets_per_s", "interrupts_per_s", "drops")
"""What tables of ports show."""


class PortInterrupts(Row):
    """One column of /proc/interrupts: interrupts a second of one port's IRQ by CPU id."""

    port: str
    irq: int
    by_cpu: dict[int, Rate]


class FlowRates(Row):
    """Payload that one flow delivered to its reader, in bit/s, and its latency.

    Of requests and responses: what netperf got, the time from a request to its answer, and how many
    transactions that were.
    """

    name: str
    port: str
    goodput_bps: Annotated[Rate, Shown("Mbit/s", 1, 1e-6)]
    latency_us: Latency
    transactions_per_s: Annotated[Rate | None, Shown("transactions/s")] = Field(
        default=None, description="null for a stream"
    )
    direction: str = Field(
        default="", description="of a stream: in, the system receives it, or out, it sends"
    )


def per_s(amount: int, elapsed_ps: int) -> float:
    """Return the rate, a second, of what came in the elapsed time."""
    return amount * PS_PER_S / elapsed_ps


def busy_ps(cpu: CpuTimes) -> int:
    """Return the time in which a CPU worked."""
    return cpu.user_ps + cpu.system_ps + cpu.softirq_ps + cpu.irq_ps


def cpu_use(first: CpuTimes, last: CpuTimes, elapsed_ps: int, time_ps: int) -> CpuUse:
    """Return a CPU's shares; raises SimulationError if they are not the elapsed time."""
    contexts = ("user", "system", "softirq", "irq", "iowait", "steal", "idle")
    spent = {name: getattr(last, f"{name}_ps") - getattr(first, f"{name}_ps") for name in contexts}
    total = sum(spent.values())
    if total != elapsed_ps or min(spent.values()) < 0:
        message = f"CPU time must add up to {elapsed_ps} ps, but {spent} is {total} ps"
        raise SimulationError(message, component=f"cpu{last.id}", time_ps=time_ps)
    shares = {name: 100 * value / elapsed_ps for name, value in spent.items()}
    return CpuUse(id=last.id, node=last.node, **shares)


def cpu_ticks(first: CpuTimes, last: CpuTimes) -> CpuTicks:
    """Return a CPU's shares as its timer ticks saw them."""
    contexts = ("user", "system", "softirq", "irq", "idle")
    spent = {
        name: getattr(last, f"{name}_ticks") - getattr(first, f"{name}_ticks") for name in contexts
    }
    count = sum(spent.values())
    kernel = spent["system"] + spent["softirq"] + spent["irq"]
    iowait_ps = last.iowait_ps - first.iowait_ps
    idle, iowait = idle_shares(
        100 * spent["idle"] / count if count else 100.0,
        idle_ps=last.idle_ps - first.idle_ps + iowait_ps,
        iowait_ps=iowait_ps,
    )
    return CpuTicks(
        id=last.id,
        node=last.node,
        user=100 * spent["user"] / max(count, 1),
        nice=0.0,
        system=100 * kernel / max(count, 1),
        iowait=iowait,
        steal=0.0,
        idle=idle,
        count=count,
    )


def work_shares(
    start: Mapping[str, int], end: Mapping[str, int], elapsed_ps: int
) -> tuple[WorkShare, ...]:
    """Return the CPU time of each mechanism."""
    # a packet's variation is booked with what its CPU does itself, not with the lines it waits for:
    # of few packets that may come out below nothing
    return tuple(
        WorkShare(
            mechanism=MECHANISMS[name],
            percent=max(0.0, 100 * (end[name] - start.get(name, 0)) / elapsed_ps),
            placement=name in PLACEMENT,
        )
        for name in end
    )


def port_rates(first: PortCounts, last: PortCounts, elapsed_ps: int) -> PortRates:
    """Return what a port carried."""
    return PortRates(
        name=last.name,
        node=last.node,
        rx_bps=per_s(8 * (last.rx_bytes - first.rx_bytes), elapsed_ps),
        tx_bps=per_s(8 * (last.tx_bytes - first.tx_bytes), elapsed_ps),
        rx_packets_per_s=per_s(last.rx_packets - first.rx_packets, elapsed_ps),
        tx_packets_per_s=per_s(last.tx_packets - first.tx_packets, elapsed_ps),
        interrupts_per_s=per_s(last.interrupts - first.interrupts, elapsed_ps),
        drops=last.drops - first.drops,
    )


def port_interrupts(first: PortCounts, last: PortCounts, elapsed_ps: int) -> PortInterrupts:
    """Return where a port's interrupts went."""
    before = first.interrupts_by_cpu
    rates = {
        cpu: per_s(count - before.get(cpu, 0), elapsed_ps)
        for cpu, count in sorted(last.interrupts_by_cpu.items())
    }
    return PortInterrupts(port=last.name, irq=last.irq, by_cpu=rates)


def flow_rates(
    first: FlowCounts,
    last: FlowCounts,
    elapsed_ps: int,
    *,
    asks: bool,
    latency_kind: str,
    direction: str = "",
) -> FlowRates:
    """Return what a flow delivered; `asks`: by requests and responses."""
    goodput_bps = per_s(8 * (last.bytes - first.bytes), elapsed_ps)
    latencies = between(first.latency, last.latency)
    # there is one sample of latency for each transaction
    samples = sum([count for _, count in latencies]) if asks else 0
    return FlowRates(
        name=last.name,
        port=last.port,
        goodput_bps=goodput_bps,
        latency_us=latency_in(latencies, latency_kind),
        transactions_per_s=per_s(samples, elapsed_ps) if asks else None,
        direction=direction,
    )
