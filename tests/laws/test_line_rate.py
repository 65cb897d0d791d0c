"""No port sends faster than its line, whatever window one looks at and whatever its ring holds."""

from itertools import accumulate, pairwise

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.resource import Resource
from simnet.scenario.system.system import System
from simnet.time_units import PS_PER_S
from tests.fuzz.catalogue import scenarios

US = 10**6
# the first bursts fill the rings; a prime, to keep no step with anything
GAPS_PS = [97 * US] * 24
# an Ethernet frame's headers, and more
HEADERS_BYTES = 100
MORE_TO_SEND = {
    "sw1621-t520": {"connections": "1024"},
    "web-25g": {"workload.read": "16 MiB", "connections": "40"},
    "busy-web": {"listen.rate": "200000", "listen.burst": "1"},
    "relay-tuned": {"relay.connections": "50"},
    "relay-untuned": {"relay.connections": "50"},
    "xdp-firewall": {"xdp.action": "tx"},
    "xdp-connectx5": {"xdp.action": "redirect"},
}
WITH_LINES = [name for name in scenarios() if load(name).linked and load(name).ports]


def sending(system: System) -> dict[str, Resource]:
    """All ports, in the direction in which they send."""
    return {part.name: part for part in system.resources() if part.name.endswith(" send")}


@pytest.mark.parametrize("scenario", WITH_LINES)
def test_a_port_sends_at_most_a_line_and_a_frame(scenario: str) -> None:
    effective = load(scenario, settings=MORE_TO_SEND.get(scenario, {}))
    system = build(effective, seed=1)
    frame_bits = 8 * (HEADERS_BYTES + max(port.nic.mtu_bytes for port in effective.ports))
    rates = {port.name: port.nic.link_rate_bps for port in effective.ports}
    instants = list(accumulate(GAPS_PS))
    looks, counts = [], []
    for gap_ps in GAPS_PS:
        system.run(gap_ps)
        looks.append(sending(system))
        counts.append({port.name: 8 * port.tx_bytes for port in system.snapshot().ports})
    assert any(part.used for part in looks[-1].values())
    for first in range(len(instants) - 1):
        for last in (first + 1, len(instants) - 1):
            window_ps = instants[last] - instants[first]
            for name, part in looks[last].items():
                most = part.capacity_per_s * window_ps // PS_PER_S + frame_bits
                assert 0 <= part.used - looks[first][name].used <= most, (name, first, last)
            for name, bits in counts[last].items():
                most = rates[name] * window_ps // PS_PER_S + frame_bits
                assert 0 <= bits - counts[first][name] <= most, (name, first, last)
    for before, after in pairwise(looks):
        assert before.keys() == after.keys()
