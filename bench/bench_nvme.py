"""Units of fio through blk-mq to an NVMe drive and back, with CPUs, interrupts and wake-ups."""

from bench.measuring import heading, medians, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

WARM_UP_PS, MEASURED_PS = 5 * 10**9, 100 * 10**9
# what a unit may cost without a scheduler
MICROSECONDS = 5.0
SCHEDULER = "/sys/block/nvme0n1/queue/scheduler"
CASES = {
    "reads, none": {"fio.mixed.rw": "randread"},
    "mixed, none": {},
    "mixed, none, libaio": {"fio.mixed.ioengine": "libaio"},
    "mixed, mq-deadline": {SCHEDULER: "mq-deadline"},
    "mixed, kyber": {SCHEDULER: "kyber"},
}


class Case:
    """A system that is simulated on and on."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.system = build(load("nvme-local", settings=settings), seed=1)
        self.system.run(WARM_UP_PS)
        self.before = self.units()
        self.calls = 0

    def units(self) -> int:
        """Completed until now."""
        return sum(sum(group.stats.ios) for group in self.system.parts["groups"])

    def go_on(self) -> None:
        """Simulate a piece."""
        self.system.run(MEASURED_PS)
        self.calls += 1


def main() -> None:
    """Print microseconds a unit."""
    heading("us a unit of 4 KiB: fio, block layer, drive, interrupt")
    cases = [Case(settings) for settings in CASES.values()]
    walls_s = medians(*(case.go_on for case in cases))
    times = []
    for name, case, wall_s in zip(CASES, cases, walls_s, strict=True):
        times.append(wall_s * case.calls / (case.units() - case.before) * 10**6)
        print(f"{name:22}{times[-1]:6.2f}")
    verdict("  us a unit without a scheduler", max(times[:3]), MICROSECONDS, at_most=True)


if __name__ == "__main__":
    main()
