"""Interrupts while worker processes start."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from simnet.study.worker import deaf_children

CHILD = "print('up', flush=True); input(); print('alive')"


def test_an_interrupt_comes_later_and_children_never_see_one() -> None:
    with pytest.raises(KeyboardInterrupt), deaf_children():
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        signal.raise_signal(signal.SIGINT)
        held = True
    assert held
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    child.send_signal(signal.SIGINT)
    assert child.communicate("\n") == ("alive\n", None)
