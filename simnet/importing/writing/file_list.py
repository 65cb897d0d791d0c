"""What became of each file that somebody collected: read, read and not used, or not understood."""

import fnmatch
import re
from collections.abc import Iterable, Mapping
from typing import Final

from simnet.importing.files.broken import why_broken
from simnet.importing.host import ReadHost
from simnet.importing.kind import kinds
from simnet.importing.writing.models import plain

FILES: Final = ("file", "state", "why")
PARTS: Final = ("part", "output", "state", "values", "why")
READ: Final = "read"
READ_NOT_USED: Final = "read, not used"
NOT_UNDERSTOOD: Final = "not understood"
# facts of ports that are no value of a model
_OF_PORTS: Final = ("driver", "slot", "node", "called", "rx_queues")
_PART: Final = re.compile(r":\d{1,7}$")
_FROM: Final = "read from "
_OTHERS: Final = "another file says the same, or no simulation depends on it"
_MOST: Final = 200
_LONGEST: Final = 60
_UNKNOWN: Final = "no format that is known here"


def files_of(
    host: ReadHost, values: Iterable[Mapping[str, str]], unused: Iterable[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Return file, state and why of each file that was collected by hand, and of unknown parts.

    Args:
        host: as it was read.
        values: of the models, with where each is from.
        unused: what was read and is not used.
    """
    used = _sources(host) | {row["source"].removeprefix(_FROM) for row in values}
    used |= {word for one in used for word in _words(one)}
    refused = {row["source"].removeprefix(_FROM) for row in unused}
    inside: dict[str, list[str]] = {}
    for place, holder in host.loose.holders.items():
        inside.setdefault(_PART.sub("", holder), []).append(place)
    found = []
    for file, seen in host.seen.items():
        places = inside.get(file, [])
        what = ", ".join(dict.fromkeys(_title(*one) for one in seen))
        if places:
            what = ", ".join(filter(None, (what, f"{places[0]}{_more(len(places) - 1)}")))
        if _any(file, places, used):
            found.append((file, READ, what))
        elif not what:
            found.append((file, NOT_UNDERSTOOD, _UNKNOWN))
        elif broken := _broken(host, file):
            found.append((file, NOT_UNDERSTOOD, f"{what}: {broken}"))
        else:
            idle = next((kinds()[kind].idle for kind, _ in seen if kinds()[kind].idle), _OTHERS)
            why = "see above" if _any(file, places, refused) else idle
            found.append((file, READ_NOT_USED, f"{what}: {why}"))
    found += [(name, NOT_UNDERSTOOD, why) for name, why in host.loose.skipped.items()]
    found += [
        (name, NOT_UNDERSTOOD, f"{plain(typed, _LONGEST)}: {_UNKNOWN}")
        for name, typed in list(host.unknown.items())[:_MOST]
        if name not in host.seen
    ]
    return [dict(zip(FILES, one, strict=True)) for one in sorted(found)]


def parts_of(
    host: ReadHost, values: Iterable[Mapping[str, str]], unused: Iterable[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Return part, output, state, values and why of each output in files with several.

    Args:
        host: as it was read.
        values: of the models, with where each is from.
        unused: what was read and is not used.
    """
    several = {name for name, seen in host.seen.items() if len(seen) > 1}
    others = {word for one in _sources(host) for word in (one, *_words(one))}
    held = host.loose.holders
    others |= {held[word] for word in others if word in held}
    used: dict[str, list[str]] = {}
    for row in values:
        for word in dict.fromkeys(_words(row["source"].removeprefix(_FROM))):
            used.setdefault(held.get(word, word), []).append(row["name"])
    for key, read in host.facts.items():
        used.setdefault(held.get(read.source, read.source), []).append(key)
    for nic in host.nics:
        for key in _OF_PORTS:
            if key in nic.facts:
                used.setdefault(nic.facts[key].source, []).append(f"{nic.name} {key}")
    left: dict[str, list[Mapping[str, str]]] = {}
    for row in unused:
        left.setdefault(row["source"].removeprefix(_FROM), []).append(row)
    found = []
    for part in host.parts:
        if part.file not in several:
            continue
        names, rows = used.get(part.name, []), left.get(part.name, [])
        broken = "" if names else _broken(host, part.name)
        why = "; ".join(dict.fromkeys(f"{row['name']}: {row['why']}" for row in rows))
        if names or part.name in others:
            state = READ
        elif broken:
            state, why = NOT_UNDERSTOOD, broken
        else:
            state = READ_NOT_USED
            idle = kinds()[part.kind].idle or _OTHERS
            why = why or (idle if part.first else "an output of the same kind stands before it")
        listed = ", ".join(dict.fromkeys(names))
        found.append((part.name, _title(part.kind, part.interface), state, listed, why))
    return [dict(zip(PARTS, one, strict=True)) for one in found[:_MOST]]


def _broken(host: ReadHost, file: str) -> str:
    """Return why nothing of a document in a file can be read; empty if it is whole, or none."""
    texts = (piece.text for piece in host.loose.pieces if file in {piece.file, piece.name})
    return next(filter(None, map(why_broken, texts)), "")


def _words(source: str) -> list[str]:
    """Return the words of what says where a value is from: names of files stand among them."""
    return [word.strip(",:;()") for word in source.split()]


def _title(kind: str, interface: str) -> str:
    of_it = interface and not kinds()[kind].many
    return f"{kind} of {interface}" if of_it else kind


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _any(file: str, places: Iterable[str], sources: Iterable[str]) -> bool:
    """Whether one of the sources is a file, a part of it, or one of those that it holds."""
    listed = set(places)
    return any(
        _PART.sub("", one) == file
        or one == file
        or one in listed
        or ("*" in one and fnmatch.filter(listed, one))
        for one in sources
    )


def _sources(host: ReadHost) -> set[str]:
    """Return the files of what is said of the host, beside the values of its models."""
    found = {host.topology.source, *(read.source for read in host.facts.values())}
    found |= {at.source for queues in host.interrupts.values() for at in queues.values()}
    found |= {nic.facts[key].source for nic in host.nics for key in _OF_PORTS if key in nic.facts}
    found |= {one.source for one in host.rates} | {one.source for one in host.tests[:1]}
    found |= {one.source for one in host.uses.values()}
    found |= {
        source for role in host.roles if role.numbers for source in (role.source, *role.counted)
    }
    return found | {slot.source for slot in host.slots.values()}
