"""Runs plans on the interpreted engine with polls and poll lists under observation.

Prints how many polls were watched; an assertion fails otherwise.
"""

import os
import sys
from collections import Counter
from typing import Any
from unittest import mock

os.environ["SIMNET_ENGINE"] = "interpreted"

from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.nic.port import Nic
from tests.laws.machines import MS, Lab, Plan

RUN_PS = 5 * MS


class Watch:
    """Knows who polls what, and who is on which list."""

    def __init__(self) -> None:
        self.polled_by: dict[str, str] = {}
        self.listed: Counter[str] = Counter()
        self.polls = 0
        self.inside = 0

    def begin(self, original: Any, nic: Any, cpu: Any, *rest: Any) -> Any:
        """A poll starts: nobody else polls this device, and the device is on this CPU's list."""
        assert nic.path not in self.polled_by
        assert self.listed[nic.path] == 1
        assert nic.scheduled
        self.polled_by[nic.path] = cpu.path
        self.polls += 1
        return self.ended(nic, original(nic, cpu, *rest))

    def step(self, original: Any, nic: Any, cpu: Any, *rest: Any) -> Any:
        """It goes on, on the same CPU."""
        assert self.polled_by[nic.path] == cpu.path
        return self.ended(nic, original(nic, cpu, *rest))

    def ended(self, nic: Any, verdict: int) -> int:
        """The poll is over unless it continues."""
        if verdict:
            del self.polled_by[nic.path]
        return verdict

    def schedule(self, original: Any, softirqs: Any, nic: Any) -> Any:
        """A device is put on a poll list."""
        self.listed[nic.path] += 1
        assert self.listed[nic.path] == 1
        result = original(softirqs, nic)
        self.check(softirqs)
        return result

    def complete(self, original: Any, softirqs: Any, nic: Any) -> Any:
        """A device leaves its poll list."""
        self.listed[nic.path] -= 1
        assert self.listed[nic.path] == 0
        result = original(softirqs, nic)
        self.check(softirqs)
        return result

    def check(self, softirqs: Any) -> None:
        """A list has no cycle, ends where it says, and holds each device once."""
        names = set()
        last = None
        device = softirqs.head
        while device is not None:
            assert device.path not in names
            names.add(device.path)
            last, device = device, device.next_polled
        assert softirqs.tail is last

    def round(self, original: Any, softirqs: Any, cpu: Any) -> Any:
        """A round of softirqs never runs inside another of its CPU."""
        assert softirqs.cpu is cpu
        return original(softirqs, cpu)


def watch(plan: Plan) -> int:
    """Run a plan; return the number of polls."""
    observer = Watch()

    def wrap(owner: Any, name: str, how: Any) -> Any:
        original = getattr(owner, name)
        return mock.patch.object(owner, name, lambda *arguments: how(original, *arguments))

    with (
        wrap(Nic, "poll_begin", observer.begin),
        wrap(Nic, "poll_step", observer.step),
        wrap(SoftirqNetRx, "schedule", observer.schedule),
        wrap(SoftirqNetRx, "complete", observer.complete),
        wrap(SoftirqNetRx, "begin", observer.round),
    ):
        Lab(plan).run(RUN_PS)
    return observer.polls


if __name__ == "__main__":
    sys.stdout.write(f"{sum(watch(Plan.loads(line)) for line in sys.stdin)}\n")
