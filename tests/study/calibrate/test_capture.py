"""The captured sar listing: read exactly, or refused with one clear line."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet._share import folder
from simnet.errors import InputError
from simnet.study.calibrate.capture import parse_capture, read_capture

LISTING = folder("validation") / "captures" / "sar-x460-out-of-box-8k-4nodes.txt"
TEXT = LISTING.read_text(encoding="utf-8")


def test_listing_is_read_to_the_last_digit() -> None:
    capture = read_capture(LISTING)
    assert [row.id for row in capture.cpus] == list(range(16))
    assert sum(row.busy for row in capture.cpus) == pytest.approx(662.10)
    assert capture.cpus[15].iowait == 0.89
    assert [(column.port, column.irq) for column in capture.interrupts] == [
        (f"eth{n}", 177 + 8 * n) for n in range(8)
    ]
    assert [column.cpus for column in capture.interrupts] == [
        (0,), (8,), (2,), (5,), (4,), (1,), (6,), (9,)
    ]  # fmt: skip
    assert capture.interrupts[5].per_s == 19515.86


@given(st.integers(0, len(TEXT) - 1))
def test_a_capture_cut_anywhere_is_refused_with_file_line_and_expectation(length: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_capture(TEXT[:length], source="cut.txt")
    message = str(caught.value)
    assert "\n" not in message
    assert re.match(r"cut\.txt:\d+: .*expected", message)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("88.54", "8.854", "listing:3: expected a CPU id and 6 numbers with two decimals"),
        ("88.54", "78.54", "listing:3: expected shares of CPU 1 that add up to 100, got 90"),
        ("%steal", "%stolen", "listing:1: expected the heading CPU %user %nice"),
        ("\n3  ", "\n2  ", "listing:5: expected one row a CPU, but CPU 2 has a second one"),
        ("eth3/201", "eth3", "listing:21: expected the heading CPU PORT/IRQ"),
        ("88.54", "8" * 5000 + ".54", "listing:3: expected a CPU id and 6 numbers"),
        ("\n3  ", f"\n{'3' * 5000}  ", "listing:5: expected a CPU id and 6 numbers"),
        ("eth3/201", f"eth3/{'2' * 5000}", "listing:21: expected the heading CPU PORT/IRQ"),
        ("19515.86", "19515.86  1.00", "listing:23: expected a CPU id and 8 numbers"),
    ],
)
def test_a_malformed_capture_names_the_line(old: str, new: str, expected: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError) as caught:
        parse_capture(TEXT.replace(old, new, 1), source="listing")
    assert str(caught.value).startswith(expected)


def test_a_capture_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "nothing.txt"
    with pytest.raises(InputError, match=r"nothing\.txt: cannot be read: No such"):
        read_capture(missing)
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"binary\.txt:1: is not UTF-8 text"):
        read_capture(binary)
