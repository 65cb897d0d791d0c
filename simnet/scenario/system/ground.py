"""The simulated host with its ports: what streams, and most of what is in their place, stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.kernel.environment import Environment
from simnet.scenario.core.subject import subjects
from simnet.scenario.parts.host.build import make_machine
from simnet.scenario.parts.nic.build import make_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simnet.host.machine import Machine
    from simnet.scenario.core.effective import Effective, Host
    from simnet.scenario.system.resource import Resource


class Ground:
    """The system under test before anything uses it, and what subjects have added to it.

    Args:
        effective: the configuration.
        seed: of all random streams.
        per_frame: one event per frame (the reference) instead of batches.
        tracer: receives spans and counters, or None.

    Attributes:
        env, sim: the simulation.
        machine: the system under test.
        ports: of it.
        kept: what subjects keep here for others or for later.
        counters: reads counters of subjects, by the name that a snapshot has them under.
        observed: reads counters that fingerprints leave out, by the name that a snapshot has them
            under.
        resources: lists the resources of subjects.
    """

    def __init__(
        self, effective: Effective, *, seed: int, per_frame: bool = False, tracer: Any = None
    ) -> None:
        self.effective = effective
        self.seed = seed
        self.per_frame = per_frame
        self.env = Environment()
        self.sim = self.env.sim
        self.sim.tracer = tracer
        self.kept: dict[str, Any] = {}
        self.counters: dict[str, Callable[[], Any]] = {}
        self.observed: dict[str, Callable[[], Any]] = {}
        self.resources: list[Callable[[], Iterable[Resource]]] = []
        host = effective.host
        self.machine = self.add_machine(host, "sut")
        self.ports = [
            make_port(
                self.sim,
                self.machine,
                host,
                port,
                switch=effective.lan,
                seed=seed,
                per_frame=per_frame,
            )
            for port in host.ports
        ]
        for subject in subjects():
            subject.equip(self)

    def add_machine(self, host: Host, path: str) -> Machine:
        """Make a machine, and what subjects add to each."""
        machine = make_machine(self.sim, host, path, seed=self.seed)
        for subject in subjects():
            subject.join(self, machine, host)
        return machine
