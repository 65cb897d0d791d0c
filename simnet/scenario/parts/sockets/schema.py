"""What a program asks of its sockets."""

from __future__ import annotations

from simnet.scenario.core.section import Section

__all__ = ["Application"]


class Application(Section):
    """What the test's processes on a host ask of their sockets.

    Attributes:
        delack_max_ps: TCP_DELACK_MAX_US; 0 where it is not set.
        socket_buffer_bytes: SO_SNDBUF of who sends, SO_RCVBUF of who receives, as `iperf -w` sets
            them; 0 where it is not set.
        nodelay: TCP_NODELAY.
    """

    delack_max_ps: int = 0
    socket_buffer_bytes: int = 0
    nodelay: bool = False
