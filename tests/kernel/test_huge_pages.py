"""Objects lie in memory that may have huge pages, which is kept for the next ones within limits."""

import subprocess
import sys
from pathlib import Path

import pytest

import simnet
from simnet import _engine

pytestmark = [
    pytest.mark.skipif(_engine.active() == "interpreted", reason="compiled code alone can do it"),
    pytest.mark.skipif(sys.platform != "linux", reason="Linux has them"),
]

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")

# of its own process, because it goes for all of it from then on
IN_A_PROCESS = """
from pathlib import Path

from simnet.kernel.huge_pages import use_huge_pages

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

def chunks():
    # VmFlags of Documentation/filesystems/proc.rst: hg is the advice to use huge pages
    return sum("hg" in line.split() for line in Path("/proc/self/smaps").read_text().splitlines())

def objects(count):
    return [(number, float(number)) for number in range(count)]

assert chunks() == 0
before = objects(100_000)
assert use_huge_pages() and use_huge_pages()
"""


def printed(script: str) -> list[str]:
    command = [sys.executable, "-c", IN_A_PROCESS + script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.split()


@pytest.mark.skipif(not THP.exists(), reason="this kernel has none")
def test_objects_are_made_where_huge_pages_may_be() -> None:
    script = "many = objects(1_000_000)\nprint(chunks(), resident_mb())"
    # neighbours are one mapping to the kernel
    assert int(printed(script)[0]) >= 1


@pytest.mark.nightly
def test_memory_that_is_free_again_is_used_again() -> None:
    script = """
many = objects(1_000_000)
most = resident_mb()
for _ in range(5):
    del many
    many = objects(1_000_000)
print(resident_mb() - most)
"""
    assert float(printed(script)[0]) < 30


@pytest.mark.nightly
def test_of_much_that_is_free_most_is_given_back() -> None:
    script = """
at_first = resident_mb()
many = objects(6_000_000)
most = resident_mb() - at_first
del many
print(most, resident_mb() - at_first)
"""
    most, left = (float(number) for number in printed(script))
    assert most > 600
    # 256 MiB, and what is in use
    assert 200 < left < 330


def test_what_was_made_before_is_freed_as_ever() -> None:
    script = """
del before
many = objects(1_000_000)
print(sum(number for number, _ in many))
"""
    assert printed(script) == [str(sum(range(1_000_000)))]


def test_results_do_not_depend_on_it() -> None:
    script = """
import simnet
times = {"duration": "20 ms", "warm_up": "5 ms"}
print(simnet.run("x460-out-of-box", settings={"nodes": "1"}, **times).fingerprint)
"""
    usual = simnet.run("x460-out-of-box", settings={"nodes": "1"}, duration="20 ms", warm_up="5 ms")
    assert printed(script) == [usual.fingerprint]
