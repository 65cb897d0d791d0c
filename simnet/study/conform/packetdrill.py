"""packetdrill scripts: the lines of the language that matter to an established connection.

Source: the language of github.com/google/packetdrill. Understood are `--tolerance_usecs`,
`--mss`, commands in backquotes that set sysctls or a route's quickack and rto_min (also by way of
a shell script beside the script), times absolute, relative (`+.1`), any (`*`) and in ranges
(`+.1~+.2`, `+0...0.1`), segments in (`<`) and out (`>`) with ECN (`[ect0]`), flags, numbers,
window and options (mss, sackOK, sack, wscale, nop, eol and TS), a passive or active open, the
calls socket, bind, listen, accept, connect, fcntl, setsockopt, read, recv, write, send and close,
and assertions (`packetdrill_assert`).
What comes after the first close, shutdown or FIN is not looked at.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from simnet.errors import InputError
from simnet.files import read_text
from simnet.study.conform.packetdrill_assert import problem
from simnet.time_units import PS_PER_S, PS_PER_US

# far beyond any script, and well within the simulator's clock
_LAST_SECOND: Final = 10**6
# the smallest segment that a sender is let (TCP_MIN_SND_MSS), what the options' fields hold,
# and RFC 7323 allows
_RANGE: Final = {"mss": (48, 65535), "wscale": (0, 14)}

_TIME = re.compile(
    r"(?P<any>\*)\s+|(?P<plus>\+?)(?P<start>\d*\.?\d+)"
    r"(?:\s*(?P<range>\.\.\.|~)\s*(?P<plus2>\+?)(?P<end>\d*\.?\d+))?\s*"
)
_PACKET = re.compile(
    r"(?P<direction>[<>])\s*(?:\[(?P<ecn>noecn|ect0|ect1|ect01|ce)\]\s*)?(?P<flags>[SFRPWE.]+|-)\s+"
    r"(?P<seq>\d{1,10}):(?P<end>\d{1,10})\s*\((?P<length>\d{1,10})\)(?:\s+ack\s+(?P<ack>\d{1,10}))?"
    r"(?:\s+win\s+(?P<win>\d{1,10}))?(?:\s*<(?P<options>[^>]*)>)?$"
)
_CALL = re.compile(
    r"(?P<name>[a-z_]\w*)\s*\((?P<arguments>.*)\)\s*=\s*(?P<result>-?\w+)(?P<rest>.*)$"
)
_ASSIGNMENT = re.compile(r'([\w.]+)=("[^"]*"|\S+)')
_PRODUCT = re.compile(r"\$\(\(\s*(\d{1,10}(?:\s*\*\s*\d{1,10}){0,4})\s*\)\)")
_OPTIONS: Final = ("--tolerance_usecs", "--mss")
# nothing of it is between the script and the kernel here
_WITHOUT_EFFECT: Final = (["tc", "qdisc"], ["ip", "tcp_metrics"])
_PROC = re.compile(r'/proc/sys/([\w/]+)=("[^"]*"|\S+)')


@dataclass(frozen=True, slots=True)
class Packet:
    """A segment in or out."""

    inbound: bool  # it is given to the kernel
    flags: str  # letters
    # numbers; None where the script has none
    seq: int
    end_seq: int
    ack: int | None
    window: int | None
    # by name: number, or blocks for `sack`; True for `sackOK`, `TS` and `...`
    options: dict[str, object] | None
    ecn: str | None = None  # what stands in brackets: noecn, ect0, ect1, ect01 or ce; None: nothing


@dataclass(frozen=True, slots=True)
class Call:
    """A system call: its arguments as written, and what it returns."""

    name: str
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something in a script."""

    line: int  # of the script
    time_ps: int  # when; of a range the beginning
    last_ps: int | None  # end of the range; None if there is none
    any_time: bool  # whenever it comes
    what: Packet | Call  # the segment or the call


@dataclass(slots=True)
class Script:
    """A script."""

    file: str  # where it is from
    tolerance_ps: int = 4000 * PS_PER_US  # how far off a segment may be
    mss: int = 0  # what is longer comes as several segments that a driver has merged; 0: none does
    # by name, with the line that sets them
    sysctls: dict[str, tuple[str, int]] = field(default_factory=dict)
    # of the route
    quickack: bool = False
    rto_min_us: int | None = None
    events: list[Event] = field(default_factory=list)  # in order

    def error(self, line: int, message: str) -> InputError:
        """What cannot be used, and where it is."""
        return InputError(message, file=self.file, line=line)


def read_script(file: str) -> Script:
    """Parse a script.

    Raises:
        InputError: it cannot be read, or has something that is not understood.
    """
    text = read_text(Path(file), kind="script")
    script = Script(file)
    now_ps = 0
    for line, statement in _statements(script, text):
        if statement.startswith("--"):
            _option(script, line, statement)
            continue
        if statement.startswith("`"):
            _commands(script, line, statement.strip("`"))
            continue
        time = _TIME.match(statement)
        if time is None:
            raise script.error(
                line, f"expected a time, an option or a command: {_short(statement)}"
            )
        body = statement[time.end() :]
        start = _ps(time["start"] or "0")
        if time["any"] is None:
            now_ps = now_ps + start if time["plus"] else start
        if body.startswith("`"):
            _commands(script, line, body.strip("`"))
            continue
        last = None
        if time["end"] is not None:
            relative = time["plus2"] if time["range"] == "~" else time["plus"]
            last = _ps(time["end"]) + (now_ps - start if relative else 0)
        if max(now_ps, last or 0) > _LAST_SECOND * PS_PER_S:
            raise script.error(line, f"{_short(time[0])} is later than {_LAST_SECOND} s")
        what = _what(script, line, body)
        script.events.append(Event(line, now_ps, last, time["any"] is not None, what))
    if not script.events:
        raise InputError("no event in it", file=file)
    return script


def _ps(seconds: str) -> int:
    return round(min(float(seconds), 2 * _LAST_SECOND) * PS_PER_S)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004


def _statements(script: Script, text: str) -> list[tuple[int, str]]:
    """Statements with their first line, comments taken off; one may take several lines."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    found: list[tuple[int, str]] = []
    pending = ""
    first = 0
    for number, raw in enumerate(text.splitlines(), 1):
        in_command = pending.count("`") % 2 == 1
        line = raw if in_command else re.sub(r"(^|\s)(//|#).*$", "", raw)
        if not line.strip() and not in_command:
            continue
        if not pending:
            first = number
        pending = f"{pending}\n{line.strip()}" if pending else line.strip()
        if pending.count("`") % 2 or pending.count("(") > pending.count(")"):
            continue
        if "%{" in pending and "}%" not in pending:
            continue
        found.append((first, pending))
        pending = ""
    if pending:
        raise script.error(first, f"no end of: {_short(pending)}")
    return found


def _option(script: Script, line: int, statement: str) -> None:
    name, _, value = statement.partition("=")
    if name not in _OPTIONS:
        known = " and ".join(f"{option}=NUMBER" for option in _OPTIONS)
        raise script.error(line, f"option {name} is not known; only {known} are")
    if not re.fullmatch(r"\d{1,10}", value):
        raise script.error(line, f"option {name}: expected a number, not {_short(value) or 'none'}")
    if name == "--mss":
        script.mss = int(value)
    else:
        script.tolerance_ps = int(value) * PS_PER_US


def _commands(script: Script, line: int, text: str) -> None:
    """Shell commands: what they set."""
    for raw in re.split(r"[\n;]", text.replace("\\\n", " ")):
        command = raw.strip()
        if not command or command.startswith("#"):
            continue
        words = command.split()
        if "sysctl_restore" in words[0]:
            continue
        if words[0] == "sysctl" or words[0].endswith("set_sysctls.py"):
            _sysctls(script, line, command)
        elif words[0].endswith(".sh"):
            _shell(script, line, words[0])
        elif words[:2] == ["ip", "route"]:
            _route(script, line, words)
        elif words[:2] in _WITHOUT_EFFECT:
            continue
        else:
            raise script.error(line, f"command is not known: {_short(command)}")


def _shell(script: Script, line: int, name: str) -> None:
    """A shell script: of its lines those with sysctls count."""
    path = Path(script.file).parent / name
    text = _contents(script, line, name, path)
    if "\n" not in text and text.endswith(".sh"):
        # a link that was stored as a file
        text = _contents(script, line, name, path.parent / text)
    for raw in text.splitlines():
        command = raw.split("#")[0].strip()
        if command.startswith("sysctl"):
            _sysctls(script, line, command.split(">")[0])


def _contents(script: Script, line: int, name: str, path: Path) -> str:
    try:
        return read_text(path, shown=name, kind="shell script")
    except InputError as error:
        raise script.error(line, str(error)) from error


def _sysctls(script: Script, line: int, command: str) -> None:
    command = _PRODUCT.sub(lambda match: str(_product(match[1])), command)
    for path, value in _PROC.findall(command):
        script.sysctls[path.replace("/", ".")] = (value.strip('"'), line)
    if "/proc/" not in command:
        for name, value in _ASSIGNMENT.findall(command):
            script.sysctls[name] = (value.strip('"'), line)


def _product(text: str) -> int:
    value = 1
    for factor in text.split("*"):
        value *= int(factor)
    return value


def _route(script: Script, line: int, words: list[str]) -> None:
    for name, value in pairwise(words):
        if name == "quickack" and value in {"0", "1"}:
            script.quickack = value == "1"
            return
        if name == "rto_min":
            match = re.fullmatch(r"(\d{1,6})(us|ms|s)", value)
            if match is not None:
                unit = {"us": 1, "ms": 1000, "s": 1_000_000}[match[2]]
                script.rto_min_us = int(match[1]) * unit
                return
    raise script.error(
        line, f"of a route quickack and rto_min are known: {_short(' '.join(words))}"
    )


def _what(script: Script, line: int, body: str) -> Packet | Call:
    packet = _PACKET.match(" ".join(body.split()))
    if packet is not None:
        return _packet(script, line, packet)
    if body.startswith("%{"):
        code = body[2:].rstrip()
        code = code.removesuffix("}%")
        unknown = problem(code)
        if unknown is not None:
            raise script.error(line, unknown)
        return Call("assert", (code,), "")
    call = _CALL.match(" ".join(body.split()))
    if call is None:
        raise script.error(line, f"not understood: {_short(body)}")
    return Call(call["name"], _arguments(call["arguments"]), call["result"])


def _arguments(text: str) -> tuple[str, ...]:
    """Split at commas outside brackets."""
    found = [""]
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return tuple(part.strip() for part in found)


def _packet(script: Script, line: int, match: re.Match[str]) -> Packet:
    seq, end, length = int(match["seq"]), int(match["end"]), int(match["length"])
    if end - seq != length:
        raise script.error(line, f"{seq}:{end} are {end - seq} bytes, not {length}")
    options = None if match["options"] is None else _options(script, line, match["options"])
    return Packet(
        match["direction"] == "<",
        match["flags"],
        seq,
        end,
        None if match["ack"] is None else int(match["ack"]),
        None if match["win"] is None else int(match["win"]),
        options,
        match["ecn"],
    )


def _options(script: Script, line: int, text: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        words = part.split()
        if words[0] in {"nop", "eol"}:
            continue
        if words[0] == "...":
            found["..."] = True
            continue
        if words[0] == "sackOK":
            found["sackOK"] = True
        elif words[0] in _RANGE and re.fullmatch(r"\d{1,10}", " ".join(words[1:])):
            least, most = _RANGE[words[0]]
            if not least <= int(words[1]) <= most:
                raise script.error(line, f"{part} is not from {least} to {most}")
            found[words[0]] = int(words[1])
        elif words[0] == "TS":
            found["TS"] = True
        elif words[0] == "sack":
            blocks = [re.fullmatch(r"(\d{1,10}):(\d{1,10})", word) for word in words[1:]]
            if not blocks or None in blocks:
                raise script.error(line, f"option is not understood: {part}")
            found["sack"] = tuple((int(b[1]), int(b[2])) for b in blocks if b is not None)
        else:
            raise script.error(line, f"option is not known: {part}")
    return found
