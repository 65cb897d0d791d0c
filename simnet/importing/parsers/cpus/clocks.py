"""The clock that CPUs have at work, and how sure a host's files are of it.

What the maker names comes first (`base_frequency`, `@ 2.40GHz`), after a clock that was measured
while CPUs were busy. A clock of some moment may be that of an idle CPU, and the largest that a CPU
can have is that of a few of its cores: where a file has nothing else, the clock is assumed.

Source: turbostat(8); cpupower-frequency-info(1); lscpu(1); Linux Documentation/admin-guide/pm/.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.files.files import Files
from simnet.importing.kind import Told
from simnet.importing.outputs import Outputs
from simnet.importing.parser import Parser
from simnet.importing.parsers.cpus.cpuinfo import cpuinfo_fields
from simnet.importing.parsers.cpus.lscpu import lscpu_fields
from simnet.importing.read_nic import Read

IDLE_SHARE: Final = 0.6
"""Of the largest clock, what a busy CPU has at the least, where no file says it."""
_BASE: Final = "sys/devices/system/cpu/cpu0/cpufreq/base_frequency"
_GHZ: Final = re.compile(r"@ (\d{1,2}\.\d{1,3}) ?GHz")
_MHZ: Final = re.compile(r"(\d{2,6})(?:[.,]\d+)?")
_MOMENTS: Final = re.compile(r"^cpu MHz\s*:\s*(\d{2,6})", re.MULTILINE)
_NOW: Final = re.compile(r"current CPU frequency: ([\d.]{1,9}) ([MG])Hz")
_LIMIT: Final = re.compile(r"hardware limits: \S+ [MG]Hz - ([\d.]{1,9}) ([MG])Hz")
_TURBO: Final = (
    "sys/devices/system/cpu/intel_pstate/no_turbo",
    "sys/devices/system/cpu/cpufreq/boost",
)
# percent of the time, from when on CPUs are busy
_BUSY: Final = 10.0


def clock_of(files: Files, outputs: Outputs) -> Read | None:
    """Return the clock in Hz; its `why` tells that no file says it. None if files tell nothing."""
    return next(_said(files, outputs), None)


def _said(files: Files, outputs: Outputs) -> Iterator[Read]:
    """Yield the clock as files tell it, the surest first."""
    yield from _measured(outputs)
    yield from _nominal(files, outputs)
    listed, told = outputs.one("lscpu"), outputs.one("cpuinfo")
    fields = {} if listed is None else lscpu_fields(listed.text)
    entries = {} if told is None else cpuinfo_fields(told.text)
    most = _most(outputs, fields)
    if told is not None:
        moments = [int(one) for one in _MOMENTS.findall(told.text)]
        if moments:
            yield from _moment(max(moments), told.name, most)
        if nominal := _mhz(entries.get("clock", "")):
            yield Read(nominal * 10**6, told.name)
    if listed is not None and (now := _mhz(fields.get("CPU MHz", ""))):
        yield from _moment(now, listed.name, most)
    info = outputs.one("cpupower")
    if info is not None and (found := _NOW.search(info.text)):
        yield from _moment(_in_mhz(found), info.name, most)
    if told is not None and (mhz := _of_a9(entries)):
        why = f"BogoMIPS {entries['BogoMIPS']}, which are twice the clock of a Cortex-A9"
        yield Read(mhz * 10**6, told.name, why)
    if most is not None:
        mhz, source = most
        why = f"{source} says only the largest clock, {mhz} MHz, which few cores may have at once"
        yield Read(mhz * 10**6, source, why)


def base_clock_of(files: Files, outputs: Outputs) -> Read | None:
    """Return the nominal clock in Hz, as the maker names it; None where no file says it."""
    return next(_nominal(files, outputs), None)


def _nominal(files: Files, outputs: Outputs) -> Iterator[Read]:
    base = files.number(_BASE)
    if base:
        yield Read(base * 1000, _BASE)
    listed, told = outputs.one("lscpu"), outputs.one("cpuinfo")
    fields = {} if listed is None else lscpu_fields(listed.text)
    entries = {} if told is None else cpuinfo_fields(told.text)
    for output, name in ((listed, fields.get("Model name")), (told, entries.get("model name"))):
        if output is not None and (named := _GHZ.search(name or "")):
            yield Read(round(float(named[1]) * 1000) * 10**6, output.name)


def _of_a9(entries: dict[str, str]) -> int:
    """Return the clock in MHz of a Cortex-A9: its delay loop takes a cycle a turn; 0 of others."""
    part = entries.get("CPU implementer"), entries.get("CPU part")
    return _mhz(entries.get("BogoMIPS", "")) // 2 if part == ("0x41", "0xc09") else 0


def _measured(outputs: Outputs) -> Iterator[Read]:
    """Yield what turbostat measured of busy CPUs: its first row is of all together."""
    told = outputs.one("turbostat")
    columns: list[str] = []
    for line in () if told is None else told.text.splitlines():
        cells = line.split()
        if "Bzy_MHz" in cells:
            columns = cells
            continue
        row = dict(zip(columns, cells, strict=False))
        busy, clock = row.get("Busy%", row.get("%Busy", "")), _mhz(row.get("Bzy_MHz", ""))
        if told is not None and clock and re.fullmatch(r"\d{1,3}(?:\.\d+)?", busy):
            if float(busy) >= _BUSY:
                yield Read(clock * 10**6, told.name)
            columns = []


def _most(outputs: Outputs, fields: dict[str, str]) -> tuple[int, str] | None:
    listed, info = outputs.one("lscpu"), outputs.one("cpupower")
    if listed is not None and (mhz := _mhz(fields.get("CPU max MHz", ""))):
        return mhz, listed.name
    if info is not None and (found := _LIMIT.search(info.text)):
        return _in_mhz(found), info.name
    return None


def _moment(mhz: int, source: str, most: tuple[int, str] | None) -> Iterator[Read]:
    """Yield the clock of a moment, unless the CPU may have been idle then."""
    if most is None or mhz >= IDLE_SHARE * most[0]:
        yield Read(mhz * 10**6, source)


def _mhz(text: str) -> int:
    matched = _MHZ.match(text)
    return int(matched[1]) if matched else 0


def _in_mhz(found: re.Match[str]) -> int:
    return round(float(found[1]) * (1000 if found[2] == "G" else 1))


def _settings(evidence: Evidence) -> Iterator[Told]:
    """Yield whether clocks may rise above the nominal one."""
    for file in _TURBO:
        if text := evidence.files.text(file):
            yield Told(f"/{file}", " ".join(text.split()), file)


PARSER: Final = Parser(trees=_TURBO, settings=_settings)
