"""Pictures say what the results say: heights, colours and places follow from the numbers."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from simnet.host.ledger import MECHANISMS
from simnet.scenario.core.load import load
from simnet.study.explain.bottleneck import ResourceUse
from simnet.study.explain.explain import explain
from simnet.study.figures.explain import _alike
from simnet.study.figures.heat import cpu_heat
from simnet.study.figures.latency import later_curves
from simnet.study.figures.machine import _places, machine_graph, topology
from simnet.study.figures.queues import queue_rows
from simnet.study.figures.sequence import _draw, _Scale
from simnet.study.figures.style import BETTER, UNSURE, WORSE, fitted
from simnet.study.figures.whatif import intervals
from simnet.study.figures.work import mechanism_bars, packet_bars
from simnet.study.run.result import Result
from simnet.study.sequence.connections import SENT, Direction, Segment
from simnet.study.whatif.mechanism import SIBLINGS, per_unit_us
from simnet.study.whatif.verdict import Change, Interval
from simnet.study.whatif.whatif import Judged, WhatIf

MEASURED = {"host": {"ports": [{"nic": {"mtu_bytes": 1500}}], "kernel": {"tcp_timestamps": True}}}
MSS_BYTES = 1448


@pytest.fixture
def carried(measure: Callable[..., Result]) -> Result:
    """185 Mbyte/s; hard interrupts took 25 % of a CPU, travelling payload 12.5 %, all 165 %."""
    return measure(configuration=MEASURED)


def machine(nodes: int, sockets: int = 4, buses: int = 2, ports: int = 2) -> dict[str, Any]:
    rates = {f"{kind}_bandwidth_bps": 8e9 for kind in ("bus", "memory", "io", "link")}
    return {
        "host": {
            "name": "server",
            "cpu": {"cores_per_socket": 2, "threads_per_core": 2},
            "machine": {
                "nodes": nodes,
                "sockets_per_node": sockets,
                "buses_per_node": buses,
                "memory_per_node_bytes": 2**35,
                "links": list(itertools.combinations(range(nodes), 2)),
                **rates,
            },
            "ports": [
                {
                    "name": f"eth{number}",
                    "node": number // ports,
                    "smp_affinity": [0],
                    "queue_affinity": [],
                }
                for number in range(nodes * ports)
            ],
        }
    }


def _queues(port: dict[str, Any]) -> list[list[int]]:
    return [mask or port["smp_affinity"] for mask in port["queue_affinity"]]


def _boxed(text: Any) -> Any:
    return text.get_bbox_patch().get_facecolor()


class TestPacket:
    def test_time_of_a_packet_is_all_that_the_cpus_were_busy_with(self, carried: Result) -> None:
        us = per_unit_us(carried)
        packets_per_s = 185e6 / MSS_BYTES
        assert us[MECHANISMS["hardirq"]] == pytest.approx(0.25e6 / packets_per_s)
        assert us[MECHANISMS["copy_lines"]] == pytest.approx(0.125e6 / packets_per_s)
        assert us[SIBLINGS] == pytest.approx((1.65 - 0.375) * 1e6 / packets_per_s)
        assert sum(us.values()) == pytest.approx(1.65e6 / packets_per_s)

    def test_nothing_carried_has_no_time(self, carried: Result) -> None:
        idle = carried.model_copy(update={"throughput_bps": 0.0})
        assert per_unit_us(idle) == {}
        (axes,) = packet_bars({"idle": idle}).axes
        assert not axes.patches

    def test_bars_are_as_high_as_their_parts(self, carried: Result) -> None:
        half = carried.model_copy(update={"throughput_bps": carried.throughput_bps / 2})
        (axes,) = packet_bars({"full": carried, "half": half}).axes
        tops = {0: 0.0, 1: 0.0}
        for bar in axes.patches:
            assert isinstance(bar, Rectangle)
            place = round(bar.get_x() + bar.get_width() / 2)
            tops[place] = max(tops[place], bar.get_y() + bar.get_height())
        full = sum(per_unit_us(carried).values())
        assert tops == pytest.approx({0: full, 1: 2 * full})
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["full", "half"]
        assert axes.get_ylabel() == "CPU time per data packet (us)"
        assert axes.get_title(loc="left").startswith("A data packet takes 2 times as much CPU")

    def test_equal_bars_are_said_to_be_equal(self, carried: Result) -> None:
        (axes,) = packet_bars({"before": carried, "after": carried}).axes
        assert axes.get_title(loc="left") == "A data packet takes the same CPU time in all cases"

    def test_costs_of_placement_are_above_the_work_and_siblings_on_top(
        self, carried: Result
    ) -> None:
        (axes,) = packet_bars({"one": carried}).axes
        shown = axes.get_legend_handles_labels()[1]
        assert shown == [MECHANISMS["hardirq"], MECHANISMS["copy_lines"], SIBLINGS]

    def test_what_is_too_small_to_see_is_drawn_as_one(self, carried: Result) -> None:
        work = list(carried.work)
        work[0] = work[0].model_copy(update={"percent": 0.5})
        (axes,) = packet_bars({"one": carried.model_copy(update={"work": tuple(work)})}).axes
        shown = axes.get_legend_handles_labels()[1]
        assert shown == ["all else", MECHANISMS["copy_lines"], SIBLINGS]


class TestHeat:
    def test_a_square_is_a_cpu_in_the_row_of_its_node(self, result: Result) -> None:
        panel, colours = cpu_heat({"small": result}).axes
        (image,) = panel.collections
        shown: Any = image.get_array()
        assert np.round(shown).tolist() == [[74, 90], [0, 1]]
        assert image.get_clim() == (0, 100)
        written = {text.get_position(): text.get_text() for text in panel.texts}
        assert written == {(0, 0): "74", (1, 0): "90", (1, 1): "1"}
        labels = [tick.get_text() for tick in panel.get_yticklabels()]
        assert labels == ["0: 0-1", "1: 2-3"]
        assert colours.get_ylabel() == "busy (% of one CPU)"
        assert panel.get_title(loc="left") == "small: 165 % of one CPU in all"

    def test_nodes_may_have_different_numbers_of_cpus(self, result: Result) -> None:
        fewer = result.model_copy(update={"cpus": result.cpus[:3]})
        panel, _ = cpu_heat({"odd": fewer}).axes
        shown: Any = panel.collections[0].get_array()
        assert np.ma.getmaskarray(shown).tolist() == [[False, False], [False, True]]

    def test_three_results_leave_the_fourth_panel_empty(self, result: Result) -> None:
        figure = Figure()
        assert cpu_heat({"a": result, "b": result, "c": result}, figure) is figure
        assert [axes.axison for axes in figure.axes] == [True, True, True, False, True]

    def test_numbers_that_would_be_too_small_are_left_out(self, result: Result) -> None:
        one = result.cpus[0]
        many = tuple(one.model_copy(update={"id": number}) for number in range(1024))
        panel, _ = cpu_heat({"many": result.model_copy(update={"cpus": many})}).axes
        assert list(panel.texts) == []
        assert len(panel.get_yticklabels()) == 64
        few, _ = cpu_heat({"few": result.model_copy(update={"cpus": many[:32]})}).axes
        assert {text.get_fontsize() for text in few.texts} == {10}

    def test_few_cpus_are_no_giants(self, result: Result) -> None:
        panel, _ = cpu_heat({"two": result.model_copy(update={"cpus": result.cpus[:2]})}).axes
        assert panel.get_xlim() == (-0.5, 7.5)


def test_ticks_of_a_long_axis_have_room_beside_each_other() -> None:
    axes = Figure(figsize=(6, 2)).subplots()
    axes.set_xlim(-100, 1e6)
    assert "log scale" in fitted(axes)
    ticks = [float(tick) for tick in axes.get_xticks()]
    assert 0 in ticks
    assert {-100, -50} - set(ticks)
    places = (axes.transData - axes.transAxes).transform([(tick, 0) for tick in ticks])[:, 0]
    assert np.diff(places).min() >= 0.06


class TestMachine:
    def test_graph_has_every_part_at_its_node(self) -> None:
        graph = machine_graph(machine(4))
        kinds = [data["kind"] for _, data in graph.nodes(data=True)]
        counts = {kind: kinds.count(kind) for kind in set(kinds)}
        assert counts == {"node": 4, "bus": 8, "socket": 16, "memory": 4, "port": 8}
        assert graph.nodes["node 3 socket 3"]["label"] == "CPU\n60-63"
        assert nx.shortest_path(graph, "node 1 socket 2", "eth0") == [
            *("node 1 socket 2", "node 1 bus 1", "node 1", "node 0", "eth0")
        ]
        kinds = [data["kind"] for _, _, data in graph.edges(data=True)]
        assert kinds.count("link") == 6

    @given(
        nodes=st.integers(1, 9),
        shape=st.sampled_from([(1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4)]),
        ports=st.integers(1, 2),
    )
    def test_no_two_parts_are_drawn_over_each_other(
        self, nodes: int, shape: tuple[int, int], ports: int
    ) -> None:
        places = _places(machine_graph(machine(nodes, *shape, ports)))
        for one, other in itertools.combinations(places.values(), 2):
            assert math.dist(one, other) >= 0.9

    def test_picture_counts_and_names_the_parts(self) -> None:
        figure = Figure()
        left, right = figure.subplots(1, 2)
        assert topology(machine(2), right) is figure
        assert not left.texts
        names = {text.get_text() for text in right.texts}
        assert {"node 0", "node 1", "eth3", "CPU\n28-31", "memory\n32 GiB"} <= names
        title = right.get_title(loc="left")
        assert title == "server: 2 nodes, 8 sockets, 32 logical CPUs, 4 ports"
        legend = right.get_legend()
        assert legend is not None
        shown = [text.get_text() for text in legend.get_texts()]
        assert "link between nodes, 1.0 GB/s" in shown

    def test_each_receive_queue_has_the_cpus_of_its_interrupt(self) -> None:
        found = load("relay-untuned", tunings=["affinity"]).model_dump(mode="json")
        ports = found["host"]["ports"]
        (axes,) = topology(found).axes
        shown = [text for text in axes.texts if text.get_text().startswith("q")]
        assert [text.get_text() for text in shown] == [
            f"q{queue}: CPU {cpu}" for port in ports for queue, (cpu,) in enumerate(_queues(port))
        ]
        assert len(shown) == 18
        colours = {_boxed(text) for text in shown if int(text.get_text()[-1]) < 4}
        assert len(colours) == 1
        assert _boxed(next(t for t in shown if int(t.get_text()[-1]) >= 4)) not in colours
        places = [text.get_position() for text in shown]
        assert len(set(places)) == len(places)

    def test_many_queues_are_bundled_and_one_without_a_mask_has_the_ports(self) -> None:
        port = {
            "node": 1,
            "smp_affinity": [4, 5, 7, 9, 11, 13],
            "queue_affinity": [[n % 8] for n in range(40)],
        }
        rows = queue_rows(port, 4)
        assert len(rows) == 14
        assert rows[0] == ("q0-2: CPU 0-2", False)
        assert rows[-1] == ("q39: CPU 7", True)
        assert queue_rows(port | {"queue_affinity": [[], [4]]}, 4) == [
            ("q0: CPU 4-5,7,9,...", False),
            ("q1: CPU 4", True),
        ]

    def test_a_machine_of_one_node_has_no_links(self) -> None:
        (axes,) = topology(machine(1)).axes
        legend = axes.get_legend()
        assert legend is not None
        assert not any("link" in text.get_text() for text in legend.get_texts())


class TestLate:
    def test_shares_are_in_percent_and_times_have_three_ticks_a_decade(self) -> None:
        histogram = [(10.0, 50), (1_000.0, 49), (50_000.0, 1)]
        figure = later_curves({"one": histogram})
        figure.draw_without_rendering()
        (axes,) = figure.axes
        low, high = axes.get_xlim()
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        assert {20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000} <= set(ticks)
        shares = [tick.get_text() for tick in axes.get_yticklabels()]
        assert {"100 %", "10 %", "1 %"} <= set(shares)


class TestResources:
    def test_a_disk_of_a_peer_is_one_of_its_resources_and_the_title_is_whole(self) -> None:
        found = explain("vscsi-parallel", duration="200 ms", warm_up="100 ms")
        (axes,) = found.plot().axes
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        assert names.index("peer0 sdc") > names.index("its peers")
        title = axes.get_title(loc="left")
        assert title.startswith("vscsi-parallel: ")
        assert "peer0 sdc" in title
        assert "..." not in title

    def test_resources_of_peers_are_below_those_of_the_system(self) -> None:
        found = explain("x460-out-of-box", settings={"nodes": "1"}, duration="1 ms", warm_up="1 ms")
        (axes,) = found.plot().axes
        names = [tick.get_text() for tick in axes.get_yticklabels()]
        places = axes.get_yticks()
        assert list(places) == sorted(places)
        assert names[0] == "this system"
        own, peers = names[1 : names.index("its peers")], names[names.index("its peers") + 1 :]
        assert own
        assert peers
        assert not [name for name in own if name.startswith("peer")]
        assert all(name.startswith("peer") for name in peers)

    def test_its_title_has_one_line(self) -> None:
        found = explain("x460-out-of-box", duration="1 ms", warm_up="1 ms")
        title = found.plot().axes[0].get_title(loc="left")
        assert title.startswith("x460-out-of-box: ")
        assert "\n" not in title
        assert len(title) <= 110


def used(name: str, utilisation: float, **more: Any) -> ResourceUse:
    return ResourceUse(
        name=name, kind=more.pop("kind", "port"), unit="bit", used_per_s=utilisation,
        capacity_per_s=1.0, utilisation=utilisation, headroom=None, split=more.pop("split", {}),
        flows=None, group="", simulated=True, **{"drops": 0, **more},
    )  # fmt: skip


def test_ports_that_are_as_full_as_each_other_have_one_bar() -> None:
    ports = [used(f"eth{number} receive", 0.8 + number / 100, drops=1) for number in range(4)]
    cpus = [used(f"cpu{n}", 0.7, kind="cpu", split={"user": 0.7}) for n in range(3)]
    two = [used("eth0 send", 0.5), used("eth1 send", 0.5)]
    far_apart = [used(f"node {number} bus 0", 0.1 + number / 5) for number in range(3)]
    found = _alike([*ports, *cpus, *two, *far_apart])
    assert [one.name for one, _ in found[:2]] == ["eth3 receive and 3 more", "cpu0"]
    assert (found[0][0].utilisation, found[0][1]) == pytest.approx((0.83, 0.8))
    assert found[0][0].drops == 4
    assert len(found) == 1 + 3 + 2 + 3
    assert [one.utilisation for one, _ in found] == sorted(
        (one.utilisation for one, _ in found), reverse=True
    )


@pytest.mark.parametrize(("work_us", "unit"), [(1.0, "ns"), (20.0, "us")])
def test_little_work_is_told_in_nanoseconds(work_us: float, unit: str) -> None:
    (axes,) = mechanism_bars({"one": {"application": work_us}}, (), unit="message").axes
    assert axes.get_ylabel() == f"CPU time per message ({unit})"
    told = f"{work_us * 1000:,.0f}" if unit == "ns" else f"{work_us:.1f}"
    assert told in {text.get_text() for text in axes.texts}
    assert axes.get_title(loc="left") == f"A message takes {told} {unit} of CPU time"


@pytest.mark.parametrize(("pause_s", "marks"), [(0.04, 1), (0.001, 0)])
def test_a_long_pause_is_marked_with_its_length(pause_s: float, marks: int) -> None:
    times = [0.001 * number for number in range(10)]
    times += [times[-1] + pause_s + 0.001 * number for number in range(10)]
    segments = [
        Segment(time_s=time, start=100 * number, end=100 * number + 100, kind=SENT)
        for number, time in enumerate(times)
    ]
    ends = ("10.0.0.1", 1), ("10.0.0.2", 2)
    axes = Figure().subplots()
    _draw(axes, Direction(*ends, segments), segments, _Scale(0.0, 1))
    assert [text.get_text() for text in axes.texts] == ["", "40 ms without data"] * marks


def _whatif(**percents: tuple[float, float]) -> WhatIf:
    """A tuning whose changes have these ends."""
    changes = tuple(
        Change(
            metric=metric, unit="", before=100.0, after=100.0 + sum(ends) / 2,
            percent=sum(ends) / 2, seeds=Interval(low=ends[0], high=ends[1]), parameters=None,
        )
        for metric, ends in percents.items()
    )  # fmt: skip
    judged = Judged(
        tuning="affinity", description="", rank=1, verdict="yes", reason="", decided_by="",
        changes=changes, pairs=8, settings={}, mechanisms=(), commands=(), warnings=(),
    )  # fmt: skip
    return WhatIf(
        scenario="made-up", version="0", fingerprint="0" * 32, settings={}, base_tunings=(),
        judged_by=tuple(percents), seeds=2, members=0, simulated_s=1.0, cpus=8,
        tunings=(judged,), exit_status=0, remarks=(),
    )  # fmt: skip


def test_what_is_better_has_one_colour_whichever_way_it_goes() -> None:
    found = intervals(
        _whatif(throughput=(5, 10), latency_p99=(-20, -10), loss=(3, 30), cpu_per_byte=(-4, 6))
    )
    dots = [line for line in found.axes[0].lines if line.get_marker() == "o"]
    assert [dot.get_color() for dot in dots] == [BETTER, WORSE, BETTER, UNSURE]
    assert "log" not in found.axes[0].get_xlabel()


def test_a_long_axis_of_changes_says_that_it_is_not_linear() -> None:
    axes = Figure().subplots()
    axes.plot([-90, 1000], [0, 1])
    assert fitted(axes) == "%, log scale beyond 20 %"
    assert axes.get_xscale() == "symlog"
    assert {-50.0, 100.0, 500.0} <= set(axes.get_xticks())
