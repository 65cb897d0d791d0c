"""Sysctls: what `sysctl -a` printed, or the files of `/proc/sys`.

Source: sysctl(8).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import NOT_MODELLED, Kind, Told
from simnet.importing.parser import Parser
from simnet.scenario.core.knobs import KNOBS

_LINE: Final = re.compile(r"^([a-z][\w.-]{2,100}) ?= ?([^\n]{0,200})$", re.MULTILINE)
_PICKED: Final = 60
_OURS: Final = re.compile(r"net\.(core|ipv4)\.\w+")


def _settings(evidence: Evidence) -> Iterator[Told]:
    """Yield the sysctls that are knobs; of few that somebody picked also the others."""
    told = evidence.outputs.one("sysctl -a")
    printed = {} if told is None else dict(_LINE.findall(told.text))
    for knob in KNOBS:
        if not _OURS.fullmatch(knob.name):
            continue
        file = f"proc/sys/{knob.name.replace('.', '/')}"
        if told is not None and knob.name in printed:
            yield Told(knob.name, " ".join(printed[knob.name].split()), told.name)
        elif text := evidence.files.text(file):
            yield Told(knob.name, " ".join(text.split()), file)
    if told is not None and len(printed) <= _PICKED:
        for name in sorted(printed.keys() - {knob.name for knob in KNOBS}):
            yield Told(name, " ".join(printed[name].split()), told.name, why=NOT_MODELLED)


PARSER: Final = Parser(
    kinds=(
        Kind(
            "sysctl -a",
            r"(abi|crypto|debug|dev|fs|kernel|net|user|vm)\.[\w.-]+ ?= ?",
            line=r"(?:kernel|net|vm)\.[a-z][\w.-]{1,100} ?= ?[\w\"]",
            command="sysctl -a",
            folder="kernel",
        ),
    ),
    settings=_settings,
)
