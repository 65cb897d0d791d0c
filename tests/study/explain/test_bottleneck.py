"""What follows from utilisations and waits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.scenario.system.resource import FULL
from simnet.study.explain.bottleneck import Limit, ResourceUse, WaitShare, limit_of, merged


def use(name: str, utilisation: float, **more: Any) -> ResourceUse:
    usual: dict[str, Any] = {
        "name": name,
        "kind": "cpu",
        "unit": "s",
        "used_per_s": utilisation,
        "capacity_per_s": 1.0,
        "utilisation": utilisation,
        "headroom": 1 / utilisation - 1 if utilisation else None,
        "drops": 0,
        "split": {},
        "flows": None,
        "group": "",
        "simulated": True,
    }
    return ResourceUse(**(usual | more))


def wait(reason: str, share: float, *, limit: float = 0.0, unit: str = "B") -> WaitShare:
    return WaitShare(reason=reason, share=share, bound=limit > 0, limit=limit, unit=unit)


def limit(*resources: ResourceUse, waits: tuple[WaitShare, ...] = (), **more: Any) -> Limit:
    return limit_of("eth0", 8e9, resources, waits, **more)


def test_the_full_one_is_first_and_the_fullest_other_next() -> None:
    found = limit(use("cpu1", 0.71), use("cpu0", 0.97), use("cpu2", 0.3))
    assert (found.first, found.next) == ("cpu0", "cpu1")
    assert found.at_most == pytest.approx(0.97 / 0.71)
    assert found.sentence.startswith(
        "first cpu0 at 97 %, next cpu1 at 71 % (then at most 1.37 times the throughput"
    )


def test_what_most_of_the_time_goes_to_holds_a_flow() -> None:
    on_the_way = limit(use("cpu0", 0.4), waits=(wait("path", 0.7), wait("application", 0.3)))
    assert (on_the_way.verdict, on_the_way.held_by) == ("mixed", "path")
    assert "nothing is full: its time goes to path 70 %, application 30 %; " in on_the_way.sentence
    parts = (wait("application", 0.45), wait("path", 0.4), wait("send buffer", 0.15))
    assert limit(use("cpu0", 0.4), waits=parts).held_by == "nothing for long"


def test_a_lock_is_named_before_the_cpus_that_spin_for_it() -> None:
    cpus = (use("cpu0", 1.0), use("cpu1", 1.0))
    found = limit(*cpus, use("lock", 0.995, kind="lock"), use("dies", 0.36, kind="drive"))
    assert (found.first, found.next) == ("lock", "dies")
    assert limit(*cpus, use("lock", 0.96, kind="lock")).first == "cpu0"


def test_what_is_replaced_together_is_not_next() -> None:
    ports = (use("eth0", 0.99, group="network"), use("peer.eth0", 0.98, group="network"))
    assert limit(*ports, use("cpu0", 0.4)).next == "cpu0"


def test_of_two_ends_of_a_link_the_own_one_is_named() -> None:
    far = use("peer.eth0", 0.990, kind="peer port", group="network")
    assert limit(far, use("eth0", 0.985, group="network")).first == "eth0"
    assert limit(far, use("eth0", 0.96, group="network")).first == "peer.eth0"


def test_what_a_flow_does_not_pass_does_not_hold_it_back() -> None:
    found = limit(use("cpu0", 0.99, flows=("eth1",)), use("cpu1", 0.96, flows=("eth0", "eth1")))
    assert (found.first, found.next) == ("cpu1", None)


def test_a_data_sheet_holds_nothing_back() -> None:
    assert limit(use("bus", 0.99, simulated=False), use("cpu0", 0.5)).verdict == "mixed"


def test_a_window_is_named_where_nothing_is_full() -> None:
    buffer = wait("send buffer", 0.9, limit=16_000)
    found = limit(use("cpu0", 0.5), waits=(buffer, wait("path", 0.1)))
    assert (found.verdict, found.first, found.next) == ("window", None, "cpu0")
    assert found.at_most == pytest.approx(2)
    # Little's law: 16 kB at 1 GB/s
    assert found.round_trip_us == pytest.approx(16)
    assert "flows wait for the send buffer 90 % of the time, 16.0 kB in 16 us" in found.sentence


def test_a_full_resource_comes_before_the_window_behind_it() -> None:
    buffer = wait("send buffer", 1.0, limit=16_000)
    assert limit(use("cpu0", 0.99), waits=(buffer,)).verdict == "resource"


def test_a_request_at_a_time_is_latency() -> None:
    found = limit(use("cpu0", 0.3), waits=(wait("response", 1.0, limit=1, unit="request"),))
    assert found.verdict == "latency"
    assert "latency decides" in found.sentence


def test_an_open_load_that_is_delivered_is_the_limit() -> None:
    assert limit(use("cpu0", 0.8), delivered=0.9999).verdict == "load"
    assert limit(use("cpu0", 0.8), delivered=0.9).verdict == "mixed"
    assert limit(use("cpu0", 0.99), delivered=0.9).verdict == "resource"


def test_an_open_load_that_is_delivered_may_fill_a_resource() -> None:
    found = limit(use("cpu0", 0.97), use("cpu1", 0.9), delivered=0.9999)
    assert (found.verdict, found.first, found.next) == ("load", "cpu0", "cpu1")
    assert found.sentence.startswith("all that is offered is delivered; first cpu0 at 97 %")


def test_flows_behind_one_resource_are_told_together() -> None:
    shared = use("cpu0", 0.99)
    flows = [
        limit_of(name, 1e9, [shared, use(cpu, share, flows=(name,))], ())
        for name, cpu, share in (("a", "cpu1", 0.5), ("b", "cpu2", 0.7))
    ]
    (found,) = merged(flows)
    assert (found.flows, found.goodput_bps) == (("a", "b"), 2e9)
    assert (found.first, found.next) == ("cpu0", "cpu2")


def test_flows_that_wait_alike_are_told_together() -> None:
    cpu = use("cpu0", 0.5)
    flows = [
        limit_of(name, 1e9, [cpu], (wait("send buffer", share, limit=bytes_),))
        for name, share, bytes_ in (("a", 0.6, 10_000), ("b", 1.0, 20_000))
    ]
    (found,) = merged(flows)
    assert found.waits[0].share == pytest.approx(0.8)
    assert found.waits[0].limit == pytest.approx((0.6 * 10_000 + 20_000) / 1.6)
    assert found.round_trip_us == pytest.approx(8 * (10_000 + 20_000) / 2 / 1e9 * 1e6)


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=8))
def test_asymptotic_bounds_hold(shares: list[float]) -> None:
    """With the bottleneck gone, the next is as full as it was, and nothing is fuller."""
    found = limit(*(use(f"cpu{number}", share) for number, share in enumerate(shares)))
    ordered = sorted(shares, reverse=True)
    if ordered[0] < FULL:
        assert found.first is None
        assert found.at_most == pytest.approx(1 / ordered[0])
    elif len(shares) > 1:
        assert found.at_most == pytest.approx(ordered[0] / ordered[1])
        assert ordered[0] >= ordered[1]
