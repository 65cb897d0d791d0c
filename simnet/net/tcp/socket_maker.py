"""Makes the sockets of a host that use one port."""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.costs import Spread
from simnet.host.interrupt import IrqLine
from simnet.kernel.random import first_raw
from simnet.net.tcp.receive.receiver import new_receiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.send.sender import new_sender
from simnet.net.tcp.send.settings import SenderSettings
from simnet.net.tcp.socket import TcpSocket
from simnet.net.tcp.socket_settings import SocketSettings


@cython.final
@cython.cclass
class SocketMaker:
    """Makes sockets that are alike.

    Args:
        settings, sender, receiver: what they have in common.
        line: the port's interrupt; timers run where it goes to.
        seed: of all random streams.
        spread_permille: of the sockets' luck with caches and buses, see `Spread`.
    """

    settings: SocketSettings = None
    sender: SenderSettings = None
    receiver: ReceiverSettings = None
    line: IrqLine = None
    seed: Any = None
    spread_permille: cython.longlong = 0

    def __init__(
        self,
        settings: SocketSettings,
        sender: SenderSettings,
        receiver: ReceiverSettings,
        line: IrqLine,
        *,
        seed: int,
        spread_permille: int,
    ) -> None:
        self.settings = settings
        self.sender = sender
        self.receiver = receiver
        self.line = line
        self.seed = seed
        self.spread_permille = spread_permille

    def make(self, path: str) -> TcpSocket:
        """One end of a connection; `path` is that of the component."""
        socket: TcpSocket = TcpSocket.__new__(TcpSocket)
        spread: Spread = Spread.__new__(Spread)
        spread.init(first_raw(self.seed, path), self.spread_permille)
        socket.init(
            self.settings,
            path,
            new_sender(self.sender),
            new_receiver(self.receiver),
            self.line.current_target(),
            spread,
        )
        return socket
