"""Makes the sockets of a host that use one port."""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.costs import Spread
from simnet.host.interrupt import IrqLine
from simnet.kernel.random import first_raw
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.settings import SenderSettings
from simnet.net.tcp.socket import TcpSocket
from simnet.net.tcp.socket_settings import SocketSettings


@cython.final
@cython.cclass
class SocketMaker:
    """Makes sockets that are alike."""

    # what they have in common
    settings: SocketSettings = None
    sender: SenderSettings = None
    receiver: ReceiverSettings = None
    line: IrqLine = None  # the port's interrupt; timers run where it goes to
    seed: Any = None  # of all random streams
    spread_permille: cython.longlong = 0  # of the sockets' luck with caches and buses, see `Spread`

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
        return TcpSocket(
            self.settings,
            path,
            receiver=TcpReceiver(self.receiver),
            sender=TcpSender(self.sender),
            timer_cpu=self.line.current_target(),
            spread=Spread(first_raw(self.seed, path), self.spread_permille),
        )
