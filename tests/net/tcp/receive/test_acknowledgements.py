"""When a receiver acknowledges, and what an ACK says: bounds, order, and what it resets."""

from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, new_skb
from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.rules.receiver_version import ReceiverRules
from tests.net.parts import Sink
from tests.net.tcp.receive.test_receiver import MSS, RTO, make, settle, take
from tests.net.tcp.receive.test_versions import make as make_version
from tests.net.tcp.receive.test_versions import settled


def comes(receiver: TcpReceiver, first: int, last: int, *, push: bool = False) -> bool:
    """Receive these bytes; return whether an ACK goes out now."""
    return bool(receiver.segment(first, last, push, False, 0))  # noqa: FBT003


def sack_of(receiver: TcpReceiver, *, dsack: bool = False) -> Any:
    """The SACK option of an ACK."""
    skb: Skb = new_skb(Sink(Simulator()), 0, 0, 0, 0, 90, False)  # noqa: FBT003
    receiver.fill_sack(skb, dsack)
    return skb.sack


class TestQuickAcks:
    def test_only_growth_of_the_window_by_128_bytes_or_more_keeps_one(self) -> None:
        for length, quick in ((127, 0), (128, 1)):
            receiver = make_version("2.6.18", max_quickacks=0)
            before = receiver.window.rcv_ssthresh
            take(receiver, length)
            assert (receiver.delack.quick, receiver.window.rcv_ssthresh > before) == (
                quick,
                quick > 0,
            )

    @pytest.mark.parametrize(
        ("most", "segment", "quick"),
        [(16, 536, 5), (5, 536, 5), (4, 536, 4), (16, 1448, 2), (16, 200, 14), (1, 1448, 1)],
    )
    def test_half_a_window_of_them_two_at_least(self, most: int, segment: int, quick: int) -> None:
        # 5792 bytes of window; short ones do not open it
        receiver = make(max_quickacks=most, min_rcvmss=segment, option_bytes=0)
        assert receiver.delack.rcv_mss == segment
        take(receiver, 50, push=True)
        assert receiver.delack.quick == quick

    @pytest.mark.parametrize(("version", "left"), [("6.5", 1), ("6.6", 2)])
    def test_an_ack_without_data_uses_one_up_before_6_6(self, version: str, left: int) -> None:
        receiver = make_version(version, max_quickacks=3, rmem_default=1 << 20)
        take(receiver, 50, push=True)
        assert receiver.delack.quick == 3
        receiver.ack_sent()
        assert receiver.delack.quick == 2
        receiver.ack_sent()
        assert receiver.delack.quick == left

    def test_more_are_never_taken_away(self) -> None:
        receiver = settle(make())
        take(receiver, MSS, RTO + 1)
        assert receiver.delack.quick == 16
        receiver.ack_sent()
        assert receiver.delack.quick == 15
        end = receiver.seq.rcv_wup + receiver.seq.rcv_wnd
        comes(receiver, end, end + 1)
        assert receiver.delack.quick == 16


class TestPushed:
    """Small segments, read to the end (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`)."""

    @pytest.mark.parametrize(
        ("version", "lengths", "interactive", "due"),
        [
            ("2.6.18", [100], False, True),
            ("2.6.18", [100, 100], True, False),
            ("2.6.20", [100, 100], True, True),
            ("2.6.20", [100], True, False),
        ],
    )
    def test_in_interactive_mode_the_second_one_is_acknowledged(
        self, version: str, lengths: list[int], *, interactive: bool, due: bool
    ) -> None:
        receiver, _ = settled(version)
        if interactive:
            receiver.delack.set_quickack(0)
        for length in lengths:
            take(receiver, length, push=True)
        assert receiver.delack.due_after_copy(1) == due
        assert not receiver.delack.due_after_copy(0)
        receiver.ack_sent()
        assert (receiver.delack.pushed, receiver.delack.pushed_twice) == (False, False)

    @pytest.mark.parametrize(
        ("options", "lengths", "push", "rcv_mss"),
        [
            # 536 with its options, or 88 without PSH, is taken for a segment size
            ({}, [524, 524], True, 524),
            ({}, [523, 523], True, MSS),
            ({}, [76, 76], False, 76),
            ({}, [75, 75], False, MSS),
            ({}, [76, 76], True, MSS),
            ({"option_bytes": 0}, [536, 536], True, 536),
            ({"option_bytes": 0}, [535, 535], True, MSS),
            ({"option_bytes": 0}, [88, 88], False, 88),
            ({"option_bytes": 0}, [87, 87], False, MSS),
            # the same one twice in a row
            ({}, [700, 50, 700], True, MSS),
            ({}, [700, MSS, 700], True, MSS),
            ({}, [700, 701, 700, 700], True, 700),
            # parts of what the driver has merged
            ({}, [4000], False, MSS),
        ],
    )
    def test_a_segment_size_is_believed_the_second_time(
        self,
        options: dict[str, int],
        lengths: list[int],
        push: bool,  # noqa: FBT001
        rcv_mss: int,
    ) -> None:
        receiver = make(**options)
        for length in [MSS, *lengths]:
            take(receiver, length, push=push)
        assert receiver.delack.rcv_mss == rcv_mss

    @pytest.mark.parametrize(("version", "rcv_mss"), [("4.7", 4000), ("4.8", 1460)])
    def test_a_merged_segment_of_unknown_parts_counts_whole_before_4_8(
        self, version: str, rcv_mss: int
    ) -> None:
        receiver = make_version(version)
        take(receiver, 4000)
        assert receiver.delack.rcv_mss == rcv_mss
        take(receiver, 1460)
        assert receiver.delack.rcv_mss == (rcv_mss if rcv_mss == 1460 else 4000)

    @pytest.mark.parametrize(("version", "rcv_mss"), [("6.16", 536), ("6.17", 900)])
    def test_segments_ahead_of_a_hole_count_from_6_17_on(self, version: str, rcv_mss: int) -> None:
        receiver = make_version(version)
        comes(receiver, 5000, 5900)
        assert receiver.delack.rcv_mss == rcv_mss

    @pytest.mark.parametrize(("push", "pushed"), [(False, False), (True, True)])
    def test_a_full_one_only_with_psh(self, push: bool, pushed: bool) -> None:  # noqa: FBT001
        receiver, number = settled("6.18")
        comes(receiver, 1000 * number, 1000 * number + 1000, push=push)
        assert receiver.delack.pushed == pushed


class TestQuickackOption:
    """TCP_QUICKACK, `__tcp_sock_set_quickack`."""

    def test_off_means_interactive(self) -> None:
        receiver, _ = settled("5.4")
        assert receiver.delack.set_quickack(0) is False
        assert receiver.delack.pingpong
        # it stays so: three answers are counted already
        take(receiver, 100)
        receiver.delack.data_sent(0)
        assert receiver.delack.pingpong

    def test_on_sends_what_waits(self) -> None:
        receiver, _ = settled("6.18")
        receiver.delack.set_quickack(0)
        assert receiver.delack.set_quickack(1) is False
        take(receiver, 1000, direct=True)
        assert receiver.delack.set_quickack(1) is True
        assert receiver.delack.pushed
        receiver.ack_sent()
        take(receiver, 1000, direct=True)
        # 2: this once
        assert receiver.delack.set_quickack(2) is True
        assert receiver.delack.pingpong
        receiver.delack.data_sent(0)
        assert receiver.delack.pingpong

    def test_what_is_not_read_yet_does_not_go(self) -> None:
        receiver, _ = settled("6.18")
        take(receiver, 1000, direct=False)
        assert receiver.delack.set_quickack(1) is False


class TestAnAck:
    def test_resets_what_made_it_due(self) -> None:
        receiver = settle(make())
        take(receiver, 100, push=True)
        receiver.delack.schedule_timer(0)
        receiver.delack.found_owned()
        assert (receiver.delack.scheduled, receiver.delack.pushed, receiver.delack.blocked) == (
            True,
            True,
            True,
        )
        assert receiver.delack.timeout_jiffy == 10
        receiver.ack_sent()
        assert (receiver.delack.scheduled, receiver.delack.pushed, receiver.delack.blocked) == (
            False,
            False,
            False,
        )
        assert (receiver.delack.timeout_jiffy, receiver.seq.rcv_wup) == (-1, receiver.seq.rcv_nxt)

    def test_offers_at_most_what_its_field_holds(self) -> None:
        for scaling, most in ((False, 65_535), (True, 65_535 << 2)):
            receiver = make(
                rmem_default=1 << 20,
                rmem_max=1 << 20,
                window_scaling=scaling,
                rules=ReceiverRules(adv_win_scale=62, whole_buffer=True),
            )
            assert receiver.window.wscale == (5 if scaling else 0)
            limit = 65_535 << receiver.window.wscale
            assert receiver.ack_sent() == min(limit, 1 << 20) >= min(most, 65_535)

    @pytest.mark.parametrize(("version", "rounded"), [("3.8", False), ("3.9", True)])
    def test_a_window_that_must_not_shrink_is_rounded_up_from_3_9_on(
        self,
        version: str,
        rounded: bool,  # noqa: FBT001
    ) -> None:
        # ten segments take all of the buffer
        sizes = SkbSizes(20_000, part_bytes=2000)
        receiver = make_version(version, rmem_default=200_000, rmem_max=1 << 20, sizes=sizes)
        unit = 1 << receiver.window.wscale
        receiver.ack_sent()
        before = receiver.seq.rcv_wnd
        for _ in range(10):
            comes(receiver, receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1001)
        left = before - 10_010
        assert left % unit
        assert receiver.delack.select_window() < left
        assert receiver.ack_sent() == (-(-left // unit) * unit if rounded else left)

    def test_never_takes_back_what_was_offered(self) -> None:
        receiver = make_version("2.6.18", rmem_default=20_000, rcvbuf_locked=True)
        edge = receiver.seq.rcv_wnd
        for _ in range(4):
            comes(receiver, receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1000)
            assert receiver.seq.rcv_nxt + receiver.ack_sent() >= edge
            edge = receiver.seq.rcv_nxt + receiver.seq.rcv_wnd

    @pytest.mark.parametrize("sack", [True, False])
    def test_tells_what_is_ahead_of_a_hole(self, sack: bool) -> None:  # noqa: FBT001
        receiver, number = settled("4.17", sack=sack)
        base = 1000 * number
        assert sack_of(receiver) is None
        assert sack_of(receiver, dsack=True) is None
        comes(receiver, base + 1000, base + 2000)
        told = [(base + 1000, base + 2000)]
        assert sack_of(receiver) == (told if sack else None)
        assert receiver.sack_blocks() == (told if sack else [])
        comes(receiver, base + 3000, base + 4000)
        assert (sack_of(receiver) is not None) == sack

    def test_forgotten_blocks_are_not_told(self) -> None:
        receiver, number = settled("6.18")
        base = 1000 * number
        comes(receiver, base + 1000, base + 2000)
        receiver.held.replace(list(receiver.held.segments), forget=True)
        assert sack_of(receiver) is None
