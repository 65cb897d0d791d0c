"""What the page computes, without a browser."""

from __future__ import annotations

import pytest

from simnet.page.answers import Question, Round, first_answer, sharper_answer
from simnet.study.screen.controls import controls
from simnet.study.work.cases import Case, Member

BASE = Case("x460-out-of-box", (("nodes", "1"),))
SHORT = Round(2, 0, "10 ms", "20 ms")


def test_controls_have_real_names_current_values_and_only_what_acts() -> None:
    found = {one.name: one for one in controls(BASE)}
    usecs = found["ethtool -C {port} rx-usecs"]
    assert usecs.value == "20 us"
    assert usecs.value in usecs.values
    assert len(usecs.values) > 4
    assert list(usecs.settings("40 us")) == [
        (f"ethtool -C eth{number} rx-usecs", "40 us") for number in range(8)
    ]
    assert list(usecs.settings("20 us")) == []
    assert found["net.ipv4.tcp_sack"].values == ("off", "on")
    assert found["ethtool -G {port} rx"].values[-1] == "400"  # the ring has 512
    assert not [name for name in found if "rps" in name]  # not in this kernel


@pytest.mark.compiled
@pytest.mark.nightly
def test_every_value_of_every_control_can_be_set() -> None:
    for one in controls(BASE):
        for value in (one.values[0], one.values[-1]):
            settings = (*BASE.settings, *one.settings(value))
            Member(Case(BASE.scenario, settings)).effective()


def test_a_question_is_typed_as_whatif_takes_it() -> None:
    question = Question(BASE, ("affinity",), (("nic.rx_frames", "9"), ("irqbalance", "off")))
    assert question.typed == "affinity+nic.rx_frames=9,irqbalance=off"
    assert question.after == Case(
        "x460-out-of-box",
        (("nodes", "1"), ("nic.rx_frames", "9"), ("irqbalance", "off")),
        ("affinity",),
    )


@pytest.mark.compiled
def test_the_answer_gets_sharper_and_stops_when_nobody_waits_for_it() -> None:
    question = Question(BASE, ("affinity",), ())
    first = first_answer(question)
    assert "affinity: first impression" in first
    assert "before: how busy each logical CPU is" in first
    sharper = sharper_answer(question, SHORT, lambda _done, _all, _phase="", /: None)
    assert "CPU time per byte" in sharper
    assert "/proc/irq/177/smp_affinity" in sharper

    class StaleError(Exception):
        pass

    def stop(done: int, _all: int, _phase: str = "") -> None:
        if done:
            raise StaleError

    other = Question(BASE, ("affinity",), (("nic.rx_frames", "3"),))
    with pytest.raises(StaleError):
        sharper_answer(other, SHORT, stop)
