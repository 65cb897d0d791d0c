"""The end of every answer: its fingerprint, and the command that gives it again."""

from collections.abc import Mapping, Sequence
from typing import Any

import simnet
from simnet.printable import typed
from simnet.report.html.blocks import Facts, Notes, Section, Typed
from simnet.scenario.scenarios import scenario_names
from simnet.study.run.arguments import OPTIONS

_APPLY = "--apply"


def repeat_section(
    command: str,
    found: Any,
    words: Sequence[str],
    tunings: Sequence[str] = (),
    file: str = "",
    name: str = "",
) -> Section:
    """Version, fingerprint and file of a document, and the command that makes it again.

    `words` come after the command, then tunings and settings; `name` tells it from others.
    """
    options = [*words, *(word for name in tunings for word in ("--tuning", name))]
    options += _settings(getattr(found, "settings", {}))
    given = getattr(found, "options", {})
    options += [
        word
        for option in OPTIONS
        if option in given
        for value in given[option].split(";")
        for word in (option, value)
    ]
    version = getattr(found, "version", simnet.__version__)
    fingerprint = getattr(found, "fingerprint", "")
    rows = [("simnet", version), ("fingerprint", fingerprint), ("read from", file)]
    blocks: list[Facts | Notes | Typed] = [Facts(tuple(row for row in rows if row[1]))]
    if version != simnet.__version__:
        said = f"This report was made by simnet {simnet.__version__}, which may find other numbers"
        blocks.append(Notes((said,), warning=True))
    scenario = getattr(found, "scenario", "")
    if scenario and words[0] == scenario and scenario not in scenario_names():
        said = f"{scenario} is no scenario of simnet's own: put the path of its file in its place"
        blocks.append(Notes((said,), warning=True))
    blocks.append(Typed("Repeat it", typed("simnet", command, *options)))
    return Section(f"Fingerprint, and how to repeat {name or 'this'}", blocks)


def _settings(settings: Mapping[str, str]) -> list[str]:
    found = []
    for name, value in settings.items():
        if name == _APPLY:
            found += [word for file in value.split() for word in (_APPLY, file)]
        else:
            found += ["--set", f"{name}={value}"]
    return found
