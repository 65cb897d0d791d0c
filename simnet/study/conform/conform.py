"""Does TCP do what a real kernel did? Recorded traces and scripts against the model.

A trace (``.jsonl``, one scenario a line) says which segments a kernel was given and when its
application read; it lists the acknowledgements that came back. Their number and their numbers
must be the same, and their times within 2 ms for some phase of the kernel's ticks. The window field
and the SACK blocks are compared, too, and counted.
"""

import functools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from simnet.errors import InputError
from simnet.net.link.skb import CE, CWR, ECE, ECT
from simnet.scenario.core.library import find_model, flat, model_names, read_model
from simnet.study.conform.end import Segment
from simnet.study.conform.packetdrill import read_script
from simnet.study.conform.phase import phases
from simnet.study.conform.recording import Expected, Recording, bursts, replay
from simnet.study.conform.script import recording_of
from simnet.study.conform.trace import read_traces
from simnet.time_units import PS_PER_MS

_TOLERANCE_PS: Final = 2 * PS_PER_MS


@dataclass(frozen=True)
class Verdict:
    """How one scenario came out."""

    # where it is from
    file: str
    line: int
    name: str  # of the scenario, and the route's properties if it has any
    kernel: str  # version whose receiver was used
    # segments that the kernel and the model sent
    expected: tuple[Expected, ...]
    sent: tuple[Segment, ...]
    worst_ms: float  # largest difference in time
    phase_ms: float  # when the kernel's first tick falls
    # segments whose window field and SACK blocks are the same
    windows: int
    blocks: int
    difference: str | None  # what differs first; None if nothing does

    @property
    def agrees(self) -> bool:
        """Whether the model did what the kernel did."""
        return self.difference is None


@dataclass(frozen=True)
class Conformance:
    """All verdicts, in the order of the files."""

    verdicts: tuple[Verdict, ...]

    @property
    def agrees(self) -> bool:
        """Whether all do."""
        return all(verdict.agrees for verdict in self.verdicts)

    def rows(self) -> list[dict[str, Any]]:
        """One mapping a scenario, for JSON; times in milliseconds."""
        return [_row(verdict) for verdict in self.verdicts]


def _row(verdict: Verdict) -> dict[str, Any]:
    row = asdict(verdict)
    for key in ("expected", "sent"):
        row[key] = [
            {
                "time_ms": segment["time_ps"] / PS_PER_MS,
                "ack": segment["ack"],
                "window": segment["window"],
                "sack": [list(block) for block in segment["sack"] or ()],
                "seq": segment["seq"],
                "end_seq": segment["end_seq"],
            }
            for segment in row[key]
        ]
    return row | {"agrees": verdict.agrees}


def conform(files: Sequence[str | Path], kernel: str | None = None) -> Conformance:
    """Run traces and scripts against the model.

    Args:
        files: traces (``.jsonl``) and packetdrill scripts (``.pkt``).
        kernel: name of the kernel model; if None by the version that a trace names, the latest for
            scripts.

    Raises:
        InputError: a file cannot be used, no model is of that version, or it is not Linux's.
    """
    if kernel and _chosen(kernel)["system"] != "linux":
        raise InputError(f"{kernel}: expected a kernel model of Linux", key="--kernel")
    verdicts: list[Verdict] = []
    for file in map(str, files):
        if file.endswith(".pkt"):
            constants = _values(kernel or _latest())
            verdicts.append(_judged(recording_of(read_script(file), constants)))
            continue
        if not file.endswith(".jsonl"):
            raise InputError("expected a trace (.jsonl) or a packetdrill script (.pkt)", file=file)

        def values(version: str, line: int, file: str = file) -> dict[str, Any]:
            return _values(kernel or _model_of(version, file, line)) | (
                {} if kernel else {"version": version}
            )

        verdicts += map(_judged, read_traces(file, values))
    return Conformance(tuple(verdicts))


def _chosen(kernel: str) -> dict[str, Any]:
    """Values of a kernel model that the user names."""
    try:
        return _values(kernel)
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.message, key="--kernel") from error


@functools.cache
def _values(model: str) -> dict[str, Any]:
    """Constants and sysctls of a kernel model."""
    form, _ = read_model("kernel", find_model("kernel", model))
    parameters, bare = flat(form)
    found = {
        f"{name}_{parameter.unit}" if parameter.unit in {"ps", "bytes"} else name: parameter.value
        for name, parameter in parameters.items()
    }
    return found | bare


def _linux_versions() -> dict[str, str]:
    """Versions of Linux by kernel model."""
    kernels = {name: _values(name) for name in model_names("kernel")}
    return {
        name: str(values["version"])
        for name, values in kernels.items()
        if values["system"] == "linux"
    }


def _latest() -> str:
    """The kernel model of the latest Linux."""
    versions = _linux_versions()
    return max(versions, key=lambda name: [int(part) for part in versions[name].split(".")])


def _model_of(version: str, file: str, line: int) -> str:
    """The kernel model of a version, by its first two or, before 3.0, three numbers."""
    numbers = version.split(".")[: 3 if version.startswith("2.") else 2]
    models = _linux_versions()
    for name, known in models.items():
        if known.split(".")[: len(numbers)] == numbers:
            return name
    known = ", ".join(sorted(set(models.values())))
    raise InputError(
        f"no kernel model of Linux {version}, only of {known}: name one with --kernel",
        file=file,
        line=line,
        key="kernel",
    )


def _judged(recording: Recording) -> Verdict:
    """The verdict at the phase of the ticks that suits the scenario best."""
    tried = (_judged_at(recording, phase_ps) for phase_ps in phases(recording))
    best = next(tried)
    for found in tried:
        if best.whole:
            break
        if found.score > best.score:
            best = found
    return best.verdict


@dataclass(frozen=True)
class _Trial:
    """A verdict at one phase of the ticks."""

    same: int  # segments that agree before the first that differs
    alike: int  # those that have the same window and SACK blocks as well
    verdict: Verdict

    @property
    def score(self) -> tuple[int, int]:
        return self.same, self.alike

    @property
    def whole(self) -> bool:
        return self.verdict.agrees and self.alike == len(self.verdict.expected)


def _judged_at(recording: Recording, phase_ps: int) -> _Trial:
    """At one phase; a timer that has sent what differs may have run a jiffy late."""
    late: tuple[int, ...] = ()
    best = _trial(recording, phase_ps, late)
    while not best.whole and not recording.exact:
        sent = best.verdict.sent
        near = (best.alike - 1, best.alike)
        numbers = [n for n in near if 0 <= n < len(sent) and sent[n].timer and n not in late]
        trials = [(_trial(recording, phase_ps, (*late, n)), n) for n in numbers]
        found, number = max(trials, key=lambda trial: trial[0].score, default=(best, -1))
        if found.score <= best.score:
            break
        best = found
        late = (*late, number)
    return best


def _trial(recording: Recording, phase_ps: int, late: tuple[int, ...]) -> _Trial:
    end = replay(recording, phase_ps, late)
    sent = bursts(recording.expected, end.sent) if recording.exact else end.sent
    pairs = list(zip(recording.expected, sent, strict=False))
    same, difference = _difference(recording, sent)
    if difference is None and end.problems:
        difference = end.problems[0]
    verdict = Verdict(
        recording.file,
        recording.line,
        recording.name,
        str(recording.connection.kernel["version"]),
        recording.expected,
        tuple(sent),
        max((abs(e.time_ps - s.time_ps) / PS_PER_MS for e, s in pairs), default=0.0),
        phase_ps / PS_PER_MS,
        sum(e.window in {None, s.window} for e, s in pairs),
        sum(e.sack in {None, s.sack} for e, s in pairs),
        difference,
    )
    alike = 0
    for wanted, got in pairs[:same]:
        if wanted.window not in {None, got.window} or wanted.sack not in {None, got.sack}:
            break
        alike += 1
    return _Trial(same + (difference is None), alike, verdict)


def _difference(recording: Recording, sent: Sequence[Segment]) -> tuple[int, str | None]:
    """How many segments are the same, and what differs first."""
    expected = recording.expected
    for number, (wanted, got) in enumerate(zip(expected, sent, strict=False), 1):
        allowed = _TOLERANCE_PS if wanted.tolerance_ps is None else wanted.tolerance_ps
        same = wanted.ack == got.ack and abs(wanted.time_ps - got.time_ps) <= allowed
        if same and recording.exact:
            same = (wanted.seq, wanted.end_seq) == (got.seq, got.end_seq)
            same = same and wanted.window in {None, got.window}
            same = same and wanted.sack in {None, got.sack}
            same = same and (wanted.ecn or 0) == got.ecn & wanted.ecn_bits
        if not same:
            both = f"expected {_segment_text(wanted)}, sent {_segment_text(got)}"
            return number - 1, f"{_which(wanted, number)}: {both}"
    if len(expected) > len(sent):
        wanted = expected[len(sent)]
        difference = f"{_which(wanted, len(sent) + 1)}: expected {_segment_text(wanted)}, sent none"
        return len(sent), difference
    # what a script does not wait for it does not look at
    if len(sent) > len(expected) and not recording.exact:
        number = len(expected) + 1
        return len(
            expected
        ), f"segment {number}: expected none, sent {_segment_text(sent[number - 1])}"
    return len(expected), None


def _which(wanted: Expected, number: int) -> str:
    return f"line {wanted.line}" if wanted.line else f"ACK {number}"


def _named(bits: int) -> str:
    names = {ECT: "ECT", CE: "CE", ECE: "ECE", CWR: "CWR"}
    return " ".join(name for bit, name in names.items() if bits & bit)


def _segment_text(segment: Expected | Segment) -> str:
    text = f"{segment.ack} at {segment.time_ps / PS_PER_MS:.3f} ms"
    if segment.seq is not None and segment.end_seq is not None and segment.seq < segment.end_seq:
        text = f"{segment.seq}:{segment.end_seq} ack {text}"
    if segment.ecn:
        text += f", {_named(segment.ecn)}"
    if segment.window is not None:
        text += f", win {segment.window}"
    if segment.sack:
        text += ", sack " + " ".join(f"{first}:{last}" for first, last in segment.sack)
    return text
