"""Values of a sweep as a person writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.study.sweep.grid import axis, combinations
from simnet.study.sweep.sweep import sweep
from simnet.study.work import task
from tests.study.synthetic import simulated


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2, 4", ("1", "2", "4")),
        ("64 B,1 KiB,64 B", ("64 B", "1 KiB")),
        ("on", ("on",)),
        ("1;1,00000000", ("1", "1,00000000")),
        ("1..4", ("1", "2", "3", "4")),
        ("1..10:4", ("1", "5", "9")),
        ("1..10:x3", ("1", "3", "9")),
        ("8,1..3", ("8", "1", "2", "3")),
        ("1.15..1.3:0.05", ("1.15", "1.2", "1.25", "1.3")),
        ("10 us..50 us:20 us", ("10 us", "30 us", "50 us")),
        ("10..50 us:20", ("10 us", "30 us", "50 us")),
        ("500 us .. 1 ms : 250 us", ("500 us", "750 us", "1 ms")),
        ("64 B..1 KiB:x4", ("64 B", "256 B", "1 KiB")),
        ("64 B..1 KiB", ("64 B", "128 B", "256 B", "512 B", "1 KiB")),
        ("3 KiB..10 KiB", ("3 KiB", "6 KiB", "10 KiB")),
        ("5..5", ("5",)),
    ],
)
def test_lists_and_ranges(text: str, values: tuple[str, ...]) -> None:
    assert axis(text, "knob") == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "values as in 1,2,4"),
        ("1,,2", "values as in 1,2,4"),
        ("4..1", "from the smaller to the larger"),
        ("1..4:0", "a step above 0"),
        ("1..4:-1", "a step above 0"),
        ("1..4:x1", "a factor above 1"),
        ("0..4:x2", "a factor above 1 and a start above 0"),
        ("on..off", "values as in 1,2,4"),
        ("10 us..50", "a unit at the end"),
        ("10 us..50 KiB", "wrong kind of unit in '10 us'"),
        ("10..50 KB", "unknown unit 'KB': write KiB"),
        ("1..100001", "at most 100000 values"),
        ("1 B..2 B:0.5 B", "not a whole number of bytes"),
    ],
)
def test_a_bad_range_is_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        axis(text, "knob")
    assert str(caught.value).startswith(f'over["knob"]: {text}')


def test_a_value_that_is_refused_is_said_to_be_of_its_axis() -> None:
    over = {"ethtool -C {port} rx-frames": "9,9x"}
    with pytest.raises(InputError, match=r'^over\["ethtool -C eth0 rx-frames"\]: '):
        sweep("x460-out-of-box", over)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 50))
def test_a_range_is_as_pythons_with_its_end(low: int, length: int, step: int) -> None:
    values = axis(f"{low}..{low + length}:{step}", "knob")
    assert [int(value) for value in values] == list(range(low, low + length + 1, step))


def test_every_combination_once_the_last_knob_first() -> None:
    found = combinations({"a": ["1", "2"], "b": ["x", "y"]})
    assert [dict(row) for row in found] == [
        {"a": "1", "b": "x"},
        {"a": "1", "b": "y"},
        {"a": "2", "b": "x"},
        {"a": "2", "b": "y"},
    ]
    assert list(combinations({})) == [()]


def test_a_knob_that_changes_no_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "simulate", simulated)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    over = {"net.ipv4.tcp_sack": "0,1", "irqbalance": "on,off", "seed": "1,2"}
    idle = [one for one in sweep("x460-out-of-box", over, jobs=1).remarks if "nothing" in one]
    assert idle == [
        "net.ipv4.tcp_sack: changes nothing here: equal results with each of its values"
    ]
