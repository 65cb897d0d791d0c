"""Packets wait in the ring until a poll takes them: not for long, or, deferred, together."""

import re
from collections import Counter
from statistics import mean
from xml.etree import ElementTree as ET

import pytest

from lessons.polls import Polls, playing, watched

SCENARIO = "memcached-100g"
LOAD = {"memcached.qps": "200000"}


@pytest.fixture(scope="module")
def interrupts() -> Polls:
    return watched(SCENARIO, settings=LOAD)


@pytest.fixture(scope="module")
def deferred() -> Polls:
    return watched(SCENARIO, ["defer200"], settings=LOAD)


def test_packets_are_taken_after_they_came(interrupts: Polls, deferred: Polls) -> None:
    for found in (interrupts, deferred):
        assert len(found.packets) > 5
        assert all(0 <= came <= took for came, took, _ in found.packets)
        assert all(came < found.until_us for came, _, _ in found.packets)


def test_a_timer_takes_many_at_once_and_they_wait_for_it(
    interrupts: Polls, deferred: Polls
) -> None:
    most = [
        max(Counter(took for _, took, _ in one.packets).values()) for one in (interrupts, deferred)
    ]
    assert most[1] > 2 * most[0]
    waits = [mean(took - came for came, took, _ in one.packets) for one in (interrupts, deferred)]
    assert waits[0] < 25
    assert max(place for _, _, place in deferred.packets) > 8
    assert 100 < waits[1] < 200


def test_the_cpu_is_the_one_that_polls(interrupts: Polls, deferred: Polls) -> None:
    kinds = [{what for what, _, _ in one.spans} for one in (interrupts, deferred)]
    assert "hard interrupt" in kinds[0]
    assert "softirq" in kinds[1]
    polled = [took for _, took, _ in deferred.packets if took < deferred.until_us]
    assert polled
    for took in polled:
        assert any(start <= took <= end + 1e-6 for _, start, end in deferred.spans)


def test_the_picture_has_a_dot_for_each_and_no_script(deferred: Polls) -> None:
    svg = playing(deferred, title="a < b").svg
    root = ET.fromstring(svg)  # noqa: S314 (its own text)
    dots = [one for one in root.iter() if one.get("class", "").startswith("dot")]
    bars = [one for one in root.iter() if one.get("class") == "bar"]
    assert (len(dots), len(bars)) == (len(deferred.packets), len(deferred.spans))
    assert "<script" not in svg
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]


def test_a_dot_appears_when_its_packet_comes() -> None:
    svg = playing(Polls([(50.0, 80.0, 0)], [("softirq", 79.0, 82.0)], 100.0)).svg
    (frames,) = re.findall(r"@keyframes polls-\w+-d0\{(.*)\}", svg)
    assert [float(at) for at in re.findall(r"([0-9.]+)%\{transform", frames)][1:] == pytest.approx(
        [92 * at / 100 for at in (50, 53, 80, 83)], abs=0.01
    )
