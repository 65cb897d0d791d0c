"""The relay of a lesson: probes change nothing, and note what is known of steering."""

from functools import reduce
from math import inf
from operator import xor

import pytest

from lessons.one_message import followed
from lessons.relay import SmallRelay, p99_ms
from lessons.steered import moved
from lessons.toeplitz import Vector, windows
from simnet.scenario.core.load import load

MS = 10**9
SMALL = SmallRelay("relay-untuned")


def test_a_probe_changes_nothing() -> None:
    system, log = SMALL.probed(["affinity"], {"relay.rate": "20000"})
    system.run(50 * MS)
    start = system.parts["relay"].counters()
    system.run(30 * MS)
    end = system.parts["relay"].counters()
    run = SMALL.measured(["affinity"], 20_000, ms=30)
    assert run.messages is not None
    assert run.messages.delivered == end["delivered"] - start["delivered"]
    assert len(log) > 1000


def test_one_queue_a_cpu_keeps_tcp_on_the_queues_cpu_and_rps_does_not() -> None:
    alone = SMALL.packets(["affinity"], {"relay.rate": "20000"})
    assert (alone["queue"] == alone["TCP"]).all()
    steered = SMALL.packets(["affinity", "rps-ff"], {"relay.rate": "20000"})
    assert (steered["queue"] != steered["TCP"]).any()


def test_shares_of_queues_are_all() -> None:
    shares = SMALL.queue_shares(["affinity"], {"relay.rate": "20000"})
    assert shares.sum().tolist() == pytest.approx([100, 100])
    assert len(shares) == 8


def test_a_message_is_followed_over_three_cpus() -> None:
    quiet = {"relay.rate": "300", "system.kernel": "linux-2.6.38"}
    message = followed(SMALL, ["affinity", "rps-ff", "workers-pinned"], quiet)
    assert len({message.interrupted, message.stack, message.worker}) == 3
    # each of them works after its arrival
    for cpu in (message.interrupted, message.stack, message.worker):
        assert any(on == cpu and end > message.arrived_ps for on, _, _, end in message.timeline)


def test_what_has_not_come_is_later_than_all() -> None:
    assert p99_ms(SMALL.measured([], 130_000, ms=50)) == inf
    assert p99_ms(SMALL.measured(["affinity"], 50_000, ms=50)) < 1


@pytest.mark.parametrize(
    ("vector", "expected"),
    # Microsoft, Verifying the RSS hash calculation
    [
        (Vector("66.9.149.187", 2794, "161.142.100.80", 1766), 0x51CCC178),
        (Vector("199.92.111.2", 14230, "65.69.140.83", 4739), 0xC626B0EA),
    ],
)
def test_the_hash_by_hand_is_the_published_one(vector: Vector, expected: int) -> None:
    by_hand = reduce(xor, (window for bit, window in windows(vector) if bit))
    assert by_hand == vector.nic() == expected


def test_rfs_keeps_the_order_that_a_rewritten_mask_breaks() -> None:
    alone = {"relay.connections": "1", "relay.rate": "1", "system.kernel": "linux-2.6.38"}
    system = load(SMALL.scenario, tunings=["affinity", "rhel6"], settings=alone)
    for rfs, ordered in ((False, False), (True, True)):
        found = moved(system, rfs=rfs)
        assert found["number"].is_monotonic_increasing is ordered
        assert sorted(found["number"]) == list(range(1, 60))
        assert set(found["CPU"]) == {2, 6}
