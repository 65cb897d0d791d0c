"""What is written, sent, pushed and acknowledged, and the memory that it takes."""

import pytest

from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sequence import SendSequence

MSS = 1000
MOST = 10_000


def sequence(version: str = "2.6.18", *, timestamps: bool = False) -> SendSequence:
    return SendSequence(
        MSS,
        sender_rules(version),
        timestamps=timestamps,
        wmem_default=5000,
        wmem_max=MOST,
        overhead_bytes=250,
    )


def test_it_begins_with_nothing() -> None:
    seq = SendSequence(MSS)
    assert (seq.snd_una, seq.snd_nxt, seq.write_seq, seq.pushed_seq) == (0, 0, 0, 0)
    assert (seq.snd_wnd, seq.max_window, seq.sndbuf, seq.wmem_max) == (0, 0, 0, 0)
    assert (seq.overhead_bytes, seq.mss, seq.no_space) == (0, MSS, False)


def test_segments_follow_half_of_the_largest_window() -> None:
    seq = sequence()
    told = [(seq.open_window(1500), seq.mss)]
    for ack, window in [(0, 1400), (0, 1501), (0, 1600), (0, 1600), (0, 9000), (1, 9500), (2, 800)]:
        told.append((seq.acknowledge(ack, window), seq.mss))
    assert told == [
        (True, 750),
        (False, 750),
        (False, 750),
        (True, 800),
        (False, 800),
        (True, MSS),
        (False, MSS),
        # what was offered once may be offered again
        (False, MSS),
    ]
    assert (seq.snd_una, seq.snd_wnd, seq.max_window, seq.window_left()) == (2, 800, 9500, 802)


@pytest.mark.parametrize(
    ("version", "timestamps", "window", "mss"),
    [
        ("2.6.18", False, 90, 48),
        ("2.6.18", True, 90, 45),
        ("2.6.18", True, 60, 36),
        # since 2.6.36 windows of less than 512 bytes are not halved
        ("2.6.36", False, 511, 511),
        ("2.6.36", False, 512, 256),
        ("2.6.18", False, 511, 255),
        ("2.6.36", False, 40, 48),
        ("2.6.36", False, 0, MSS),
    ],
)
def test_and_have_a_least_size(version: str, window: int, mss: int, *, timestamps: bool) -> None:
    seq = sequence(version, timestamps=timestamps)
    assert seq.open_window(window) == (mss != MSS)
    assert seq.mss == mss


@pytest.mark.parametrize(
    ("writes", "pushed"),
    [
        # the end of a send, and more than half of the largest window
        ([(10, True)], 10),
        ([(10, False)], 0),
        ([(2000, False)], 0),
        ([(2001, False)], 2001),
        ([(2000, True), (2000, False)], 2000),
        ([(2000, True), (2001, False)], 4001),
        ([(2001, False), (10, True)], 2011),
    ],
)
def test_where_the_peer_is_asked_to_hand_up(writes: list[tuple[int, bool]], pushed: int) -> None:
    seq = sequence()
    seq.open_window(4000)
    for count, end in writes:
        seq.write(count, end)
    assert (seq.pushed_seq, seq.write_seq) == (pushed, sum(count for count, _ in writes))


def test_a_segment_that_ends_there_says_so() -> None:
    seq = sequence()
    seq.open_window(1 << 20)
    seq.write(3000, False)  # noqa: FBT003 - end of a send
    assert not seq.sent(1000)
    seq.push(1500)
    assert seq.pushed_seq == 1500
    assert seq.sent(500)
    assert seq.last_pushed()
    assert not seq.sent(500)
    # the last of all that is there
    assert seq.sent(1000)


@pytest.mark.parametrize(
    ("written", "queued", "room"),
    [
        # four segments of 1250 bytes fit into 5000, and one begun is filled
        (0, 0, 4000),
        (1, 1250, 999 + 3000),
        (1000, 1250, 3000),
        (2500, 3750, 500 + 1000),
        (3999, 5000, 1),
        (4000, 5000, 0),
    ],
)
def test_memory(written: int, queued: int, room: int) -> None:
    seq = sequence()
    seq.write(written, True)  # noqa: FBT003 - end of a send
    assert (seq.wmem_queued(), seq.room(), seq.no_space) == (queued, room, room == 0)
    # what has been sent is not filled
    seq.sent(written)
    assert seq.room() == room - (MSS - written % MSS if written % MSS else 0)


@pytest.mark.parametrize(
    ("segments", "written", "sndbuf", "woken"),
    [
        # a third of what it has is free, or less
        (0, 2000, 5000, True),
        (0, 3000, 5000, False),
        # room for as many, up to the limit
        (5, 3000, 6250, True),
        (8, 8000, MOST, False),
        (9, 5000, MOST, True),
    ],
)
def test_a_writer_is_woken(segments: int, written: int, sndbuf: int, *, woken: bool) -> None:
    seq = sequence()
    seq.write(written, True)  # noqa: FBT003 - end of a send
    seq.room()
    full = seq.no_space
    assert seq.write_space(segments) == woken
    assert (seq.sndbuf, seq.no_space) == (sndbuf, full and not woken)
