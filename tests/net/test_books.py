"""All work that a data path books is done, and all that is done is booked.

Whenever all CPUs of a machine are idle, its ledger and its CPUs' times say the same.
"""

import pytest

from tests.laws.books import US, Books


def _agree(books: Books, at_once_ps: int) -> None:
    """Fail unless all is booked, and no more is open than an interrupt, poll or call takes."""
    assert len(books.idle_differences) > 4
    assert books.left_at_last() == 0
    assert max(map(abs, books.differences)) < at_once_ps


@pytest.mark.parametrize(
    ("scenario", "tunings", "duration_us"),
    [
        ("x460-out-of-box", (), 3000),
        ("x460-bonding", (), 3000),
        ("ipoib-sunway", ("window-32",), 3000),
        ("ipoib-sunway", ("kernel-parameters",), 3000),
        ("sw1621-t520", (), 2000),
        ("stream-100g", (), 1500),
        ("stream-100g", ("tso-gro",), 1500),
        ("stream-100g", ("16-short-flows",), 1500),
    ],
)
def test_adapters_and_their_drivers_do_what_they_book(
    scenario: str, tunings: tuple[str, ...], duration_us: int
) -> None:
    _agree(Books(scenario, tunings, duration_us), 500 * US)


@pytest.mark.parametrize(
    ("scenario", "tunings", "duration_us"),
    [
        ("vm-outside", (), 2000),
        ("vm-virtio", ("four-pairs",), 1000),
        ("vlan-half-cpu", (), 20000),
        ("vlan-half-cpu", ("mtu-9000",), 10000),
    ],
)
def test_virtual_adapters_do_what_they_book(
    scenario: str, tunings: tuple[str, ...], duration_us: int
) -> None:
    _agree(Books(scenario, tunings, duration_us), 150 * US)


@pytest.mark.parametrize(
    ("scenario", "tunings", "duration_us"),
    [
        ("web-25g", ("rps-all",), 500),
        ("web-25g", ("arfs",), 500),
        ("web-25g", ("one-queue",), 500),
        ("stream-100g", ("arfs",), 1500),
        ("tcp-rr-one-queue", ("rps-ff",), 2000),
    ],
)
def test_steered_packets_cost_what_is_booked(
    scenario: str, tunings: tuple[str, ...], duration_us: int
) -> None:
    _agree(Books(scenario, tunings, duration_us), 150 * US)
