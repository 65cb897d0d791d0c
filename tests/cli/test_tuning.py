"""Named tunings at the command."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Simnet

SCENARIO = "x460-out-of-box"
SHORT = (SCENARIO, "--set", "nodes=2", "--warm-up", "20 ms", "--duration", "2 ms", "--json")


def _serving(result: Any) -> dict[str, list[int]]:
    """Return the CPUs that took interrupts of each port that carries traffic."""
    return {
        port["port"]: [int(cpu) for cpu, rate in port["by_cpu"].items() if rate]
        for port in result["interrupts"][:4]
    }


def test_list_shows_the_tunings_of_a_scenario(simnet: Simnet) -> None:
    status, out, err = simnet("list", "scenarios")
    assert (status, err) == (0, "")
    rows = [line.split()[:2] for line in out.splitlines()]
    assert [SCENARIO, "affinity"] in rows
    assert [SCENARIO, "numactl"] in rows
    document = json.loads(simnet("list", "--json").out)
    found = next(row for row in document["scenarios"] if row["name"] == SCENARIO)["tunings"]
    numactl = next(tuning for tuning in found if tuning["name"] == "numactl")
    assert numactl["description"]
    assert numactl["settings"] == {"numactl --cpubind": "nic", "numactl --preferred": "nic"}


def test_show_applies_tunings(simnet: Simnet) -> None:
    once = json.loads(simnet("show", SCENARIO, "--tuning", "affinity+numactl", "--json").out)
    again = ("--tuning", "affinity", "--tuning", "numactl")
    twice = json.loads(simnet("show", SCENARIO, *again, "--json").out)
    assert once == twice
    assert once["tunings"] == ["affinity", "numactl"]
    heading = simnet("show", SCENARIO, *again).out.splitlines()[0]
    assert heading.startswith(f"# scenario {SCENARIO} with affinity+numactl, digest ")
    assert once["configuration"]["irqbalance"] == "off"
    assert [flow["cpubind_node"] for flow in once["configuration"]["flows"]] == [
        0, 0, 1, 1, 2, 2, 3, 3,
    ]  # fmt: skip


def test_a_run_with_a_tuning_says_so_and_serves_ports_at_home(simnet: Simnet) -> None:
    outcome = simnet("run", *SHORT, "--tuning", "affinity")
    assert outcome.status == 0
    result = json.loads(outcome.out)
    assert result["tunings"] == ["affinity"]
    assert _serving(result) == {"eth0": [0], "eth1": [8], "eth2": [16], "eth3": [24]}


def test_a_mask_of_several_cpus_sends_every_interrupt_to_the_first(simnet: Simnet) -> None:
    mask = ("--set", "irqbalance=off", "--set", "/proc/irq/193/smp_affinity=f00000")
    outcome = simnet("run", *SHORT, *mask)
    assert "only CPU 20, the first of the mask, is used" in outcome.err
    assert _serving(json.loads(outcome.out))["eth2"] == [20]


def test_irqbalance_started_last_takes_the_interrupts_back(simnet: Simnet) -> None:
    outcome = simnet("run", *SHORT, "--tuning", "affinity", "--set", "irqbalance=on")
    assert "overwritten by irqbalance, which is started after it" in outcome.err
    assert _serving(json.loads(outcome.out))["eth2"] == [2]


@pytest.mark.parametrize("command", ["run", "show"])
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("afinity", "afinity: unknown tuning; did you mean affinity?"),
        (
            "zzz",
            (
                "zzz: unknown tuning: the scenario has numactl, affinity;"
                " this system takes processes-on-node, ring-max, jumbo"
            ),
        ),
        ("affinity+", "affinity+: expected names of tunings with + between"),
    ],
)
def test_a_bad_tuning(simnet: Simnet, command: str, name: str, line: str) -> None:
    outcome = simnet(command, SCENARIO, "--tuning", name)
    assert outcome == (2, "", f"simnet: --tuning: {line}\n")


def test_a_model_takes_no_tuning(simnet: Simnet) -> None:
    outcome = simnet("show", "intel-82546", "--tuning", "affinity")
    expected = "intel-82546: a model takes no settings, only a scenario does"
    assert outcome == (2, "", f"simnet: {expected}\n")
