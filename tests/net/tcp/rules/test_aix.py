"""TCP of AIX as its attributes have it: the first window, buffers, when it acknowledges."""

from dataclasses import asdict

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import SkbQueue
from simnet.net.tcp.rules.aix import AixTcp, aix_receiver, aix_sender, effective_space, first_cwnd
from tests.host.parts import MS, make_machine
from tests.net.parts import Sink

SIM = Simulator()
PEER = Sink(SIM, "peer")
CPU = make_machine(SIM).cpus[0]


class TestFirstWindow:
    @pytest.mark.parametrize(
        ("mss", "segments"),
        # RFC 2414: min(4 MSS, max(2 MSS, 4380)) bytes
        [(536, 4), (1095, 4), (1096, 3), (1448, 3), (1460, 3), (1461, 2), (2190, 2), (8948, 2)],
    )
    def test_rfc_2414(self, mss: int, segments: int) -> None:
        assert first_cwnd(AixTcp(), mss) == segments
        assert aix_sender(AixTcp(), mss=mss, tso=False).congestion.cwnd == segments

    def test_tcp_init_window_says_how_many_where_rfc2414_is_on(self) -> None:
        assert first_cwnd(AixTcp(tcp_init_window=6), 1448) == 6
        assert first_cwnd(AixTcp(tcp_init_window=6, rfc2414=False), 1448) == 1


def test_an_interface_s_own_buffers_go_first() -> None:
    assert effective_space(16384, 262144) == 262144
    assert effective_space(16384, 0) == 16384


def test_defaults_are_those_of_aix_7_2() -> None:
    assert asdict(AixTcp()) == {
        "fasttimo_ps": 200 * MS,
        "tcp_nodelayack": False,
        "tcp_nagle_limit_bytes": 65_535,
        "tcp_init_window": 0,
        "rfc2414": True,
        "rfc1323": False,
        "sack": False,
        "recvspace_bytes": 16_384,
        "sendspace_bytes": 16_384,
        "tick_ps": 10 * MS,
        "rto_min_ps": 1000 * MS,
        "rto_init_ps": 3000 * MS,
        "rto_max_ps": 64_000 * MS,
    }


class TestReceiver:
    @pytest.mark.parametrize(("nodelayack", "segments"), [(False, 2), (True, 1)])
    def test_every_second_segment_is_acknowledged_or_every_one(
        self, segments: int, *, nodelayack: bool
    ) -> None:
        receiver = aix_receiver(AixTcp(tcp_nodelayack=nodelayack), advmss=1448)
        assert receiver.delack.segments_per_ack == segments

    @pytest.mark.parametrize(("fasttimo_ms", "ticks"), [(200, 20), (50, 5), (55, 6)])
    def test_the_scan_runs_at_whole_ticks(self, fasttimo_ms: int, ticks: int) -> None:
        receiver = aix_receiver(AixTcp(fasttimo_ps=fasttimo_ms * MS), advmss=1448)
        assert receiver.delack.scan_jiffies == ticks

    @pytest.mark.parametrize(("rfc1323", "scale"), [(False, 0), (True, 2)])
    def test_all_of_the_buffer_is_offered(self, scale: int, *, rfc1323: bool) -> None:
        tcp = AixTcp(recvspace_bytes=262_143, rfc1323=rfc1323)
        receiver = aix_receiver(tcp, advmss=1448)
        assert receiver.window.first == 262_143
        assert receiver.window.wscale == scale
        assert receiver.window.rcvbuf == 262_143

    def test_sack_is_off_unless_asked_for(self) -> None:
        assert not aix_receiver(AixTcp(), advmss=1448).sack
        assert aix_receiver(AixTcp(sack=True), advmss=1448).sack

    def test_times_are_whole_ticks(self) -> None:
        receiver = aix_receiver(AixTcp(), advmss=1448)
        assert (
            receiver.delack.ato_min,
            receiver.delack.delack_min,
            receiver.delack.delack_max,
        ) == (1, 1, 20)
        assert receiver.delack.rto_jiffies == 300
        assert (receiver.delack.max_quickacks, receiver.delack.rcv_mss) == (0, 1448)
        # the buffer counts payload
        assert [receiver.sizes.truesize(length) for length in (1, 1448)] == [1, 1448]

    def test_timers_of_an_owned_socket_run_when_it_is_released(self) -> None:
        receiver = aix_receiver(AixTcp(), advmss=1448)
        assert receiver.delack.defers_timer
        receiver.delack.found_owned()
        assert not receiver.delack.blocked

    def test_a_filled_hole_is_acknowledged_at_once(self) -> None:
        receiver = aix_receiver(AixTcp(), advmss=1448)
        # so is each segment ahead of it
        assert receiver.segment(1448, 2896, False, False, 0)  # noqa: FBT003
        receiver.ack_sent()
        assert receiver.segment(0, 1448, False, False, 0)  # noqa: FBT003
        receiver.ack_sent()
        assert not receiver.segment(2896, 4344, False, False, 0)  # noqa: FBT003

    @pytest.mark.parametrize(("rfc1323", "blocks"), [(False, 4), (True, 3)])
    def test_timestamps_take_the_place_of_a_sack_block(self, blocks: int, *, rfc1323: bool) -> None:
        tcp = AixTcp(sack=True, rfc1323=rfc1323, recvspace_bytes=65_535)
        receiver = aix_receiver(tcp, advmss=1000)
        for first in (2000, 4000, 6000, 8000):
            receiver.segment(first, first + 1000, False, False, 0)  # noqa: FBT003
        assert len(receiver.sack_blocks()) == blocks

    def test_what_does_not_fit_is_refused_and_nothing_copied_together(self) -> None:
        receiver = aix_receiver(AixTcp(recvspace_bytes=5000), advmss=1000)
        receiver.segment(0, 6000, False, False, 0)  # noqa: FBT003
        receiver.segment(6000, 6100, False, False, 0)  # noqa: FBT003
        assert (receiver.seq.rcv_nxt, receiver.window.allocated(), receiver.memory.collapsed) == (
            6000,
            6000,
            0,
        )


class TestSender:
    def test_a_third_duplicate_sends_again(self) -> None:
        sender = aix_sender(AixTcp(), mss=1448, tso=False)
        assert sender.board.reordering == 3
        assert sender.output.nagle_limit == 65_535

    def test_timeouts_are_whole_ticks(self) -> None:
        sender = aix_sender(AixTcp(rto_init_ps=3001 * MS), mss=1448, tso=False)
        assert sender.timer.rto == 301
        sender.open_window(1 << 20)
        sender.seq.write(1448, True)  # noqa: FBT003
        sender.output.stage(SkbQueue(), CPU, 0)
        sender.acknowledge(1448, 1 << 20, 1, None, -1, False)  # noqa: FBT003
        # a round trip of a tick: the least
        assert sender.timer.rto == 101

    @pytest.mark.parametrize("option", [False, True])
    def test_options_are_those_of_the_connection(self, option: bool) -> None:  # noqa: FBT001
        tcp = AixTcp(sack=option, rfc1323=option, sendspace_bytes=40_000)
        sender = aix_sender(tcp, mss=1448, tso=option)
        assert (sender.board.sack, sender.output.timestamps, sender.output.tso) == (
            option,
            option,
            option,
        )
        # the buffer counts payload
        assert (sender.seq.sndbuf, sender.seq.room(), sender.seq.mss) == (40_000, 28 * 1448, 1448)
