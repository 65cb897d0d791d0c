"""What hurts a host stands in its scenario, where its load does not show it."""

import re
from pathlib import Path

import pytest

import simnet
from simnet.diagnose.diagnosis import diagnose
from simnet.diagnose.imported import unexplained
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.study.screen.factors import factors
from simnet.study.screen.screen import why_idle
from simnet.study.whatif.same import unexplained as unexplained_of
from simnet.study.whatif.whatif import Judged, whatif
from simnet.study.work.cases import Case
from simnet.study.work.store import Store
from tests.diagnose.test_predicted import CARD, CPUS, INTERRUPTS, PORTS, RING

NOWHERE = Store(None)
KNOB = "ethtool -G eth0 rx"
SHOWN = "Packets are lost before the receive ring of eth0: rx_missed_errors 812,345 of 9,123,456"
LOAD = PORTS.format(rx=2_000, size=200)
# a switch before the host drops: no setting of the host helps
OUTSIDE = (
    "$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 9123456\n     rx_crc_errors: 812345\n"
)


def imported(tmp_path: Path, *texts: str) -> Path:
    paste = tmp_path / "paste.txt"
    paste.write_text("".join((CPUS, CARD, *texts)), encoding="utf-8")
    simnet.import_host(paste).write(tmp_path / "host")
    return tmp_path / "host" / "scenario.toml"


def asked(scenario: Path, knob: str) -> Judged:
    found = whatif(
        scenario, knob, seeds=2, members=0, duration="40 ms", warm_up="5 ms", jobs=1, store=NOWHERE
    )
    return found.tunings[0]


def test_packets_that_a_ring_lost_stand_in_the_scenario_by_the_knob_that_would_help(
    tmp_path: Path,
) -> None:
    found = load(imported(tmp_path, RING, LOAD))
    assert list(found.unexplained) == [KNOB]
    assert found.unexplained[KNOB].startswith(SHOWN)
    assert any(SHOWN in line for line in found.remarks)


def test_a_knob_that_would_help_is_open_where_the_load_makes_no_use_of_it(tmp_path: Path) -> None:
    scenario = imported(tmp_path, RING, LOAD)
    ring = asked(scenario, f"{KNOB}=4096")
    assert (ring.verdict, ring.decided_by) == ("cannot tell", "")
    assert f"this load does not do what this host's files show: {SHOWN}" in ring.reason
    assert asked(scenario, "net.core.netdev_budget=600").verdict == "no difference"


def test_a_screening_says_so_too(tmp_path: Path) -> None:
    case = Case(str(imported(tmp_path, RING, LOAD)))
    ring, budget = factors(case, ("ethtool -G {port} rx", "net.core.netdev_budget"))
    assert SHOWN in why_idle(case, ring)
    assert why_idle(case, budget) == "nothing in these runs made use of it"


@pytest.mark.parametrize(
    ("shown", "asked_for", "open_"),
    [
        ("/proc/irq/64/smp_affinity_list", "/proc/irq/64/smp_affinity=2", True),
        ("/proc/irq/64/smp_affinity_list", "/proc/irq/65/smp_affinity=2", False),
        (
            "/sys/class/net/eth0/queues/rx-*/rps_cpus",
            "/sys/class/net/eth0/queues/rx-1/rps_cpus=2",
            True,
        ),
        (KNOB, "peer:ethtool -G eth0 rx=4096", False),
    ],
)
def test_a_knob_is_known_by_what_it_sets(
    tmp_path: Path, shown: str, asked_for: str, *, open_: bool
) -> None:
    scenario = imported(tmp_path, RING, LOAD)
    text = scenario.read_text(encoding="utf-8").replace(f'"{KNOB}" =', f'"{shown}" =')
    scenario.write_text(text, encoding="utf-8")
    name, _, value = asked_for.partition("=")
    base, tuned = (load(scenario, settings=given) for given in ({}, {name: value}))
    assert bool(unexplained_of(base, [tuned])) is open_


@pytest.mark.parametrize("text", ["", OUTSIDE, INTERRUPTS])
def test_what_does_not_hurt_or_is_outside_of_the_host_leaves_nothing_open(
    tmp_path: Path, text: str
) -> None:
    scenario = imported(tmp_path, text, LOAD)
    assert not load(scenario).unexplained
    assert asked(scenario, f"{KNOB}=4096").verdict == "no difference"


def test_the_heaviest_finding_of_a_knob_is_told(tmp_path: Path) -> None:
    paste = tmp_path / "paste.txt"
    paste.write_text(f"{CPUS}{CARD}{RING}{LOAD}", encoding="utf-8")
    first, *_ = diagnose([str(paste)]).findings
    found = unexplained([first, first])
    assert found[KNOB].startswith(first.title)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("net.core.netdev_budgt", "net.core.netdev_budget"), (f"{KNOB}x", KNOB)],
)
def test_a_knob_that_there_is_none_of_is_refused(tmp_path: Path, typed: str, meant: str) -> None:
    scenario = imported(tmp_path, RING, LOAD)
    text = scenario.read_text(encoding="utf-8")
    scenario.write_text(text.replace(f'"{KNOB}" =', f'"{typed}" ='), encoding="utf-8")
    line = re.escape(f"unexplained.{typed}: unknown knob; did you mean {meant}?")
    with pytest.raises(InputError, match=line):
        load(scenario)
