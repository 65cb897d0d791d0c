"""What all tests share: reproducible property tests, plots without a display, kept results."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from simnet import _engine
from simnet.scenario.system.collector import COLLECTOR

os.environ.setdefault("MPLBACKEND", "Agg")

# The same examples on every machine and every run: a failure is never a matter of luck. Time
# limits would be one: the interpreted engine on a busy machine is slow. A day has the first of the
# night's examples.
for name, number in {"day": 25, "night": 100}.items():
    settings.register_profile(
        name,
        max_examples=number if _engine.active() == "compiled" else 25,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
# HYPOTHESIS_PROFILE=search looks for new counterexamples.
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "day"))


MEMORY = Path("/dev/shm")  # noqa: S108 - names in it are unpredictable, as in /tmp
PLENTY_BYTES = 4 << 30


def _write_to_memory() -> None:
    """Keep files of tests in memory if there is plenty: a disk is waited for at each removal."""
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize > PLENTY_BYTES and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def pytest_configure(config: pytest.Config) -> None:
    """Begin with no kept results, and share those of this run, unless a folder is named.

    What tests write need not outlive the machine, and the disk would be waited for.
    """
    os.fsync = lambda fd: None  # noqa: ARG005 - called as the system is
    _write_to_memory()
    if "SIMNET_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="simnet-kept-")
        os.environ["SIMNET_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without looking for garbage: nothing of what is imported is any.

    Afterwards it is looked for seldom: to go through all tests and libraries takes a second each
    time. Systems that were simulated are collected apart, and seldom as well.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(200_000, *gc.get_threshold()[1:])
        COLLECTOR.growth = 2
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip on the interpreted engine what would take minutes there."""
    if _engine.active() == "compiled":
        return
    skip = pytest.mark.skip(reason="needs the speed of the compiled engine")
    for item in items:
        if item.get_closest_marker("compiled"):
            item.add_marker(skip)
