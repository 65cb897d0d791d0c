"""The SAS mixed analytics workload as a plan: which jobs start when, and what each does.

Twenty programs (most compute, a few want memory, the rest read and write) are started over time and
repeated, so that a given number runs at once. A job is a sequence of steps, as a SAS program is one
of DATA and PROC steps: each passes over input files, or once more over what the job wrote before,
writes a file of the work library, and computes. What a job writes is deleted at its end.

What a program does is drawn from the workload's parameters, once: each time and on each node it
does the same. Only integers are drawn, since sizes and times become events.
"""

from __future__ import annotations

from dataclasses import dataclass

from simnet.kernel.random import RandomStream, stream

__all__ = ["Job", "Mix", "Scan", "Step", "plan"]

_PERMILLE = 1000
_MB = 10**6


@dataclass(frozen=True)
class Mix:
    """The workload's parameters: sizes in bytes, times in ps, shares in permille.

    Attributes:
        compute, memory, io: programs of each kind.
        jobs: in all.
        at_once: that run at once in the mean.
        length_permille: of each job that is simulated.
        nominal_ps: time that a job takes, in the mean.
        spread: ratio of the longest program's time to the shortest one's.
        start_ps: time over which the first jobs are started.
        step_ps: nominal time of a step.
        unevenness: ratio of the most data of a step to the least.
        cpu_ps: CPU time of a job on a core of its own, in the mean; calls included.
        compute_share_permille: of a compute program's time in which it computes.
        bytes: that a job reads and writes, in the mean.
        io_share_permille: of all data, what programs for I/O read and write.
        read_share_permille: of the data that is read.
        reread_share_permille: of what is read, what the job wrote before.
        merge_share_permille: of the other, what is read by turns from several runs of a file.
        merge_ways: runs of a file that is merged.
        random_share_permille: of what programs for I/O read, by calls at random.
        inputs: input files of a program.
        small_file_bytes, large_file_bytes: between which files are, as many in each octave.
        scan_fs_per_byte: CPU time of compute programs for a byte, in fs.
        pause_permille: of the nominal time, in which a job waits for what is not simulated.
    """

    compute: int
    memory: int
    io: int
    jobs: int
    at_once: int
    length_permille: int
    nominal_ps: int
    spread: int
    start_ps: int
    step_ps: int
    unevenness: int
    cpu_ps: int
    compute_share_permille: int
    bytes: int
    io_share_permille: int
    read_share_permille: int
    reread_share_permille: int
    merge_share_permille: int
    merge_ways: int
    random_share_permille: int
    inputs: int
    small_file_bytes: int
    large_file_bytes: int
    scan_fs_per_byte: int
    pause_permille: int

    @property
    def programs(self) -> int:
        """How many there are."""
        return self.compute + self.memory + self.io


@dataclass(frozen=True)
class Scan:
    """A pass over a part of a file.

    Attributes:
        work: whether it is what the step before has written; else an input file.
        file: which of the program's input files.
        size_bytes: of the file.
        read_bytes: that are read.
        ways: see `block_stream.Pass`.
        write_bytes: that are put out meanwhile.
    """

    work: bool
    file: int
    size_bytes: int
    read_bytes: int
    ways: int
    write_bytes: int


@dataclass(frozen=True)
class Step:
    """One step of a job.

    Attributes:
        scans: passes, one after the other; all write to one file.
        write_bytes: size of that file in the end.
        fs_per_byte: CPU time of a pass for a byte read, in fs; calls come on top.
        random_calls: reads at random that follow.
        compute_ps: CPU time that follows.
        pause_ps: time that passes then.
    """

    scans: tuple[Scan, ...]
    write_bytes: int
    fs_per_byte: int
    random_calls: int
    compute_ps: int
    pause_ps: int


@dataclass(frozen=True)
class Job:
    """One run of a program.

    Attributes:
        number: from 0, in the order of their starts.
        name: program and number of its run.
        program: which, from 0.
        kind: compute, memory or io.
        start_ps: when it starts.
        steps: what it does.
    """

    number: int
    name: str
    program: int
    kind: str
    start_ps: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class _Program:
    """A program's totals: nominal time, CPU time, data; and the sizes of its input files."""

    number: int
    kind: str
    nominal_ps: int
    cpu_ps: int
    bytes: int
    inputs: tuple[int, ...]


def plan(mix: Mix, *, seed: int, call_bytes: int) -> tuple[Job, ...]:
    """Return the jobs in the order of their starts; `call_bytes` is a program's buffer size."""
    programs = _programs(mix, seed)
    starts = _starts(mix, programs)
    steps = {
        p.number: _steps(mix, p, stream(seed, f"sas.{p.number}"), call_bytes) for p in programs
    }
    jobs: list[Job] = []
    for number, (start_ps, program) in enumerate(starts):
        run = sum(other.program == program.number for other in jobs)
        name = f"{program.kind}{program.number}.{run}"
        jobs.append(
            Job(number, name, program.number, program.kind, start_ps, steps[program.number])
        )
    return tuple(jobs)


def between(random: RandomStream, low: int, high: int) -> int:
    """Draw a number between two: any octave is as likely, and any place in one."""
    octaves = [low]
    while octaves[-1] * 2 < high:
        octaves.append(octaves[-1] * 2)
    start = octaves[random.below(len(octaves))]
    return start + random.below(max(min(start, high - start), 1))


def _programs(mix: Mix, seed: int) -> list[_Program]:
    """Return the programs in the order in which they are started, each with its totals."""
    random = stream(seed, "sas.programs")
    kinds = ["compute"] * mix.compute + ["memory"] * mix.memory + ["io"] * mix.io
    for last in range(len(kinds) - 1, 0, -1):
        other = random.below(last + 1)
        kinds[last], kinds[other] = kinds[other], kinds[last]
    weights = [between(random, _MB, _MB * mix.spread) for _ in kinds]
    runs = [len(range(number, mix.jobs, len(kinds))) for number in range(len(kinds))]
    total = sum(weight * run for weight, run in zip(weights, runs, strict=True))
    of_io = sum(w * r for w, r, k in zip(weights, runs, kinds, strict=True) if k == "io")
    found = []
    for number, (kind, weight) in enumerate(zip(kinds, weights, strict=True)):
        nominal_ps = mix.nominal_ps * mix.jobs * weight // total
        share = mix.io_share_permille if kind == "io" else _PERMILLE - mix.io_share_permille
        of_kind = max(of_io if kind == "io" else total - of_io, 1)
        size = mix.bytes * mix.jobs * share // _PERMILLE * weight // of_kind
        cpu_ps = _cpu_ps(mix, kind, weight, total, of_io)
        inputs = tuple(
            between(random, mix.small_file_bytes, mix.large_file_bytes) for _ in range(mix.inputs)
        )
        found.append(_Program(number, kind, nominal_ps, cpu_ps, size, inputs))
    return found


def _cpu_ps(mix: Mix, kind: str, weight: int, total: int, of_io: int) -> int:
    """CPU time: programs for I/O have what the others leave of the mean."""
    all_ps = mix.cpu_ps * mix.jobs
    nominal_ps = mix.nominal_ps * mix.jobs
    others_ps = nominal_ps * (total - of_io) // total * mix.compute_share_permille // _PERMILLE
    others_ps = min(others_ps, all_ps)
    if kind == "io":
        return (all_ps - others_ps) * weight // max(of_io, 1)
    return others_ps * weight // max(total - of_io, 1)


def _starts(mix: Mix, programs: list[_Program]) -> list[tuple[int, _Program]]:
    """Return (time, program) of each job: as many at once as are to run, by nominal times."""
    chosen = [programs[number % len(programs)] for number in range(mix.jobs)]
    total_ps = sum(program.nominal_ps for program in chosen)
    slots = mix.at_once
    starts, end_ps = _in_slots(mix, chosen, slots)
    # at the end fewer run than in the middle
    while total_ps < mix.at_once * end_ps and slots < mix.jobs:
        slots += 1
        starts, end_ps = _in_slots(mix, chosen, slots)
    return [
        (start_ps * mix.length_permille // _PERMILLE, program)
        for start_ps, program in sorted(starts, key=lambda start: start[0])
    ]


def _in_slots(
    mix: Mix, chosen: list[_Program], slots: int
) -> tuple[list[tuple[int, _Program]], int]:
    """Start each job when another's nominal time is over; return the starts, and the last end."""
    free = [mix.start_ps * slot // slots for slot in range(slots)]
    starts = []
    for program in chosen:
        slot = min(range(slots), key=free.__getitem__)
        starts.append((free[slot], program))
        free[slot] += program.nominal_ps
    return starts, max(free)


def _steps(mix: Mix, program: _Program, random: RandomStream, call_bytes: int) -> tuple[Step, ...]:
    length = mix.length_permille
    nominal_ps = program.nominal_ps * length // _PERMILLE
    count = max(-(-nominal_ps // mix.step_ps), 1)
    weights = [between(random, _MB, _MB * mix.unevenness) for _ in range(count)]
    size = program.bytes * length // _PERMILLE
    cpu_ps = program.cpu_ps * length // _PERMILLE
    read = size * mix.read_share_permille // _PERMILLE
    fs_per_byte = cpu_ps * 1000 // max(read, 1)
    if program.kind != "io":
        fs_per_byte = min(mix.scan_fs_per_byte, fs_per_byte)
    compute_ps = max(cpu_ps - read * fs_per_byte // 1000, 0)
    steps: list[Step] = []
    for weight in weights:
        moved = size * weight // sum(weights)
        put_out = moved - moved * mix.read_share_permille // _PERMILLE
        calls = 0
        if program.kind == "io":
            calls = (moved - put_out) * mix.random_share_permille // _PERMILLE // call_bytes
        written = steps[-1].write_bytes if steps else 0
        reads = moved - put_out - calls * call_bytes
        steps.append(
            Step(
                scans=_scans(mix, program, random, reads=reads, writes=put_out, written=written),
                write_bytes=put_out,
                fs_per_byte=fs_per_byte,
                random_calls=calls,
                compute_ps=compute_ps // count,
                pause_ps=nominal_ps * mix.pause_permille // _PERMILLE // count,
            )
        )
    return tuple(steps)


def _scans(
    mix: Mix, program: _Program, random: RandomStream, *, reads: int, writes: int, written: int
) -> tuple[Scan, ...]:
    """Draw the passes of a step; `written` is the size of what the step before put out."""
    scans = []
    left, put_out = reads, writes
    while left > 0:
        work = written > 0 and random.below(_PERMILLE) < mix.reread_share_permille
        file = random.below(len(program.inputs))
        size = written if work else program.inputs[file]
        merged = random.below(_PERMILLE) < mix.merge_share_permille
        read = min(size, left)
        out = put_out if read == left else writes * read // reads
        scans.append(
            Scan(
                work=work,
                file=file,
                size_bytes=size,
                read_bytes=read,
                ways=mix.merge_ways if merged else 1,
                write_bytes=out,
            )
        )
        left -= read
        put_out -= out
    return tuple(scans)
