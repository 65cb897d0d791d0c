"""Machines whose model lists the CPUs of nodes, sockets and cores, as firmware numbers them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from simnet import _share
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.study.run.run import run

IN_ORDER = {
    "node_cpus": '["0-3", "4-7"]',
    "package_cpus": '["0-3", "4-7"]',
    "core_cpus": '["0", "1", "2", "3", "4", "5", "6", "7"]',
}
TIMES: Any = {"warm_up": "2 ms", "duration": "5 ms"}


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario of 500 connections on eight CPUs, with its server in a file beside it."""
    monkeypatch.chdir(tmp_path)
    server = _share.folder("models") / "servers/eight-cpus-82574.toml"
    shutil.copy(server, tmp_path / "server.toml")
    text = (_share.folder("scenarios") / "tcp-rr-one-queue.toml").read_text("utf-8")
    text = text.replace('server = "eight-cpus-82574"', 'server = "server.toml"')
    (tmp_path / "mine.toml").write_text(text, "utf-8")
    return tmp_path / "mine.toml"


def listed(scenario: Path, lists: dict[str, str]) -> None:
    """Add lists of CPUs to the server model."""
    path = scenario.parent / "server.toml"
    rows = [
        f'{key} = {{value = {value}, state = "measured", source = "sysfs"}}\n'
        for key, value in lists.items()
    ]
    text = path.read_text("utf-8").replace("[[ports]]", "".join([*rows, "\n[[ports]]"]), 1)
    path.write_text(text, "utf-8")


def test_lists_in_order_change_nothing(scenario: Path) -> None:
    before = run("mine.toml", **TIMES)
    listed(scenario, IN_ORDER)
    after = run("mine.toml", **TIMES)
    assert (after.cpus, after.ports, after.flows) == (before.cpus, before.ports, before.flows)


def test_nodes_have_the_cpus_of_their_lists(scenario: Path) -> None:
    listed(
        scenario,
        IN_ORDER
        | {"node_cpus": '["0,2,4,6", "1,3,5,7"]', "package_cpus": '["0,2,4,6", "1,3,5,7"]'},
    )
    host = load("mine.toml").host
    assert [host.node_of(cpu) for cpu in range(8)] == [0, 1] * 4
    assert host.cpus_of(1) == (1, 3, 5, 7)
    result = run("mine.toml", **TIMES)
    assert [cpu.node for cpu in result.cpus] == [0, 1] * 4


def test_a_cpu_off_line_gets_no_interrupt_and_no_process(scenario: Path) -> None:
    six = {
        "node_cpus": '["1-3", "4-5,9"]',
        "package_cpus": '["1-3", "4-5,9"]',
        "core_cpus": '["1", "2", "3", "4", "5", "9"]',
    }
    listed(scenario, six)
    mask = "/proc/irq/80/smp_affinity"
    effective = load("mine.toml", settings={mask: "3ff"}, **TIMES)
    assert effective.host.online == (1, 2, 3, 4, 5, 9)
    result = run("mine.toml", settings={mask: "3ff"}, **TIMES)
    assert [cpu.id for cpu in result.cpus] == [1, 2, 3, 4, 5, 9]
    assert set(result.interrupts[0].by_cpu) <= {1, 2, 3, 4, 5, 9}
    with pytest.raises(InputError, match="no CPU of 0 is on line"):
        load("mine.toml", settings={mask: "1"})


def test_the_threads_of_a_core_slow_each_other(scenario: Path) -> None:
    cores = IN_ORDER | {"core_cpus": '["0,4", "1,5", "2,6", "3,7"]'}
    far = dict.fromkeys(("node_cpus", "package_cpus"), '["0-7"]')
    path = scenario.parent / "server.toml"
    text = path.read_text("utf-8").replace("nodes = {value = 2", "nodes = {value = 1", 1)
    path.write_text(text.replace("[[0, 1]]", "[]"), "utf-8")
    listed(scenario, cores | far)
    settings = {"cpu.smt_slowdown": "2", mask_all(): "ff"}
    slow = run("mine.toml", settings=settings, **TIMES)
    fast = run("mine.toml", settings=settings | {"cpu.smt_slowdown": "1"}, **TIMES)
    assert sum(cpu.busy for cpu in slow.cpus) > 1.05 * sum(cpu.busy for cpu in fast.cpus)


def mask_all() -> str:
    """The knob that spreads packets over CPUs."""
    return "/sys/class/net/eth0/queues/rx-0/rps_cpus"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_cpus": '["0-3"]'}, "expected the same CPUs in all three lists, or no list"),
        ({"node_cpus": '["0-3", "3-7"]'}, "expected each CPU in one of the lists"),
        ({"node_cpus": '["0-3", "7-4"]'}, r'expected lists of CPUs such as \["0-3,8-11", "4-7"\]'),
        ({"node_cpus": '["0-3", "4-99999"]'}, "expected lists of CPUs such as"),
        ({"node_cpus": "[0, 1]"}, "expected lists of CPUs such as"),
        ({"core_cpus": '["0,4", "1,5", "2,6", "3,7"]'}, r"a core are in several lists: \[0, 4"),
        ({"node_cpus": '["0-7"]', "package_cpus": '["0-7"]'}, "expected a list for each of 2 "),
    ],
)  # fmt: skip
def test_lists_that_do_not_fit(scenario: Path, change: dict[str, str], message: str) -> None:
    listed(scenario, IN_ORDER | change)
    with pytest.raises(InputError, match=message):
        load("mine.toml")
