"""Who connects: visitors that come whether or not others are answered, each with one request.

Source: net/ipv4/tcp_timer.c (`tcp_retransmit_timer`), tcp_input.c (`tcp_rcv_synsent_state_process`)
of Linux 4.10 to 6.18. A SYN that nobody answers is sent again after a second, before 6.5 after
twice the time each time, since then four times a second apart before the time doubles. A visitor
who has the SYN-ACK takes the connection for complete, and sends its request; what nobody answers is
sent again after `rto_min`, and after twice the time each time, 15 times (`tcp_retries2`). A visitor
who is reset goes.
"""

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import WIRE
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Skb, new_skb
from simnet.net.listen.connection import ACK, DATA, FIN, RST, SYN, SYN_ACK, Connection, SetupCosts
from simnet.net.listen.timer_wheel import runs_ps
from simnet.net.remote.link import RemoteLink

_IDLE: cython.int = 0
_CONNECTING: cython.int = 1
_ASKING: cython.int = 2
_CLOSING: cython.int = 3
# 102 s of 200 ms: TCP_RTO_MAX is 120 s
_MOST_DOUBLED: cython.int = 9
# `net.ipv4.tcp_retries2`
_RETRIES: cython.int = 15


@cython.final
@cython.cclass
class Served:
    """What the answers of one worker were to who asked."""

    connections: cython.longlong = 0  # that have their whole answer, of `received_bytes`
    received_bytes: cython.longlong = 0
    latency: LogHistogram = None  # histogram of the time from the first SYN to that, in ps

    def __init__(self) -> None:
        self.latency = LogHistogram()


@cython.final
@cython.cclass
class Crowd(Component):
    """All visitors.

    Args:
        link: by which what they send comes to the server.
        setup: what connections are.
        dial: (number of the connection) gives header, the server's `Client` and its listener.
        make: (number) makes the server's end of one that was never used.
        workers: of the server.
        burst: visitors that come at once.
        gap_ps: from burst to burst; its mean, if `random`.
        random: bursts come at random times (Poisson), else one each gap.
        luck: random numbers.
        syn_ps: until a SYN is sent again.
        linear: how often that time stays the same before it doubles.
        syn_retries: how often a SYN is sent again at most, without the linear ones.
        rto_ps: until a request is sent again.
        jiffy_ps: of their hosts.
    """

    link: RemoteLink = None
    setup: SetupCosts = None
    dial: Any = None
    make: Any = None
    burst: Public[cython.longlong] = 0
    gap_ps: Public[cython.longlong] = 0
    random: cython.bint = False
    luck: RandomStream = None
    syn_ps: cython.longlong = 0
    linear: cython.int = 0
    syn_retries: cython.int = 0
    rto_ps: cython.longlong = 0
    jiffy_ps: cython.longlong = 0
    begun: cython.longlong = 0  # connections; `answered`, `reset` and `given_up` are their ends
    answered: cython.longlong = 0
    reset: cython.longlong = 0
    given_up: cython.longlong = 0
    # that were sent, and sent again
    syns: cython.longlong = 0
    syns_again: cython.longlong = 0
    requests_again: cython.longlong = 0
    served: list[Any] = None  # what the workers' answers were
    free: list[Any] = None
    made: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        link: RemoteLink,
        setup: SetupCosts,
        dial: Any,
        make: Any,
        workers: int,
        burst: int,
        gap_ps: int,
        random: bool,
        luck: RandomStream,
        syn_ps: int,
        linear: int,
        syn_retries: int,
        rto_ps: int,
        jiffy_ps: int,
    ) -> None:
        super().__init__(sim, path)
        self.link = link
        self.setup = setup
        self.dial = dial
        self.make = make
        self.burst = burst
        self.gap_ps = gap_ps
        self.random = random
        self.luck = luck
        self.syn_ps = syn_ps
        self.linear = linear
        self.syn_retries = syn_retries
        self.rto_ps = rto_ps
        self.jiffy_ps = jiffy_ps
        self.served = [Served() for _ in range(workers)]
        self.free = []
        sim.after(luck.below(gap_ps), self, 0, 0, WIRE)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A burst comes."""
        visitor: Visitor
        gap: cython.longlong = self.gap_ps
        left: cython.longlong = self.burst
        while left > 0:
            left -= 1
            if len(self.free) > 0:
                visitor = self.free.pop()
            else:
                visitor = Visitor(self, f"{self.path}.visitor{self.made}", self.make(self.made))
                self.made += 1
            visitor.come(self.begun)
            self.begun += 1
        if self.random:
            gap = self.luck.exponential_ps(gap)
        self.sim.after(gap, self, 0, 0, WIRE)


@cython.final
@cython.cclass
class Visitor(Endpoint):
    """The end of a connection that began it."""

    crowd: Crowd = None  # that it belongs to
    server: Connection = None  # the other end
    header: Header = None
    state: cython.int = 0
    began_ps: cython.longlong = 0
    timer: cython.longlong = 0
    tries: cython.int = 0
    got_bytes: cython.longlong = 0

    def __init__(self, crowd: Crowd, path: str, server: Connection) -> None:
        super().__init__(crowd.sim, path)
        self.crowd = crowd
        self.server = server
        server.remote = self

    def come(self, number: cython.longlong) -> cython.int:
        """Begin a connection."""
        header, client, listener = self.crowd.dial(number)
        self.header = header
        self.server.begin(listener, client, header)
        self.state = _CONNECTING
        self.began_ps = self.sim.now
        self.tries = 0
        self.got_bytes = 0
        self.crowd.syns += 1
        self._send(SYN, 0)
        return self._arm(self.crowd.syn_ps)

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """A segment has come."""
        kind: cython.longlong = skb.ack
        if skb.header is not self.server.client.header:
            # of a connection that is no more
            return 0
        if kind == SYN_ACK and self.state == _CONNECTING:
            self.state = _ASKING
            self.tries = 0
            self._send(ACK, 0)
            self._send(DATA, self.crowd.setup.request_bytes)
            self._arm(self.crowd.rto_ps)
        elif kind == SYN_ACK and self.state == _ASKING:
            self._send(ACK, 0)
        elif kind == DATA and skb.seq == self.got_bytes:
            self.got_bytes = skb.end_seq
        elif kind == FIN and self.got_bytes == self.crowd.setup.answer_bytes:
            self._served()
        elif kind == ACK and self.state == _CLOSING:
            self._go()
        elif kind == RST and self.state == _ASKING:
            self.crowd.reset += 1
            self._go()
        return 0

    def _served(self) -> cython.int:
        """The whole answer is there: close, too, and stay until that is acknowledged."""
        if self.state != _ASKING:
            return 0
        served: Served = self.crowd.served[self.server.worker]
        self.crowd.answered += 1
        served.connections += 1
        served.received_bytes += self.got_bytes
        served.latency.add(self.sim.now - self.began_ps)
        self.state = _CLOSING
        self.tries = 0
        self._send(FIN, 0)
        return self._arm(self.crowd.rto_ps)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Nobody has answered: send again, or give up."""
        crowd: Crowd = self.crowd
        doubled: cython.int
        self.timer = 0
        self.tries += 1
        if self.state == _ASKING and self.tries > _RETRIES and not self.server.is_open():
            crowd.given_up += 1
            self.server.abandon()
            self._go()
            return
        if self.state == _ASKING:
            crowd.requests_again += 1
            self._send(DATA, crowd.setup.request_bytes)
            self._arm(crowd.rto_ps << min(self.tries, _MOST_DOUBLED))
            return
        if self.state == _CLOSING:
            self._send(FIN, 0)
            self._arm(crowd.rto_ps << min(self.tries, _MOST_DOUBLED))
            return
        if self.tries > crowd.syn_retries + crowd.linear:
            crowd.given_up += 1
            self.server.abandon()
            self._go()
            return
        crowd.syns_again += 1
        doubled = max(self.tries - crowd.linear, 0)
        self._send(SYN, 0)
        self._arm(crowd.syn_ps << doubled)

    def _go(self) -> cython.int:
        """It is over: another may come."""
        self._disarm()
        self.state = _IDLE
        self.crowd.free.append(self)
        return 0

    def _arm(self, after_ps: cython.longlong) -> cython.int:
        self._disarm()
        when: cython.longlong = runs_ps(self.sim.now, after_ps, self.crowd.jiffy_ps)
        self.timer = self.sim.at(when, self, 0, 0, WIRE)
        return 0

    def _disarm(self) -> cython.int:
        if self.timer != 0:
            self.sim.cancel(self.timer)
            self.timer = 0
        return 0

    def _send(self, kind: cython.longlong, length: cython.longlong) -> cython.int:
        wire_bytes: cython.int = self.crowd.setup.wire_bytes(length)
        skb: Skb = new_skb(self.server, 0, length, kind, 1, wire_bytes, True)
        skb.header = self.header
        self.crowd.link.send(skb, self.sim.now)
        return self.crowd.link.path_out.flush()
