"""One TCP stream over 1 Gbit/s: a data packet, its ACK included, without hosts and with them."""

from __future__ import annotations

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
# ns-3.37, optimised build, one such link on a machine of this kind: real TCP, no hosts
NS3_US = 20.7
# the stream of one port of the x460 and its peer
ONE_PORT = {"nodes": "1", "test": "netserver"}


def main() -> None:
    """Time TCP alone, whole hosts and SimPy's timeouts in turns."""
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

    before, rounds = counts(), alone.sim.now
    alone_s, hosts_s, simpy_s = medians(
        lambda: alone.run_for(SIMULATED_PS), lambda: hosts.run(SIMULATED_PS), timeouts
    )
    after = counts()
    times = (alone.sim.now - rounds) // SIMULATED_PS
    timeout_ns = simpy_s / TIMEOUTS * 1e9
    for what, wall_s, packets in (
        ("TCP alone", alone_s, (after[0] - before[0]) / times),
        ("hosts included", hosts_s, (after[1] - before[1]) / times),
    ):
        packet_ns = wall_s / packets * 1e9
        print(
            f"{what}: {packets:.0f} data packets a simulated second, {packet_ns:.0f} ns each,"
            f" {packet_ns / timeout_ns:.2f} SimPy timeouts of {timeout_ns:.0f} ns;"
            f" ns-3 {NS3_US * 1000 / packet_ns:.0f} times that"
        )
        verdict("  us a data packet", packet_ns / 1000, 1, at_most=True)


if __name__ == "__main__":
    main()
