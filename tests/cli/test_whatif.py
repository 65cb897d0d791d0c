import json

import pytest

from simnet.study.whatif import whatif as study
from simnet.study.work import task
from tests.cli.conftest import Simnet
from tests.study.synthetic import simulated

SCENARIO = "x460-out-of-box"
QUICK = ("--seeds", "3", "--members", "0", "--jobs", "1")


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "simulate", simulated)
    monkeypatch.setattr(study, "known_changes", tuple)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")


def test_the_answer_has_ranking_numbers_and_commands(simnet: Simnet) -> None:
    status, out, err = simnet("whatif", SCENARIO, "numactl", "affinity", *QUICK)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    gained = "throughput +10.0 % (+10.0 to +10.0), CPU time per byte -9.1 %"
    assert lines[0] == f"affinity on {SCENARIO}: yes: {gained}"
    assert lines[1].startswith("judged by throughput, then CPU time per byte, as it is a load ")
    ranking = [line.split()[:3] for line in lines if line[:6].strip() in {"1", "2"}]
    assert ranking == [["1", "affinity", "yes"], ["2", "numactl", "no"]]
    throughput = next(line for line in lines if line.startswith("throughput, Mbit/s"))
    assert throughput.split()[2:] == ["1000.2", "1100.2", "+10.0", "%", "+10.0", "to", "+10.0"]
    assert "# affinity on ibm-x460" in lines
    assert "/etc/init.d/irq_balancer stop" in lines
    assert "killall netserver" not in lines
    assert "checked: of /proc/irq/{irq}/smp_affinity 5 measured changes were compared, " in out
    assert (
        "warning: numactl --preferred: accepted, but not modelled: it changes nothing here" in lines
    )


def test_what_an_interval_is_made_of_is_shown_on_demand(simnet: Simnet) -> None:
    out = simnet("whatif", SCENARIO, "affinity", *QUICK, "--intervals").out
    assert "  range  by chance alone  by unknown values  by the model's error" in out


def test_a_goal_of_ones_own_decides(simnet: Simnet) -> None:
    given = ("whatif", SCENARIO, "affinity", *QUICK, "--goal")
    status, out, _ = simnet(*given, "p99")
    assert (status, out.splitlines()[1]) == (1, "judged by latency p99, as --goal p99 says")
    status, out, err = simnet(*given, "p98")
    expected = "expected one of throughput, cpu, p99, loss, got 'p98'; did you mean p99?"
    assert (status, out, err) == (2, "", f"simnet: --goal: {expected}\n")


def test_an_answer_for_other_tools(simnet: Simnet) -> None:
    given = ("whatif", SCENARIO, "numactl", "affinity", *QUICK, "--format")
    status, out, err = simnet(*given, "markdown")
    assert (status, err) == (0, "")
    cards = [line for line in out.splitlines() if line.startswith("**")]
    assert [line.split()[0] for line in cards] == ["**affinity", "**numactl"]
    status, out, err = simnet(*given, "prometheus")
    assert (status, err) == (0, "")
    verdict = f'simnet_verdict{{scenario="{SCENARIO}",tuning="affinity",verdict="yes"}} 1'
    assert verdict in out.splitlines()
    assert simnet(*given, "json").out == simnet(*given[:-1], "--json").out
    status, out, err = simnet(*given, "text", "--json")
    assert (status, out, err) == (2, "", "simnet: --format: give it or --json, not both\n")


def test_commands_of_every_tuning_on_demand(simnet: Simnet) -> None:
    out = simnet("whatif", SCENARIO, "numactl", "affinity", *QUICK, "--commands").out
    assert "# affinity on ibm-x460" in out
    assert "# numactl on ibm-x460" in out
    assert "numactl --cpubind=1 --preferred=1 netserver -p 12866" in out


@pytest.mark.parametrize(
    ("tunings", "status"),
    [
        (["affinity"], 0),
        (["numactl"], 1),
        (["net.ipv4.tcp_low_latency=0"], 1),
        (["net.ipv4.tcp_fack=0"], 3),
        (["numactl", "net.ipv4.tcp_fack=0"], 3),
        (["net.ipv4.tcp_fack=0", "affinity"], 0),
    ],
)
def test_exit_status(simnet: Simnet, tunings: list[str], status: int) -> None:
    outcome = simnet("whatif", SCENARIO, *tunings, *QUICK, "--json")
    assert outcome.status == status
    assert json.loads(outcome.out)["exit_status"] == status


def test_json_with_settings_for_all_runs(simnet: Simnet) -> None:
    more = ("--set", "nodes=2", "--tuning", "affinity", "--seed", "5", "--duration", "1 ms")
    outcome = simnet("whatif", SCENARIO, "numactl", *QUICK, *more, "--warm-up", "1 ms", "--json")
    document = json.loads(outcome.out)
    assert document["schema"] == "simnet.whatif/1"
    assert document["settings"] == {"nodes": "2"}
    assert document["base_tunings"] == ["affinity"]
    assert document["tunings"][0]["verdict"] == "no"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["afinity"], "afinity: unknown tuning; did you mean affinity?"),
        (["irqbalance"], "irqbalance: expected a value: KNOB=VALUE"),
        (["ethtool -C eth0 rx-frame=5"],
         "ethtool -C eth0 rx-frame: unknown knob; did you mean ethtool -C eth0 rx-frames?"),
        (["nodes=9"], "nodes: 9 nodes: ibm-x460 has 4"),
        (["affinity", "--set", "nodes=9"], "--set: nodes: 9 nodes: ibm-x460 has 4"),
        (["affinity", "--tuning", "nmactl"],
         "--tuning: nmactl: unknown tuning; did you mean numactl?"),
        ([], "whatif: missing argument 'TUNING...'"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_input(simnet: Simnet, arguments: list[str], line: str) -> None:
    assert simnet("whatif", SCENARIO, *arguments) == (2, "", f"simnet: {line}\n")


def test_an_unknown_scenario(simnet: Simnet) -> None:
    line = "x460-out-of-bx: unknown scenario; did you mean x460-out-of-box?"
    assert simnet("whatif", "x460-out-of-bx", "affinity") == (2, "", f"simnet: {line}\n")


def test_one_seed_is_no_pair(simnet: Simnet) -> None:
    outcome = simnet("whatif", SCENARIO, "affinity", "--seeds", "1")
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
