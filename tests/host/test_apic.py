"""Which mode a kernel chooses for its APICs, and where interrupts go in each."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import SimulationError
from simnet.host.apic import Apic, ApicMode, Firmware, apic_ids, apic_mode, physical_mode
from simnet.host.interrupt import ARBITRATIONS, Arbiter
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from tests.host.parts import make_machine

FLAT = ApicMode("flat", "all")
PHYSICAL = ApicMode("physical flat", "first")
CLUSTERED = ApicMode("clustered", "first")

EIGHT = Firmware(tuple(range(8)), 8)
# two quad-core sockets of 16 APIC ids each, no Hyper-Threading
SOCKETS = Firmware(apic_ids(2, 4, 16), 8)
MANY = Firmware(tuple(range(64)), 64)


@pytest.mark.parametrize(
    ("version", "changes", "distribution", "mode"),
    [
        # arch/x86_64/kernel/genapic.c of 2.6.18
        ("2.6.18", {"hotplug_cpu": False}, "", FLAT),
        ("2.6.18", {}, "", PHYSICAL),
        ("2.6.18", {"force_physical": True, "hotplug_cpu": False}, "", CLUSTERED),
        ("2.6.18", {"vendor": "amd", "hotplug_cpu": False}, "", FLAT),
        ("2.6.18", {"vendor": "amd"}, "", PHYSICAL),
        ("2.6.18", {"vendor": "amd", "hotplug_cpu": False, "apic_ids": (0, 9)}, "", PHYSICAL),
        ("2.6.18", {"vendor": "amd", "hotplug_cpu": False, "apic_ids": (0, 8)}, "", FLAT),
        ("2.6.18", {"hotplug_cpu": False, "apic_ids": apic_ids(2, 4, 16)}, "", CLUSTERED),
        ("2.6.18", {"hotplug_cpu": False, "apic_ids": tuple(range(9))}, "", CLUSTERED),
        ("2.6.18", {"hotplug_cpu": False, "apic_ids": (16, 17)}, "", CLUSTERED),
        # its successor in RHEL 5: two clusters are one chassis
        ("2.6.18", {"apic_ids": apic_ids(2, 4, 16)}, "rhel", PHYSICAL),
        ("2.6.18", {"hotplug_cpu": False, "apic_ids": apic_ids(2, 4, 16)}, "rhel", FLAT),
        ("2.6.18", {"apic_ids": apic_ids(3, 4, 16)}, "rhel", CLUSTERED),
        ("2.6.18", {"apic_ids": (0, 32)}, "rhel", CLUSTERED),
        ("2.6.18", {"vendor": "amd"}, "rhel", FLAT),
        ("2.6.18", {"vendor": "amd", "apic_ids": (0, 9)}, "rhel", PHYSICAL),
        # cpu_possible_map
        ("2.6.25", {"apic_ids": apic_ids(2, 4, 16)}, "", FLAT),
        ("2.6.25", {"possible_cpus": 9}, "", PHYSICAL),
        ("2.6.25", {"force_physical": True}, "", PHYSICAL),
        # max_physical_apicid
        ("2.6.29", {}, "", FLAT),
        ("2.6.29", {"possible_cpus": 16}, "", FLAT),
        ("2.6.29", {"apic_ids": (0, 8)}, "", PHYSICAL),
        # num_possible_cpus
        ("2.6.32", {"apic_ids": apic_ids(2, 4, 16)}, "rhel", FLAT),
        ("2.6.32", {"possible_cpus": 9}, "rhel", PHYSICAL),
        ("2.6.32", {"force_physical": True}, "", PHYSICAL),
        ("3.8", {"possible_cpus": 16}, "", PHYSICAL),
        # x2APIC
        ("2.6.32", {"x2apic": True}, "rhel", ApicMode("cluster x2apic", "first")),
        ("3.5", {"x2apic": True}, "", ApicMode("cluster x2apic", "first")),
        ("3.6", {"x2apic": True}, "", ApicMode("cluster x2apic", "cluster")),
        ("3.8", {"x2apic": True}, "", ApicMode("cluster x2apic", "cluster")),
        ("4.14", {"x2apic": True}, "", ApicMode("cluster x2apic", "cluster")),
        ("4.15", {"x2apic": True}, "", ApicMode("cluster x2apic", "fewest")),
        ("3.8", {"x2apic": True, "force_physical": True}, "", ApicMode("physical x2apic", "first")),
        ("2.6.18", {"x2apic": True, "hotplug_cpu": False}, "", FLAT),
        ("5.14", {"x2apic": True}, "", ApicMode("cluster x2apic", "fewest")),
        # one CPU for each interrupt
        ("4.14", {}, "", FLAT),
        ("4.15", {}, "", ApicMode("flat", "fewest")),
        ("6.1", {"possible_cpus": 9}, "", ApicMode("physical flat", "fewest")),
        ("6.18", {}, "", ApicMode("physical flat", "fewest")),
        # the last before and the first with each change
        ("2.6.17", {"apic_ids": apic_ids(2, 4, 16)}, "rhel", CLUSTERED),
        ("2.6.20", {"apic_ids": apic_ids(2, 4, 16)}, "", CLUSTERED),
        ("2.6.21", {"apic_ids": apic_ids(2, 4, 16)}, "", FLAT),
        ("2.6.21", {"apic_ids": apic_ids(2, 4, 16)}, "rhel", FLAT),
        ("2.6.26", {"possible_cpus": 9, "apic_ids": (0, 7)}, "", PHYSICAL),
        ("2.6.26", {"possible_cpus": 8, "apic_ids": (0, 8)}, "", FLAT),
        ("2.6.26", {"x2apic": True}, "", FLAT),
        ("2.6.27", {"possible_cpus": 9, "apic_ids": (0, 7)}, "", FLAT),
        ("2.6.27", {"possible_cpus": 8, "apic_ids": (0, 8)}, "", PHYSICAL),
        ("2.6.27", {"x2apic": True}, "", ApicMode("cluster x2apic", "first")),
        ("2.6.31", {"possible_cpus": 9, "apic_ids": (0, 7)}, "", FLAT),
        ("2.6.32", {"possible_cpus": 8, "apic_ids": (0, 8)}, "", FLAT),
        ("3.6", {"x2apic": True, "force_physical": True}, "", ApicMode("physical x2apic", "first")),
        ("4.15", {"possible_cpus": 9}, "", ApicMode("physical flat", "fewest")),
        ("6.11", {}, "", ApicMode("flat", "fewest")),
        ("6.12", {}, "", ApicMode("physical flat", "fewest")),
    ],
)  # fmt: skip
def test_kernel_chooses(
    version: str, changes: dict[str, object], distribution: str, mode: ApicMode
) -> None:
    assert apic_mode(version, replace(EIGHT, **changes), distribution) == mode  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["2.6.16", "2.6.18", "2.6.25", "2.6.29", "2.6.32", "6.18"])
def test_more_than_eight_cpus_are_always_physical(version: str) -> None:
    assert apic_mode(version, MANY).destination not in {"all", "cluster"}


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ((2, 4), (0, 1, 2, 3, 4, 5, 6, 7)),
        ((2, 3), (0, 1, 2, 4, 5, 6)),
        ((2, 2, 16), (0, 1, 16, 17)),
        ((1, 1), (0,)),
    ],
)
def test_apic_ids_leave_room_for_a_whole_socket(
    arguments: tuple[int, ...], ids: tuple[int, ...]
) -> None:
    assert apic_ids(*arguments) == ids


def make_apic(mode: ApicMode, arbiter: Arbiter | None = None, ids: tuple[int, ...] = ()) -> Apic:
    machine = make_machine(Simulator(), cores_per_socket=8)
    return Apic(machine.cpus, mode, arbiter, ids)


def served(apic: Apic, mask: int, interrupts: int = 8) -> list[int]:
    line = apic.line(177, "eth0", mask)
    return [line.route().cpu_id for _ in range(interrupts)]


@pytest.mark.parametrize("mode", [PHYSICAL, CLUSTERED, ApicMode("physical x2apic", "first")])
@given(mask=st.integers(1, 255))
def test_physical_modes_use_the_first_cpu_of_a_mask(mode: ApicMode, mask: int) -> None:
    first = min(cpu for cpu in range(8) if mask >> cpu & 1)
    assert served(make_apic(mode), mask) == [first] * 8


@given(mask=st.integers(1, 255), rule=st.sampled_from(ARBITRATIONS), count=st.integers(1, 40))
def test_flat_mode_stays_within_the_mask(mask: int, rule: str, count: int) -> None:
    apic = make_apic(FLAT, Arbiter(rule, stream(1, "chipset")))
    line = apic.line(177, "eth0", mask)
    for _ in range(count):
        assert mask >> line.route().cpu_id & 1
    assert sum(line.counts) == line.total == count


def test_rotating_arbitration_takes_one_cpu_after_the_other() -> None:
    assert served(make_apic(FLAT), 0b1011) == [0, 1, 3, 0, 1, 3, 0, 1]


def test_the_rotation_is_the_chipset_s_and_not_the_line_s() -> None:
    apic = make_apic(FLAT)
    one, two = apic.line(177, "eth0", 0b11), apic.line(185, "eth1", 0b111)
    order = [line.route().cpu_id for line in (one, two, one, two, two)]
    assert order == [0, 1, 0, 1, 2]


def test_other_chipsets_arbitrate_otherwise() -> None:
    assert served(make_apic(FLAT, Arbiter("first")), 0b1010) == [1] * 8
    random = served(make_apic(FLAT, Arbiter("random", stream(1, "chipset"))), 0b1010, 200)
    assert set(random) == {1, 3}
    assert 60 < Counter(random)[1] < 140


def test_a_cluster_is_a_destination() -> None:
    ids = (0, 1, 2, 3, 16, 17, 18, 19)
    apic = make_apic(ApicMode("cluster x2apic", "cluster"), ids=ids)
    assert set(served(apic, 0b1111_1100)) == {2, 3}
    assert set(served(apic, 0b1111_0000)) == {4, 5, 6, 7}


def test_one_target_goes_where_the_fewest_interrupts_are_and_stays() -> None:
    apic = make_apic(ApicMode("flat", "fewest"))
    lines = [apic.line(irq, f"eth{irq}", 0b111) for irq in range(4)]
    assert [line.current_target().cpu_id for line in lines] == [0, 1, 2, 0]
    lines[1].smp_affinity = 0b1010
    lines[2].smp_affinity = 0b011
    for line in lines:
        line.route()
    # CPU 1 is in the new mask of line 1; of CPUs 0 and 1 the second has fewer for line 2
    assert [line.current_target().cpu_id for line in lines] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("mask", "node", "cpus"),
    [
        # the default mask: the node's CPUs, one after the other
        (0b1111, 1, [2, 3, 2, 3, 2]),
        (0b1111, 0, [0, 1, 0, 1, 0]),
        # a device of no node, or of one without CPUs
        (0b1111, -1, [0, 1, 2, 3, 0]),
        (0b1111, 7, [0, 1, 2, 3, 0]),
        # a mask that somebody wrote is obeyed
        (0b0111, 1, [0, 1, 2, 0, 1]),
    ],
)
def test_new_vectors_go_to_the_cpu_with_the_fewest(mask: int, node: int, cpus: list[int]) -> None:
    machine = make_machine(Simulator(), nodes=2, cores_per_socket=2)
    apic = Apic(machine.cpus, physical_mode("4.15"))
    lines = [apic.line(80 + queue, f"eth0-{queue}", mask, node) for queue in range(5)]
    assert [line.current_target().cpu_id for line in lines] == cpus


def test_an_earlier_kernel_takes_the_first_cpu() -> None:
    machine = make_machine(Simulator(), nodes=2, cores_per_socket=2)
    apic = Apic(machine.cpus, physical_mode("4.14"))
    lines = [apic.line(80 + queue, f"eth0-{queue}", 0b1111, 1) for queue in range(3)]
    assert [line.current_target().cpu_id for line in lines] == [0, 0, 0]


def test_a_new_mask_of_several_is_programmed_at_the_next_interrupt() -> None:
    line = make_apic(FLAT).line(177, "eth0", 0b1)
    line.smp_affinity = 0b110
    assert line.smp_affinity == 0b110
    assert [line.route().cpu_id for _ in range(4)] == [0, 1, 2, 1]
    assert line.smp_affinity == 0b110


def test_the_mask_is_shown_as_written_though_one_cpu_serves() -> None:
    line = make_apic(PHYSICAL).line(177, "eth0", 0b1111_1100)
    line.route()
    assert line.smp_affinity == 0b1111_1100
    assert line.current_target().cpu_id == 2


@pytest.mark.parametrize("mode", [PHYSICAL, FLAT])
def test_masks_are_as_wide_as_the_machine(mode: ApicMode) -> None:
    machine = make_machine(Simulator(), cores_per_socket=80)
    line = Apic(machine.cpus, mode).line(177, "eth0", 1 << 63 | 1 << 70)
    assert line.route().cpu_id == 63
    line.smp_affinity = 1 << 79 | 1 << 90
    assert line.smp_affinity == 1 << 79
    line.route()
    assert line.route().cpu_id == 79


def test_a_mask_without_a_cpu_is_refused() -> None:
    with pytest.raises(SimulationError, match="irq 177: smp_affinity names none"):
        make_apic(FLAT).line(177, "eth0", 0b1_0000_0000)
