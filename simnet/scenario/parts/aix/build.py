"""TCP's attributes of an AIX host, as they hold for connections through a port."""

from simnet.net.tcp.rules.aix import AixTcp, effective_space
from simnet.scenario.core.effective import Host, Port
from simnet.time_units import PS_PER_S


def aix_tcp(host: Host, port: Port) -> AixTcp:
    """The attributes of no(1) and of the port's interface."""
    kernel = host.kernel
    return AixTcp(
        fasttimo_ps=kernel.fasttimo_ps,
        tcp_nodelayack=kernel.tcp_nodelayack,
        tcp_nagle_limit_bytes=kernel.tcp_nagle_limit_bytes,
        tcp_init_window=kernel.tcp_init_window,
        rfc2414=kernel.rfc2414,
        # one switch for both
        rfc1323=kernel.tcp_timestamps,
        sack=kernel.tcp_sack,
        recvspace_bytes=effective_space(kernel.tcp_recvspace_bytes, port.recvspace_bytes),
        sendspace_bytes=effective_space(kernel.tcp_sendspace_bytes, port.sendspace_bytes),
        tick_ps=PS_PER_S // kernel.hz,
        rto_min_ps=kernel.rto_min_ps,
        rto_init_ps=kernel.rto_init_ps,
        rto_max_ps=kernel.rto_max_ps,
    )
