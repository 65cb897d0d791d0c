"""APIC mode and daemon of a scenario: what is chosen, what is said, what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from simnet._share import folder
from simnet.errors import InputError
from simnet.host.apic import ApicMode
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.parts.interrupts.build_apic import apic_mode_of
from simnet.scenario.system.build import build

SCENARIO = "x460-out-of-box"
MASK = "/proc/irq/193/smp_affinity"


def mode(effective: Effective, **machine: object) -> ApicMode:
    changed = effective.machine.model_copy(update=machine)
    return apic_mode_of(changed, effective.cpu, effective.kernel)


OWN = """\
kind = "scenario"
description = "a host of one's own, and nothing said of interrupts"

[system]
server = "epyc-9004-e810"
kernel = "linux-6.12"
switch = "ethernet-25g"

[[system.peers]]
server = "epyc-9004-e810"
kernel = "linux-6.12"

[workload]
type = "netperf-tcp-stream"
test = "tcp_rr"
message = "1 B"
nodes = 1
peers_simulated = "machines"

[run]
warm_up = "1 ms"
duration = "1 ms"
seed = 1
"""


def test_nothing_said_of_interrupts_leaves_them_where_the_kernel_puts_them(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN, "utf-8")
    system = build(load(path), seed=1)
    (port,) = system.nics
    assert [line.current_target().cpu_id for line in port.lines] == list(range(32))


class TestMode:
    def test_the_x460_is_physical_by_its_kernel_s_rule(self) -> None:
        assert mode(load(SCENARIO)) == ApicMode("clustered", "first")

    def test_eight_cpus_are_flat_where_kernel_and_firmware_allow(self) -> None:
        effective = load(SCENARIO)
        cpu = effective.cpu.model_copy(update={"cores_per_socket": 2, "threads_per_core": 1})
        machine = effective.machine.model_copy(update={"nodes": 1})
        kernel = effective.kernel.model_copy(update={"version": "2.6.32"})
        assert apic_mode_of(machine, cpu, kernel).name == "flat"
        more = machine.model_copy(update={"possible_cpus": 16})
        assert apic_mode_of(more, cpu, kernel).name == "physical flat"

    @pytest.mark.parametrize(("apic", "to"), [("physical", "first"), ("logical", "all")])
    def test_a_model_may_say_otherwise(self, apic: str, to: str) -> None:
        assert mode(load(SCENARIO), apic=apic).destination == to

    def test_a_mask_of_several_is_said_to_spread_packets(self) -> None:
        settings = {"machine.apic": "logical", "irqbalance": "off", MASK: "f0000"}
        (remark,) = load(SCENARIO, settings=settings).remarks
        assert remark == (
            f"{MASK}: packets of one connection visit all 4 CPUs: interrupts are delivered in"
            " logical mode"
        )

    @pytest.mark.parametrize(("apic", "cpus"), [("kernel", {16}), ("logical", {16, 17, 18, 19})])
    def test_lines_are_programmed_as_the_mode_says(self, apic: str, cpus: set[int]) -> None:
        settings = {"machine.apic": apic, "irqbalance": "off", MASK: "f0000"}
        system = build(load(SCENARIO, settings=settings), seed=1)
        line = system.machine.apic.lines[2]
        assert {line.route().cpu_id for _ in range(8)} == cpus


class TestDaemon:
    def test_who_chooses_one_wants_it_simulated(self) -> None:
        effective = load(SCENARIO, settings={"irqbalance.daemon": "0.55"})
        assert effective.irqbalance == "daemon"
        assert effective.balancer.daemon == "0.55"

    def test_without_a_word_of_it_nothing_changes(self) -> None:
        effective = load(SCENARIO)
        assert effective.irqbalance == "settled"
        assert effective.balancer.daemon == "first-fit"

    def test_the_scenario_says_which_cpus_serve_other_devices(self) -> None:
        assert load(SCENARIO).occupied_cpus == ()
        effective = load(SCENARIO, settings={"irqbalance.daemon": "first-fit"})
        assert effective.occupied_cpus == (3, 7)
        assert "Listing 1" in effective.provenance["occupied_cpus"].source

    def test_first_fit_avoids_no_cpu_of_a_machine_of_which_nothing_is_said(self) -> None:
        effective = load("tcp-rr-one-queue", settings={"irqbalance.daemon": "first-fit"})
        assert effective.occupied_cpus == ()

    def test_first_fit_is_told_of_them_beside_the_banned(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told = []

        def daemon(_env: object, _lines: object, occupied: frozenset[int]) -> Iterator[object]:
            told.append(occupied)
            yield from ()

        monkeypatch.setattr("simnet.scenario.parts.interrupts.build.irqbalance", daemon)
        settings = {"irqbalance.daemon": "first-fit", "irqbalance.banned_cpus": "6"}
        build(load(SCENARIO, settings=settings), seed=1).env.run(until=1)
        assert told == [{1, 2, 3, 7}]

    def test_a_mask_of_a_larger_machine_is_refused(self, tmp_path: Path) -> None:
        text = (folder("scenarios") / f"{SCENARIO}.toml").read_text("utf-8")
        assert 'smp_affinity = "88"' in text
        larger = tmp_path / "larger.toml"
        larger.write_text(text.replace('"88"', '"1,00000000,00000000"'), "utf-8")
        with pytest.raises(InputError, match=r"other_devices.*CPU 64 is beyond"):
            load(str(larger), settings={"irqbalance.daemon": "first-fit"})

    def test_by_hand_each_port_has_a_cpu_at_once(self) -> None:
        settings = {"irqbalance.daemon": "hand", "irqbalance.banned_cpus": "f"}
        system = build(load(SCENARIO, settings=settings), seed=1)
        system.env.run(until=1)
        masks = [line.smp_affinity for line in system.machine.apic.lines]
        assert masks == [1 << cpu for cpu in range(4, 12)]

    @pytest.mark.parametrize("daemon", ["first-fit", "0.55", "1.0", "hand"])
    def test_each_starts(self, daemon: str) -> None:
        options = {"irqbalance.daemon": daemon, "irqbalance.banned_cpus": "0"}
        system = build(load(SCENARIO, settings=options), seed=1)
        system.env.run(until=1)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("irqbalance.daemon", "0.56", "expected one of first-fit, 0.55, 1.0, hand"),
            ("irqbalance.banned_cpus", "1,00000000,00000000", "CPU 64 is beyond the machine"),
            ("irqbalance.banned_cpus", "xyz", "expected a hexadecimal CPU mask"),
            ("irqbalance.powerthres", "1", "did you mean irqbalance.powerthresh?"),
            ("machine.apic", "flat", "expected one of kernel, physical, logical"),
        ],
    )
    def test_what_does_not_exist_is_refused(self, name: str, value: str, message: str) -> None:
        with pytest.raises(InputError, match=message.replace("?", r"\?")):
            load(SCENARIO, settings={name: value})

    @pytest.mark.parametrize(
        ("daemon", "option", "value"),
        [("0.55", "powerthresh", "2"), ("hand", "oneshot", "on"), ("first-fit", "oneshot", "on")],
    )
    def test_an_option_that_a_daemon_lacks_is_remarked(
        self, daemon: str, option: str, value: str
    ) -> None:
        settings = {"irqbalance.daemon": daemon, f"irqbalance.{option}": value}
        remark = f"irqbalance.{option}: {daemon} has no such option"
        assert load(SCENARIO, settings=settings).remarks == (remark,)
