"""The connections of a capture file: `simnet.read_capture`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simnet.errors import InputError
from simnet.study.figures import drawn
from simnet.study.sequence.connections import AGAIN, LATE, Direction, directions
from simnet.study.sequence.frames import End, read_frames

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_MS: Final = 1000


@dataclass(frozen=True)
class Capture:
    """What a capture tells of TCP."""

    file: str  # its name
    directions: tuple[Direction, ...]  # ways of connections that carried payload, the largest first
    others: int  # frames of something else than TCP
    remarks: tuple[str, ...]  # one line each: what was cut

    @cached_property
    def start_s(self) -> float:
        """The time of the first segment with payload."""
        return min(one.segments[0].time_s for one in self.directions)

    def to_frame(self) -> pd.DataFrame:
        """One row a segment with payload: ends, time in s from the first one, bytes, kind."""
        import pandas as pd  # the command needs no data frame

        rows = [
            {
                "source": named(way.source),
                "destination": named(way.destination),
                "time_s": one.time_s - self.start_s,
                "start": one.start,
                "end": one.end,
                "kind": one.kind,
            }
            for way in self.directions
            for one in way.segments
        ]
        return pd.DataFrame(rows)

    def plot(self, number: int = 0) -> Figure:
        """Sequence numbers of one way over time, as tcptrace draws them."""
        return drawn("sequence:time_sequence", self, number)


def read_capture(path: str | Path) -> Capture:
    """Read a capture, of `simnet run --pcap`, tcpdump or Wireshark.

    Raises:
        InputError: it cannot be read, is no capture, or nothing in it carries payload over TCP.
    """
    found = read_frames(Path(path))
    ways = directions(found.frames)
    if not ways:
        many = len(found.frames) + found.others
        raise InputError(f"no TCP connection with payload among its {many} frames", file=path)
    return Capture(str(path), tuple(ways), found.others, found.remarks)


def named(end: End) -> str:
    """Address and port of an end."""
    address, port = end
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def summary(way: Direction) -> str:
    """One line: what went over a way, and its longest pause."""
    parts = [f"{named(way.source)} sends {_size(way.payload)} in {_ms(way.seconds)}"]
    again, late = way.count(AGAIN), way.count(LATE)
    if again:
        parts.append(f"{again:,} segments again")
    if late:
        parts.append(f"{late:,} out of order")
    pause = way.pause()
    if pause is not None:
        parts.append(f"its longest pause, {_ms(pause.seconds)}, {pause.ends}")
    return ", ".join(parts)


def _size(size: int) -> str:
    unit, one = next((pair for pair in _UNITS if size >= pair[1]), ("B", 1))
    return f"{size / one:.3g} {unit}" if one > 1 else f"{size} B"


def _ms(seconds: float) -> str:
    return f"{seconds * _MS:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
