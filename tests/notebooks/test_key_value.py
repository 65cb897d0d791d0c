"""Ways to hear of packets: what was asked for is what was simulated."""

import pytest

import simnet
from lessons.key_value import heard, numbers

WAYS: dict[str, tuple[str, ...]] = {"interrupts": (), "deferred": ("defer200",)}


def test_polls_in_place_of_interrupts() -> None:
    found = numbers(heard("memcached-100g", WAYS, 200))
    interrupts, median = found["interrupts (1000/s)"], found["p50 (us)"]
    assert interrupts["deferred"] == 0
    assert interrupts["interrupts"] > 200
    assert median["deferred"] > median["interrupts"] + 50


def test_another_scenario_has_no_such_numbers() -> None:
    other = simnet.run("ipoib-sunway", duration="1 ms", warm_up="0 s")
    with pytest.raises(ValueError, match="other: not a run of a key-value store"):
        numbers({"other": other})
