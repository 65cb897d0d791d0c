"""A system that is closed leaves nothing for Python's collector."""

from __future__ import annotations

import gc

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

# components and what they consist of, beyond those of connections: CPUs, interrupts, their lists
_MOST = 400
_LOADS = [
    ("memcached-100g", {}),
    ("relay-untuned", {"relay.connections": "200"}),
    ("web-25g", {}),
    ("container-udp", {}),
    ("home-router", {}),
]


@pytest.mark.parametrize(("scenario", "settings"), _LOADS, ids=[name for name, _ in _LOADS])
def test_connections_and_frames_are_freed_when_they_are_dropped(
    scenario: str, settings: dict[str, str]
) -> None:
    system = build(load(scenario, settings=settings), seed=1)
    system.run(2 * 10**9)
    gc.collect()
    system.close()
    try:
        gc.disable()
        del system
        assert gc.collect() < _MOST
    finally:
        gc.enable()
