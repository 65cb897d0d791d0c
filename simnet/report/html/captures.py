"""The part of a report about a capture: what its connections carried, and when."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from simnet.printable import printable
from simnet.report.html.blocks import Block, Notes, Part, Section, Table, Verdict
from simnet.report.html.svg import picture
from simnet.study.sequence.capture import named, read_capture, summary
from simnet.study.sequence.connections import AGAIN, LATE, Direction

_DRAWN: Final = 3
_HEADING: Final = (
    "from",
    "to",
    "bytes",
    "segments",
    "sent again",
    "out of order",
    "longest pause, ms",
    "which",
)


def capture_parts(files: Sequence[Path]) -> list[Part]:
    """A part for each file.

    Raises:
        InputError: a file cannot be read, or is no capture of TCP.
    """
    return [_part(f"capture{number}", file) for number, file in enumerate(files)]


def _part(name: str, file: Path) -> Part:
    found = read_capture(file)
    ways = found.directions
    shown = [
        picture(
            f"{name}-{number}",
            partial(found.plot, number),
            f"Sequence numbers of {named(way.source)} over time",
            summary(way),
        )
        for number, way in enumerate(ways[:_DRAWN])
    ]
    table = Table(
        "Connections, each way by itself, the largest first",
        _HEADING,
        tuple(_row(way) for way in ways),
        left=2,
    )
    blocks: list[Block] = [*shown, table]
    if found.remarks:
        blocks.insert(0, Notes(tuple(printable(one) for one in found.remarks), warning=True))
    many = f"{len(ways)} ways with payload" if len(ways) > 1 else "one way with payload"
    other = f"{found.others} frames are of something else" if found.others else ""
    sentence = ", ".join(one for one in (summary(ways[0]), other) if one)
    question = f"What did the connections in {printable(file.name)} do over time?"
    section = Section("Sequence numbers", blocks)
    return Part(question, [Verdict(many, sentence)], [section], "what a capture shows")


def _row(way: Direction) -> tuple[str, ...]:
    pause = way.pause()
    return (
        named(way.source),
        named(way.destination),
        f"{way.payload:,}",
        f"{len(way.segments):,}",
        f"{way.count(AGAIN):,}",
        f"{way.count(LATE):,}",
        "" if pause is None else f"{1000 * pause.seconds:.3g}",
        "" if pause is None else pause.ends,
    )
