"""Byte-range tokens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.storage.scale.tokens import EVERYTHING, TokenManager
from tests.house.examples import examples


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
    st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(1, 10), st.booleans()), max_size=30
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


BLOCKS = 50


class Model:
    """Who may do what, block by block; the last block stands for all that follow."""

    def __init__(self) -> None:
        self.writers: dict[int, set[int]] = {node: set() for node in range(4)}
        self.readers: dict[int, set[int]] = {node: set() for node in range(4)}

    def acquire(self, node: int, needed: set[int], *, write: bool) -> set[tuple[int, int]] | None:
        """Return (node, block) of what others lose; None if nobody is asked."""
        writers, readers = self.writers, self.readers
        if needed <= (writers[node] if write else writers[node] | readers[node]):
            return None
        conflicting = [writers, readers] if write else [writers]
        others = [table[other] for table in conflicting for other in table if other != node]
        lost = {
            (other, block)
            for table in conflicting
            for other in table
            if other != node
            for block in table[other] & needed
        }
        for held in others:
            held.difference_update(needed)
        taken = set().union(*others)
        first, last = min(needed), max(needed)
        while first > 0 and first - 1 not in taken:
            first -= 1
        while last < BLOCKS and last + 1 not in taken:
            last += 1
        (writers if write else readers)[node] |= set(range(first, last + 1))
        return lost


@given(requests)
@settings(max_examples=examples(200))
def test_each_grant_is_as_wide_as_others_allow(asked: list[tuple[int, int, int, bool]]) -> None:
    tokens, model = TokenManager(100), Model()
    for node, first, length, write in asked:
        before = tokens.revocations
        grant = tokens.acquire(node, 7, (first, first + length), write=write)
        lost = model.acquire(node, set(range(first, first + length)), write=write)
        assert grant.delay_ps == (0 if lost is None else 100 * (1 + len({n for n, _ in lost})))
        assert {
            (other, block) for other, start, end in grant.revoked for block in range(start, end)
        } == (lost or set())
        assert all(start < end for _, start, end in grant.revoked)
        assert len(set(grant.revoked)) == len(grant.revoked) <= tokens.revocations - before
        for block in range(BLOCKS + 1):
            place = EVERYTHING[1] - 1 if block == BLOCKS else block
            writers = {other for other in range(4) if block in model.writers[other]}
            readers = {other for other in range(4) if block in model.readers[other]}
            assert tokens.holders(7, place, write=True) == sorted(writers)
            assert tokens.holders(7, place, write=False) == sorted(writers | readers)
    assert tokens.holders(7, EVERYTHING[1], write=False) == []
    assert tokens.holders(8, 0, write=False) == []


def test_a_reader_is_taken_from_only_by_writers_and_keeps_what_was_not_needed() -> None:
    tokens = TokenManager(100)
    tokens.acquire(2, 1, (0, 5), write=False)
    tokens.acquire(3, 1, (0, 5), write=False)
    grant = tokens.acquire(1, 1, (10, 20), write=True)
    assert (grant.delay_ps, grant.revoked) == (300, ((2, 10, 20), (3, 10, 20)))
    assert tokens.revocations == 2
    assert [tokens.holders(1, block, write=False) for block in (9, 10, 19, 20)] == [
        *([2, 3], [1], [1], [2, 3])
    ]
