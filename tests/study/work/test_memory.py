"""What has no room in memory is found out while the first parts are built."""

import re
import subprocess
import sys

import pytest

import simnet
from simnet.study.work import memory


@pytest.fixture(autouse=True)
def first_parts_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_TELLING_BYTES", 1 << 20)


def relay(connections: int) -> None:
    settings = {"relay.connections": str(connections)}
    simnet.run("relay-untuned", settings=settings, duration="1 ms", warm_up="0 s")


TOO_MUCH = """
import simnet
from simnet.study.work import memory

memory._TELLING_BYTES = 1 << 20
memory.available_bytes = lambda: 50_000_000
settings = {"relay.connections": "20000"}
try:
    simnet.run("relay-untuned", settings=settings, duration="1 ms", warm_up="0 s")
except simnet.InputError as error:
    print(error)
"""


def test_too_much_is_one_line_that_says_how_much() -> None:
    # of its own process: another may have memory to take before it grows
    command = [sys.executable, "-c", TOO_MUCH]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.fullmatch(
        r"relay.connections: 20,000 of them need about (0\.[2-9]|1\.\d) GB of memory,"
        r" of which 0\.[01] GB are free, and [\d.]+ (seconds|minutes) to build\n",
        done.stdout,
    )


def test_what_has_room_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2_000_000_000)
    relay(600)
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    relay(600)


def test_some_memory_is_available() -> None:
    found = memory.available_bytes()
    assert found is None or 1 << 20 < found < 1 << 50
