"""Interrupts while worker processes start."""

from __future__ import annotations

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
