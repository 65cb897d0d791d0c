"""Byte-range tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simnet.storage.scale.tokens import EVERYTHING, TokenManager


def test_the_first_is_given_the_whole_file_and_asks_no_more() -> None:
    tokens = TokenManager(100)
    assert tokens.acquire(0, 1, (0, 1), write=True).delay_ps == 100
    assert tokens.acquire(0, 1, (500, 600), write=True).delay_ps == 0
    assert tokens.acquire(0, 1, (0, 1), write=False).delay_ps == 0


def test_many_may_read_the_same() -> None:
    tokens = TokenManager(100)
    for node in range(4):
        grant = tokens.acquire(node, 1, EVERYTHING, write=False)
        assert (grant.delay_ps, grant.revoked) == (100, ())
    assert tokens.holders(1, 7, write=False) == [0, 1, 2, 3]


def test_a_writer_takes_what_it_needs_from_readers_and_writers() -> None:
    tokens = TokenManager(100)
    tokens.acquire(0, 1, EVERYTHING, write=True)
    grant = tokens.acquire(1, 1, (10, 20), write=True)
    assert grant.revoked == ((0, 10, 20),)
    assert grant.delay_ps == 200
    assert tokens.holders(1, 9, write=True) == [0]
    assert tokens.holders(1, 10, write=True) == [1]


def test_what_only_touches_is_not_revoked() -> None:
    tokens = TokenManager(100)
    assert tokens.clients == {}
    assert EVERYTHING == (0, 2**24)
    tokens.acquire(0, 1, (0, 5), write=True)
    tokens.acquire(1, 1, (10, 20), write=True)
    assert tokens.acquire(2, 1, (5, 10), write=True).revoked == ((0, 5, 10),)
    assert tokens.acquire(3, 1, (20, 25), write=True).revoked == ((0, 20, 25),)
    assert [tokens.holders(1, block, write=True) for block in (4, 5, 9, 10, 19, 20, 24, 25)] == [
        *([0], [2], [2], [1], [1], [3], [3], [0])
    ]
    assert tokens.revocations == 3
    tokens.forget(1)
    assert tokens.holders(1, 4, write=True) == []


def test_two_that_write_the_halves_of_a_file_conflict_once() -> None:
    tokens = TokenManager(100)
    for block in range(50):
        tokens.acquire(0, 1, (block, block + 1), write=True)
        tokens.acquire(1, 1, (50 + block, 51 + block), write=True)
    assert tokens.revocations == 50  # of single blocks: what is needed is all that is known
    assert tokens.holders(1, 99, write=True) == [1]


requests = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(1, 10), st.booleans()),
    max_size=30,
)


@given(requests)
def test_one_writes_or_many_read(asked: list[tuple[int, int, int, bool]]) -> None:
    tokens = TokenManager(100)
    for node, first, length, write in asked:
        tokens.acquire(node, 1, (first, first + length), write=write)
        for block in range(45):
            writers = tokens.holders(1, block, write=True)
            assert len(writers) <= 1
            if writers:
                assert tokens.holders(1, block, write=False) == writers
        assert all(
            node in tokens.holders(1, block, write=write) for block in range(first, first + length)
        )
