"""What is gained by lifting each sort of part."""

import pytest

from simnet.kernel.simulator import Simulator
from simnet.scenario.core.load import load
from simnet.scenario.parts.nsd.build import make_cluster
from simnet.scenario.parts.scale.build import _cores
from simnet.study.explain.bottleneck import ResourceUse, limit_of
from simnet.study.explain.explain import Explanation, explain
from simnet.study.explain.lift import Lift, lifts, not_lifted
from tests.scenario.parts.test_ess import SHORT
from tests.study.explain.test_bottleneck import use, wait
from tests.study.explain.test_explain import STREAMS

SLOW = {**STREAMS, "cpu.clock": "1 GHz"}


@pytest.fixture(scope="module")
def slow_cpus() -> Explanation:
    return explain("x460-out-of-box", settings=SLOW, duration="8 ms", warm_up="10 ms", lift=True)


def test_the_part_that_is_full_gains_and_no_other(slow_cpus: Explanation) -> None:
    assert slow_cpus.limits[0].first == "cpu0"
    gains = {one.part: one.gain for one in slow_cpus.lifted}
    assert slow_cpus.lifted[0].part == "CPUs of the system"
    assert 0.1 < gains.pop("CPUs of the system") < 0.3
    assert max(gains.values()) < 0.06
    assert set(gains) == {"network", "network latency", "CPUs of the peers", "TCP's buffers"}


def test_what_is_lifted_is_told_as_a_table(slow_cpus: Explanation) -> None:
    frame = slow_cpus.to_frame("lifted")
    assert frame["part"].iloc[0] == "CPUs of the system"
    assert frame["p99_us"].isna().all()


@pytest.mark.parametrize(
    ("scenario", "parts"),
    [
        ("ipoib-sunway", {"network", "network latency", "TCP's buffers"}),
        ("relay-tuned", {"network", "network latency", "TCP's buffers"}),
        ("vscsi-parallel", {"disks", "requests at a disk"}),
        (
            "vlan-half-cpu",
            {"entitlement of the system", "entitlement of the peers", "TCP's buffers"},
        ),
    ],
)
def test_each_scenario_has_parts_of_its_own(scenario: str, parts: set[str]) -> None:
    effective = load(scenario)
    found = {part: changed for part, _, changed in lifts(effective)}
    assert set(found) == {"CPUs of the system", "CPUs of the peers", *parts}
    assert len({changed.digest() for changed in found.values()}) == len(found)
    assert found["CPUs of the system"].cpu.clock_hz == effective.cpu.clock_hz * 5 // 4


def test_a_file_system_has_clients_servers_and_disks() -> None:
    effective = load("ess-sas")
    found = {part: changed for part, _, changed in lifts(effective)}
    assert set(found) == {
        "network",
        "network latency",
        "network adapters' buses",
        "CPUs of the system",
        "CPUs of the servers",
        "TCP's buffers",
        "pagepool",
        "NSD threads",
        "SAS",
        "disks",
    }
    storage, scale = found["network"].storage, found["pagepool"].scale
    assert storage is not None
    assert scale is not None
    assert storage.link_rate_bps == found["network"].lan.link_rate_bps == 50 * 10**9
    assert scale.pagepool_bytes == 64 << 30


def test_each_kind_of_resource_of_a_file_system_is_lifted_by_some_part() -> None:
    found = explain("ess-sas", settings=SHORT, lift=True)
    parts = {one.part for one in found.lifted}
    for one in found.resources:
        assert limits_without_a_lift([one], parts) == ()
    assert limits_without_a_lift([found.resources[0]], parts - {"CPUs of the system"}) == (
        found.resources[0].name,
    )
    assert found.not_lifted == ()
    gains = {one.part: one.gain for one in found.lifted}
    assert gains["CPUs of the system"] > 0.05


def limits_without_a_lift(resources: list[ResourceUse], parts: set[str]) -> tuple[str, ...]:
    limits = [limit_of(None, 1.0, resources, ())]
    lifted = [
        Lift(part=part, by="", throughput_bps=1.0, gain=0.0, p99_us=None, p99_gain=None)
        for part in parts
    ]
    return not_lifted(limits, resources, lifted)


def test_a_faster_core_and_a_faster_disk_take_less_time_for_the_same() -> None:
    parts = {part: changed for part, _, changed in lifts(load("ess-sas"))}
    lpars = parts["CPUs of the system"].lpars
    assert lpars is not None
    cores = _cores(lpars, 0)
    assert cores.throughput_permille == (1250, 1750)
    models = []
    for effective in (load("ess-sas"), parts["disks"]):
        cluster = make_cluster(Simulator(), effective, clients=1, seed=1)
        models.append(cluster.servers[0].raid.disks[0].surface.model)
    assert models[1].rpm == models[0].rpm * 5 // 4
    assert models[1].seek_full_ps == models[0].seek_full_ps * 4 // 5


def test_an_entitlement_grows_to_what_its_virtual_processors_can_have() -> None:
    for units, larger in (("0.5", 620), ("0.9", 1000), ("1", None)):
        settings = {"lpar proc_units": units}
        found = {part: one for part, _, one in lifts(load("vlan-half-cpu", settings=settings))}
        changed = found.get("entitlement of the system")
        partition = changed.host.partition if changed else None
        assert (partition.proc_units_permille if partition else None) == larger


def test_what_no_lift_makes_larger_is_named() -> None:
    """A pool of all processors of the server cannot have more of them."""
    parts = {part for part, _, _ in lifts(load("vlan-half-cpu"))}
    full = use("pool", 1.0, kind="pool")
    assert limits_without_a_lift([full], parts) == ("pool",)
    assert limits_without_a_lift([full, use("cpu0", 0.5)], parts) == ("pool",)
    partition = use("entitlement", 0.99, kind="partition")
    assert limits_without_a_lift([partition], parts) == ()
    window = wait("queue depth", 0.9, limit=32.0, unit="request")
    held = limit_of("sdb", 1.0, [use("sdc", 0.5, kind="disk")], [window])
    assert not_lifted([held], [use("sdc", 0.5, kind="disk")], []) == ("sdc", "queue depth")


def test_a_faster_disk_turns_faster_and_seeks_sooner() -> None:
    effective = load("vscsi-parallel")
    changed = next(one for part, _, one in lifts(effective) if part == "disks")
    before, after = (one.peers[0].disks[0].disk for one in (effective, changed))
    assert before is not None
    assert after is not None
    assert after.rpm == before.rpm * 5 // 4
    assert after.seek_average_ps == before.seek_average_ps * 4 // 5
