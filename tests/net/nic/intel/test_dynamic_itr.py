"""The throttle of i40e adapts as the driver's does."""

import zlib

import pytest

from simnet.net.nic.intel.dynamic_itr import DynamicItr, RingContainer

# rx.current_itr, tx.current_itr in hexadecimal and itr_countdown after each of the first interrupts
# of `intervals` at 25 Gbit/s, computed by i40e_update_itr and i40e_update_enable_itr of Linux 6.6
_DRIVER = """
32.32.2 32.32.1 32.32.0 34.32.3 34.34.3 34.34.2 34.34.1 34.34.0 36.34.3 36.36.3 36.36.2 36.36.1
36.36.0 38.36.3 38.38.3 38.38.2 38.38.1 38.38.0 3a.38.3 3a.3a.3 3a.3a.2 3a.3a.1 3a.3a.0 3c.3a.3
3c.3c.3 3c.3c.2 3c.3c.1 3c.3c.0 3e.3c.3 3e.3e.3 3e.3e.2 3e.3e.1 3e.807e.3 8002.807e.3 8002.807e.2
8002.807e.1 8002.807e.0 800a.807e.3 800a.807e.2 800a.807e.1 800a.807e.0 801c.807e.3 801c.807e.2
801c.807e.1 801c.807e.0 8012.807e.3 8012.807e.2 8012.807e.1 8012.807e.0 8014.807e.3 8014.807e.2
8014.807e.1 8014.807e.0 8014.7e.3 8016.7e.3 8016.7e.2 8016.7e.1 8016.7e.0 8018.7e.3 8018.7e.2
8018.7e.1 8018.7e.0 801a.7e.3 801a.7e.2 801a.7e.1 801a.7e.0 801c.7e.3 801c.7e.2 801c.7e.1
801c.7e.0 801e.7e.3 801e.7e.2 801e.7e.1 801e.7e.0 8020.7e.3 8020.7e.2 8020.7e.1 8020.7e.0
8022.7e.3 8022.7e.2 8022.7e.1 8022.7e.0 8024.7e.3 8002.7e.3 8002.807e.3 8002.807e.2 8002.807e.1
8002.807e.0 800c.807e.3 800c.807e.2 800c.807e.1 800c.807e.0 801e.807e.3 801e.807e.2 801e.807e.1
801e.807e.0 801c.807e.3 801c.807e.2 801c.807e.1 801c.807e.0 801c.40.3 801e.40.3 801e.40.2
801e.40.1 801e.40.0 8020.40.3 8020.40.2 8020.40.1 8020.40.0 8020.20.3 8022.20.3 8022.20.2
8022.20.1 8022.20.0 8022.38.3 8024.38.3 8024.38.2 8024.38.1 8024.38.0 8024.3c.3 8026.3c.3
8026.3c.2 8026.3c.1 8026.3c.0 8026.1e.3 8028.1e.3 8028.1e.2 8028.1e.1 8028.1e.0 8028.c.3 802a.c.3
802a.c.2 802a.c.1 802a.c.0 802a.26.3 8002.26.3 8002.807e.3 8002.807e.2 8002.807e.1 8002.807e.0
8002.2a.3 8004.2a.3 8004.2a.2 8004.2a.1 8004.2a.0 8004.40.3 8006.40.3 8006.40.2 8006.40.1
8006.40.0 8008.40.3 8008.40.2 8008.40.1 8008.40.0 8008.c.3 800a.c.3 800a.c.2 800a.c.1 800a.c.0
800a.24.3 800c.24.3 800c.24.2 800c.24.1 800c.24.0 800c.3e.3 800e.3e.3 8002.3e.3 8002.807e.3
8002.807e.2 8002.807e.1 8002.807e.0 8002.c.3 8004.c.3 8004.c.2 8004.c.1 8004.c.0 8004.40.3
8006.40.3 8006.40.2 8006.40.1 8006.40.0 8006.20.3 8002.20.3 8002.807e.3 8002.807e.2 8002.807e.1
8002.807e.0 8002.2.3 8004.2.3 8004.2.2 8004.2.1 8004.2.0 8006.2.3 8006.2.2 8006.2.1 8006.2.0
8006.40.3 8008.40.3 8008.40.2 8008.40.1 8008.40.0 800a.40.3 800a.42.3 800a.42.2 800a.42.1
800a.42.0 800c.42.3 800c.44.3 800c.44.2 8002.44.3 8002.807e.3 8002.807e.2 8002.807e.1 8002.807e.0
2.807e.3 2.7e.3 2.7e.2 2.7e.1 2.7e.0 2.2.3
"""
# of all 600, by the link's speed
DIGESTS = {10_000: 1833518394, 25_000: 1795821811, 40_000: 2483095584}
DRIVER = _DRIVER.split()
MOST = (3, 8, 80, 200, 600, 40)


def followed(link_mbps: int, count: int) -> list[str]:
    """Registers after each of so many interrupts of one traffic."""
    seed = 7

    def drawn() -> int:
        nonlocal seed
        seed = (seed * 1103515245 + 12345) & 0xFFFFFFFF
        return seed >> 16 & 0x7FFF

    jiffies = 0
    rx, tx = RingContainer(50, dynamic=True), RingContainer(50, dynamic=True)
    itr = DynamicItr(rx, tx, link_mbps)
    seen = []
    for number in range(count):
        phase = number // 100
        luck, received, size, sent = drawn(), drawn(), drawn(), drawn()
        jiffies += 3 if luck % 37 == 0 else luck % 5 == 0
        packets = received % (MOST[phase] + 1)
        itr.took(rx, packets, packets * (60 + size % 1440))
        packets = sent % (MOST[5 - phase] + 1)
        itr.took(tx, packets, packets * (60 + luck % 3000))
        itr.update(jiffies)
        seen.append(f"{rx.current_itr:x}.{tx.current_itr:x}.{itr.countdown}")
    return seen


def test_each_throttle_is_the_drivers() -> None:
    assert followed(25_000, len(DRIVER)) == DRIVER


@pytest.mark.parametrize("link_mbps", DIGESTS)
def test_the_links_speed_scales_the_throttle(link_mbps: int) -> None:
    assert zlib.crc32(" ".join(followed(link_mbps, 600)).encode()) == DIGESTS[link_mbps]


def test_a_direction_that_is_set_stays() -> None:
    rx, tx = RingContainer(64, dynamic=False), RingContainer(50, dynamic=True)
    itr = DynamicItr(rx, tx, 25_000)
    for jiffies in (0, 5, 10, 15):
        itr.took(rx, 300, 300 * 1500)
        assert itr.update(jiffies) is not rx
    assert rx.current_itr == 64
