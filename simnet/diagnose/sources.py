"""What people name, as pages: files, folders, archives, standard input; within bounds."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from simnet.diagnose.page import Page
from simnet.errors import InputError
from simnet.importing.files.files import Files
from simnet.importing.files.together import ListedFiles
from simnet.importing.source import Named, Sources, is_piped

_MIB: Final = 1 << 20
_MOST_TOTAL: Final = 64 * _MIB
_MOST_FILES: Final = 5000
# of a whole host: what counts or may be wrong; all the rest of a sosreport says nothing of paths
_OF_HOST: Final = re.compile(
    r"^proc/(?:interrupts|cmdline|version|net/(?:softnet_stat|snmp|netstat|sockstat|dev)|pressure/\w+|sys/net/.*)$"
    r"|^(?:later/)?(?:sos_commands|insights_commands)/"
    r"|^var/log/dmesg|^sys/class/net/[^/]+/(?:queues/rx-\d+/rps_\w+|mtu|carrier_changes)$"
    r"|^sys/devices/system/(?:cpu/cpu0/(?:cpufreq/scaling_governor|cpuidle/state\d+/latency)"
    r"|clocksource/clocksource0/current_clocksource)$|(?:^|/)cpu\.stat$"
)
_PASSED_OVER: Final = re.compile(
    r"sos_commands/(?:(?!networking|kernel|pci|process|general|sar|hardware|block|boot)[^/]*)/"
    r"|ethtool_-[dempT]|--show-(?:eee|priv)|--phy-stat|bridge_-|modinfo|config-"
)


def pages_of(named: Named) -> list[Page]:
    """Return the texts of all files.

    Raises:
        InputError: a name cannot be read, or everything together is too large.
    """
    found: list[Page] = []
    total = 0
    sources = Sources.of(named)
    several = len(sources.names) > 1
    for name, (files, loose) in zip(sources.names, sources.each, strict=True):
        for page in _pages(name, files, loose, several=several):
            total += len(page.text)
            if total > _MOST_TOTAL:
                raise InputError(f"more than {_MOST_TOTAL // _MIB} MiB of text", file=name)
            found.append(page)
    return found


def _pages(name: str, files: Files, loose: list[str], *, several: bool) -> Iterator[Page]:
    if isinstance(files, ListedFiles):
        (member,) = loose
        shown = files.label if several or is_piped(name) else member
        yield Page(shown, files.text(member) or "")
        return
    prefix = f"{Path(name).name}/" if several else ""
    for member in sorted(_members(files, loose), key=_order):
        text = files.text(member)
        if text:
            yield Page(prefix + member, text)


def _members(files: Files, loose: list[str]) -> Iterator[str]:
    """Yield the files to read; of a host's root those that say something of its paths."""
    every = files.walk()
    if len(loose) == len(every):
        chosen = [name for name in every if not _PASSED_OVER.search(name)]
    else:
        outputs = set(loose)
        chosen = [
            name
            for name in every
            if name in outputs or (_OF_HOST.search(name) and not _PASSED_OVER.search(name))
        ]
    yield from chosen[:_MOST_FILES]


def _order(name: str) -> tuple[bool, str]:
    """Return the place of a file among all: what was taken later comes later."""
    return name.startswith("later/"), name
