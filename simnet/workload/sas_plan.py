"""The SAS mixed analytics workload as a plan: which jobs start when, and what each does.

Twenty programs (most compute, a few want memory, the rest read and write) are started over time and
repeated, so that a given number runs at once: when one ends the next is started. Short programs run
more often than long ones. A job is a sequence of steps, as a SAS program is one
of DATA and PROC steps: each passes over input files, or once more over what the job wrote before,
writes a file of the work library, and computes. What a job writes is deleted at its end.

What a program does is drawn from the workload's parameters: how long it takes, how much data it
passes over. Kinds of programs take turns evenly. Runs of a program differ in the order and the
sizes of their steps, so that nodes do not keep step. Only integers are drawn, since sizes and times
become events.
"""

import math
from dataclasses import dataclass

from simnet.kernel.random import RandomStream, stream

_PERMILLE = 1000
_MB = 10**6


@dataclass(frozen=True)
class Mix:
    """The workload's parameters: sizes in bytes, times in ps, shares in permille."""

    # programs of each kind
    compute: int
    memory: int
    io: int
    jobs: int  # in all
    at_once: int  # that run at once in the mean
    length_permille: int  # of each job that is simulated
    nominal_ps: int  # time that a job takes, in the mean
    spread: int  # ratio of the longest program's time to the shortest one's
    start_ps: int  # time over which the first jobs are started
    step_ps: int  # nominal time of a step
    unevenness: int  # ratio of the most data of a step to the least
    cpu_ps: int  # CPU time of a job on a core of its own, in the mean; calls included
    compute_share_permille: int  # of a compute program's time in which it computes
    bytes: int  # that a job reads and writes, in the mean
    io_share_permille: int  # of all data, what programs for I/O read and write
    read_share_permille: int  # of the data that is read
    reread_share_permille: int  # of what is read, what the job wrote before
    merge_share_permille: int  # of the other, what is read by turns from several runs of a file
    merge_ways: int  # runs of a file that is merged
    random_share_permille: int  # of what programs for I/O read, by calls at random
    inputs: int  # input files of a program
    # between which files are, as many in each octave
    small_file_bytes: int
    large_file_bytes: int
    scan_fs_per_byte: int  # CPU time of compute programs for a byte, in fs
    # of the nominal time of programs for I/O, in which they wait for what is not simulated,
    # block by block
    pause_permille: int

    @property
    def programs(self) -> int:
        """How many there are."""
        return self.compute + self.memory + self.io


@dataclass(frozen=True)
class Scan:
    """A pass over a part of a file."""

    work: bool  # whether it is what the step before has written; else an input file
    file: int  # which of the program's input files
    size_bytes: int  # of the file
    read_bytes: int  # that are read
    ways: int  # see `block_stream.Pass`
    write_bytes: int  # that are put out meanwhile


@dataclass(frozen=True)
class Step:
    """One step of a job."""

    before_ps: int  # CPU time that comes first
    scans: tuple[Scan, ...]  # passes, one after the other; all write to one file
    write_bytes: int  # size of that file in the end
    fs_per_byte: int  # CPU time of a pass for a byte read, in fs; calls come on top
    pause_fs_per_byte: int  # time for a byte read that the program waits for something else
    random_calls: int  # reads at random that follow
    compute_ps: int  # CPU time that follows
    pause_ps: int  # time that passes then


@dataclass(frozen=True)
class Job:
    """One run of a program."""

    number: int  # from 0, in the order of their starts
    name: str  # program and number of its run
    program: int  # which, from 0
    kind: str  # compute, memory or io
    start_ps: int  # before that it does not start; later, if too many run then
    steps: tuple[Step, ...]  # what it does


@dataclass(frozen=True)
class _Program:
    """A program's totals: nominal time, CPU time, data; and the sizes of its input files."""

    number: int
    kind: str
    nominal_ps: int
    cpu_ps: int
    bytes: int
    inputs: tuple[int, ...]


def plan(mix: Mix, *, seed: int, call_bytes: int, node: int = 0) -> tuple[Job, ...]:
    """Return a node's jobs in the order in which they are started.

    Args:
        mix: the workload.
        seed: of what is drawn.
        call_bytes: a program's buffer size.
        node: the steps of its jobs are its own; programs and starts are the same on all.
    """
    programs = _programs(mix, seed)
    jobs: list[Job] = []
    for number, chosen in enumerate(_runs(mix, [program.nominal_ps for program in programs])):
        program = programs[chosen]
        start_ps = mix.start_ps * min(number, mix.at_once) // mix.at_once
        start_ps = start_ps * mix.length_permille // _PERMILLE
        run = sum(other.program == program.number for other in jobs)
        name = f"{program.kind}{program.number}.{run}"
        random = stream(seed, f"sas.{node}.{name}")
        steps = _steps(mix, program, random, call_bytes)
        jobs.append(Job(number, name, program.number, program.kind, start_ps, steps))
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
    kinds = _mixed({"compute": mix.compute, "memory": mix.memory, "io": mix.io})
    weights = [between(random, _MB, _MB * mix.spread) for _ in kinds]
    runs = _runs(mix, weights)
    total = sum(weights[number] for number in runs)
    of_io = sum(weights[number] for number in runs if kinds[number] == "io")
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


def _runs(mix: Mix, weights: list[int]) -> list[int]:
    """Return the program of each job, in the order in which they are started.

    First as many as run at once, program after program. Of the others there are so many of each
    program that the same number of slots, each repeating its program, would be done at about the
    same time; long ones come first, so that at the end none is left alone for long.
    """
    slots = list(range(min(mix.at_once, mix.jobs)))
    times = [weights[slot % len(weights)] for slot in slots]
    ends = list(times)
    more = []
    for _ in range(mix.jobs - len(slots)):
        slot = min(slots, key=lambda number: (ends[number] + times[number], number))
        ends[slot] += times[slot]
        more.append(slot % len(weights))
    more.sort(key=lambda number: -weights[number])
    return [slot % len(weights) for slot in slots] + more


def _mixed(counts: dict[str, int]) -> list[str]:
    """Return as many of each kind as there are, each kind spread evenly over the list."""
    places = [
        (2 * number + 1, count, kind) for kind, count in counts.items() for number in range(count)
    ]
    longest = max(math.lcm(*filter(None, counts.values())), 1)
    return [kind for _, _, kind in sorted((at * longest // n, n, kind) for at, n, kind in places)]


def _cpu_ps(mix: Mix, kind: str, weight: int, total: int, of_io: int) -> int:
    """CPU time: programs for I/O have what the others leave of the mean."""
    all_ps = mix.cpu_ps * mix.jobs
    nominal_ps = mix.nominal_ps * mix.jobs
    others_ps = nominal_ps * (total - of_io) // total * mix.compute_share_permille // _PERMILLE
    others_ps = min(others_ps, all_ps)
    if kind == "io":
        return (all_ps - others_ps) * weight // max(of_io, 1)
    return others_ps * weight // max(total - of_io, 1)


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
    pause_ps = nominal_ps * (_PERMILLE - mix.compute_share_permille) // _PERMILLE
    pause_fs = 0
    if program.kind == "io":
        pause_fs = nominal_ps * mix.pause_permille // max(read, 1)
        pause_ps = 0
    steps: list[Step] = []
    for weight in weights:
        moved = size * weight // sum(weights)
        put_out = moved - moved * mix.read_share_permille // _PERMILLE
        calls = 0
        if program.kind == "io":
            calls = (moved - put_out) * mix.random_share_permille // _PERMILLE // call_bytes
        written = steps[-1].write_bytes if steps else 0
        reads = moved - put_out - calls * call_bytes
        work_ps = compute_ps // count
        # somewhere in the step it passes over its data
        before_ps = random.below(work_ps + 1)
        steps.append(
            Step(
                before_ps=before_ps,
                scans=_scans(mix, program, random, reads=reads, writes=put_out, written=written),
                write_bytes=put_out,
                fs_per_byte=fs_per_byte,
                pause_fs_per_byte=pause_fs,
                random_calls=calls,
                compute_ps=work_ps - before_ps,
                pause_ps=pause_ps // count,
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
