"""All work that a host books is done, and all that is done is booked.

Whenever all CPUs of a machine are idle, its ledger and its CPUs' times say the same.
"""

import pytest

from tests.laws.books import US, Books


@pytest.mark.parametrize(
    ("scenario", "tunings", "duration_us"),
    [
        ("x460-out-of-box", ("affinity",), 2000),
        ("vlan-half-cpu", ("uncapped",), 20000),
        ("vm-outside", (), 1000),
        ("web-25g", ("fixed-50us",), 500),
        ("tcp-rr-one-queue", (), 2000),
    ],
)
def test_hosts_do_what_they_book(scenario: str, tunings: tuple[str, ...], duration_us: int) -> None:
    books = Books(scenario, tunings, duration_us)
    assert len(books.idle_differences) > 4
    assert books.left_at_last() == 0
    # what an interrupt, a poll or a system call takes at once
    assert max(map(abs, books.differences)) < 150 * US
