"""Reads plans from standard input, one a line, and prints the counters of each after a run."""

import sys

from simnet import _engine
from tests.laws.machines import MS, Lab, Plan

RUN_PS = 5 * MS


def main() -> None:
    """Run all plans."""
    sys.stdout.write(f"{_engine.active()}\n")
    for line in sys.stdin:
        lab = Lab(Plan.loads(line)).run(RUN_PS)
        sys.stdout.write(f"{lab.sim.events} {lab.system.snapshot()!r}\n")


if __name__ == "__main__":
    main()
