"""A connected socket whose host costs nothing: which segments leave when, and what they say."""

from __future__ import annotations

from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Skb, Station, Uplink, new_skb
from simnet.net.tcp.endpoint import Application, BulkSource, Sink, TcpEndpoint
from simnet.net.tcp.rules.receiver_version import receiver_rules
from tests.host.parts import MS, US, make_machine
from tests.net.parts import Sink as Peer
from tests.net.parts import make_receiver, make_sender

JIFFY = 4 * MS


class Wire(Uplink):
    """Keeps what leaves: (time in ms, first byte, last plus one, ACK)."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "wire")
        self.frames: list[Skb] = []
        self.log: list[tuple[float, int, int, int]] = []

    def send(self, skb: Skb) -> int:
        self.frames.append(skb)
        self.log.append((self.sim.now / MS, skb.seq, skb.end_seq, skb.ack))
        return 0


class User(Application):
    """Notes when it is called, and reads so many bytes each time."""

    def __init__(self, reads: int = 0) -> None:
        self.reads = reads
        self.calls: list[str] = []

    def readable(self, socket: TcpEndpoint) -> int:
        self.calls.append(f"readable {socket.receiver.readable()}")
        socket.read(self.reads)
        return 0

    def writable(self, socket: TcpEndpoint) -> int:
        self.calls.append(f"writable {socket.sender.seq.room()}")
        return 0


class End:
    """An end whose segments carry 1000 bytes, and a peer that is the test."""

    def __init__(
        self, application: Application | None = None, service_ps: int = 0, **options: Any
    ) -> None:
        self.sim = Simulator()
        self.wire = Wire(self.sim)
        self.cpu = make_machine(self.sim).cpus[0]
        self.user = User()
        self.socket = TcpEndpoint(
            self.sim,
            "end",
            sender=make_sender(wmem_default=10_000, wmem_max=10_000),
            receiver=make_receiver(truesize_overhead=500, **options),
            application=application or self.user,
            path_out=self.wire,
            jiffy_ps=JIFFY,
            overhead_bytes=78,
            service_ps=service_ps,
        )
        self.socket.connect(Peer(self.sim, "peer"))
        self.socket.sender.open_window(1 << 20)

    def comes(self, first: int, last: int, *, ack: int = 0, push: bool = False) -> int:
        skb = new_skb(self.socket, first, last, ack, 1 << 20, last - first + 78, push)
        return int(self.socket.receive(skb, self.cpu))

    def sent(self) -> list[tuple[float, int, int, int]]:
        log, self.wire.log = self.wire.log, []
        return log

    def quiet(self) -> End:
        """Use up the quick ACKs."""
        receiver = self.socket.receiver
        while receiver.seq.rcv_nxt < 60_000 or receiver.delack.quick or receiver.delack.scheduled:
            self.comes(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1000)
            self.socket.read(1000)
        self.sent()
        return self


class TestWriting:
    def test_what_the_window_allows_leaves_at_once(self) -> None:
        end = End()
        end.socket.header = header = Header(Station(1), Station(2))
        assert end.socket.write(5500) == 5500
        assert end.sent() == [(0, 0, 1000, 0), (0, 1000, 2000, 0), (0, 2000, 3000, 0)]
        assert [frame.wire_bytes for frame in end.wire.frames] == [1078] * 3
        assert all(frame.header is header for frame in end.wire.frames)
        assert all(frame.endpoint is end.socket.remote for frame in end.wire.frames)
        assert {frame.window for frame in end.wire.frames} == {end.socket.receiver.seq.rcv_wnd}
        end.sim.run_until(2 * JIFFY)
        end.comes(0, 0, ack=2000)
        assert [log[1:3] for log in end.sent()] == [(3000, 4000), (4000, 5000), (5000, 5500)]

    def test_a_full_buffer_takes_what_it_has_room_for(self) -> None:
        end = End()
        # segments of 1250 bytes of memory until 10000 are reached
        assert [end.socket.write(5000), end.socket.write(5000), end.socket.write(1)] == [
            5000,
            3000,
            0,
        ]
        assert end.user.calls == []
        end.comes(0, 0, ack=1000)
        end.comes(0, 0, ack=2000)
        assert end.user.calls == []
        # a third is free
        end.comes(0, 0, ack=3000)
        assert end.user.calls == ["writable 3000"]
        end.comes(0, 0, ack=4000)
        assert end.user.calls == ["writable 3000"]

    def test_filled_to_the_last_byte_it_is_full(self) -> None:
        end = End()
        assert end.socket.write(8000) == 8000
        end.comes(0, 0, ack=3000)
        assert end.user.calls == ["writable 3000"]

    def test_with_room_left_nobody_waits(self) -> None:
        end = End()
        assert end.socket.write(7000) == 7000
        for ack in (1000, 2000, 3000):
            end.comes(0, 0, ack=ack)
        assert end.user.calls == []

    def test_nothing_to_write_sends_nothing(self) -> None:
        end = End()
        assert end.socket.write(0) == 0
        assert end.sent() == []

    @pytest.mark.parametrize(("total", "written"), [(0, 8000), (2500, 2500), (8000, 8000)])
    def test_a_source_writes_what_it_has(self, total: int, written: int) -> None:
        source = BulkSource(total)
        end = End(source)
        end.socket.begin()
        assert (source.written, end.socket.sender.seq.write_seq) == (written, written)
        end.comes(0, 0, ack=1000)
        end.comes(0, 0, ack=2000)
        end.comes(0, 0, ack=3000 if total != 2500 else 2500)
        assert source.written == (11_000 if total == 0 else total)
        # what comes back is thrown away
        end.comes(0, 700)
        assert end.socket.delivered == 700

    def test_a_sink_reads_all_and_writes_nothing(self) -> None:
        end = End(Sink())
        end.socket.begin()
        end.comes(0, 1000)
        end.comes(1000, 1700)
        assert (end.socket.delivered, end.socket.receiver.readable()) == (1700, 0)
        assert end.socket.sender.seq.write_seq == 0


class TestReading:
    def test_up_to_what_is_there(self) -> None:
        end = End()
        end.comes(0, 1000)
        assert end.user.calls == ["readable 1000"]
        assert [end.socket.read(count) for count in (300, 0, 800, 5)] == [300, 0, 700, 0]
        assert end.socket.delivered == 1000

    def test_an_application_that_leaves_some_is_called_again(self) -> None:
        end = End(user := User(600))
        end.comes(0, 1000)
        end.comes(1000, 2000)
        assert user.calls == ["readable 1000", "readable 1400"]
        assert end.socket.delivered == 1200

    def test_a_read_may_send_an_ack(self) -> None:
        end = End().quiet()
        base = end.socket.receiver.seq.rcv_nxt
        end.comes(base, base + 100, push=True)
        assert end.sent() == []
        end.socket.read(100)
        assert end.sent() == [(0, 0, 0, base + 100)]
        assert end.wire.frames[-1].wire_bytes == 84


class TestAcks:
    def test_an_acknowledgement_has_the_smallest_frame_or_more(self) -> None:
        end = End()
        end.socket.header = header = Header(Station(1), Station(2))
        end.comes(0, 1000)
        (frame,) = end.wire.frames
        assert (frame.wire_bytes, frame.ack, frame.seq, frame.end_seq) == (84, 1000, 0, 0)
        assert (frame.header is header, frame.endpoint is end.socket.remote) == (True, True)
        assert end.socket.acks_sent == 1

    def test_it_rides_on_data_that_go_anyway(self) -> None:
        end = End()
        end.socket.write(4000)
        end.sent()
        end.comes(0, 500, ack=1000)
        assert end.sent() == [(0, 3000, 4000, 500)]
        assert end.socket.acks_sent == 0

    def test_a_lone_segment_waits_for_the_timer(self) -> None:
        end = End().quiet()
        base = end.socket.receiver.seq.rcv_nxt
        start = end.sim.now // JIFFY
        end.comes(base, base + 1000)
        ato = end.socket.receiver.delack.ato
        end.sim.run_until(end.sim.now + 500 * MS)
        assert end.sent() == [((start + ato + 1) * 4, 0, 0, base + 1000)]
        assert end.socket.delack.delayed_acks == 1
        end.sim.run_until(end.sim.now + 500 * MS)
        assert (end.sent(), end.socket.delack.delayed_acks) == ([], 1)

    def test_a_second_one_does_not(self) -> None:
        end = End(Sink()).quiet()
        base = end.socket.receiver.seq.rcv_nxt
        end.comes(base, base + 1000)
        end.comes(base + 1000, base + 2000)
        assert end.sent() == [(0, 0, 0, base + 2000)]
        end.sim.run_until(end.sim.now + 500 * MS)
        assert (end.sent(), end.socket.delack.delayed_acks) == ([], 0)

    def late_kernel(self) -> tuple[End, int]:
        """An end whose round trip is 2 ms, at 1 ms, and the next byte."""
        end = End(Sink(), rules=receiver_rules("5.4"), moderate_rcvbuf=False).quiet()
        end.socket.receiver.window.rtt = 8 * 2000
        end.sim.run_until(MS)
        return end, int(end.socket.receiver.seq.rcv_nxt)

    def test_those_for_segments_ahead_of_a_hole_are_held_back(self) -> None:
        end, base = self.late_kernel()
        for number in range(1, 6):
            end.comes(base + 1000 * number, base + 1000 * number + 1000)
        assert [log[3] for log in end.sent()] == [base] * 3
        end.sim.run_until(10 * MS)
        # a twentieth of 2 ms, and 0.1 ms of slack
        assert end.sent() == [(1.2, 0, 0, base)]
        assert end.wire.frames[-1].sack == [(base + 1000, base + 6000)]

    def test_and_not_sent_twice(self) -> None:
        end, base = self.late_kernel()
        for number in range(1, 5):
            end.comes(base + 1000 * number, base + 1000 * number + 1000)
        end.comes(base, base + 1000)
        assert [log[3] for log in end.sent()] == [base] * 3 + [base + 5000]
        end.sim.run_until(3 * MS)
        assert end.sent() == []

    def test_timestamps_of_the_segment_that_is_acknowledged_come_back(self) -> None:
        end = End().quiet()
        base = end.socket.receiver.seq.rcv_nxt
        for first, tsval, told in ((base, 70, 70), (base + 1000, 60, 70), (base + 3000, 90, 70)):
            skb = new_skb(end.socket, first, first + 1000, 0, 0, 1078, True)  # noqa: FBT003
            skb.tsval = tsval
            end.socket.receive(skb, end.cpu)
            end.socket.write(1)
            assert end.wire.frames[-1].tsecr == told


class TestTimeouts:
    def test_what_is_not_acknowledged_is_sent_again(self) -> None:
        end = End()
        end.socket.write(1000)
        end.sent()
        end.sim.run_until(10_000 * MS)
        # 3 s, then twice as long; timers run when their jiffy is over
        assert end.sent() == [(3004, 0, 1000, 0), (9008, 0, 1000, 0)]
        assert end.socket.counters() == {
            "delivered": 0,
            "acks_sent": 0,
            "delayed_acks": 0,
            "segments_received": 0,
            "segments_sent": 1,
            "retransmissions": 2,
            "timeouts": 2,
        }

    def test_an_ack_in_time_ends_it(self) -> None:
        end = End()
        end.socket.write(1000)
        end.sent()
        end.sim.run_until(2 * JIFFY)
        end.comes(0, 0, ack=1000)
        end.sim.run_until(10_000 * MS)
        assert end.sent() == []
        assert end.socket.counters()["segments_received"] == 1


class TestService:
    def test_segments_are_served_one_after_the_other(self) -> None:
        end = End(service_ps=10 * US)
        assert end.comes(0, 1000) == 10 * US
        assert end.comes(1000, 2000) == 10 * US
        assert end.sent() == []
        end.sim.run_until(10 * US)
        assert end.sent() == [(0.01, 0, 0, 1000)]
        end.sim.run_until(19 * US)
        assert end.sent() == []
        end.sim.run_until(20 * US)
        assert end.sent() == [(0.02, 0, 0, 2000)]
        end.sim.run_until(100 * US)
        end.comes(2000, 3000)
        end.sim.run_until(200 * US)
        assert end.sent() == [(0.11, 0, 0, 3000)]
        assert end.socket.segments_received == 3

    def test_without_a_time_at_once(self) -> None:
        end = End()
        assert end.comes(0, 1000) == 0
        assert end.socket.segments_received == 1
