"""One simulation from a scenario to its result: `simnet.run`."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import simnet
from simnet.errors import InputError
from simnet.kernel.watch import with_watcher
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.core.unread import reads_of_settings, unread_settings
from simnet.scenario.system.build import build
from simnet.scenario.system.resource import Resource
from simnet.scenario.system.system import Snapshot, System
from simnet.study.run.activity import SecondSampler
from simnet.study.run.arguments import Names, Settings, names_of, settings_of, text_of
from simnet.study.run.flows import FlowTracer
from simnet.study.run.follow import Followers
from simnet.study.run.loss import latency_of_all
from simnet.study.run.machine import machine
from simnet.study.run.pcap import PcapFile
from simnet.study.run.peers import full_peer
from simnet.study.run.result import Result
from simnet.study.run.trace import TraceFile
from simnet.study.run.validity import validity
from simnet.study.statistics import runlength
from simnet.study.work.memory import EnoughMemory

# the results that `System.progress` counts, in its order
_PROGRESS: Final = ("throughput_bps", "cpu_busy_percent")
LATENCY: Final = "latency_us_p50"
"""The median latency, among what is compared between halves of a run."""


class Watch(Protocol):
    """Looks at a system while it is measured."""

    def run(self, system: System, duration_ps: int) -> None:
        """Simulate `duration_ps` more, in as many pieces as it likes."""


def run(  # noqa: PLR0913 (each option of `simnet run`)
    scenario: str | Path,
    *,
    settings: Settings | None = None,
    tunings: str | Sequence[str] = (),
    seed: int | None = None,
    duration: str | None = None,
    warm_up: str | None = None,
    precision: str | float | None = None,
    apply: Names = (),
    trace: str | Path | None = None,
    pcap: str | Path | None = None,
    pcap_port: str | None = None,
    per_frame: bool = False,
) -> Result:
    """Simulate a scenario and return what was measured.

    Args:
        scenario: a scenario's name, or the path of its file.
        settings: knobs by the name that an administrator types, values with units:
            `{"nodes": 2, "message": "1460 B"}`.
        tunings: names of the scenario's tunings, applied in this order and before the settings.
        seed: seed of all random numbers; the scenario's when None.
        duration: simulated time that is measured, such as `"2 s"`; the scenario's when None.
        warm_up: simulated time before that, such as `"500 ms"`; the scenario's when None.
        precision: end the run when the 95 % intervals of throughput and CPU time are as narrow
            as this, relative to the means, such as `"1 %"`. The warm-up is then found, not given,
            and `duration` is the most (see `runlength`). The scenario's when None.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed; see `captured`.
        trace: file for a timeline that Perfetto opens; `.gz` at its end compresses it.
        pcap: file for the frames of a port, warm-up included, which Wireshark opens (pcapng).
        pcap_port: the port's name, such as `"eth1"`; the first one when None.
        per_frame: one event a frame, the slow reference for batched arrivals.

    Raises:
        InputError: something of the above can't be used as given.
        SimulationError: the simulation can't go on.
    """
    chosen, files = settings_of(settings), names_of(apply, "--apply")
    effective = load(
        scenario,
        settings=chosen,
        tunings=names_of(tunings, "--tuning"),
        seed=seed,
        duration=text_of(duration, "--duration"),
        warm_up=text_of(warm_up, "--warm-up"),
        precision=text_of(precision, "--precision"),
        apply=files,
    )
    return simulate(
        effective,
        settings=recorded(files, chosen),
        trace=trace,
        pcap=pcap_file(pcap, text_of(pcap_port, "--pcap-port")),
        per_frame=per_frame,
        source=str(scenario),
    )


def pcap_file(pcap: str | Path | None, port: str | None) -> PcapFile | None:
    """The capture that two options ask for; see `run`."""
    if pcap is None and port is not None:
        raise InputError("only with --pcap", key="--pcap-port")
    return None if pcap is None else PcapFile(pcap, port)


def recorded(
    apply: Sequence[str], settings: Mapping[str, str] | Iterable[tuple[str, str]]
) -> dict[str, str]:
    """What was set, for the record in a result: files, and knobs by name."""
    return ({"--apply": " ".join(apply)} if apply else {}) | dict(settings)


def simulate(
    effective: Effective,
    *,
    settings: Mapping[str, str] | None = None,
    trace: str | Path | None = None,
    pcap: PcapFile | None = None,
    per_frame: bool = False,
    watch: Watch | None = None,
    vmstat: bool = False,
    source: str = "",
) -> Result:
    """Simulate an effective configuration: build, warm up, measure, as long as it says.

    `settings` and `source`, the scenario as it was asked for, only go into the result, for the
    record; `watch` runs what is measured for a given
    time; `vmstat` looks at the system every second, as is always done with a partition; see `run`
    for the others.

    Raises:
        InputError: seconds are asked for, and how many there will be is not known, or they are of
            no host; or it is more than memory has room for.
        SimulationError: the simulation can't go on.
    """
    if vmstat and effective.run.precision_permille:
        raise InputError("vmstat shows a given time: --duration, not --precision", key="--format")
    if vmstat and effective.lpars:
        raise InputError("vmstat shows one host, and here are partitions with jobs", key="--format")
    seconds = SecondSampler()
    if watch is None and (vmstat or effective.host.partition):
        watch = seconds
    with TraceFile(trace) if trace is not None else nullcontext() as tracer, pcap or nullcontext():
        with with_watcher(EnoughMemory()), reads_of_settings(effective) as read:
            followed = None if tracer is None else FlowTracer(tracer)
            system = build(effective, seed=effective.run.seed, per_frame=per_frame, tracer=followed)
        if pcap is not None:
            pcap.attach(system)
        if followed is not None:
            rates = {str(port.name): port.nic.link_rate_bps for port in effective.host.ports}
            Followers(followed, rates).attach(system)
        measured = _measure(system, effective, watch)
        start, end, used = measured.start, measured.end, measured.used
        full = full_peer(used, system.resources(), end.time_ps - (start.time_ps if used else 0))
        found = validity(effective, system, start, end)
        kinds = system.latency_kinds()
        system.close()
    result = Result.from_snapshots(
        start,
        end,
        scenario=effective.scenario,
        seed=effective.run.seed,
        version=simnet.__version__,
        effective_digest=effective.digest(),
        settings=settings,
        configuration=effective.model_dump(mode="json"),
        latency_kinds=kinds,
    )
    return result.model_copy(
        update={
            "tunings": effective.tunings,
            "source": source,
            "machine": machine(effective),
            "remarks": effective.remarks,
            "half_width_percent": measured.half_widths,
            "second_half": measured.second_half,
            "vmstat": seconds.rows(),
            "warnings": (*found.warnings, *unread_settings(effective, read)),
            "conclusive": found.conclusive,
            "silent": found.silent,
            "full_peer": full,
        }
    )


class _Measured(NamedTuple):
    """The counters at both ends of the measured time, and what else was seen.

    `used` is what had been used of resources when that time began.
    """

    start: Snapshot
    end: Snapshot
    half_widths: dict[str, float | None]
    second_half: dict[str, float | None]
    used: tuple[Resource, ...]


def _measure(system: System, effective: Effective, watch: Watch | None) -> _Measured:
    timing = effective.run
    if timing.precision_permille:
        found = runlength.measure(
            system, permille=timing.precision_permille, most_ps=timing.duration_ps
        )
        widths = {
            name: None if width is None else 100 * width
            for name, width in zip(_PROGRESS, found.check.half_widths, strict=True)
        }
        return _Measured(found.start, found.end, widths, {}, ())
    if timing.warm_up_ps:
        system.run(timing.warm_up_ps)
    start, used = system.snapshot(), system.resources()
    if watch is not None:
        watch.run(system, timing.duration_ps)
        return _Measured(start, system.snapshot(), {}, {}, used)
    snapshots, progress = [start], [system.progress()]
    for part_ps in (timing.duration_ps // 2, timing.duration_ps - timing.duration_ps // 2):
        if part_ps:
            system.run(part_ps)
        snapshots.append(system.snapshot())
        progress.append(system.progress())
    halves = _in_halves(progress) | _latency_in_halves(snapshots)
    return _Measured(start, snapshots[-1], {}, halves, used)


def _in_halves(progress: Sequence[tuple[int, ...]]) -> dict[str, float | None]:
    """How much of each progress the second half had, if the first had 1.

    None where only the second had any.
    """
    return {
        name: _ratio(last - middle, middle - first)
        for name, first, middle, last in zip(_PROGRESS, *progress, strict=True)
    }


def _latency_in_halves(snapshots: Sequence[Snapshot]) -> dict[str, float | None]:
    """The same of the median latency; nothing where no half has one."""
    found = [latency_of_all(*half) for half in pairwise(snapshots)]
    early, late = (half.p50 or 0.0 if half else 0.0 for half in found)
    return {LATENCY: _ratio(late, early)} if early or late else {}


def _ratio(late: float, early: float) -> float | None:
    if early:
        return late / early
    return None if late else 1.0
