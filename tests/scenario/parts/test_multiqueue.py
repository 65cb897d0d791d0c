"""Ports with several queues, as scenarios describe them."""

from types import SimpleNamespace
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station
from simnet.net.nic.bnx2 import Bnx2
from simnet.net.nic.e1000e import E1000e
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.nic.port import Nic
from simnet.net.nic.rss import MICROSOFT_KEY
from simnet.net.tcp.socket_queue import SocketQueue
from simnet.scenario.core import library
from simnet.scenario.core.effective import Host, Port
from simnet.scenario.core.load import load
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.tree import Tree
from simnet.scenario.parts.host.build import make_machine
from simnet.scenario.parts.network.schema import Switch
from simnet.scenario.parts.nic.build import make_port, send_by, tx_rules
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import Nic as NicModel
from simnet.scenario.parts.tcp.build import socket_maker
from simnet.scenario.system.system import System

X460 = load("x460-out-of-box")


def model(name: str, **changes: Any) -> NicModel:
    """A NIC model of the library, changed."""
    form, _ = library.read_model("nic", library.find_model("nic", name))
    section = NicModel.variants()[form.driver]  # type: ignore[attr-defined]
    tree = Tree()
    tree.graft((), section, form)
    return section(**(tree.values | changes))


class Bed:
    """A machine with 64 CPUs, and one port."""

    def __init__(self, nic: NicModel, *, kernel: dict[str, Any] | None = None, **port: Any) -> None:
        self.sim = Simulator()
        settings: dict[str, Any] = {"name": "eth0", "node": 0, "irq": 50, "smp_affinity": (0,)}
        self.port = Port(nic=nic, **(settings | port))
        made = X460.host.kernel.model_copy(update=kernel or {})
        self.host: Host = X460.host.model_copy(update={"ports": (self.port,), "kernel": made})
        self.machine: Machine = make_machine(self.sim, self.host, "sut")
        self.made = self.make()

    def make(self) -> Nic | MultiqueuePort:
        switch: Switch = X460.lan
        return make_port(
            self.sim, self.machine, self.host, self.port, switch=switch, seed=1, per_frame=False
        )

    @property
    def multiqueue(self) -> MultiqueuePort:
        assert isinstance(self.made, MultiqueuePort)
        return self.made

    def queue_numbers(self, count: int) -> list[int]:
        """Queues of the transmitting sides of `count` connections."""
        numbers = []
        sockets = socket_maker(self.host, self.port, self.machine, self.made, seed=1)
        for number in range(count):
            socket = sockets.make(f"socket{number}")
            header = Header(Station(1), Station(2), 1, 2 + number, 80, 5000)
            send_by(self.made, socket, self.machine, tx_rules(self.host), header, seed=1)
            assert isinstance(socket.nic, SocketQueue)
            numbers.append(int(socket.nic.number))
        return numbers


AFFINITY = tuple((number,) for number in range(9))


class TestBcm5716:
    def test_nine_vectors_of_which_eight_are_sorted_to(self) -> None:
        bed = Bed(model("broadcom-bcm5716"), queue_affinity=AFFINITY)
        port = bed.multiqueue
        assert [line.irq for line in port.lines] == list(range(50, 59))
        assert [line.name for line in port.lines] == [f"eth0-{number}" for number in range(9)]
        assert [line.current_target().cpu_id for line in port.lines] == list(range(9))
        assert all(isinstance(queue, Bnx2) for queue in port.queues)
        found = [port.rss.queue(Header(Station(1), Station(2), 7, 8, n, 80)) for n in range(500)]
        assert sorted(set(found)) == list(range(1, 9))

    @pytest.mark.parametrize(("version", "expected"), [("2.6.18", {0}), ("2.6.32", set(range(8)))])
    def test_how_many_rings_send_is_the_kernels_matter(
        self, version: str, expected: set[int]
    ) -> None:
        bed = Bed(model("broadcom-bcm5716"), kernel={"version": version})
        assert set(bed.queue_numbers(100)) == expected

    def test_without_masks_of_their_own_all_queues_have_the_ports(self) -> None:
        port = Bed(model("broadcom-bcm5716"), smp_affinity=(5,)).multiqueue
        assert {line.current_target().cpu_id for line in port.lines} == {5}

    def test_xps_masks_need_a_kernel_that_has_it(self) -> None:
        masks = tuple((number,) for number in range(8))
        bed = Bed(model("broadcom-bcm5716"), xps_cpus=masks, kernel={"xps": True})
        xps = bed.multiqueue.xps
        assert xps is not None
        assert [xps.queue(cpu, 0) for cpu in range(10)] == [*range(8), -1, -1]
        assert Bed(model("broadcom-bcm5716")).multiqueue.xps is None

    def test_a_table_without_the_first_queue_and_another_key(self) -> None:
        other = MICROSOFT_KEY[::-1].hex(":")
        bed = Bed(model("broadcom-bcm5716", rx_queues=3, rss_key=other))
        rss = bed.multiqueue.rss
        connections = [Header(Station(1), Station(2), 7, 8, n, 80) for n in range(200)]
        usual = Bed(model("broadcom-bcm5716", rx_queues=3)).multiqueue.rss
        again = [Header(Station(1), Station(2), 7, 8, n, 80) for n in range(200)]
        found = [rss.queue(each) for each in connections]
        assert set(found) == {1, 2}
        assert found != [usual.queue(each) for each in again]

    def test_a_snapshot_adds_up_the_queues(self) -> None:
        bed = Bed(model("broadcom-bcm5716"), queue_affinity=AFFINITY)
        for queue, times in ((1, 2), (3, 1)):
            for _ in range(times):
                bed.multiqueue.lines[queue].route()
        system = System(SimpleNamespace(sim=bed.sim), bed.machine, [bed.made], [], {})
        (port,) = system.snapshot().ports
        assert (port.name, port.irq, port.interrupts) == ("eth0", 50, 3)
        assert port.interrupts_by_cpu == {1: 2, 3: 1}


class TestOneQueue:
    def test_an_82574_is_a_nic_like_others(self) -> None:
        bed = Bed(model("intel-82574"))
        assert isinstance(bed.made, E1000e)
        assert bed.made.rate == 20_000

    def test_as_many_queues_as_are_legal_can_be_built(self) -> None:
        most = spec_of(Multiqueue, "rx_queues").bounds[1]  # type: ignore[union-attr]
        bed = Bed(model("broadcom-bcm5716", rx_queues=most, tx_queues=most))
        assert len(bed.made.queues) == most  # type: ignore[union-attr]

    def test_one_queue_of_a_bcm5716_needs_no_sorting(self) -> None:
        bed = Bed(model("broadcom-bcm5716", rx_queues=1, tx_queues=1))
        assert isinstance(bed.made, Bnx2)


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"nic.rss_table_entries": "100"}, "expected a power of two, got 100"),
            ({"nic.rss_key": "6d:5a"}, "expected microsoft or 40 bytes"),
        ],
    )
    def test_is_refused_in_one_line(self, settings: dict[str, str], message: str) -> None:
        with pytest.raises(InputError, match=message):
            load("relay-tuned", settings=settings)
