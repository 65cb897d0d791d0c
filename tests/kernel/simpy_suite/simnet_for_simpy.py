"""pytest plugin: lets SimPy's own tests run on simnet's environment.

They reckon in small numbers, whole and fractional. Here these are seconds.
"""

from collections.abc import Callable
from typing import Any

import pytest
import simpy

from simnet import _engine
from simnet.kernel.environment import Environment

LEFT_OUT = {
    "test_rt.py": "RealtimeEnvironment is SimPy's own class, paced by the wall clock",
    "test_exceptions.py::test_exception_chaining": (
        "expects a traceback to name lines of SimPy's core.py; that causes are chained from"
        " process to process is tested in test_environment.py"
    ),
}

FAILS_ON_SIMPY = {
    "test_benchmark.py::test_resource_sim": "counts 94 events, where SimPy 4.1.2 itself has 95",
    "test_benchmark.py::test_container_sim": "counts 104 events, where SimPy 4.1.2 itself has 105",
}


class Seconds(Environment):
    """An environment whose unit is the second."""

    def __init__(self, initial_time: float = 0) -> None:
        super().__init__(initial_time, unit_ps=10**12)


def pytest_configure(config: pytest.Config) -> None:
    """Replace SimPy's environment."""
    config.addinivalue_line("markers", "benchmark: SimPy's, for a plugin that is not used here")
    simpy.Environment = Seconds  # type: ignore[misc]


def pytest_report_header() -> str:
    """Say which engine is tested."""
    return f"simnet engine: {_engine.active()}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is listed above."""
    left_out = [item for item in items if any(name in item.nodeid for name in LEFT_OUT)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        for name, reason in FAILS_ON_SIMPY.items():
            if name in item.nodeid:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture
def benchmark() -> Callable[..., Any]:
    """Call once what pytest-benchmark would time."""
    return lambda function, *args: function(*args)
