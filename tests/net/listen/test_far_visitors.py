"""Visitors and servers so far from each other that each sends again what is still on its way."""

from __future__ import annotations

import pytest

from simnet.net.listen.timer_wheel import runs_ps
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

MS = 10**9
SECOND = 1000
JIFFY_MS, BUCKET_MS = 4, 32
# an answer of 8 KiB, and its FIN
ANSWER = 7


class Far:
    """One visitor of a server whose way there and back each take `delay_ms`."""

    def __init__(self, delay_ms: int, settings: dict[str, int] | None = None) -> None:
        given = {
            "listen.rate": "1",
            "listen.burst": "1",
            "listen.service": "100 us",
            "netem.delay": f"{delay_ms} ms",
        } | {name: str(value) for name, value in (settings or {}).items()}
        self.system = build(load("busy-web", settings=given), seed=1)
        made = self.system.parts["listen"]
        self.crowd, self.listener, self.nic = made.crowd, made.listeners[0], made.nic
        self.sent: list[tuple[int, int]] = []
        self.changes: dict[str, list[int]] = {}
        while not self.crowd.begun:
            self._millisecond()
        self.crowd.burst = 0
        self.begun = self.now

    @property
    def now(self) -> int:
        return int(self.crowd.sim.now // MS)

    def _millisecond(self) -> None:
        before = self.counts()
        self.system.run(MS)
        for name, value in self.counts().items():
            self.changes.setdefault(name, []).extend(
                [self.now - getattr(self, "begun", 0)] * abs(value - before[name])
            )

    def counts(self) -> dict[str, int]:
        return {
            "syns again": self.crowd.syns_again,
            "requests again": self.crowd.requests_again,
            "given up": self.crowd.given_up,
            "answered": self.crowd.answered,
            "half open": self.listener.half_open,
            "young": self.listener.young,
            "opened": self.listener.opened,
            "sent": self.nic.tx_packets,
        }

    def run(self, until_ms: int) -> Far:
        while self.now - self.begun < until_ms:
            self._millisecond()
        return self

    def retries(self, first_ms: int, waits_ms: list[int]) -> list[int]:
        """When a timer runs that is set at `first_ms`, and again whenever it has run."""
        when = [(self.begun + first_ms) * MS]
        for wait_ms in waits_ms:
            when.append(runs_ps(when[-1], wait_ms * MS, JIFFY_MS * MS))
        return [time // MS - self.begun for time in when[1:]]

    def near(self, name: str, expected: list[int]) -> bool:
        """Whether it changed then, to a bucket of the timer wheel."""
        found = self.changes[name]
        return len(found) == len(expected) and all(
            abs(one - other) <= BUCKET_MS for one, other in zip(found, expected, strict=True)
        )


def test_a_syn_is_sent_again_each_second_and_then_after_twice_the_time() -> None:
    far = Far(10_000, {"peer:kernel.tcp_syn_retries": 2}).run(12_000)
    waits = [SECOND] * 5 + [2 * SECOND, 4 * SECOND]
    *again, gone = far.retries(0, waits)
    assert far.near("syns again", again)
    assert far.near("given up", [gone])
    assert far.crowd.free


def test_a_request_is_given_up_after_its_syn_ack_was_sent_so_often() -> None:
    far = Far(9_000, {"kernel.tcp_synack_retries": 1, "peer:kernel.tcp_syn_retries": 1}).run(17_900)
    # six SYNs come, about a second apart
    syns = [9_000 + time for time in (0, *far.changes["syns again"])]
    # the first begins a request; its timer sends once more, then gives up
    again, gone = far.retries(syns[0], [SECOND, 2 * SECOND])
    anew = next(time for time in syns if time > gone)
    more, end = far.retries(anew, [SECOND, 2 * SECOND])
    assert far.near("half open", [syns[0], gone, anew, end])
    assert far.near("young", [syns[0], again, anew, more])
    # a SYN whose request is there is answered without another timer
    assert far.near("sent", sorted([*syns, again, more]))
    assert not far.listener.opened


def test_who_has_a_syn_ack_asks_again_until_the_answer_comes() -> None:
    far = Far(600).run(2_400)
    again = far.retries(1_200, [200, 400, 800])
    assert far.near("requests again", again[:2])
    assert far.near("answered", [2_400])
    assert far.near("opened", [1_800])
    (served,) = (one for one in far.crowd.served if one.connections)
    assert served.latency.quantile(0.5) == pytest.approx(2_400 * MS, rel=0.001)


def test_an_answer_is_sent_again_until_its_end_is_acknowledged() -> None:
    far = Far(600).run(5_000)
    answers = [1_800, *far.retries(1_800, [200, 400])]
    # the FIN of who asked comes, and comes again until its ACK is there
    fins = [3_000, *(600 + time for time in far.retries(2_400, [200, 400]))]
    expected = [time for time in answers for _ in range(ANSWER)] + fins
    found = [time for time in far.changes["sent"] if time >= answers[0]]
    assert found == pytest.approx(expected, abs=3 * JIFFY_MS)
