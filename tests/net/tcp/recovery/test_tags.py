"""What the sender believes of its segments against what was sent and what has come."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.study.conform.tcp_path import PathOptions, TcpOptions, TcpPath
from tests.host.parts import MS

HELD, RESENT, LOST = 1, 2, 4
SIZE = 400_000


def tags(board: Scoreboard) -> dict[int, int]:
    """Of each segment on its way, by its last byte plus one."""
    return {board.end_of(one): board.tags_of(one) for one in range(board.head, board.tail)}


def counted_anew(board: Scoreboard) -> list[int]:
    return [sum(tag & kind > 0 for tag in tags(board).values()) for kind in (HELD, LOST, RESENT)]


@pytest.mark.parametrize("kernel", ["2.6.18", "2.6.32", "3.2", "4.12", "6.18"])
@settings(max_examples=8)
@given(
    loss=st.integers(0, 10**8),
    late=st.integers(0, 2 * 10**8),
    late_ms=st.integers(0, 20),
    queue=st.sampled_from([0, 8_000, 60_000]),
    timestamps=st.booleans(),
    seed=st.integers(0, 1000),
)
@example(loss=5 * 10**7, late=10**8, late_ms=5, queue=0, timestamps=True, seed=1)
@example(loss=10**8, late=10**8, late_ms=20, queue=60_000, timestamps=False, seed=2)
@example(loss=10**7, late=2 * 10**8, late_ms=3, queue=8_000, timestamps=True, seed=3)
def test_counts_are_of_tags_and_what_is_held_has_come(kernel: str, **drawn: Any) -> None:
    path = PathOptions(
        rate_bps=10**8,
        delay_ps=2 * MS,
        queue_bytes=drawn["queue"],
        loss_ppb=drawn["loss"],
        late_ppb=drawn["late"],
        late_ps=drawn["late_ms"] * MS,
    )
    tcp = TcpOptions(kernel=kernel, initial_cwnd=10, timestamps=drawn["timestamps"])
    run = TcpPath(path, tcp, BulkSource(SIZE), Sink(), seed=drawn["seed"])
    board, receiver = run.left.sender.board, run.right.receiver
    for step in range(4000):
        run.run_for((1 if step < 200 else 500) * MS)
        assert counted_anew(board) == [board.sacked_out, board.lost_out, board.retrans_out]
        held = ((first, last) for first, last, *_ in receiver.held.segments)
        came = [(0, receiver.seq.rcv_nxt), *held]
        for end, tag in tags(board).items():
            assert tag & (HELD | LOST) != HELD | LOST
            assert not tag & HELD or any(first < end <= last for first, last in came)
        if run.right.delivered == SIZE and board.packets_out() == 0:
            break
    assert run.right.delivered == SIZE
