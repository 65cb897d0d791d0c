"""The runs that answer the x460 document's listings and tables, and what it leaves to predict."""

from collections.abc import Mapping, Sequence
from typing import Final

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, Answer
from simnet.study.work.cases import Case

_SCENARIO = "x460-out-of-box"
_DEFAULT_TEST = "netserver"
# a CPU on which a process runs, beside those that a stray wake-up reaches
_RUNS_PERCENT = 5.0
LISTING_1 = Case(_SCENARIO, (("message", "8 KiB"), ("nodes", "4")))
# the document's 15 message sizes
MESSAGES = (
    "64 B", "128 B", "256 B", "512 B", "1 KiB", "1460 B", "1480 B", "2 KiB",
    "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB",
)  # fmt: skip
# some of them, which show how parameters move a mean over all
_FEW: Final = ("64 B", "512 B", "8 KiB", "64 KiB")
# of each run behind a mean, and of a member with its warm-up
_TIMES: Final = ("400 ms", "200 ms", "150 ms")
# The cost parameters were fitted to the two CPUs that serve local ports. Their work is the same and
# their listed times differ by 4.7 %: half of that is how far either may be from the truth.
ANCHOR: Final = Anchored("x460.listing1.cpu_busy_percent", ("cpu0", "cpu8"), 0.024)
_STEPS = ((1, 2), (2, 4), (1, 4))


def _cpu_busy_percent(results: Mapping[str, Result]) -> dict[str, float]:
    return {f"cpu{cpu.id}": cpu.busy for cpu in results["run"].cpus}


def _interrupts_per_second(results: Mapping[str, Result]) -> dict[str, float]:
    return {port.name: port.interrupts_per_s for port in results["run"].ports}


def _ratios(results: Mapping[str, Result]) -> dict[str, float]:
    """Means over the message sizes of throughput and CPU ratios, as the document's tables."""
    numbers = {}
    sizes = [size for size in MESSAGES if f"1 {size}" in results]
    for few, many in _STEPS:
        pairs = [(results[f"{few} {size}"], results[f"{many} {size}"]) for size in sizes]
        throughput = [after.throughput_bps / before.throughput_bps for before, after in pairs]
        busy = [after.cpu_busy_percent / before.cpu_busy_percent for before, after in pairs]
        numbers[f"throughput_{few}to{many}"] = sum(throughput) / len(pairs)
        numbers[f"cpu_{few}to{many}"] = sum(busy) / len(pairs)
    return numbers


def _listing_2(results: Mapping[str, Result]) -> dict[str, float]:
    """Sums and means that the document's second listing holds, for nodes other than 0."""
    result = results["run"]
    remote = {port.name for port in result.ports if port.node}
    serving = {
        cpu
        for port in result.interrupts
        if port.port in remote
        for cpu, rate in port.by_cpu.items()
        if rate >= 1.0
    }
    interrupts = [cpu.busy for cpu in result.cpus if cpu.id in serving]
    applications = [
        cpu.busy
        for cpu in result.cpus
        if cpu.node and cpu.id not in serving and cpu.user + cpu.system >= _RUNS_PERCENT
    ]
    return {
        "total_busy_percent": sum(cpu.busy for cpu in result.cpus),
        "remote_interrupt_cpu_busy_percent": _mean(interrupts),
        "remote_application_cpu_busy_percent": _mean(applications),
        **{f"interrupts_{port.name}": port.interrupts_per_s for port in result.ports},
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _table(test: str, tunings: tuple[str, ...]) -> Answer:
    """Six ratios from every message size on 1, 2 and 4 nodes."""
    kind = () if test == _DEFAULT_TEST else (("test", test),)
    if tunings == _NUMACTL:
        kind = (*kind, _LISTED)
    return Answer(
        {
            f"{nodes} {size}": Case(
                _SCENARIO, (("message", size), ("nodes", str(nodes)), *kind), tunings
            )
            for nodes in (1, 2, 4)
            for size in MESSAGES
        },
        _ratios,
        times=_TIMES,
        anchors=(ANCHOR,),
        few=tuple(f"{nodes} {size}" for nodes in (1, 2, 4) for size in _FEW),
        compares="nodes",
    )


_NUMACTL = ("numactl",)
# where irqbalance had left the interrupts when numactl was measured
_LISTED = ("irqbalance.map", "listing-2")
_CONFIGURATIONS = {
    "table1": (),
    "table2": _NUMACTL,
    "affinity": ("affinity",),
    "affinity_numactl": ("affinity", "numactl"),
}
_TESTS = (_DEFAULT_TEST, "netperf", "bidirectional")
LISTING_2 = Case(LISTING_1.scenario, (*LISTING_1.settings, _LISTED), _NUMACTL)

ANSWERS: Final = {
    ANCHOR.id: Answer({"run": LISTING_1}, _cpu_busy_percent, 100.0, anchors=(ANCHOR,)),
    "x460.listing1.interrupts_per_second": Answer(
        {"run": LISTING_1}, _interrupts_per_second, anchors=(ANCHOR,)
    ),
    "x460.listing2": Answer({"run": LISTING_2}, _listing_2, anchors=(ANCHOR,)),
    **{
        f"x460.{name}.{test}": _table(test, tunings)
        for name, tunings in _CONFIGURATIONS.items()
        for test in _TESTS
    },
}
