"""Traces of a kernel's TCP receiver: one scenario a line, in JSON.

Keys: `kernel` (version), `HZ`, `mss`, `route` ("default", "quickack 1"), `rcv` (options in use),
`name`, `note`, `inject` (segments in: ms, first sequence number, last plus one, PSH), `app_reads`
(ms, bytes), `app_writes` (ms, bytes), `acks` (what the kernel sent: ms, ACK number, window field,
SACK blocks), `delack_max_us` (TCP_DELACK_MAX_US; or in the name: `delack_max_5000us`), `rto_min_us`
(of the route), `rcvbuf` (SO_RCVBUF as the kernel counts it), `tick_ms` (when a tick of the kernel
fell), `handshake_ms` (from the SYN-ACK to its ACK).
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simnet.errors import InputError
from simnet.faults import fault_in
from simnet.files import read_text
from simnet.study.conform.connection import Connection
from simnet.study.conform.recording import Expected, Recording
from simnet.study.conform.step import Step
from simnet.time_units import PS_PER_MS, PS_PER_US

_LARGEST_FILE_BYTES: Final = 64 << 20
_MTU_PAYLOAD: Final = 1460
_DELACK_NAME: Final = re.compile(r"delack_max_(\d{1,10})us")

# far beyond any trace, and well within the simulator's clock and counters
_Ms = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Bytes = Annotated[int, Field(ge=0, le=1 << 40)]
_Us = Annotated[int, Field(ge=1, le=10**9)]
_Block = tuple[_Bytes, _Bytes]


class _Trace(BaseModel):
    """One line."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kernel: str
    hz: int = Field(alias="HZ", ge=24, le=10_000)
    mss: int = Field(ge=88, le=65_495)
    advmss: int = Field(default=_MTU_PAYLOAD, ge=88, le=65_495)
    route: str = "default"
    rcv: str = "sack, no timestamps"
    name: str
    inject: list[tuple[_Ms, _Bytes, _Bytes, _Bytes]]
    app_reads: list[tuple[_Ms, _Bytes]] = []
    app_writes: list[tuple[_Ms, _Bytes]] = []
    acks: list[tuple[_Ms, _Bytes, _Bytes, list[_Block]]]
    delack_max_us: _Us | None = None
    rto_min_us: _Us | None = None
    rcvbuf: int = Field(default=0, ge=0, le=(1 << 31) - 1)
    tick_ms: _Ms | None = None
    handshake_ms: float = Field(default=0.1, ge=0.001, le=1000)


def read_traces(file: str, values: Callable[[str, int], dict[str, Any]]) -> Iterator[Recording]:
    """Scenarios of a file; `values` gives a kernel's constants by its version and the line.

    Raises:
        InputError: the file cannot be read, or a line is no such scenario.
    """
    text = read_text(Path(file), most_bytes=_LARGEST_FILE_BYTES, kind="file of traces")
    found = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            found += 1
            yield _case(_parsed(line, file, number), file, number, values)
    if found == 0:
        raise InputError("no scenario in it", file=file)


def _parsed(line: str, file: str, number: int) -> _Trace:
    try:
        return _Trace.model_validate(json.loads(line))
    except ValidationError as error:
        raise fault_in(file, error, number) from error
    except RecursionError as error:
        raise InputError("no JSON: nested too deeply", file=file, line=number) from error
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error}", file=file, line=number) from error
    except ValueError as error:  # what Python says of thousands of digits
        raise InputError("no JSON: a number is too long", file=file, line=number) from error


def _case(
    trace: _Trace, file: str, line: int, values: Callable[[str, int], dict[str, Any]]
) -> Recording:
    steps = [
        Step(round(ms * PS_PER_MS), "receive", seq, end, push=bool(push))
        for ms, seq, end, push in trace.inject
    ]
    for step in steps:
        if step.end_seq <= step.seq:
            raise InputError(
                f"a segment ends at {step.end_seq}, before its first byte {step.seq} is over",
                file=file,
                line=line,
                key="inject",
            )
    steps += [Step(round(ms * PS_PER_MS), "read", end_seq=count) for ms, count in trace.app_reads]
    steps += [Step(round(ms * PS_PER_MS), "write", end_seq=count) for ms, count in trace.app_writes]
    # a read that is given the time of a segment came before it
    steps.sort(key=lambda step: (step.time_ps, step.action == "receive"))
    acks = [
        Expected(round(ms * PS_PER_MS), ack, window, tuple(blocks))
        for ms, ack, window, blocks in trace.acks
    ]
    name = trace.name if trace.route == "default" else f"{trace.name} ({trace.route})"
    return Recording(
        file,
        line,
        name,
        _connection(trace, values(trace.kernel, line)),
        min((step.seq for step in steps if step.action == "receive"), default=1),
        tuple(steps),
        tuple(acks),
        tick_ps=None if trace.tick_ms is None else round(trace.tick_ms * PS_PER_MS),
    )


def _connection(trace: _Trace, kernel: dict[str, Any]) -> Connection:
    limit = trace.delack_max_us
    named = _DELACK_NAME.search(trace.name)
    if limit is None and named is not None:
        limit = int(named[1])
    if trace.rto_min_us is not None:
        kernel = kernel | {"rto_min_ps": trace.rto_min_us * PS_PER_US}
    return Connection(
        kernel | {"hz": trace.hz},
        mss=trace.mss,
        advmss=trace.advmss,
        timestamps="no timestamps" not in trace.rcv,
        sack="no sack" not in trace.rcv,
        quickack=re.search(r"quickack\s+1", trace.route) is not None,
        delack_max_ps=None if limit is None else limit * PS_PER_US,
        rcvbuf=trace.rcvbuf,
        rtt_ps=round(trace.handshake_ms * PS_PER_MS),
    )
