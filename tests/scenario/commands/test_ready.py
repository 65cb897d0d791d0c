"""Tunings that every system has ready: each does what its name says, on any host with a card."""

import pytest

from simnet.errors import InputError
from simnet.scenario.commands.ready import ready_names, ready_tuning
from simnet.scenario.core.load import load
from simnet.scenario.parts.nic.schema import Rings

BASE = load("web-25g")


def test_each_is_taken_by_the_system_and_changes_it() -> None:
    names = ready_names(BASE)
    assert {"affinity", "rps", "rfs", "one-queue", "queues=N", "jumbo", "no-gro"} <= set(names)
    for name in names:
        tuned = load("web-25g", tunings=[name.replace("=N", "=4")])
        assert tuned.applied != BASE.applied, name


def test_names_say_what_changes() -> None:
    assert not load("web-25g", tunings=["one-queue"]).ports[0].queue_affinity
    assert len(load("web-25g", tunings=["queues=5"]).ports[0].queue_affinity) == 5
    jumbo = load("web-25g", tunings=["jumbo"])
    mtus = {port.nic.mtu_bytes for host in (jumbo.host, *jumbo.peers) for port in host.ports}
    assert mtus == {9000}
    affinity = load("web-25g", tunings=["affinity"]).ports[0].queue_affinity
    assert len(set(affinity)) == len(affinity)


def test_the_largest_ring_is_the_cards() -> None:
    nic = load("x460-out-of-box", tunings=["ring-max"]).ports[0].nic
    assert isinstance(nic, Rings)
    assert nic.rx_buffers_posted == nic.rx_ring
    assert "ring-max" not in ready_names(load("x460-out-of-box", tunings=["ring-max"]))


def test_the_scenarios_own_tuning_of_a_name_is_stronger() -> None:
    own = load("x460-out-of-box", tunings=["affinity"])
    proposed = ready_tuning("affinity", load("x460-out-of-box"))
    assert proposed is not None
    assert len(own.applied) != len(proposed.settings)


@pytest.mark.parametrize("name", ["queues", "rps=4", "queues=x", "nothing"])
def test_what_no_system_has_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown tuning"):
        load("web-25g", tunings=[name])
