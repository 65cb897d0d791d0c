"""Predictions beside measurements: what is inside, what is not, and what that says."""

from functools import cache
from pathlib import Path

import pytest

import simnet
from simnet.errors import InputError
from simnet.host.costs import COST_NAMES
from simnet.report.formats import FORMATS
from simnet.study.compare import change
from simnet.study.compare.compare import Comparison, compare
from simnet.study.compare.meaning import CONTEXTS, meaning
from simnet.study.compare.metrics import kind_of, predicted
from simnet.study.compare.row import Row
from simnet.study.run.result import Result
from simnet.study.validate.kinds import KINDS
from simnet.study.whatif.whatif import WhatIf

EVERY_FRAME = {f"ethtool -C eth{port} rx-frames": "1" for port in (0, 1)}
CHANGE = ",".join("=".join(pair) for pair in EVERY_FRAME.items())
SHORT = {"settings": {"nodes": 1}, "duration": "20 ms", "warm_up": "10 ms"}


@cache
def result(seed: int = 1) -> Result:
    return simnet.run("x460-out-of-box", seed=seed, **SHORT)  # type: ignore[arg-type]


def printed(folder: Path, *formats: str, seed: int = 2) -> list[Path]:
    """What the tools would have printed of another run."""
    files = [folder / name for name in formats]
    for file in files:
        file.write_text(FORMATS[file.name](result(seed)), "utf-8")
    return files


def of(found: Comparison) -> dict[str, Row]:
    return {row.metric: row for row in found.rows}


def row(metric: str, predicted: float, measured: float, *, inside: bool = False) -> Row:
    return Row(
        metric=metric, kind=kind_of(metric), predicted=predicted, low=predicted, high=predicted,
        measured=measured, captures=1, measured_low=measured, measured_high=measured,
        difference=measured - predicted, percent=None, inside=inside,
    )  # fmt: skip


def test_what_the_formats_print_is_read_back(tmp_path: Path) -> None:
    files = printed(tmp_path, "mpstat", "netperf", seed=1)
    found = compare(result(), files, members=0)
    rows = of(found)
    assert rows["throughput_bps"].measured == pytest.approx(result().throughput_bps, rel=1e-4)
    for cpu in result().cpus:
        for name in ("user", "system", "softirq", "irq", "idle"):
            measured = rows[f"cpu.{cpu.id}.{name}"].measured
            assert measured == pytest.approx(getattr(cpu, name), abs=0.006)
    assert found.exit_status == 0
    assert found.says == ("what was measured does not contradict the model",)


def test_the_ticks_of_sar_are_inside(tmp_path: Path) -> None:
    assert "cpu.0.kernel" in of(compare(result(), printed(tmp_path, "sar"), members=0))


def test_drawn_parameters_widen_what_is_not_known(tmp_path: Path) -> None:
    files = printed(tmp_path, "mpstat", "netperf")
    alone = of(compare(result(), files, members=0))
    found = compare(result(), files, members=6, jobs=1)
    assert found.members == 7
    for metric, one in of(found).items():
        assert one.low <= alone[metric].low
        assert one.high >= alone[metric].high
    assert any(one.high > 1.01 * alone[metric].high for metric, one in of(found).items())


def test_a_difference_is_outside_and_named(tmp_path: Path) -> None:
    low = tmp_path / "low.toml"
    low.write_text(f"throughput_bps = {result().throughput_bps / 2}\n", "utf-8")
    found = compare(result(), low, members=0)
    assert found.exit_status == 1
    assert of(found)["throughput_bps"].percent == pytest.approx(-50)
    assert found.says[0].startswith("less is carried than predicted: ")


def test_several_captures_are_a_mean_with_students_interval(tmp_path: Path) -> None:
    files = [tmp_path / f"{factor}.toml" for factor in (0.5, 1.5, 1.1)]
    for file in files:
        rate = result().throughput_bps * float(file.stem)
        file.write_text(f"throughput_bps = {rate}\n", "utf-8")
    only = of(compare(result(), files, members=0))["throughput_bps"]
    assert (only.captures, only.inside) == (3, True)
    assert only.measured / only.predicted == pytest.approx(3.1 / 3)
    # 4.303 standard errors of the mean
    assert (only.measured_high - only.measured) / only.predicted == pytest.approx(1.2503, rel=1e-3)


def test_a_scenario_that_has_changed_gives_no_draws(tmp_path: Path) -> None:
    other = result().model_copy(update={"settings": {"nodes": "2"}})
    files = printed(tmp_path, "netperf")
    found = compare(other, files, members=6)
    assert found.members == 0
    assert any("has changed since the prediction" in one for one in found.remarks)
    unknown = result().model_copy(update={"scenario": "mine"})
    assert any("--scenario" in one for one in compare(unknown, files, members=6).remarks)


@cache
def foreseen() -> WhatIf:
    """What two tunings would do to a host."""
    short = {**SHORT, "settings": {"nodes": 1, "seed": 3}, "seeds": 2, "members": 0}
    tunings = ["affinity", "irqbalance=off"]
    return simnet.whatif("x460-out-of-box", tunings, jobs=1, **short)  # type: ignore[arg-type]


def test_a_tuning_of_a_what_if_is_a_prediction(tmp_path: Path) -> None:
    saved = tmp_path / "whatif.json"
    saved.write_text(foreseen().to_json(), "utf-8")
    long = simnet.run("x460-out-of-box", settings={"nodes": 1}, tunings="affinity")
    (tmp_path / "mpstat").write_text(FORMATS["mpstat"](long), "utf-8")
    found = compare(saved, tmp_path / "mpstat", tunings="affinity", members=0, jobs=1)
    assert (found.tunings, found.settings["nodes"]) == (("affinity",), "1")
    assert found.exit_status == 0
    assert any("is simulated again as the scenario is now" in one for one in found.remarks)
    for tuning, message in ((None, "which tuning was applied"), ("afinity", "did you mean aff")):
        with pytest.raises(InputError, match=message):
            compare(foreseen(), tmp_path / "mpstat", tunings=tuning)
    with pytest.raises(InputError, match="tunings: only of a what-if"):
        compare(result(), tmp_path / "mpstat", tunings="affinity")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """What was measured twice before a change and twice after it.

    The host carries a quarter more than the model says, before and after.
    """
    folder = tmp_path_factory.mktemp("real")
    found: dict[str, list[Path]] = {}
    for state, settings in (("before", {}), ("after", EVERY_FRAME)):
        for seed in (5, 6):
            run = {**SHORT, "settings": {"nodes": 1, **settings}, "seed": seed}
            one = simnet.run("x460-out-of-box", **run)  # type: ignore[arg-type]
            file = folder / f"{state}{seed}.toml"
            busy = sum(cpu.busy for cpu in one.cpus) / len(one.cpus)
            file.write_text(
                f"throughput_bps = {1.25 * one.throughput_bps}\ncpu.all.busy = {busy}\n", "utf-8"
            )
            found.setdefault(state, []).append(file)
    return found


@pytest.fixture
def as_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of how far off changes were."""
    monkeypatch.setattr(change, "known_changes", tuple)


@pytest.mark.nightly
@pytest.mark.usefixtures("as_predicted")
def test_a_change_is_predicted_from_where_the_host_was(real: dict[str, list[Path]]) -> None:
    short = {"settings": {"nodes": "1"}, "members": 0, "seeds": 2, "duration": "20 ms"}
    said = simnet.whatif("x460-out-of-box", [CHANGE], jobs=1, warm_up="10 ms", **short)  # type: ignore[arg-type]
    found = compare(said, real["after"], before=real["before"], members=0, jobs=1)
    rate, busy = (of(found)[name] for name in ("throughput_bps", "cpu.all.busy"))
    assert rate.before is not None
    assert found.before == tuple(map(str, real["before"]))
    assert rate.inside
    assert busy.inside
    # a quarter more before gives a quarter more after
    plain = compare(said, real["after"], members=0, jobs=1)
    assert rate.predicted / of(plain)["throughput_bps"].predicted == pytest.approx(1.25, rel=0.05)
    assert busy.predicted > 1.2 * (busy.before or 0)
    undone = compare(said, real["before"], before=real["after"], members=0, jobs=1)
    assert not of(undone)["cpu.all.busy"].inside
    assert undone.exit_status == 1


@pytest.mark.usefixtures("as_predicted")
def test_one_capture_leaves_chance_unknown(real: dict[str, list[Path]]) -> None:
    options = {"tunings": "affinity", "before": real["before"], "members": 0}
    found = compare(foreseen(), real["after"][0], **options)  # type: ignore[arg-type]
    assert any("several before and after" in one for one in found.remarks)
    assert not all(row.inside for row in found.rows)
    assert found.exit_status == 3


def test_a_change_needs_a_what_if_and_one_metric_on_both_sides(
    real: dict[str, list[Path]], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="before: a change is predicted by what simnet whatif"):
        compare(result(), real["after"], before=real["before"], members=0)
    other = tmp_path / "other.toml"
    other.write_text("cpu.all.user = 1\n", "utf-8")
    with pytest.raises(InputError, match="nothing in it was measured after the change"):
        compare(foreseen(), real["after"], tunings="affinity", before=other, members=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("throughput_bsp = 1\n", "throughput_bsp: the prediction has no such metric; did you mean"),
        (
            "cpu.all.softirq = 1\ncpu.99.idle = 3\n",
            "cpu.99.idle: the prediction has no such metric",
        ),
        ("cpu.all.softirq = -1\n", "cpu.all.softirq: expected 0 to 100 percent, got -1"),
    ],
)
def test_metrics_of_a_person_must_be_known(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "by-hand.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        compare(result(), file, members=0)


def test_a_capture_with_nothing_predicted_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rr.txt"
    file.write_text("TCP REQUEST/RESPONSE TEST\n1 1 1 1 10.00 5.00\n", "utf-8")
    with pytest.raises(InputError, match="nothing in it is predicted; there are CPU shares and"):
        compare(result(), file, members=0)


def test_every_metric_is_of_a_kind() -> None:
    assert {kind_of(metric) for metric in predicted(result())} <= KINDS.keys()
    assert kind_of("disk.sda.await_ms") == "storage latency"
    assert kind_of("latency_us.p99") == "latency"


def test_costs_that_are_named_are_costs_of_a_cpu() -> None:
    assert {name for names in CONTEXTS.values() for name in names} <= set(COST_NAMES)


@pytest.mark.parametrize(
    ("rows", "busiest", "starts"),
    [
        ([row("throughput_bps", 2, 1)], 99.0, ["less is carried than predicted: a CPU is full"]),
        ([row("throughput_bps", 1, 2)], 20.0, ["more is carried than predicted: no CPU is full"]),
        ([row("port.eth0.interrupts_per_s", 2, 1)], 0.0, ["the rate of interrupts is off"]),
        (
            [row("throughput_bps", 1, 1, inside=True), row("cpu.0.softirq", 40, 20)],
            99.0,
            ["softirq time is off, with it these costs: poll_cycles, driver_rx_cycles"],
        ),
        ([row("cpu.all.kernel", 40, 20)], 0.0, ["sar's %system is off: mpstat -P ALL tells"]),
        ([row("latency_us.p99", 40, 20)], 0.0, ["only latency is off"]),
        ([row("disk.sda.await_ms", 4, 2)], 0.0, ["a disk is off"]),
    ],
)
def test_what_is_off_says_what_to_look_at(
    rows: list[Row], busiest: float, starts: list[str]
) -> None:
    says = meaning(rows, busiest)
    assert len(says) == len(starts)
    for sentence, start in zip(says, starts, strict=True):
        assert sentence.startswith(start)


def test_the_direction_of_costs() -> None:
    assert meaning([row("cpu.0.softirq", 40, 20)], 0.0)[0].endswith("are too high")
    assert meaning([row("cpu.0.softirq", 20, 40)], 0.0)[0].endswith("are too low")


def test_the_direction_of_costs_is_that_of_all_cpus_together() -> None:
    """The simulation's CPU of RSS is idle on the host, and all others work more than predicted."""
    chosen, others = row("cpu.10.softirq", 6.0, 0.1), row("cpu.all.softirq", 0.54, 2.08)
    assert meaning([chosen, others], 0.0)[0].endswith("are too low")
    same = row("cpu.all.softirq", 0.54, 0.55, inside=True)
    assert meaning([chosen, same], 0.0) == (
        "softirq time is on other CPUs than predicted, and together as much",
    )
    alone = [chosen, *(row(f"cpu.{n}.softirq", 0.1, 2.0) for n in range(8))]
    assert meaning(alone, 0.0)[0].endswith("are too low")
