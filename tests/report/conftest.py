"""A result that comes near the captured listing of the x460."""

import pytest

from simnet._share import folder
from simnet.study.calibrate.capture import Capture, read_capture
from simnet.study.run.loss import Latency
from simnet.study.run.result import Result
from simnet.study.run.rows import CpuTicks, CpuUse, FlowRates, PortInterrupts, PortRates

LISTING = folder("validation") / "captures" / "sar-x460-out-of-box-8k-4nodes.txt"


@pytest.fixture(scope="session")
def capture() -> Capture:
    return read_capture(LISTING)


@pytest.fixture(scope="session")
def result(capture: Capture) -> Result:
    """The listing with every kernel time 5 % lower and every interrupt rate 2 % higher."""
    kernel = {row.id: row.system * 0.95 for row in capture.cpus}
    user = {row.id: row.user for row in capture.cpus}
    cpus = tuple(
        CpuUse(
            id=cpu,
            node=cpu // 16,
            user=user.get(cpu, 0),
            system=kernel.get(cpu, 0) / 2,
            softirq=kernel.get(cpu, 0) / 4,
            irq=kernel.get(cpu, 0) / 4,
            iowait=0,
            steal=0,
            idle=100 - user.get(cpu, 0) - kernel.get(cpu, 0),
        )
        for cpu in range(64)
    )
    ticks = tuple(
        CpuTicks(
            id=cpu.id, node=cpu.node, user=cpu.user, nice=0, system=2 * cpu.system, iowait=0,
            steal=0, idle=cpu.idle, count=2500,
        )
        for cpu in cpus
    )  # fmt: skip
    columns = capture.interrupts
    ports = tuple(
        PortRates(
            name=column.port,
            node=number // 2,
            rx_bps=(941e6 if number < 2 else 800e6) + number,
            tx_bps=20e6,
            rx_packets_per_s=70_000,
            tx_packets_per_s=35_000,
            interrupts_per_s=column.per_s * 1.02,
            drops=0,
        )
        for number, column in enumerate(columns)
    )
    interrupts = tuple(
        PortInterrupts(
            port=column.port, irq=column.irq, by_cpu={column.cpus[0]: column.per_s * 1.02}
        )
        for column in columns
    )
    flows = tuple(
        FlowRates(
            name=f"netperf.{port.name}",
            port=port.name,
            goodput_bps=port.rx_bps * 0.94,
            latency_us=Latency(p50=812.5, p99=None),
        )
        for port in ports
    )
    return Result(
        scenario="x460-out-of-box",
        seed=1,
        version="0.1.0",
        fingerprint="0123456789abcdef0123456789abcdef",
        settings={"nodes": "4", "message": "8 KiB"},
        configuration={
            "workload": {"test": "netserver", "nodes": 4, "message_bytes": 8192},
            "host": {"kernel": {"tcp_rmem_bytes": [4096, 87380, 174760]}},
            "peers": [{"kernel": {"tcp_wmem_bytes": [4096, 16384, 131072]}}],
            "flows": [{"name": flow.name, "peer": 0, "message_bytes": 8192} for flow in flows],
        },
        warmup_s=1.0,
        simulated_s=10.0,
        throughput_bps=sum(flow.goodput_bps for flow in flows),
        cpu_busy_percent=sum(cpu.busy for cpu in cpus) / 64,
        cpus=cpus,
        ticks=ticks,
        ports=ports,
        interrupts=interrupts,
        flows=flows,
    )
