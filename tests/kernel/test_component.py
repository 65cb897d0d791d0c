"""A user's own component, in plain Python, under whichever engine runs."""

import gc
import weakref

import pytest

from simnet import _engine
from simnet.kernel.component import Component
from simnet.kernel.environment import Environment
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator


class Relay(Component):
    def __init__(self, sim: Simulator | Environment, path: str, hops: int) -> None:
        super().__init__(sim, path)
        self.hops = hops
        self.following: Relay | None = None

    def on_event(self, kind: int, arg: int) -> None:
        self.hops -= 1
        if self.following is not None and self.hops >= 0:
            self.sim.after(arg, self.following, kind, arg, CPU)

    def counters(self) -> dict[str, int]:
        return {"hops": self.hops}


def test_plain_python_components_receive_events() -> None:
    sim = Simulator()
    first, second = Relay(sim, "first", 3), Relay(sim, "second", 3)
    first.following, second.following = second, first
    sim.at(5, first, 0, 10, CPU)
    sim.run_until(10**6)
    assert sim.events == 7
    assert (first.counters(), second.counters()) == ({"hops": -1}, {"hops": 0})


def test_the_engine_that_was_asked_for_runs() -> None:
    compiled = _engine.active() == "compiled"
    for cls in (Component, LogHistogram, Simulator):
        assert cls.__module__.startswith("simnet._core_") is compiled


def test_a_component_takes_an_environment_for_its_simulator() -> None:
    env = Environment()
    relay = Relay(env, "relay", 0)
    assert relay.sim is env.sim
    assert env.sim.components == {"relay": relay}


def test_defaults() -> None:
    plain = Component(Simulator(), "host.cpu0")
    assert plain.counters() == {}
    assert plain.waiting_for() is None
    assert repr(plain) == "<Component host.cpu0>"


def test_attributes_of_users_do_not_disturb_the_kernels() -> None:
    class Cpu(Relay):
        def __init__(self, sim: Simulator, number: int) -> None:
            super().__init__(sim, f"cpu{number}", 2)
            self.number = number
            self.owner = "process"
            self.kind = self.priority = self.target = self.handle = 0

    sim = Simulator()
    cpus = [Cpu(sim, number) for number in range(2)]
    cpus[0].following = cpus[1]
    sim.at(1, cpus[0], 0, 1, CPU)
    sim.run_until(5)
    assert [cpu.hops for cpu in cpus] == [1, 1]


def test_what_is_no_component_is_refused() -> None:
    with pytest.raises((TypeError, AttributeError)):
        Simulator().at(1, object(), 0, 0, CPU)  # type: ignore[arg-type]


def test_a_simulation_that_is_dropped_is_freed() -> None:
    env = Environment()
    relay = Relay(env, "relay", 0)
    env.timeout(5)
    gone = weakref.ref(relay)
    del env, relay
    gc.collect()
    assert gone() is None
