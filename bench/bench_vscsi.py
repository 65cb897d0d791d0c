"""Three workloads on one disk behind virtual SCSI: wall time of a simulated minute."""

from bench.measuring import heading, medians, timeouts, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

SECOND_PS = 10**12
MINUTE_S = 60
WARM_UP_S = 5
SECONDS_A_MINUTE = 5
ALONE = ("sequential-read-alone", "random-read-alone", "random-write-alone")


class Minute:
    """A scenario that has run in, and is taken on by a minute at a time."""

    def __init__(self, *tunings: str) -> None:
        self.system = build(load("vscsi-parallel", tunings=tunings), seed=1)
        self.system.run(WARM_UP_S * SECOND_PS)

    def __call__(self) -> None:
        """Simulate a minute."""
        self.system.run(MINUTE_S * SECOND_PS)

    def requests(self) -> int:
        """Requests that the server's disks have completed."""
        disks = self.system.snapshot().more["disks"]
        return sum(sum(disk.counts.ios) for disk in disks if disk.host != "client")


def main() -> None:
    """Print wall seconds of a minute, together and each workload alone, beside SimPy's timeouts."""
    heading("a minute of virtual SCSI")
    runs = {"all three": Minute(), **{name: Minute(name) for name in ALONE}}
    before = {name: run.requests() for name, run in runs.items()}
    *times, _ = medians(*runs.values(), timeouts)
    for (name, run), wall_s in zip(runs.items(), times, strict=True):
        done = run.requests() - before[name]
        print(f"{name:24}{wall_s:6.2f} s wall, {done} requests in all rounds")
    verdict("  s for a minute of all three", times[0], SECONDS_A_MINUTE, at_most=True)


if __name__ == "__main__":
    main()
