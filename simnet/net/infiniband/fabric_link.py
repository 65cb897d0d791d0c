"""One direction of a link of an InfiniBand fabric, and what other jobs send over it.

Packets of other jobs, all of one length, come at random times (Poisson) and fill a share of the
link. The queue is simulated exactly whenever it is read; after a pause in which it has
forgotten its past many times over, its state is drawn from the stationary distribution (Pollaczek
and Khinchine: a geometric number of residual service times).
"""

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.random import RandomStream

_WHOLE: cython.longlong = 1000
# service times after which a queue is taken to have forgotten its past
_FORGETS: cython.longlong = 1000


@cython.final
@cython.cclass
class Link:
    """One direction of a link, with the egress port that it leaves."""

    name: str = None  # `from>to`
    byte_ps: cython.longlong = 0
    propagation_ps: cython.longlong = 0
    # when all that has been accepted will have left, the background included
    free_ps: Public[cython.longlong] = 0
    # sent for the devices; `waited_ps` is what they waited here, added up
    packets: Public[cython.longlong] = 0
    bytes: Public[cython.longlong] = 0
    waited_ps: Public[cython.longlong] = 0
    longest_ps: Public[cython.longlong] = 0  # the longest wait
    background: RandomStream = None
    gap_ps: cython.longlong = 0
    service_ps: cython.longlong = 0
    permille: cython.longlong = 0
    next_ps: cython.longlong = 0

    def __init__(self, name: str, byte_ps: int, propagation_ps: int) -> None:
        self.name = name
        self.byte_ps = byte_ps
        self.propagation_ps = propagation_ps

    def share(self, stream: RandomStream, permille: int, size_bytes: int) -> None:
        """Let others use `permille` of the link with packets of `size_bytes`."""
        self.background = stream
        self.permille = permille
        self.service_ps = size_bytes * self.byte_ps
        self.gap_ps = self.service_ps * _WHOLE // permille
        self.next_ps = -1

    def backlog_ps(self, now: cython.longlong) -> cython.longlong:
        """How long a packet that becomes ready `now` would wait; `now` never goes back."""
        if self.background is not None:
            self._advance_to(now)
        return self.free_ps - now if self.free_ps > now else 0

    def _advance_to(self, now: cython.longlong) -> cython.int:
        """Let the background's packets in that came until `now`."""
        if self.next_ps < 0 or (
            self.free_ps <= now and now - self.next_ps > _FORGETS * self.service_ps
        ):
            self.free_ps = now
            while self.background.below(_WHOLE) < self.permille:
                self.free_ps += self.background.below(self.service_ps)
            self.next_ps = now + self.background.exponential_ps(self.gap_ps)
        while self.next_ps <= now:
            if self.free_ps < self.next_ps:
                self.free_ps = self.next_ps
            self.free_ps += self.service_ps
            self.next_ps += self.background.exponential_ps(self.gap_ps)
        return 0
