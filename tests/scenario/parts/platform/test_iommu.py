"""An IOMMU as administrators switch it: what is mapped, what it costs, and who refuses it."""

from functools import cache

import pytest

import simnet
from simnet.errors import InputError
from simnet.net.nic.multiqueue import queues_of
from simnet.scenario.core.load import load
from simnet.scenario.parts.iommu.proposals import proposals
from simnet.scenario.parts.nic.schema import Nic
from simnet.scenario.system.build import build
from simnet.study.run.result import Result
from simnet.study.work.vary import ranged

INTEL = "stream-100g"
ON = {"intel_iommu": "on"}
STRICT = {"intel_iommu": "on", "iommu.strict": "1"}
QUEUES = ("ethtool -L eth0 combined", "ethtool -L eth1 combined")
PASSED = {"intel_iommu": "on", "iommu.passthrough": "1"}


@cache
def _run(scenario: str, *settings: tuple[str, str], ms: int = 6) -> Result:
    given = dict(settings)
    return simnet.run(scenario, settings=given, duration=f"{ms} ms", warm_up="4 ms")


def run(scenario: str, settings: dict[str, str], **more: int) -> Result:
    return _run(scenario, *settings.items(), **more)


def test_off_and_passed_through_cost_nothing() -> None:
    off = run(INTEL, {})
    for settings in (PASSED, {"iommu.strict": "1"}, {"amd_iommu": "on"}):
        same = run(INTEL, settings)
        assert (same.cpus, same.flows, same.latency_us) == (off.cpus, off.flows, off.latency_us)
        assert same.iommu == ()


def test_lazy_costs_less_than_strict() -> None:
    off, lazy, strict = (run(INTEL, settings) for settings in ({}, ON, STRICT))
    assert strict.throughput_bps < 0.8 * lazy.throughput_bps < 0.8 * off.throughput_bps
    (few,), (many,) = lazy.iommu, strict.iommu
    # a flush for each full queue, or every 10 ms; or a request for each buffer
    assert few.invalidate == few.flush < few.unmap / 200
    assert many.invalidate == many.unmap
    assert many.flush == 0


@pytest.mark.parametrize(("scenario", "step_us"), [("web-25g", 10), ("wan-transfer", 500)])
def test_what_is_mapped_is_unmapped_but_for_what_is_in_a_ring(scenario: str, step_us: int) -> None:
    effective = load(scenario, settings={f"{_vendor(scenario)}_iommu": "on"})
    system = build(effective, seed=1)
    queues = queues_of(system.nics[0])
    domain = queues[0].domain
    empty = 0
    for instant in range(1, 800):
        system.env.sim.run_until(instant * step_us * 10**6)
        held = sum(queue.tx.sent - queue.tx.reclaimed for queue in queues)
        # of a packet: its headers, and up to two fragments of a socket's pages
        assert 0 <= domain.maps - domain.unmaps <= 3 * held
        empty += held == 0
    assert empty > 10
    assert domain.unmaps > 50


def _vendor(scenario: str) -> str:
    return str(load(scenario).host.cpu.vendor)


def test_cpus_that_share_a_unit_wait_for_each_other() -> None:
    def forwarded(settings: dict[str, str], queues: int) -> Result:
        return run("router-connectx5", settings | dict.fromkeys(QUEUES, str(queues)), ms=3)

    one, many = (forwarded(STRICT, queues) for queues in (1, 6))
    assert one.iommu[0].waited_us == 0
    assert many.iommu[0].waited_us > 1000
    assert many.throughput_bps < 2.5 * one.throughput_bps
    assert forwarded({}, 6).throughput_bps > 5 * forwarded({}, 1).throughput_bps


@pytest.mark.parametrize(
    ("kernel", "value", "most"),
    [("linux-5.4", 250, 500), ("linux-6.6", 0, None), ("linux-6.12", 0, None)],
)
def test_page_pool_keeps_its_pages_mapped(kernel: str, value: int, most: int | None) -> None:
    effective = load(INTEL, settings=ON | {"system.kernel": kernel})
    share = effective.provenance["host.ports[0].nic.remapped_permille"]
    assert (share.value, share.high) == (value, most)


@pytest.mark.parametrize(
    ("driver", "value", "most"),
    [
        ("tg3", 1000, None),
        ("cxgb4", 1000, None),
        ("i40e", 0, 500),
        ("igc", 0, 500),
        ("r8169", 0, None),
        ("neutral", 500, 1000),
    ],
)
def test_drivers_differ_in_what_they_map_for_a_frame(
    driver: str, value: int, most: int | None
) -> None:
    remaps = Nic.variants()[driver].remaps("6.12")
    assert (remaps.permille, remaps.most) == (value, most)


def test_costs_are_drawn_where_buffers_are_mapped_and_nowhere_else() -> None:
    names = {one.name.rpartition(".")[2] for one in ranged(load(INTEL, settings=ON))}
    assert {"iommu_map_cycles", "iommu_unmap_cycles", "iommu_answer_ps"} <= names
    plain = {one.name.rpartition(".")[2] for one in ranged(load(INTEL))}
    assert not [name for name in plain if "iommu" in name or "remapped" in name]


def test_a_cost_that_somebody_sets_stays() -> None:
    effective = load(INTEL, settings=ON | {"kernel.iommu_answer": "2 us"})
    assert effective.host.kernel.iommu_answer_ps == 2 * 10**6


def test_what_nothing_reads_is_said() -> None:
    (line,) = load(INTEL, settings={"iommu.strict": "1"}).remarks
    assert "no buffer is mapped: intel_iommu is off" in line
    (line,) = load(INTEL, settings={"amd_iommu": "on"}).remarks
    assert "no processor of this maker" in line
    (line,) = load("home-router", settings={"iommu.strict": "1"}).remarks
    assert "has none of x86" in line


@pytest.mark.parametrize(
    ("scenario", "settings", "why"),
    [
        ("x460-out-of-box", ON, r"not in Linux 2\.6\.16: it came with Linux 4\.14"),
        ("vm-virtio", ON, "is a guest"),
        ("xdp-connectx5", ON, "programs of XDP map their frames in other ways"),
        (INTEL, {"intel_iommu": "strict"}, "expected one of off, on"),
    ],
)
def test_what_is_not_modelled_is_refused(scenario: str, settings: dict[str, str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        load(scenario, settings=settings)


def test_a_host_that_maps_has_tunings_ready_against_that() -> None:
    def names(settings: dict[str, str]) -> list[str]:
        return [one.name for one in proposals(load(INTEL, settings=settings))]

    assert names(STRICT) == ["lazy-iommu", "iommu-passthrough"]
    assert names(ON) == ["iommu-passthrough"]
    assert names({}) == names(PASSED) == []


def test_a_drive_maps_a_request_at_a_time() -> None:
    on = {"amd_iommu": "on"}
    runs = [run("nvme-local", settings) for settings in (on, on | {"iommu.strict": "1"})]
    (lazy,), (strict,) = (one.iommu for one in runs)
    assert lazy.name == "nvme0n1"
    assert lazy.map == pytest.approx(lazy.unmap, abs=200)
    assert strict.invalidate == strict.unmap > 1000
    # AMD's driver sees each answer after a whole microsecond
    busy = [sum(100 - cpu.idle for cpu in one.cpus) / 100 for one in runs]
    assert busy[1] - busy[0] == pytest.approx(strict.unmap * 1e-6 / 6e-3, rel=0.25)
