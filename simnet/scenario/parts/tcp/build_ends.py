"""Build the ends of a stream on hosts of which only the sending or the receiving counts."""

from simnet.host.costs import whole_ns
from simnet.kernel.simulator import Simulator
from simnet.net.remote.link import RemoteLink
from simnet.net.remote.receiver import RemoteReceiver
from simnet.net.remote.sender import RemoteSender
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.send.sender import TcpSender
from simnet.scenario.core.effective import Host, Port
from simnet.scenario.parts.host.build import make_costs, make_spread
from simnet.scenario.parts.tcp.build import frame_overhead_bytes, receiver_settings, sender_settings
from simnet.time_units import PS_PER_S


def remote_sender(
    sim: Simulator,
    path: str,
    host: Host,
    port: Port,
    link: RemoteLink,
    *,
    far: Port,
    message_bytes: int,
    start_ps: int,
) -> RemoteSender:
    """Make a process that sends a stream.

    Args:
        sim: the simulation.
        path: component path.
        host: on which it runs.
        port: by which it sends.
        link: of that port.
        far: port of the receiver.
        message_bytes: of each call of send.
        start_ps: when it begins.
    """
    return RemoteSender(
        sim,
        path,
        sender=TcpSender(sender_settings(host, port, far)),
        link=link,
        costs=make_costs(host),
        mmio_ps=whole_ns(host.cpu.memory.mmio_write_ps),
        throttle_ps=port.nic.interrupt_gap_ps,
        jiffy_ps=PS_PER_S // host.kernel.hz,
        overhead_bytes=frame_overhead_bytes(host),
        message_bytes=message_bytes,
        start_ps=start_ps,
    )


def remote_receiver(
    sim: Simulator, path: str, host: Host, port: Port, link: RemoteLink, *, seed: int
) -> RemoteReceiver:
    """Make a process that receives a stream, with what its work varies by.

    Args:
        sim: the simulation.
        path: component path.
        host: on which it runs.
        port: by which it receives.
        link: of that port.
        seed: of all random streams.
    """
    made = RemoteReceiver(
        sim,
        path,
        receiver=TcpReceiver(receiver_settings(host, port)),
        link=link,
        costs=make_costs(host),
        mmio_ps=whole_ns(host.cpu.memory.mmio_write_ps),
        throttle_ps=port.nic.interrupt_gap_ps,
        jiffy_ps=PS_PER_S // host.kernel.hz,
        overhead_bytes=frame_overhead_bytes(host),
    )
    made.poll_spread = make_spread(host, f"{path}.poll", seed)
    made.read_spread = make_spread(host, f"{path}.read", seed)
    return made
