# ruff: noqa: SLF001 - SimPy's names are private ones
"""How exceptions travel from where a process fails to those who wait for it."""

from __future__ import annotations

from typing import Any

from simnet.errors import seconds_text

_RUNS_GENERATORS = ("simnet/kernel/processes.py", "simnet\\kernel\\processes.py")


def failure(event: Any, time_ps: int) -> BaseException:
    """Return what to raise for a failed event that nothing handled.

    It is a copy of the event's exception, of the same type, with the original as its cause and
    with a note that says which process or event failed, and when.
    """
    error = copied(event._value)
    name = getattr(event, "name", None)
    what = f"event {event!r}" if name is None else f"process {name!r}"
    error.__notes__ = list(getattr(error, "__notes__", ()))
    error.add_note(f"{what} failed at {seconds_text(time_ps)} s of simulated time")
    return error


def copied(error: BaseException) -> BaseException:
    """Copy an exception for one receiver, so that its traceback is that receiver's alone."""
    # not copy.copy: a library that registers with copyreg makes copies carry tracebacks and notes
    try:
        reduced: Any = error.__reduce_ex__(2)
        make, arguments, *state = reduced[:3]
        twin: BaseException = make(*arguments)
        for values in state:
            vars(twin).update(values or {})
    except Exception:  # noqa: BLE001 - a constructor may raise anything
        return error
    if twin is not error:
        twin.__cause__ = error
    return twin


def stripped(error: BaseException) -> BaseException:
    """Take the kernel's own frames off an exception that left a generator."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        if not trace.tb_frame.f_code.co_filename.endswith(_RUNS_GENERATORS):
            break
        trace = trace.tb_next
    error.__traceback__ = trace
    return error
