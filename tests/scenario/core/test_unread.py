"""The list of values that nothing reads, against the source of what reads them."""

import ast
import sys
from pathlib import Path

import simnet.scenario
from simnet.host.costs import COST_NAMES
from simnet.scenario.core.effective import Flow
from simnet.scenario.core.knobs import UNREAD
from simnet.scenario.core.section import Section
from simnet.scenario.core.subject import model_section
from simnet.scenario.core.tree import walk
from simnet.scenario.parts.host.schema import Costs, Cpu, Machine
from simnet.scenario.parts.network.schema import Switch
from simnet.scenario.parts.nic.schema import Nic
from simnet.scenario.parts.nvme.schema import DriveQueue

SECTIONS: tuple[type[Section], ...] = (
    *(Machine, Cpu, model_section("kernel"), Switch, DriveQueue),
    *Nic.variants().values(),
)
VALUES = {str(path[-1]) for section in SECTIONS for path, _ in walk(section)}
# the loader reads it: how many buffers a ring can hold, how large one of a socket can be, which
# knobs a kernel has, and how many queues they are for, what a clock is, whether buffers are
# mapped, and whether the ends of a connection agree on ECN
IN_LOADER = {
    *("rx_ring", "sb_max_bytes", "rps", "xps", "irq_suspend", "rx_queues", "tx_queues"),
    *("base_clock_hz", "no_turbo", "boost"),
    *("intel_iommu", "amd_iommu", "iommu_passthrough", "tcp_ecn"),
}


def _taken_by_the_builder() -> set[str]:
    """Return every attribute that the modules which make systems take from anything."""
    folder = Path(simnet.scenario.__file__).parent
    parts = {
        part for driver in Nic.variants().values() for part in driver.mro() if issubclass(part, Nic)
    }
    modules = {Path(str(sys.modules[part.__module__].__file__)) for part in parts}
    trees = [
        ast.parse(path.read_text("utf-8"))
        for name in ("build*.py", "machines.py", "streams.py")
        for path in (*folder.rglob(name), *modules)
    ]
    return {
        node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


READ = _taken_by_the_builder() | IN_LOADER | {f"{name}_cycles" for name in COST_NAMES}


def test_a_value_is_listed_exactly_when_nothing_reads_it() -> None:
    values = VALUES | {"cpubind_node", "preferred_node"}
    assert values & UNREAD & READ == set(), "take it off its subject's unread"
    assert values - UNREAD - READ == set(), "add it to its subject's unread"


def test_the_list_names_only_what_exists() -> None:
    assert set(Flow.model_fields) | VALUES >= UNREAD


def test_every_step_has_its_cost() -> None:
    assert {f"{name}_cycles" for name in COST_NAMES} == set(Costs.model_fields) - {
        "line_latency_ps"
    }
