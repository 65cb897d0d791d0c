"""A run over time: the steps add up to the whole, and the whole is as without them."""

import pytest

from simnet.scenario.core.load import load
from simnet.study.explain.explain import observed

TIME = "15 ms"


@pytest.mark.compiled
def test_steps_add_up_and_change_nothing() -> None:
    effective = load("x460-out-of-box", settings={"nodes": "1"}, duration=TIME, warm_up=TIME)
    plain, noted = observed(effective), observed(effective, over_time=True)
    found = noted.timeline
    assert plain.timeline is None
    assert noted.result == plain.result
    assert noted.explanation == plain.explanation
    assert found is not None
    steps = len(found.bits_per_s)
    assert steps == len(found.cpus) == len(found.queues["frames in ring"]) > 50
    assert steps * found.step_s == pytest.approx(plain.result.simulated_s)
    assert sum(found.bits_per_s) / steps == pytest.approx(plain.result.throughput_bps)
    busy = sum(cpu.busy for cpu in plain.result.cpus) / 100
    assert sum(found.cpus) / steps == pytest.approx(busy)


@pytest.mark.compiled
def test_bursts_come_and_go_in_the_ring_and_the_socket_stays_full() -> None:
    found = observed(load("media-udp", duration=TIME, warm_up=TIME), over_time=True).timeline
    assert found is not None
    ring, socket = found.queues["frames in ring"], found.queues["datagrams in socket"]
    assert max(ring) >= 100
    assert min(ring) == 0
    assert min(socket[10:]) == max(socket)
