"""Sets of CPUs as lib/bitmap.c takes and prints them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.cpulist import (
    MOST_CPUS,
    cpu_ranges,
    cpulist_text,
    cpus_of_words,
    parse_cpulist,
    parse_cpumask,
)

cpus = st.frozensets(st.one_of(st.integers(0, 70), st.integers(0, MOST_CPUS - 1)), max_size=20)


def words(chosen: frozenset[int]) -> list[str]:
    """Words of 32 bits, the highest first, as the kernel prints a mask."""
    count = max(chosen, default=0) // 32 + 1
    bits = [sum(1 << cpu % 32 for cpu in chosen if cpu // 32 == word) for word in range(count)]
    return [f"{word:08x}" for word in reversed(bits)]


@given(cpus)
def test_what_is_printed_is_read(chosen: frozenset[int]) -> None:
    assert parse_cpulist(cpulist_text(chosen)) == chosen
    assert cpus_of_words(words(chosen)) == tuple(sorted(chosen))
    if len(words(chosen)) < 200:
        assert parse_cpumask(",".join(words(chosen))) == chosen


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        (set(), ""),
        ({0}, "0"),
        ({0, 1}, "0-1"),
        ({0, 1, 2, 3, 8}, "0-3,8"),
        ({5, 3, 1}, "1,3,5"),
        ({7, 8, 10, 11, 12, 8191}, "7-8,10-12,8191"),
    ],
)
def test_runs_are_written_by_their_ends(chosen: set[int], text: str) -> None:
    assert cpulist_text(chosen) == text
    assert parse_cpulist(f" {text}\n") == frozenset(chosen)


@pytest.mark.parametrize(
    "text", ["x", "3-", "-3", "1,,2", "0-3,", "3-1", "8192", "0-8192", "100000", "1 2", "0-1-2"]
)
def test_what_is_no_list(text: str) -> None:
    assert parse_cpulist(text) is None


def test_ranges_are_as_written() -> None:
    assert cpu_ranges("4,0-3,9-7") == [(4, 4), (0, 3), (9, 7)]
    assert cpu_ranges("") == cpu_ranges("a") == []
    assert MOST_CPUS == 8192
    assert parse_cpulist("8191,5-5") == frozenset({8191, 5})


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("0", set()),
        ("1", {0}),
        ("0xff", set(range(8))),
        ("FF", set(range(8))),
        ("ff,00000000", set(range(32, 40))),
        # a few kernels leave leading zeros of all words out
        ("1,0,3", {0, 1, 64}),
        ("80000000,00000001", {0, 63}),
        (" 2 ", {1}),
        # the last CPU that there can be, and the next
        ("80000000" + ",0" * 255, {8191}),
        ("1" + ",0" * 256, None),
        ("3,00000001" + ",0" * 255, None),
        # longer than a mask can be
        ("0" + ",0" * 1365, None),
        ("0" + ",0" * 1364, set()),
        *[(text, None) for text in ("", "g", "123456789", "1,,2", "1,", "0x", "-1", "1 2")],
    ],
)
def test_masks(text: str, chosen: set[int] | None) -> None:
    assert parse_cpumask(text) == (None if chosen is None else frozenset(chosen))
