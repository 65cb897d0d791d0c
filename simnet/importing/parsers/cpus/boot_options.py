"""What a kernel was told at boot of idle states and of the IOMMU, and what its log says of these.

What the log says of a mode is what the kernel has; options count where it says nothing. Buffers are
mapped where there is a unit: an option says so, or a device is in a group of one.

Source: Documentation/admin-guide/kernel-parameters.txt of Linux; drivers/iommu/iommu.c
(`iommu_subsys_init`, `iommu_group_add_device`), intel/dmar.c, amd/init.c for the lines of the log.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import Told
from simnet.importing.parser import Parser

_IDLE: Final = re.compile(
    r"(?<!\S)((?:intel_idle|processor)\.max_cstate(?==\d)|idle(?==(?:poll|halt)\b))=(\w{1,4})(?!\S)"
)
_OPTION: Final = re.compile(
    r"(?<!\S)((?:intel_|amd_)?iommu|iommu\.(?:strict|passthrough))=([\w,]{1,60})(?!\S)"
)
_COMMAND_LINE: Final = re.compile(r"ommand line: ([^\n]{1,4000})")
_LOGGED: Final = (
    (re.compile(r"iommu: Default domain type: Passthrough"), "iommu.passthrough", "1"),
    (re.compile(r"iommu: Default domain type: Translated"), "iommu.passthrough", "0"),
    (re.compile(r"TLB invalidation policy: lazy|AMD-Vi: Lazy IO/TLB"), "iommu.strict", "0"),
    (re.compile(r"TLB invalidation policy: strict|AMD-Vi: IO/TLB flush"), "iommu.strict", "1"),
    (re.compile(r"(?:DMAR|Intel-IOMMU): Disable batched IOTLB"), "iommu.strict", "1"),
)
_UNIT: Final = re.compile(
    r"Adding to iommu group|DMAR: IOMMU enabled|Intel-IOMMU: enabled|AMD-Vi: Found IOMMU"
)
_MAKERS: Final = (
    (re.compile(r"DMAR|GenuineIntel|\bIntel\b"), "intel_iommu"),
    (re.compile(r"AMD-Vi|AuthenticAMD|\bAMD\b"), "amd_iommu"),
)
# words of the options, and what they are today
_WORDS: Final = {
    ("intel_iommu", "on"): ("intel_iommu", "on"),
    ("intel_iommu", "off"): ("intel_iommu", "off"),
    ("intel_iommu", "strict"): ("iommu.strict", "1"),
    ("amd_iommu", "on"): ("amd_iommu", "on"),
    ("amd_iommu", "off"): ("amd_iommu", "off"),
    ("amd_iommu", "fullflush"): ("iommu.strict", "1"),
    ("iommu", "pt"): ("iommu.passthrough", "1"),
    ("iommu", "nopt"): ("iommu.passthrough", "0"),
}
_NO_WORD: Final = (
    "the kernel takes no such word: iommu.strict=1 or iommu.passthrough=1 may be meant"
)


def _settings(evidence: Evidence) -> Iterator[Told]:
    """Yield what the command line says of idle states, and what is known of the IOMMU."""
    line = evidence.outputs.one("cmdline")
    if line is not None:
        yield from (Told(name, value, line.name) for name, value in _IDLE.findall(line.text))
    yield from _iommu(evidence)


def _iommu(evidence: Evidence) -> Iterator[Told]:
    log, line = evidence.outputs.one("dmesg"), evidence.outputs.one("cmdline")
    found: dict[str, Told] = {}
    if log is not None:
        for pattern, name, value in _LOGGED:
            if pattern.search(log.text):
                found.setdefault(name, Told(name, value, log.name))
        if _UNIT.search(log.text) and (switch := _switch(evidence, log.text)):
            found[switch] = Told(switch, "on", log.name)
    texts = [] if line is None else [(line.name, line.text)]
    if log is not None and (booted := _COMMAND_LINE.search(log.text)):
        texts.append((log.name, booted[1]))
    for source, text in texts:
        for one in _options(text, source):
            found.setdefault(one.name, one)
    if any(one.raw == "on" for one in found.values()):
        yield from found.values()
    else:
        yield from (one for one in found.values() if one.why)


def _options(text: str, source: str) -> Iterator[Told]:
    """Yield what a command line says, in the words of today."""
    for option, words in _OPTION.findall(text):
        for word in words.split(","):
            if "." in option and word in {"0", "1"}:
                yield Told(option, word, source)
            elif (option, word) in _WORDS:
                yield Told(*_WORDS[option, word], source)
            elif option == "iommu" and word in {"strict", "lazy", "passthrough"}:
                yield Told(option, word, source, why=_NO_WORD)


def _switch(evidence: Evidence, log: str) -> str:
    """The parameter that switches the units of the host's maker; empty where nothing says whose."""
    told = (evidence.outputs.one(name) for name in ("lscpu", "cpuinfo"))
    texts = (log, *(one.text for one in told if one is not None))
    return next((name for text in texts for maker, name in _MAKERS if maker.search(text)), "")


PARSER: Final = Parser(settings=_settings)
