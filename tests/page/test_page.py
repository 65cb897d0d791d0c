"""What the page computes, without a browser."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.page.answers import ROUNDS, WANTED
from simnet.page.offer import Offer, offer_of
from simnet.study.screen.controls import controls
from simnet.study.work.cases import Case, Member

BASE = Case("x460-out-of-box", (("nodes", "1"),))
USECS = "ethtool -C {port} rx-usecs"
OFFER = Offer(BASE, ("affinity", "numactl"), (USECS, "vm.dirty_ratio"))


class GoneError(OSError):
    pass


class Reader:
    """Who waits for an answer, up to one that holds `enough`."""

    def __init__(self, enough: str = "") -> None:
        self.told: list[Mapping[str, Any]] = []
        self._enough = enough

    def say(self, what: Mapping[str, Any], /) -> None:
        self.told.append(what)
        if self._enough in what:
            raise GoneError

    @contextmanager
    def turn(self) -> Iterator[None]:
        self.say({"turn": True})
        yield

    def of(self, key: str) -> Any:
        return next(one[key] for one in self.told if key in one)


def asked(want: str, told: dict[str, Any], enough: str = "never") -> Reader:
    reader = Reader(enough)
    try:
        WANTED[want](OFFER, told, reader)
    except GoneError:
        return reader
    return reader


def test_controls_have_real_names_current_values_and_only_what_acts() -> None:
    found = {one.name: one for one in controls(BASE)}
    usecs = found[USECS]
    assert usecs.value == "20 us"
    assert usecs.value in usecs.values
    assert len(usecs.values) > 4
    assert list(usecs.settings("40 us")) == [
        (f"ethtool -C eth{number} rx-usecs", "40 us") for number in range(8)
    ]
    assert list(usecs.settings("20 us")) == []
    assert found["net.ipv4.tcp_sack"].values == ("off", "on")
    assert found["ethtool -G {port} rx"].values[-1] == "400"  # the ring has 512
    assert found["net.ipv4.tcp_ecn"].values == ("0", "2")  # this kernel cannot ask for marks
    assert not [name for name in found if "rps" in name]  # not in this kernel


@pytest.mark.compiled
@pytest.mark.nightly
def test_every_value_of_every_control_can_be_set() -> None:
    for one in controls(BASE):
        for value in one.values:
            settings = (*BASE.settings, *one.settings(value))
            Member(Case(BASE.scenario, settings)).effective()


def test_a_question_is_typed_as_whatif_takes_it() -> None:
    told = {"tunings": ["affinity"], "settings": {USECS: "40 us"}}
    question = OFFER.asked(told)
    assert question.typed == f"affinity+{USECS}=40 us"
    assert question.after == Case(BASE.scenario, (*BASE.settings, (USECS, "40 us")), ("affinity",))
    pinned = OFFER.asked({"settings": {USECS: "20 us"}, "before": told})
    assert pinned.before == question.after
    assert pinned.after.settings == (*BASE.settings, (USECS, "20 us"))


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {"tunings": 5},
        {"settings": []},
        {"before": "x"},
        {"tunings": ["<script>"]},
        {"tunings": [["affinity"]]},
        {"settings": {USECS: "41 us"}},
        {"settings": {USECS: ["40 us"]}},
        {"settings": {"nodes": "2"}},
    ],
)
def test_what_the_page_does_not_offer_is_refused(told: Any) -> None:
    with pytest.raises(InputError):
        OFFER.asked(told)


def test_knobs_come_by_subject_and_what_nothing_reads_is_named() -> None:
    reader = asked("knobs", {})
    groups = {one["title"]: one["knobs"] for one in reader.of("groups")}
    assert list(groups) == ["nic", "storage"]
    (usecs,) = groups["nic"]
    assert usecs["shown"]["40 us"] == "40 µs"
    assert reader.of("unread") == ["vm.dirty_ratio"]
    assert "<svg" in reader.of("host")


def test_a_slider_has_the_values_that_tunings_give_it() -> None:
    combined = "ethtool -L {port} combined"
    offer = Offer(Case("web-25g"), ("one-queue",), (combined,))
    (one,) = offer.controls
    assert one.values == ("1", "4", "8", "16", "32")


@pytest.mark.compiled
def test_the_answer_comes_with_pictures_and_stops_when_nobody_waits() -> None:
    reader = asked("answer", {"tunings": ["affinity"]}, "turn")
    assert "affinity: first impression" in reader.of("answer")
    assert "throughput, Mbit/s" in reader.of("answer")
    assert 'aria-label="before, node 0' in reader.of("pictures")
    assert "after, µs" in reader.of("pictures")
    assert reader.of("command") == "simnet whatif x460-out-of-box affinity --set nodes=1"
    assert reader.of("follows") == {USECS: "20 us", "vm.dirty_ratio": "40"}
    assert [one["percent"] for one in reader.of("changes")]
    assert all(one["low"] is None for one in reader.of("changes"))
    reader = asked("answer", {"tunings": ["affinity"]}, "round")
    assert reader.told[-1] == {"round": ROUNDS[0].name, "done": 2, "total": 2}


@pytest.mark.compiled
def test_nothing_changed_is_answered_as_it_is() -> None:
    reader = asked("answer", {})
    assert "As it is" in reader.of("answer")
    assert "before" not in reader.of("answer")
    assert reader.of("command") == "simnet run x460-out-of-box --set nodes=1"
    with pytest.raises(InputError, match="nothing is changed"):
        asked("report", {})


@pytest.mark.compiled
@pytest.mark.nightly
def test_the_answer_gets_sharper_up_to_commands_and_a_report() -> None:
    reader = asked("answer", {"tunings": ["affinity"]})
    answers = [one for one in reader.told if "answer" in one]
    assert [one["place"] for one in answers] == [0, 1, 2, 3]
    assert all("throughput, Mbit/s" in one["answer"] for one in answers)
    assert all("leaning: " in one["answer"] for one in answers[1:3])
    assert "affinity: no difference" in answers[-1]["answer"]
    assert "/proc/irq/177/smp_affinity" in answers[-1]["answer"]
    assert all(one["low"] <= one["percent"] <= one["high"] for one in answers[-1]["changes"])
    saved = asked("report", {"tunings": ["affinity"]}).of("report")
    assert saved.startswith("<!doctype html>")


@pytest.mark.compiled
@pytest.mark.nightly
def test_a_screening_orders_what_can_be_moved() -> None:
    order = asked("order", {}).of("order")
    assert {"affinity", USECS} <= {one["name"] for one in order}
    assert all(one["said"] for one in order)


def test_a_scenario_offers_its_tunings_but_those_that_are_set() -> None:
    assert offer_of(BASE).tunings == ("numactl", "affinity")
    assert offer_of(Case("x460-out-of-box", (), ("affinity",))).tunings == ("numactl",)
