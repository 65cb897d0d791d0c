"""How many CPUs a host has of which nobody collected a list of CPUs.

The heads of `/proc/interrupts` and the rows of `mpstat -P ALL` number them; the first line of
sysstat's tools ends with `(8 CPU)`; `nproc` prints a number; a mask of CPUs in `/sys` is as wide as
the kernel counts CPUs, and `/proc/net/softnet_stat` has a row for each. All else, how they share
cores, packages and nodes, is assumed.

Source: fs/proc/interrupts.c and lib/vsprintf.c (`bitmap_string`) of Linux; sysstat, common.c,
`print_gal_header`; nproc(1).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.host.cpulist import MOST_CPUS, parse_cpumask
from simnet.importing.files.files import Files
from simnet.importing.outputs import Outputs
from simnet.importing.parsers.sysstat import banner
from simnet.importing.topology import Node, Topology

ASSUMED_CPUS: Final = 8
"""Of a host of which nothing says how many it has."""
_CPU: Final = re.compile(r"\bCPU(\d{1,5})\b")
_BANNER: Final = re.compile(r"\((\d{1,5}) CPUs?\)")
_SOFTNET: Final = re.compile(r"^[0-9a-f]{8}(?: [0-9a-f]{8}){8,}\s*$", re.MULTILINE)
_CLASS: Final = "sys/class/net"
_MASKS: Final = ("rps_cpus", "xps_cpus")
_DIGIT_CPUS: Final = 4
_WORD_DIGITS: Final = 8
_FLAT: Final = "no file says it: each CPU is taken for a core, all for one package and node"


def counted(files: Files, outputs: Outputs) -> Topology | None:
    """Return the CPUs by the first file that numbers or counts them; None if none does."""
    for name, cpus, why in _found(files, outputs):
        if cpus and max(cpus) < MOST_CPUS:
            return _flat(cpus, name, why)
    return None


def on_a_small_machine(asked: int | None, queues: int) -> Topology:
    """Return the CPUs that were asked for, or assumed ones.

    Args:
        asked: how many; None if nobody says it.
        queues: that a port is seen to have: drivers make as many as there are CPUs, or fewer.
    """
    if asked is not None:
        return _flat(frozenset(range(asked)), "--cpus", "as --cpus says")
    count = max(ASSUMED_CPUS, min(queues, MOST_CPUS - 1))
    why = "no file says how many CPUs there are"
    if count > ASSUMED_CPUS:
        why = f"no file says how many CPUs there are: as many as a port has queues, {queues}"
    return _flat(frozenset(range(count)), "", why)


def _found(files: Files, outputs: Outputs) -> Iterator[tuple[str, frozenset[int], str]]:
    """Yield file, CPUs, and why these are only assumed."""
    told = outputs.one("interrupts")
    if told is not None:
        heads = _CPU.findall(told.text.partition("\n")[0])
        yield told.name, frozenset(map(int, heads)), ""
    for one in (banner(outputs), outputs.one("softirqs")):
        if one is None:
            continue
        first = one.text.partition("\n")[0]
        count = _BANNER.search(first)
        if count is not None:
            yield one.name, frozenset(range(int(count[1]))), ""
        yield one.name, frozenset(map(int, _CPU.findall(first))), ""
    told = outputs.one("nproc")
    if told is not None and told.text.strip().isdecimal():
        yield told.name, frozenset(range(min(int(told.text.strip()), MOST_CPUS))), ""
    told = outputs.one("softnet_stat")
    if told is not None:
        rows = len(_SOFTNET.findall(told.text))
        why = f"{told.name} has {rows} rows, one for each CPU, if none was left out"
        yield told.name, frozenset(range(rows)), why
    yield from _masks(files)


def _masks(files: Files) -> Iterator[tuple[str, frozenset[int], str]]:
    """Yield what the masks of queues allow: a digit stands for four CPUs."""
    for port in files.names(_CLASS):
        for queue in files.names(f"{_CLASS}/{port}/queues"):
            for setting in _MASKS:
                place = f"{_CLASS}/{port}/queues/{queue}/{setting}"
                mask = (files.text(place) or "").strip()
                cpus = parse_cpumask(mask)
                if cpus is None or not mask:
                    continue
                count = _DIGIT_CPUS * len(mask.replace(",", ""))
                if len(mask) >= _WORD_DIGITS:
                    # older kernels fill up words of 32 bits
                    count = min(count, max(max(cpus, default=0) + 1, ASSUMED_CPUS))
                why = f"a mask of {len(mask)} digits in {place} is of at most {count} CPUs"
                yield place, frozenset(range(count)), why
                return


def _flat(cpus: frozenset[int], source: str, why: str) -> Topology:
    guessed = dict.fromkeys(("nodes", "packages", "cores", "threads", "cores_per_socket"), _FLAT)
    return Topology(
        cpus,
        tuple(frozenset((cpu,)) for cpu in sorted(cpus)),
        (cpus,),
        (Node(0, cpus),),
        source=source,
        guessed={**guessed, **({"cpus": why} if why else {})},
    )
