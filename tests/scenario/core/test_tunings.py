"""Named tunings: how they compose, and what irqbalance does to interrupts placed by hand."""

import pytest

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.library import read_scenario
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario, scenario_names
from tests.scenario.conftest import Workspace

SCENARIO = "x460-out-of-box"
BY_HAND = "/proc/irq/193/smp_affinity"


def _masks(effective: Effective) -> list[tuple[int, ...]]:
    return [port.smp_affinity for port in effective.ports]


@pytest.mark.parametrize("scenario", scenario_names())
def test_every_tuning_of_a_scenario_changes_it_without_a_remark_on_irqbalance(
    scenario: str,
) -> None:
    untouched = load(scenario).digest()
    for tuning in read_scenario(find_scenario(scenario))[0].tunings:
        tuned = load(scenario, tunings=[tuning])
        assert tuned.tunings == (tuning,)
        assert tuned.digest() != untouched, tuning
        assert not [remark for remark in tuned.remarks if "irqbalance" in remark], tuning


def test_affinity_serves_each_port_at_home_on_a_core_of_its_own() -> None:
    tuned = load(SCENARIO, tunings=["affinity"])
    assert tuned.irqbalance == "off"
    assert [len(mask) for mask in _masks(tuned)] == [1] * 8
    cpus = [mask[0] for mask in _masks(tuned)]
    assert [tuned.host.node_of(cpu) for cpu in cpus] == [port.node for port in tuned.ports]
    assert len({cpu // tuned.cpu.threads_per_core for cpu in cpus}) == 8
    assert {flow.cpubind_node for flow in tuned.flows} == {None}


def test_numactl_binds_each_process_to_the_node_of_its_port() -> None:
    tuned = load(SCENARIO, tunings=["numactl"])
    nodes = [tuned.ports[flow.port].node for flow in tuned.flows]
    assert [flow.cpubind_node for flow in tuned.flows] == nodes
    assert [flow.preferred_node for flow in tuned.flows] == nodes
    assert _masks(tuned) == _masks(load(SCENARIO))


def test_tunings_that_touch_different_knobs_compose_in_any_order() -> None:
    one, other = (
        load(SCENARIO, tunings=names) for names in (["affinity", "numactl"], ["numactl+affinity"])
    )
    assert one.digest() == other.digest()
    assert other.tunings == ("numactl", "affinity")
    assert _masks(one) == _masks(load(SCENARIO, tunings=["affinity"]))


def test_of_equal_knobs_the_later_wins_and_settings_are_last(workspace: Workspace) -> None:
    table = '[tunings.{}]\ndescription = "d"\n"ethtool -C eth0 rx-frames" = {}\n\n'
    both = table.format("few", 1) + table.format("many", 50)
    workspace.edit("mine.toml", "[tunings.numactl]", f"{both}[tunings.numactl]")

    def rx_frames(*tunings: str, **set_too: str) -> int:
        settings = {f"ethtool -C {port} rx-frames": value for port, value in set_too.items()}
        return int(
            vars(load("mine.toml", tunings=tunings, settings=settings).ports[0].nic)["rx_frames"]
        )

    assert rx_frames() == 5
    assert rx_frames("few", "many") == rx_frames("few+many") == 50
    assert rx_frames("many", "few") == 1
    assert rx_frames("many", eth0="7") == 7


def test_a_value_of_a_tuning_says_where_it_stands(workspace: Workspace) -> None:
    line = workspace.edit("mine.toml", '"numactl --cpubind" = "nic"', '"numactl --cpubind" = 3')
    applied = {knob.name: knob for knob in load("mine.toml", tunings=["numactl"]).applied}
    assert applied["numactl --cpubind"].source == f"mine.toml:{line}"
    assert applied["numactl --cpubind"].value == "3"


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("afinity", "afinity", "unknown tuning; did you mean affinity?"),
        (
            "zzz",
            "zzz",
            (
                "unknown tuning: the scenario has numactl, affinity;"
                " this system takes processes-on-node, ring-max, jumbo"
            ),
        ),
        ("affinity+nmactl", "nmactl", "unknown tuning; did you mean numactl?"),
        ("affinity+", "affinity+", "expected names of tunings with + between"),
        ("", None, "expected names of tunings with + between"),
    ],
)
def test_an_unknown_tuning_names_the_nearest(name: str, key: str | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, tunings=[name])
    found = (caught.value.file, caught.value.key, caught.value.message)
    assert found == ("--tuning", key, message)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("[tunings.numactl]", '[tunings."a b"]',
         "tunings.a b: expected a text of the form ^[A-Za-z0-9][A-Za-z0-9_-]*$, got 'a b'"),
        ('"numactl --preferred" = "nic"', '"numactl --preferred" = {value = "nic", source = 1}',
         "tunings.numactl.numactl --preferred.source: expected a text, got 1"),
        ('"numactl --preferred" = "nic"', '"numactl --prefered" = "nic"',
         "numactl --prefered: unknown knob; did you mean numactl --preferred?"),
        ('"numactl --preferred" = "nic"', '"numactl --preferred" = "4"',
         "numactl --preferred: NUMA node 4 does not exist: server.toml has nodes 0 to 3"),
    ],
)  # fmt: skip
def test_a_damaged_tuning_is_refused_in_one_line(
    workspace: Workspace, old: str, new: str, error: str
) -> None:
    line = workspace.edit("mine.toml", old, new)
    with pytest.raises(InputError) as caught:
        load("mine.toml", tunings=["numactl"])
    assert str(caught.value) == f"mine.toml:{line}: {error}"


def test_a_tuning_says_what_it_is_for(workspace: Workspace) -> None:
    line = workspace.edit("mine.toml", 'description = "each process', '# description = "each')
    with pytest.raises(InputError) as caught:
        load("mine.toml")
    where = f"mine.toml:{line - 1}: tunings.numactl.description"
    assert str(caught.value) == f"{where}: missing"


def test_irqbalance_started_after_a_mask_was_written_overwrites_it() -> None:
    untouched = load(SCENARIO)
    after = load(SCENARIO, settings={"irqbalance": "off", BY_HAND: "10000"})
    assert _masks(after) != _masks(untouched)
    restarted = load(SCENARIO, settings={BY_HAND: "10000", "irqbalance": "on"})
    assert _masks(restarted) == _masks(untouched)
    assert restarted.irqbalance == untouched.irqbalance
    assert restarted.remarks == (
        f"{BY_HAND}: overwritten by irqbalance, which is started after it",
    )


def test_irqbalance_started_again_undoes_a_tuning() -> None:
    restarted = load(SCENARIO, tunings=["affinity"], settings={"irqbalance": "on"})
    assert restarted.digest() == load(SCENARIO).digest()


def test_a_mask_written_under_a_running_irqbalance_holds_for_now() -> None:
    moved = load(SCENARIO, settings={"irqbalance": "on", BY_HAND: "10000"})
    assert moved.ports[2].smp_affinity == (16,)
    assert len(moved.remarks) == 1
    assert "within 10 s" in moved.remarks[0]


def test_the_simulated_daemon_moves_interrupts_itself() -> None:
    settings = {"irqbalance.map": "daemon", BY_HAND: "10000", "irqbalance": "on"}
    started = load(SCENARIO, settings=settings)
    assert started.irqbalance == "daemon"
    assert started.ports[2].smp_affinity == (16,)


def test_a_mask_of_several_cpus_is_said_to_use_the_first() -> None:
    settings = {"irqbalance": "off", BY_HAND: "f0000"}
    why = "interrupts are delivered in clustered mode"
    remark = f"{BY_HAND}: only CPU 16, the first of the mask, is used: {why}"
    assert load(SCENARIO, settings=settings).remarks == (remark,)
