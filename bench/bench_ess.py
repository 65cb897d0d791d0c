"""SAS on four clients of a file system: seconds for hours, microseconds for a block, memory."""

import resource
import time

from bench.measuring import heading, verdict
from simnet.scenario.core.load import load
from simnet.scenario.parts.scale.build import build_clients

WANTED_S = 30
WANTED_US = 8


def main() -> None:
    """Simulate the 30-test on four nodes, whole."""
    effective = load("ess-sas", settings={"nodes": "4", "test": "30-test"})
    heading("ess-sas, the 30-test on four nodes, one CPU")
    system = build_clients(effective, seed=1)
    start = time.process_time()
    system.run(effective.run.duration_ps)
    cpu_s = time.process_time() - start
    requests = sum(node.client.requests for node in system.nodes)
    hours = system.env.sim.now / 3.6e15
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{hours:.2f} simulated hours, {requests:,} blocks, {memory:.0f} MiB at most")
    verdict("  seconds for the test", cpu_s, WANTED_S, at_most=True)
    verdict("  microseconds for a block", cpu_s / requests * 1e6, WANTED_US, at_most=True)


if __name__ == "__main__":
    main()
