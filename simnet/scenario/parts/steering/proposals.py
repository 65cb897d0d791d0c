"""What spreads the packets of a queue over CPUs, where the kernel can.

Source: ``Documentation/networking/scaling.txt`` of Linux 3.0.
"""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.core.knob import cpu_mask_text
from simnet.scenario.core.subject import Proposal

# as the document suggests for a moderately loaded server
_ENTRIES: Final = 32768


def proposals(effective: Effective) -> Iterator[Proposal]:
    """RPS over the CPUs of the port's node, RFS, and XPS by CPU."""
    host = effective.host
    files = {port.name: f"/sys/class/net/{port.name}/queues" for port in host.ports}
    if host.kernel.rps and host.ports:
        rps = tuple(
            (f"{files[port.name]}/rx-*/rps_cpus", cpu_mask_text(host.cpus_of(port.node)))
            for port in host.ports
        )
        flows = tuple(
            (f"{files[port.name]}/rx-*/rps_flow_cnt", str(_ENTRIES // len(port.rps_cpus)))
            for port in host.ports
            if port.rps_cpus
        )
        doc = "each queue's packets over all CPUs of its port's node"
        yield Proposal("rps-on-node", doc, rps, short="rps")
        yield Proposal(
            "rfs-by-socket",
            "packets go to the CPU on which their socket is read",
            (("net.core.rps_sock_flow_entries", str(_ENTRIES)), *flows),
            short="rfs",
        )
    several = [port for port in host.ports if len(port.xps_cpus) > 1]
    if host.kernel.xps and several:
        xps = tuple(
            (
                f"{files[port.name]}/tx-{queue}/xps_cpus",
                cpu_mask_text(host.online[queue :: len(port.xps_cpus)]),
            )
            for port in several
            for queue in range(min(len(port.xps_cpus), len(host.online)))
        )
        doc = "each CPU sends by one transmit queue of its own"
        yield Proposal("xps-by-cpu", doc, xps, short="xps")
