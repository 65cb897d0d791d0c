"""Put queueing disciplines and byte queue limits above transmit rings."""

from simnet.kernel.random import stream
from simnet.net.nic.netdev_queue import NetdevQueue
from simnet.net.nic.port import Nic
from simnet.net.qdisc.codel import CodelLimits
from simnet.net.qdisc.dynamic_queue_limits import MOST_BYTES, DynamicQueueLimits
from simnet.net.qdisc.fq import Fq
from simnet.net.qdisc.fq_codel import FqCodel
from simnet.net.qdisc.qdisc import PfifoFast, Qdisc
from simnet.scenario.core.effective import Host, Port
from simnet.time_units import PS_PER_S

_ETHERNET_HEADER_BYTES = 14


def queue_above(nic: Nic, host: Host, port: Port, *, queue: int, seed: int) -> None:
    """Give a ring its discipline, unless that is the plain queue that each ring has.

    Args:
        nic: the port, or one queue of it.
        host: the configuration of its host.
        port: of the port.
        queue: number of the queue.
        seed: of all random streams.
    """
    asked, hz = host.qdisc, host.kernel.hz
    if asked.default_qdisc == "pfifo_fast" and not asked.bql:
        return
    dql = None
    if asked.bql:
        least, most = (port.set_of(queue, f"bql_limit_{end}_bytes") for end in ("min", "max"))
        dql = DynamicQueueLimits(least, most or MOST_BYTES, hz)
    qdisc: Qdisc = PfifoFast(host.kernel.txqueuelen)
    if asked.default_qdisc == "fq_codel":
        mtu = port.nic.mtu_bytes + _ETHERNET_HEADER_BYTES
        qdisc = FqCodel(
            CodelLimits(asked.target_ps, asked.interval_ps, mtu, ecn=True),
            flows=asked.flows,
            limit=asked.limit,
            quantum=mtu,
            perturbation=stream(seed, f"{nic.path}.fq_codel").below(1 << 32),
        )
    elif asked.default_qdisc == "fq":
        mtu = port.nic.mtu_bytes + _ETHERNET_HEADER_BYTES
        qdisc = Fq(limit=10_000, flow_limit=100, quantum=2 * mtu, initial_quantum=10 * mtu)
    NetdevQueue(nic, qdisc, dql, jiffy_ps=PS_PER_S // hz, gso=port.nic.segments)
