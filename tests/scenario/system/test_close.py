"""A system that is closed leaves nothing for Python's collector."""

import gc
from collections.abc import Iterator
from typing import Any

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


def _each() -> Iterator[Any]:
    """All loads: that with most connections for every change, the others every night."""
    for name, settings in _LOADS:
        few = name != "memcached-100g"
        yield pytest.param(name, settings, id=name, marks=[pytest.mark.nightly] if few else [])


@pytest.mark.parametrize(("scenario", "settings"), list(_each()))
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
