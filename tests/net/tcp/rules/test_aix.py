"""TCP of AIX as its attributes have it: the first window, buffers, when it acknowledges."""

from __future__ import annotations

import pytest

from simnet.net.tcp.rules.aix import AixTcp, aix_receiver, aix_sender, effective_space, first_cwnd
from tests.host.parts import MS


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


class TestReceiver:
    @pytest.mark.parametrize(("nodelayack", "segments"), [(False, 2), (True, 1)])
    def test_every_second_segment_is_acknowledged_or_every_one(
        self, segments: int, *, nodelayack: bool
    ) -> None:
        receiver = aix_receiver(AixTcp(tcp_nodelayack=nodelayack), advmss=1448)
        assert receiver.segments_per_ack == segments

    @pytest.mark.parametrize(("fasttimo_ms", "ticks"), [(200, 20), (50, 5), (55, 6)])
    def test_the_scan_runs_at_whole_ticks(self, fasttimo_ms: int, ticks: int) -> None:
        receiver = aix_receiver(AixTcp(fasttimo_ps=fasttimo_ms * MS), advmss=1448)
        assert receiver.scan_jiffies == ticks

    @pytest.mark.parametrize(("rfc1323", "scale"), [(False, 0), (True, 2)])
    def test_all_of_the_buffer_is_offered(self, scale: int, *, rfc1323: bool) -> None:
        tcp = AixTcp(recvspace_bytes=262_143, rfc1323=rfc1323)
        receiver = aix_receiver(tcp, advmss=1448)
        assert receiver.window.first == 262_143
        assert receiver.rcv_wscale == scale
        assert receiver.window.rcvbuf == 262_143

    def test_sack_is_off_unless_asked_for(self) -> None:
        assert not aix_receiver(AixTcp(), advmss=1448).sack
        assert aix_receiver(AixTcp(sack=True), advmss=1448).sack


def test_a_third_duplicate_sends_again() -> None:
    sender = aix_sender(AixTcp(), mss=1448, tso=False)
    assert sender.board.reordering == 3
    assert sender.nagle_limit == 65_535
