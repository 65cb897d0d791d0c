"""One TCP stream over 1 Gbit/s: a data packet, its ACK included, without hosts and with them.

Beside it the same stream in ns-3, which has no hosts, where ns-3 is installed.
All times are CPU time.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack

from bench import ns3
from bench.measuring import TIMEOUTS, heading, medians, timeouts, verdict
from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.conform.tcp_path import PathOptions, TcpOptions, TcpPath

US = 10**6
PS = 10**12
SIMULATED_PS = PS
MSS = 1448
BUFFER_BYTES = 131_072
# the stream of one port of the x460 and its peer
ONE_PORT = {"nodes": "1", "test": "netserver"}


def main() -> None:
    """Time TCP alone, whole hosts, SimPy's timeouts and ns-3 in turns."""
    heading("TCP bulk transfer over 1 Gbit/s, a data packet with its ACK")
    path = PathOptions(rate_bps=10**9, delay_ps=50 * US)
    options = TcpOptions(
        congestion="bic",
        rmem_bytes=(BUFFER_BYTES, BUFFER_BYTES),
        wmem_bytes=(BUFFER_BYTES, BUFFER_BYTES),
    )
    alone = TcpPath(path, options, BulkSource(), Sink(), seed=1)
    hosts = build(load("x460-out-of-box", settings=ONE_PORT), seed=1)
    alone.run_for(PS // 5)
    hosts.run(PS // 5)

    def counts() -> tuple[int, int]:
        return int(alone.right.delivered) // MSS, sum(p.rx_packets for p in hosts.snapshot().ports)

    works: list[Callable[[], object]] = [
        lambda: alone.run_for(SIMULATED_PS),
        lambda: hosts.run(SIMULATED_PS),
        timeouts,
    ]
    other_packets = 0
    with ExitStack() as stack:
        program = ns3.bulk()
        other = stack.enter_context(ns3.Bulk(program)) if program else None
        if other:
            other_packets = other.simulate_a_second()
            works.append(other.simulate_a_second)

        def cpu_s() -> float:
            return time.process_time() + (other.cpu_s() if other else 0.0)

        before, rounds = counts(), alone.sim.now
        alone_s, hosts_s, simpy_s, *other_s = medians(*works, clock=cpu_s)
    after = counts()
    times = (alone.sim.now - rounds) // SIMULATED_PS
    timeout_ns = simpy_s / TIMEOUTS * 1e9
    other_ns = [taken_s / other_packets * 1e9 for taken_s in other_s]
    for what, taken_s, packets in (
        ("TCP alone", alone_s, (after[0] - before[0]) / times),
        ("hosts included", hosts_s, (after[1] - before[1]) / times),
    ):
        packet_ns = taken_s / packets * 1e9
        ratios = "".join(f"; ns-3 {ns / packet_ns:.0f} times that" for ns in other_ns)
        print(
            f"{what}: {packets:.0f} data packets a simulated second, {packet_ns:.0f} ns each,"
            f" {packet_ns / timeout_ns:.2f} SimPy timeouts of {timeout_ns:.0f} ns{ratios}"
        )
        verdict("  us a data packet", packet_ns / 1000, 1, at_most=True)
    if other_ns:
        print(f"ns-3 {ns3.version()}: {other_packets} data packets, {other_ns[0]:.0f} ns each")
    else:
        print("ns-3 is not installed (Debian: libns3-dev): not compared with it")


if __name__ == "__main__":
    main()
