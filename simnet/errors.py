"""The errors that simnet raises on purpose.

Few, specific, and each one line: what was given, where, and what was expected. Anything else
that escapes is a defect of simnet.
"""

import re
from typing import Final

from simnet.time_units import PS_PER_S

# what an option of the command is called as an argument in Python
_ARGUMENTS: Final = {
    "--apply": "apply",
    "--before": "before",
    "--best": "by",
    "--between": "between",
    "--confirm": "confirm",
    "--duration": "duration",
    "--goal": "goal",
    "--jobs": "jobs",
    "--into": "folder",
    "--kernel": "kernel",
    "--knobs": "knobs",
    "--lift": "lift",
    "--limit": "limit",
    "--load": "load",
    "--max-loss": "max_loss",
    "--max-p99": "max_p99",
    "--members": "members",
    "--metric": "metric",
    "--over": "over",
    "--parameter": "parameters",
    "--paths": "paths",
    "--pcap": "pcap",
    "--pcap-port": "pcap_port",
    "--precision": "precision",
    "--replications": "replications",
    "--runs": "runs",
    "--scenario": "scenario",
    "--scheduler": "scheduler",
    "--seconds": "seconds",
    "--seed": "seed",
    "--seeds": "seeds",
    "--set": "settings",
    "--sobol": "sobol",
    "--trace": "trace",
    "--tuning": "tunings",
    "--warm-up": "warm_up",
    "--yes": "confirm",
}
_BY_KNOB: Final = {"--set", "--over"}
_OPTION: Final = re.compile(r"--[a-z][a-z0-9-]*\b")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out.

    Where there is none left for the exception either, Python's own C code returns without one.
    """
    lost = isinstance(error, SystemError) and "without setting an exception" in str(error)
    return lost or isinstance(error, MemoryError)


class SimnetError(Exception):
    """Base of every error that a user of simnet can cause or meet."""


class InputError(SimnetError):
    """A file, an argument or a knob that cannot be used as given.

    ``str()`` is one line, ``FILE:LINE: KEY: MESSAGE``, without the parts that are not known. It
    calls arguments as Python does (``duration``, ``settings["nodes"]``), and ``typed`` as the
    command does (``--duration``, ``--set: nodes``).

    Attributes:
        message: what was expected, and where it helps the nearest legal name.
        file: the file at fault, or the command's option for the argument at fault (``--set``).
        line: its line, counted from 1.
        key: the dotted key or the knob at fault.
    """

    def __init__(
        self, message: str, *, file: object = None, line: int | None = None, key: str | None = None
    ) -> None:
        self.message = " ".join(message.split())
        self.file = None if file is None else str(file)
        self.line = line
        self.key = key
        super().__init__(self.message)

    def __str__(self) -> str:
        where, key, message = self.file, self.key, _in_python(self.message)
        if where in _BY_KNOB and key:
            knob, _, key = key.partition("=")
            where = f'{_ARGUMENTS[where]}["{knob}"]'
        elif where in _ARGUMENTS:
            where = _ARGUMENTS[where]
            key = None if key == where else key
        if key in _ARGUMENTS:
            key = _ARGUMENTS[key]
        return self._line(where, key, message)

    @property
    def typed(self) -> str:
        """The line as the command says it."""
        option = f"--{self.key.replace('_', '-')}" if self.key else ""
        return self._line(self.file, None if option == self.file else self.key, self.message)

    def _line(self, where: str | None, key: str | None, message: str) -> str:
        if where and self.line is not None:
            where = f"{where}:{self.line}"
        return ": ".join(part for part in (where, key, message) if part)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from a worker process, keyword arguments included."""
        return (_input_error, (self.message, self.file, self.line, self.key))


def _in_python(message: str) -> str:
    """Call arguments as Python does; a command that is to be typed stays as it is."""
    if "simnet " in message:
        return message
    return _OPTION.sub(lambda found: _ARGUMENTS.get(found[0], found[0]), message)


def _input_error(message: str, file: str | None, line: int | None, key: str | None) -> InputError:
    return InputError(message, file=file, line=line, key=key)


class OutputError(SimnetError):
    """A file that cannot be written because the disk is full, or fails.

    ``str()`` is one line, ``FILE: MESSAGE``.

    Attributes:
        message: what the system says.
        file: the file, as named.
    """

    def __init__(self, message: str, *, file: object) -> None:
        self.message = " ".join(message.split())
        self.file = str(file)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from a worker process, keyword arguments included."""
        return (_output_error, (self.message, self.file))


def _output_error(message: str, file: str) -> OutputError:
    return OutputError(message, file=file)


class SimulationError(SimnetError):
    """A simulation that cannot go on.

    ``str()`` is one line, ``COMPONENT: at SECONDS s: MESSAGE``.

    Attributes:
        message: what went wrong.
        component: dotted path of the component at fault; empty when there is none.
        time_ps: simulated time in picoseconds; None before the clock runs.
    """

    def __init__(self, message: str, *, component: str = "", time_ps: int | None = None) -> None:
        self.message = " ".join(message.split())
        self.component = component
        self.time_ps = time_ps
        super().__init__(self.message)

    def __str__(self) -> str:
        when = "" if self.time_ps is None else f"at {seconds_text(self.time_ps)} s"
        return ": ".join(part for part in (self.component, when, self.message) if part)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way back from a worker process, keyword arguments included."""
        return (_simulation_error, (self.message, self.component, self.time_ps))


def _simulation_error(message: str, component: str, time_ps: int | None) -> SimulationError:
    return SimulationError(message, component=component, time_ps=time_ps)


class LostRunError(SimnetError):
    """A simulation that ended the process it ran in each time it was tried; there is no result.

    ``str()`` is one line that says which, and how the process ended.
    """


class EngineError(SimnetError, ImportError):
    """``SIMNET_ENGINE`` asks for an engine that this installation cannot run."""


class EngineWarning(UserWarning):
    """The compiled engine is missing, stale or broken, and the interpreted one runs instead."""


def seconds_text(time_ps: int) -> str:
    """Return a time in picoseconds as exact decimal seconds: 1500000 gives ``0.0000015``."""
    sign = "-" if time_ps < 0 else ""
    whole, rest = divmod(abs(time_ps), PS_PER_S)
    fraction = f"{rest:012d}".rstrip("0")
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"
