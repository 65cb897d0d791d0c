"""What a configuration makes of packet steering."""

import pytest

import simnet
from simnet.errors import InputError
from simnet.kernel.simulator import Simulator
from simnet.scenario.core.load import load
from simnet.scenario.parts.host.build import make_machine
from simnet.scenario.parts.nic.build import make_nic
from simnet.scenario.parts.steering.build import HostSteering
from simnet.scenario.parts.tcp.build import socket_maker

QUEUE = "/sys/class/net/eth0/queues/rx-0"


def build(
    kernel: str = "linux-2.6.32-rhel6.1", **settings: str
) -> tuple[HostSteering, Simulator, list[object]]:
    """Steer the ports of a machine; return (what it has, the simulation, the ports' steerings)."""
    names = {"rps_cpus": f"{QUEUE}/rps_cpus", "rps_flow_cnt": f"{QUEUE}/rps_flow_cnt"}
    asked = {names.get(name, f"net.core.{name}"): value for name, value in settings.items()}
    effective = load("x460-out-of-box", settings={"system.kernel": kernel} | asked)
    sim = Simulator()
    host = effective.host
    machine = make_machine(sim, host, "sut")
    steering = HostSteering(sim, host, machine, 1)
    nics = []
    for port in host.ports[:2]:
        nic = make_nic(sim, machine, host, port, switch=effective.lan, seed=1, per_frame=False)
        steering.attach(nic, port, 0, 1)
        nics.append(nic)
    socket = socket_maker(host, host.ports[0], machine, nics[0], seed=1).make("socket")
    steering.follow(socket)
    assert (socket.flows is not None) == (steering.sockets is not None)
    return steering, sim, [nic.steering for nic in nics]


def test_nothing_is_steered_that_is_not_asked_for() -> None:
    steering, _, attached = build()
    assert attached == [None, None]
    assert (steering.sockets, steering.queues) == (None, [])


def test_one_queue_with_a_map_and_tables() -> None:
    steering, _, attached = build(rps_cpus="f0", rps_flow_cnt="4096", rps_sock_flow_entries="30976")
    assert attached == [steering.queues[0], None]
    assert steering.sockets is not None
    assert steering.sockets.entries == 32768
    assert steering.queues[0].flow_mask == 4095
    assert (steering.rules.hash_bits, steering.rules.index_shift) == (16, 32)
    assert len(steering.backlogs) == 64
    assert set(steering.drops().values()) == {0}


def test_the_kernel_is_the_scenario_s() -> None:
    steering, _, _ = build("linux-2.6.38", rps_cpus="f0")
    assert (steering.rules.hash_bits, steering.rules.batches) == (32, True)


def test_a_kernel_without_it_has_no_such_knob() -> None:
    with pytest.raises(InputError, match=r"rps_cpus"):
        build("linux-2.6.18-rhel5", rps_cpus="f0")


@pytest.mark.parametrize(
    "name", ["tcp-rr-one-queue", "web-25g", "relay-tuned", "memcached-100g", "media-udp"]
)
def test_every_load_is_steered_and_tells_what_backlogs_drop(name: str) -> None:
    settings = {"/sys/class/net/eth0/queues/rx-*/rps_cpus": "2", "net.core.netdev_max_backlog": "1"}
    found = simnet.run(name, settings=settings, duration="3 ms", warm_up="0 s")
    assert "cpu1" in {drop.at for drop in found.drops if drop.place == "backlog"}
    assert found.loss is not None
    assert found.loss > 0
