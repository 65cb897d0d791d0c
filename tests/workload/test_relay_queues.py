"""A relay whose devices have several queues."""

from typing import Any

from simnet.net.link.skb import Header, Station, SwitchedPath
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.remote.hosts import RemoteHosts
from simnet.net.steering.tx_queue_rules import tx_queue_rules
from simnet.net.tcp.socket_queue import SocketQueue, socket_hash
from simnet.workload.far_side import FarSide
from simnet.workload.relay_system import Load, Workers
from tests.host.parts import MS
from tests.net.nic.queues import make_port
from tests.net.parts import GIGABIT, JIFFY_PS, make_socket
from tests.workload.relays import FAR_RECEIVER, FAR_SENDER, RelayRig

QUEUES = 4


class QueuedRig(RelayRig):
    """The devices have four queues, queue k interrupting CPU k, and XPS maps that agree."""

    def _port(self, name: str, mask: int, nic: dict[str, Any]) -> tuple[FarSide, Any]:  # noqa: ARG002
        port = make_port(
            self.sim, self.machine, QUEUES, name=name, xps=[[cpu] for cpu in range(QUEUES)], **nic
        )
        far = RemoteHosts(self.sim, f"far.{name}", GIGABIT)
        far.path_out = SwitchedPath(
            self.sim, f"{name}.in", port, GIGABIT, 100_000, 2_000_000, per_frame=False
        )
        port.path_out = SwitchedPath(
            self.sim, f"{name}.out", far, GIGABIT, 100_000, 2_000_000, per_frame=False
        )
        here, there = Station(1), Station(2)

        def socket(path: str, coming: Header) -> Any:
            made = make_socket(
                self.sim,
                self.machine,
                port.queues[0],
                path,
                remote=False,
                sender={"mss": 1448},
                receiver={"advmss": 1448},
                latency=self.latency,
            )
            rules = tx_queue_rules("2.6.38")
            SocketQueue(f"{path}.queue", port, made, rules, socket_hash(coming.turned(), 1, 2))
            return made

        def header(number: int) -> Header:
            return Header(there, here, 10 << 24 | number, 1, 1024, 80)

        return FarSide(far, socket, FAR_SENDER, FAR_RECEIVER, JIFFY_PS, 90, header), port


def make_rig(**options: Any) -> QueuedRig:
    return QueuedRig(
        connections=40,
        workers=Workers([frozenset({cpu}) for cpu in range(QUEUES)]),
        load=Load(rate_mhz=20_000 * 1000, sizes=[(200, 1)], sigma=0.5),
        cpus=QUEUES,
        **options,
    )


class TestRelay:
    def test_everything_is_delivered_and_every_queue_takes_part(self) -> None:
        rig = make_rig().run(15 * MS).drain(20 * MS)
        counts = rig.relay.counters()
        assert counts["offered"] == counts["delivered"] > 200
        assert counts["retransmissions"] == 0
        for port, far in ((rig.nic, rig.front.far), (rig.other_nic, rig.back.far)):
            assert isinstance(port, MultiqueuePort)
            port.advance(rig.sim.now)
            assert port.rx_packets == far.counters()["sent"]
            assert port.tx_packets == far.counters()["received"]
            assert all(nic.rx_packets > 0 and nic.line.total > 0 for nic in port.queues)

    def test_each_worker_sends_by_the_queue_of_its_cpu(self) -> None:
        rig = make_rig().run(10 * MS).drain(20 * MS)
        sides = [side.socket.nic for side in (*rig.relay.fronts, *rig.relay.backs)]
        queues = [each for each in sides if isinstance(each, SocketQueue)]
        assert len(queues) == 80
        # the last thing that a socket sent was a message, by its worker
        workers = rig.relay.handed * 2
        agreeing = sum(
            queue.number == worker for queue, worker in zip(queues, workers, strict=True)
        )
        assert agreeing > 0.5 * len(queues)

    def test_what_finds_no_buffer_is_counted_at_its_queue(self) -> None:
        rig = make_rig(nic={"rx_buffers": 1}).run(20 * MS).drain(MS)
        for port, far in ((rig.nic, rig.front.far), (rig.other_nic, rig.back.far)):
            assert isinstance(port, MultiqueuePort)
            port.advance(rig.sim.now)
            assert port.drops > 0
            assert port.rx_packets + port.drops == far.counters()["sent"]
            assert sum(queue.drops for queue in port.queues) == port.drops
