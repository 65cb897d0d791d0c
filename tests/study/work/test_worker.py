"""Interrupts while worker processes start."""

import signal
import subprocess
import sys

import pytest

from simnet.study.work.fork_server import interrupts_blocked

CHILD = "print('up', flush=True); input(); print('alive')"


def test_an_interrupt_comes_later_and_children_never_see_one() -> None:
    children: list[subprocess.Popen[str]] = []

    def start_and_interrupt() -> None:
        with interrupts_blocked():
            command = [sys.executable, "-c", CHILD]
            pipe = subprocess.PIPE
            signal.raise_signal(signal.SIGINT)
            children.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))

    # a shell's job in the background begins with it ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            start_and_interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
    (child,) = children
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate("\n")
    assert said == "alive\n"


FIRST = """
import sys
from importlib import import_module
from simnet.scenario.core.subject import builders
from simnet.study.work import cases, store, task, workers
import simnet.scenario.system.ground
for module in builders():
    import_module(module)
member = cases.Member(cases.Case("x460-out-of-box", (("nodes", "1"),)), 1, "1 ms", "0 s")
member.effective()  # the caller's
before = set(sys.modules)
cases.simulate_all([member], jobs=1, store=store.Store(None))
print(sorted(one for one in set(sys.modules) - before if one.startswith("simnet.")))
"""


def test_what_a_first_simulation_imports_are_chips_only() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['simnet.net.nic.e1000', 'simnet.net.nic.tg3']\n"
