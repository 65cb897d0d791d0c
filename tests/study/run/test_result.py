"""A result: rates and shares between two snapshots."""

import json
from collections.abc import Callable
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from pydantic import ValidationError

from simnet.errors import InputError, SimulationError
from simnet.scenario.system.system import DropCount, MessageCounts, Snapshot
from simnet.study.run.loss import latency_of, pooled
from simnet.study.run.result import Result, schema


def test_rates_are_per_simulated_second_and_bits(result: Result) -> None:
    eth0 = result.ports[0]
    assert result.simulated_s == 2.0
    assert result.warmup_s == 1.0
    assert eth0.rx_bps == 8 * 200_000_000 / 2
    assert eth0.rx_packets_per_s == 70_000
    assert eth0.interrupts_per_s == 17_500
    assert eth0.drops == 3
    assert result.throughput_bps == 8 * 370_000_000 / 2
    assert result.interrupts[1].by_cpu == {1: 19_000.0}


def test_cpu_busy_percent_is_the_mean_over_all_logical_cpus(result: Result) -> None:
    assert result.cpu_busy_percent == pytest.approx((74 + 90 + 0 + 1) / 4)
    assert result.cpus[0].busy == pytest.approx(74)


def test_sar_folds_interrupts_into_system_and_cannot_sample_hard_ones(result: Result) -> None:
    exact, sampled = result.cpus[0], result.ticks[0]
    assert (exact.system, exact.softirq, exact.irq, exact.idle) == (30, 30, 10, 26)
    assert (sampled.system, sampled.idle, sampled.count) == (60, 36, 500)


def test_latency_quantiles_come_from_the_measured_part(result: Result) -> None:
    with_samples, without = result.flows
    assert (with_samples.latency_us.p50, with_samples.latency_us.p99) == (1.0, 2.0)
    assert (without.latency_us.p50, without.latency_us.p99) == (None, None)


def test_quantile_ignores_samples_of_the_warm_up() -> None:
    before = [(1_000_000, 1000), (5_000_000, 0)]
    after = [(1_000_000, 1000), (5_000_000, 10)]
    assert latency_of(before, after).p50 == 5.0


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=2500))
def test_quantiles_are_order_statistics(values: list[int]) -> None:
    buckets = [(value, values.count(value)) for value in set(values)]
    found = latency_of([], buckets)
    for permille, quantile in ((500, found.p50), (990, found.p99), (999, found.p999)):
        rank = -(-permille * len(values) // 1000)
        assert quantile == sorted(values)[rank - 1] / 10**6


def test_json_validates_against_the_published_schema_and_reads_back(result: Result) -> None:
    text = result.to_json()
    document = json.loads(text)
    jsonschema.validate(document, schema())
    assert document["schema"] == "simnet.result/1"
    assert document["disks"] == []
    assert Result.from_json(text) == result


def test_json_has_the_documented_fields(result: Result) -> None:
    document = json.loads(result.to_json())
    top = "scenario seed version fingerprint simulated_s throughput_bps cpu_busy_percent cpus ports"
    assert set(f"schema {top} flows disks".split()) <= set(document)
    cpu = {"id", "node", "user", "system", "softirq", "irq", "iowait", "steal", "idle"}
    assert set(document["cpus"][0]) == cpu
    port = "name node rx_bps tx_bps rx_packets_per_s tx_packets_per_s interrupts_per_s drops"
    assert set(document["ports"][0]) == set(port.split())
    assert {"name", "goodput_bps", "latency_us"} <= set(document["flows"][0])
    assert set(document["flows"][0]["latency_us"]) == {"kind", "p50", "p99", "p999"}


def test_packets_are_lost_in_rings_and_elsewhere(result: Result) -> None:
    rings = [(drop.place, drop.at, drop.packets) for drop in result.drops]
    assert rings == [("ring", "eth0", 3), ("ring", "eth1", 3)]
    assert result.loss == pytest.approx(6 / 280_006)
    assert result.messages is None


def test_an_open_loop_load_has_counts_rates_and_latency(start: Snapshot, end: Snapshot) -> None:
    first = replace(
        start,
        drops=(DropCount("backlog", "cpu0", 5), DropCount("socket", "all", 2)),
        messages=MessageCounts(1_000, 990, 1),
    )
    last = replace(
        end,
        drops=(DropCount("backlog", "cpu0", 105), DropCount("socket", "all", 2)),
        messages=MessageCounts(5_000, 4_980, 11),
    )
    found = Result.from_snapshots(first, last, scenario="small", seed=7, version="0.1.0")
    assert [(d.place, d.at, d.packets) for d in found.drops][-1] == ("backlog", "cpu0", 100)
    assert found.loss == pytest.approx(106 / 280_006)
    messages = found.messages
    assert messages is not None
    assert (messages.offered, messages.delivered, messages.retransmitted) == (4_000, 3_990, 10)
    assert (messages.offered_per_s, messages.delivered_per_s) == (2_000, 1_995)
    late = messages.latency_us
    assert (late.p50, late.p99, late.p999) == (1.0, 2.0, 50.0)
    assert messages.histogram == ((1.0, 90), (2.0, 9), (50.0, 1))
    assert [messages.later_than(limit) for limit in (0.5, 1.0, 2.0, 50.0)] == [100, 10, 1, 0]
    assert pooled([messages, messages]) == late
    assert list(found.to_frame("drops").index) == ["ring", "ring", "backlog"]
    assert Result.from_json(found.to_json()) == found


def test_what_a_system_does_not_have_is_not_in_its_fingerprint(
    end: Snapshot, measure: Callable[..., Result]
) -> None:
    assert measure().fingerprint == "0d835ed2ff6074bcd8f7ca34372e7fac"
    assert end.digest() == "b21ca7ee28d5f911d40f9a02aa0a0b14"
    dropping = replace(end, drops=(DropCount("qdisc", "eth0", 1),))
    assert dropping.digest() != end.digest()
    loaded = replace(end, messages=MessageCounts(1, 1, 0))
    assert loaded.digest() != end.digest()
    assert loaded.counters() != dropping.counters() != end.counters()


def test_json_with_an_unknown_field_is_refused(result: Result) -> None:
    document = json.loads(result.to_json()) | {"surprise": 1}
    with pytest.raises(ValidationError, match="surprise"):
        Result.from_json(json.dumps(document))


def test_fingerprint_knows_every_counter(
    start: Snapshot, end: Snapshot, measure: Callable[..., Result]
) -> None:
    same = measure()
    assert measure().fingerprint == same.fingerprint
    for changed in (
        replace(end, ports=(replace(end.ports[0], drops=4), end.ports[1])),
        replace(end, flows=(end.flows[0], replace(end.flows[1], latency=((1, 1),)))),
        replace(end, cpus=(*end.cpus[:3], replace(end.cpus[3], idle_ticks=10_000))),
    ):
        other = Result.from_snapshots(
            start, changed, scenario="small", seed=7, version="0.1.0", effective_digest="d"
        )
        assert other.fingerprint != same.fingerprint
    assert measure(seed=8).fingerprint != same.fingerprint
    assert measure(effective_digest="e").fingerprint != same.fingerprint
    assert measure(version="0.2.0").fingerprint != same.fingerprint


def test_fingerprint_does_not_depend_on_the_order_of_dictionaries(
    start: Snapshot, end: Snapshot
) -> None:
    def served(counts: dict[int, int]) -> Snapshot:
        return replace(end, ports=(replace(end.ports[0], interrupts_by_cpu=counts), end.ports[1]))

    prints = {
        Result.from_snapshots(
            start, served(counts), scenario="small", seed=7, version="0.1.0"
        ).fingerprint
        for counts in ({0: 1, 1: 2}, {1: 2, 0: 1})
    }
    assert len(prints) == 1


def test_cpu_time_that_does_not_add_up_is_an_error_with_cpu_and_time(
    start: Snapshot, end: Snapshot
) -> None:
    lost = replace(end, cpus=(replace(end.cpus[0], idle_ps=0), *end.cpus[1:]))
    with pytest.raises(SimulationError, match=r"^cpu0: at 3 s: CPU time must add up"):
        Result.from_snapshots(start, lost, scenario="small", seed=7, version="0.1.0")


def test_a_measurement_of_no_length_is_an_error(start: Snapshot) -> None:
    with pytest.raises(SimulationError, match="must come after its start"):
        Result.from_snapshots(start, start, scenario="small", seed=7, version="0.1.0")


def test_frames_have_one_row_an_entry(result: Result) -> None:
    assert result.to_frame().loc[1, "softirq"] == 40
    assert list(result.to_frame("ports").index) == ["eth0", "eth1"]
    assert result.to_frame("flows").loc["eth0", "latency_us_p99"] == 2.0
    assert result.to_frame("interrupts").loc[0].to_dict() == {"eth0": 17_500.0, "eth1": 0.0}
    assert result.to_frame("interrupts").shape == (4, 2)
    assert result.to_frame("disks").empty


def test_an_unknown_frame_names_the_known_ones(result: Result) -> None:
    with pytest.raises(InputError, match="one of cpus, ticks, work, ports"):
        result.to_frame("cpu")


def test_plot_stacks_the_contexts_of_every_cpu(result: Result) -> None:
    (axes,) = result.plot().axes
    tops = {}
    for bar in axes.patches:
        assert isinstance(bar, Rectangle)
        tops[round(bar.get_x() + bar.get_width() / 2)] = bar.get_y() + bar.get_height()
    assert tops == pytest.approx({0: 74, 1: 90, 2: 0, 3: 1})
    assert axes.get_ylabel() == "time (% of one CPU)"
    assert axes.get_xlabel() == "logical CPU (nodes 0, 1)"
    title = axes.get_title(loc="left")
    assert title.startswith("small: 1.65 CPUs busy of 4; the 2 that serve")
    assert "\n" not in title


def test_plot_leaves_out_idle_cpus_where_there_are_many(result: Result) -> None:
    idle = [result.cpus[2].model_copy(update={"id": number}) for number in range(4, 64)]
    many = result.model_copy(update={"cpus": (*result.cpus, *idle)})
    (axes,) = many.plot().axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "1", "3"]
    assert axes.get_xlabel().endswith("; 61 nearly idle ones are not drawn)")


def test_plot_draws_into_given_axes(result: Result) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert result.plot(right) is figure
    assert not left.patches
    assert right.patches
