"""A timer that is looked at instead of moved."""

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.connection import JiffyTimer, keep_timer
from tests.host.parts import MS


class Owner(Component):
    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "owner")
        self.timer = JiffyTimer(self, 7, 4 * MS)
        self.ran_at: list[tuple[int, int]] = []

    def on_event(self, kind: int, arg: int) -> None:
        assert arg == 0
        self.timer.ran()
        self.ran_at.append((kind, self.sim.now // MS))


def ran_at(*jiffies: int) -> list[tuple[int, int]]:
    sim = Simulator()
    owner = Owner(sim)
    for jiffy in jiffies:
        owner.timer.set(jiffy)
    sim.run_until(10**12)
    return owner.ran_at


def test_runs_when_the_jiffy_is_over() -> None:
    assert ran_at(10) == [(7, 44)]


def test_is_not_put_off() -> None:
    assert ran_at(10, 20) == [(7, 44)]


def test_is_brought_forward() -> None:
    assert ran_at(20, 10) == [(7, 44)]


def test_can_be_set_again_once_it_has_run() -> None:
    sim = Simulator()
    owner = Owner(sim)
    owner.timer.set(0)
    sim.run_until(4 * MS)
    owner.timer.set(1)
    sim.run_until(10**12)
    assert owner.ran_at == [(7, 4), (7, 8)]


def test_tells_whether_it_runs_before_a_time() -> None:
    owner = Owner(Simulator())
    assert not owner.timer.runs_before(10**12)
    owner.timer.set(10)
    assert (owner.timer.runs_before(44 * MS), owner.timer.runs_before(44 * MS + 1)) == (False, True)


def test_an_event_that_comes_no_later_stands() -> None:
    owner = Owner(Simulator())
    event = keep_timer(owner, 7, 0, 0, 10, 4 * MS)
    for jiffy in (10, 11):
        assert keep_timer(owner, 7, event, 10, jiffy, 4 * MS) == event
    earlier = keep_timer(owner, 7, event, 10, 9, 4 * MS)
    assert earlier not in {0, event}
    owner.sim.run_until(10**12)
    assert owner.ran_at == [(7, 40)]


def test_it_runs_after_frames_and_before_what_ends_an_instant() -> None:
    sim = Simulator()
    owner = Owner(sim)
    order: list[int] = []

    class Other(Component):
        def on_event(self, kind: int, arg: int) -> None:
            del arg
            order.append(kind + 10 * len(owner.ran_at))

    other = Other(sim, "other")
    sim.at(44 * MS, other, 3, 0, 3)
    owner.timer.set(10)
    sim.at(44 * MS, other, 1, 0, 1)
    sim.run_until(10**12)
    assert order == [1, 13]
