"""All work that storage books is done, and all that is done is booked.

Whenever all CPUs of a machine are idle, its ledger and its CPUs' times say the same.
"""

import pytest

from tests.laws.books import Books


@pytest.mark.parametrize(
    ("scenario", "tunings", "duration_us"),
    [
        ("nvme-local", (), 1000),
        ("nvme-local", ("deadlines",), 1000),
        ("nvme-local", ("latency-targets",), 1000),
        ("vscsi-parallel", (), 30000),
        ("vscsi-parallel", ("client-cfq",), 20000),
        ("vscsi-parallel", ("server-deadline",), 20000),
    ],
)
def test_storage_does_what_it_books(
    scenario: str, tunings: tuple[str, ...], duration_us: int
) -> None:
    books = Books(scenario, tunings, duration_us)
    assert len(books.idle_differences) > 4
    assert books.left_at_last() == 0
