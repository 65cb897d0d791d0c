"""A slot carries so many packets a second, and the card's buffer holds what waits."""

from simnet.net.nic.pcie_slot import PcieSlot

NS = 1000
GB = 10**9


def test_what_comes_slower_than_the_slot_never_waits() -> None:
    slot = PcieSlot(1 * GB, rx_bytes=100, tx_bytes=50, buffer_ps=1000 * NS)
    assert all(slot.takes(number * 100 * NS) for number in range(1000))
    assert slot.free_ps == 1000 * 100 * NS


def test_what_comes_faster_fills_the_buffer_and_then_the_slot_decides() -> None:
    slot = PcieSlot(1 * GB, rx_bytes=100, tx_bytes=50, buffer_ps=1000 * NS)
    taken = [slot.takes(number * 50 * NS) for number in range(10_000)]
    # twice as many as it carries: 20 and then each second
    assert all(taken[:20])
    assert sum(taken) == 5000 + 10


def test_frames_that_are_sent_take_their_part() -> None:
    slot = PcieSlot(1 * GB, rx_bytes=100, tx_bytes=50, buffer_ps=120 * NS)
    slot.sends(4)
    assert not slot.takes(0)
    assert slot.takes(80 * NS)


def test_what_is_looked_at_late_is_not_discarded_for_that() -> None:
    slot = PcieSlot(1 * GB, rx_bytes=100, tx_bytes=50, buffer_ps=1000 * NS)
    assert slot.takes(10_000 * NS)
    assert all(slot.takes(number * 100 * NS) for number in range(10))
