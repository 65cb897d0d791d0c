"""Pictures of sweeps: what is chance looks flat, good has one colour, digits may have no order."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.report.html.make import saved_parts
from simnet.study.figures.pareto import front
from simnet.study.sweep.sweep import Point, Sweep, sweep

MASK = "/proc/irq/177/smp_affinity"


def _sweep(
    axes: Mapping[str, tuple[str, ...]], measured: Callable[[dict[str, str], int], dict[str, float]]
) -> Sweep:
    points = [
        Point(settings, "", seed, {"cpu_busy_percent": 1.0, **measured(settings, seed)})
        for row in product(*axes.values())
        for settings in [dict(zip(axes, row, strict=True))]
        for seed in (1, 2, 3)
    ]
    return Sweep("tiny", tuple(axes), tuple(points))


def _throughput(mean: Callable[[dict[str, str]], float], spread: float = 1e6) -> Any:
    return lambda settings, seed: {"throughput_bps": mean(settings) + spread * (-1) ** seed}


PLANE = {"message": ("64 B", "1 KiB"), "nodes": ("1", "2")}


def _colours(found: Sweep, by: str = "throughput_bps", panel: int = 0) -> Any:
    image: Any
    (image,) = found.plot(by).axes[panel].get_images()
    return image.norm(image.get_array()), image.get_cmap().name


def test_differences_by_chance_have_nearly_one_colour_and_others_all() -> None:
    flat, _ = _colours(_sweep(PLANE, _throughput(lambda s: 1e9 + 1e6 * int(s["nodes"]), 3e6)))
    steep, _ = _colours(_sweep(PLANE, _throughput(lambda s: 1e9 * int(s["nodes"]), 3e6)))
    assert flat.max() - flat.min() < 0.05
    assert (steep.min(), steep.max()) == (0, 1)


def test_the_scale_is_wider_than_the_noise() -> None:
    noisy, _ = _colours(_sweep(PLANE, _throughput(lambda s: 1e9 + 2e8 * int(s["nodes"]), 2e8)))
    assert noisy.max() - noisy.min() < 0.2


def test_squares_of_one_colour_have_numbers_of_one_colour() -> None:
    flat = _sweep(PLANE, _throughput(lambda s: 1e9 + 1e6 * int(s["nodes"]), 3e6)).plot()
    assert {text.get_color() for text in flat.axes[0].texts} == {"white"}
    steep = _sweep(PLANE, _throughput(lambda s: 1e9 * int(s["nodes"]), 3e6)).plot()
    inks = {text.get_text(): text.get_color() for text in steep.axes[0].texts}
    assert inks == {"999": "white", "1999": "black"}


def test_one_run_of_each_says_what_is_outlined() -> None:
    found = _sweep(PLANE, _throughput(lambda s: 1e9 * int(s["nodes"])))
    assert "outlined: not distinguishable" in found.plot().get_suptitle()
    once = replace(found, points=tuple(one for one in found.points if one.seed == 1))
    assert once.plot().get_suptitle().endswith("outlined: the best, of one run each")


def test_good_is_bright_whether_more_is_better_or_less() -> None:
    def late(settings: dict[str, str], seed: int) -> dict[str, float]:
        value = 10.0 * int(settings["nodes"]) + seed
        return {"throughput_bps": 1e9, "latency_us_p50": value, "latency_us_p99": 2 * value}

    found = _sweep(PLANE, late)
    names = [_colours(found, by)[1] for by in ("throughput_bps", "latency_us_p99")]
    assert names == ["viridis", "viridis_r"]
    panels = found.plot(picture="latency").axes[:2]
    assert [panel.get_title() for panel in panels] == ["latency p50 (us)", "latency p99 (us)"]


def test_a_knob_with_one_value_is_no_dimension() -> None:
    axes = {"nodes": ("1",), "message": ("64 B", "1 KiB", "16 KiB")}
    figure = _sweep(axes, _throughput(lambda _: 1e9)).plot()
    assert not figure.axes[0].get_images()
    assert figure.axes[0].get_xlabel() == "message"
    assert "with nodes=1" in figure.get_suptitle()
    assert not figure.legends


@pytest.mark.parametrize(
    ("name", "values", "places", "style"),
    [
        (MASK, ("1", "10", "4"), [0, 1, 2], "None"),
        ("nodes", ("1", "4", "2"), [1, 2, 4], "-"),
        ("message", ("64 B", "1 KiB"), [64, 1024], "-"),
        ("net.ipv4.tcp_congestion_control", ("reno", "bic"), [0, 1], "None"),
    ],
)
def test_only_amounts_have_an_order_and_a_line(
    name: str, values: tuple[str, ...], places: list[float], style: str
) -> None:
    panel: Any = _sweep({name: values}, _throughput(lambda _: 1e9)).plot().axes[0]
    (curve,) = panel.containers
    assert list(curve.lines[0].get_xdata()) == places
    assert curve.lines[0].get_linestyle() == style


def test_the_axis_is_a_knob_with_an_order_if_there_is_one() -> None:
    axes = {MASK: ("1", "4", "ff"), "nodes": ("1", "2")}
    found = _sweep(axes, _throughput(lambda _: 1e9))
    assert found.plot().axes[0].get_xlabel() == "nodes"


def test_what_none_beats_in_both_is_the_front() -> None:
    assert front([(1, 5), (2, 4), (2, 3), (3, 1), (0, 5)]) == [0, 1, 3]


def test_what_more_costs_names_the_points_that_none_beats() -> None:
    def paid(settings: dict[str, str], seed: int) -> dict[str, float]:
        nodes = int(settings["nodes"])
        wasted = 5.0 * (settings["message"] == "64 B")
        return {"throughput_bps": 1e9 * nodes + seed, "cpu_busy_percent": nodes + wasted}

    figure = _sweep(PLANE, paid).plot(picture="pareto")
    (panel,) = figure.axes  # no latency was measured
    assert {text.get_text() for text in panel.texts} == {"1 KiB, 1", "1 KiB, 2"}
    assert panel.get_xlabel() == "CPU (% of all), less is better"


def test_costs_that_are_nearly_alike_look_alike() -> None:
    def paid(settings: dict[str, str], seed: int) -> dict[str, float]:
        return {"throughput_bps": 1e9 + seed, "cpu_busy_percent": 20 + int(settings["nodes"]) / 100}

    (panel,) = _sweep(PLANE, paid).plot(picture="pareto").axes
    left, right = panel.get_xlim()
    assert right - left == pytest.approx(2, rel=0.01)


def _one_run(mean: Callable[[dict[str, str]], float]) -> Sweep:
    found = _sweep(PLANE, _throughput(mean))
    return replace(found, points=tuple(point for point in found.points if point.seed == 1))


def test_combinations_that_equal_the_best_are_outlined_with_it() -> None:
    found = _one_run(lambda settings: 1e9 * int(settings["nodes"]))
    figure = found.plot()
    assert len(figure.axes[0].patches) == 2
    assert "outlined: the best, of one run each" in str(figure.get_suptitle())
    assert "and 1 more that equal it" in found.optimum().sentence()


def test_where_all_are_equal_none_is_called_the_best() -> None:
    found = _one_run(lambda _: 1e9)
    figure = found.plot()
    assert not figure.axes[0].patches
    assert "outlined" not in str(figure.get_suptitle())
    assert found.optimum().sentence().endswith(", the same with all 4 combinations")


def test_another_picture_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^picture: expected one of values, latency, pareto"):
        _sweep(PLANE, _throughput(lambda _: 1e9)).plot(picture="heat")


def test_the_title_and_a_saved_sweep_say_what_was_set(tmp_path: Path) -> None:
    short: Any = {"warm_up": "5 ms", "duration": "5 ms"}
    found = sweep("x460-out-of-box", {"nodes": "1,2"}, settings={"message": "1460 B"}, **short)
    heading = found.plot().get_suptitle()
    assert heading.startswith("x460-out-of-box with message=1460 B: 2 runs")
    file = tmp_path / "sweep.json"
    file.write_text(found.to_json(), encoding="utf-8")
    (part,) = saved_parts([file], simulate=False)
    assert "message=1460 B" in part.question
    typed = [block for section in part.sections for block in section.blocks]
    assert any("--set 'message=1460 B'" in getattr(block, "text", "") for block in typed)
