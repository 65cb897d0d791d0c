"""Writes a timeline for Perfetto or chrome://tracing, in Chrome's trace event format (JSON object).

One track a CPU (hard interrupt, softirq and process as nested spans), one a NIC ring (a counter of
its fill). Arrows lead from slice to slice; see `flows`. Events go to a part file as they come and
the file takes its name when it is complete, so memory stays flat and a reader never meets half a
trace. A name that ends in `.gz` is compressed. Timestamps are microseconds with six decimals: every
picosecond is kept.

Spans come in the order in which they end, because that is when their length is known; viewers sort.
Source: "Trace Event Format", Google, the document behind chrome://tracing.
"""

import contextlib
import gzip
import io
import json
import re
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from simnet.files import NewFile
from simnet.time_units import PS_PER_US

_TRACK = re.compile(r"(?P<group>.*?)(?P<number>\d*)")
# names that are quoted once and kept; ones with a number in them would pile up without end
_KEPT_NAMES = 1000
# fast, and within a few per cent of the default level on this kind of text
_GZIP_LEVEL = 4


class TraceFile:
    """A tracer (`span`, `instant`, `counter`) that writes to a file; use it in a `with` block.

    Leaving the block by an exception removes what was written. Tracks are named by the caller,
    in the manner of `cpu3`; the part before the number groups them. Raises what `NewFile` raises.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.events = 0
        self._tracks: dict[str, tuple[int, int]] = {}
        self._groups: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._file = NewFile(self.path, key="--trace")
        stream: BinaryIO | gzip.GzipFile = self._file.stream
        if self.path.suffix == ".gz":
            # no name and no time inside, so that equal runs give equal bytes
            stream = gzip.GzipFile("", "wb", _GZIP_LEVEL, stream, mtime=0)
        self._out = io.TextIOWrapper(stream, encoding="ascii", newline="\n")
        self._write = self._out.write
        self._write('{"displayTimeUnit":"ns","traceEvents":[\n')

    def span(
        self, track: str, name: str, start_ps: int, end_ps: int, group: str | None = None
    ) -> None:
        """Something that `track` did from `start_ps` to `end_ps`; `group` is the track's."""
        pid, tid = self._track(track, group)
        self._event(
            f'"ph":"X","pid":{pid},"tid":{tid},"name":{self._name(name)},'
            f'"ts":{_us(start_ps)},"dur":{_us(end_ps - start_ps)}'
        )

    def instant(self, track: str, name: str, time_ps: int) -> None:
        """Something that happened on `track` at one instant."""
        pid, tid = self._track(track)
        self._event(
            f'"ph":"i","s":"t","pid":{pid},"tid":{tid},"name":{self._name(name)},"ts":{_us(time_ps)}'
        )

    def counter(self, track: str, name: str, time_ps: int, value: int) -> None:
        """A quantity of `track` that has `value` from `time_ps` on."""
        pid, tid = self._track(track)
        # counters belong to a process, not to a thread: the track's name must be in theirs
        self._event(
            f'"ph":"C","pid":{pid},"tid":{tid},"name":{self._name(f"{track} {name}")},'
            f'"ts":{_us(time_ps)},"args":{{"value":{value}}}'
        )

    def flow(
        self, track: str, name: str, time_ps: int, step: tuple[str, int], group: str | None = None
    ) -> None:
        """A step of an arrow, on the slice of `track` around a time.

        `step` is `s`, `t` or `f` for the arrow's start, a later slice and its end, and the arrow's
        number.
        """
        pid, tid = self._track(track, group)
        phase, number = step
        point = "" if phase == "s" else '"bp":"e",'
        self._event(
            f'"ph":"{phase}",{point}"cat":"{name}","id":{number},"pid":{pid},"tid":{tid},'
            f'"name":{self._name(name)},"ts":{_us(time_ps)}'
        )

    def close(self) -> None:
        """Complete the file and give it its name."""
        with self._file:
            for name, pid in self._groups.items():
                self._meta("process_name", pid, 0, f'"name":{json.dumps(name)}')
                self._meta("process_sort_index", pid, 0, f'"sort_index":{pid}')
            for name, (pid, tid) in self._tracks.items():
                self._meta("thread_name", pid, tid, f'"name":{json.dumps(name)}')
                self._meta("thread_sort_index", pid, tid, f'"sort_index":{_number(name)}')
            self._write("\n]}\n")
            self._out.flush()
            stream = self._out.detach()
            if stream is not self._file.stream:
                stream.close()  # what a compressed file ends with

    def discard(self) -> None:
        """Remove what was written; nothing takes the file's name."""
        self._file.discard()
        with contextlib.suppress(ValueError):  # what it still holds goes nowhere
            self._out.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
            return
        self.discard()
        if self._file.failed is not None:
            raise self._file.failed from error  # a component that writes fails with it

    def _track(self, track: str, group: str | None = None) -> tuple[int, int]:
        ids = self._tracks.get(track)
        if ids is None:
            if group is None:
                match = _TRACK.fullmatch(track)
                group = (match and match["group"]) or track
            pid = self._groups.setdefault(group, len(self._groups) + 1)
            ids = self._tracks[track] = (pid, len(self._tracks) + 1)
        return ids

    def _name(self, name: str) -> str:
        quoted = self._names.get(name)
        if quoted is None:
            quoted = json.dumps(name)
            if len(self._names) < _KEPT_NAMES:
                self._names[name] = quoted
        return quoted

    def _meta(self, kind: str, pid: int, tid: int, args: str) -> None:
        self._event(f'"ph":"M","pid":{pid},"tid":{tid},"name":"{kind}","args":{{{args}}}')

    def _event(self, body: str) -> None:
        self._write(f"{',' if self.events else ''}{{{body}}}\n")
        self.events += 1


def _us(time_ps: int) -> str:
    """Microseconds as an exact decimal."""
    whole, rest = divmod(time_ps, PS_PER_US)
    return f"{whole}.{rest:06d}"


def _number(track: str) -> int:
    match = _TRACK.fullmatch(track)
    return int((match and match["number"]) or 0)
