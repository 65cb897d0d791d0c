"""Attributes of AIX and of Spectrum Scale: what `lsattr -El`, `no -a` and `mmlsconfig` printed.

An imported scenario is of a Linux host and its network, so they are read and not used; scenarios
with AIX or with a file system take the same files with ``--apply``.

Source: IBM, AIX 7.2 commands reference, lsattr and no; IBM, Spectrum Scale command reference,
mmlsconfig.
"""

from collections.abc import Iterator
from typing import Final

from simnet.errors import InputError
from simnet.importing.evidence import Evidence
from simnet.importing.kind import Kind, Told
from simnet.importing.outputs import Output
from simnet.importing.parser import Parser
from simnet.scenario.commands.attribute_listing import Listing, parse_listing

_PROMPT: Final = r"(?:[^\n]{0,80}[#$>] ?)?"
_MOST_LINES: Final = 5000
_LONGEST_LINE: Final = 400
_KINDS: Final = (
    Kind(
        "lsattr",
        rf"{_PROMPT}lsattr +-El|[a-z]\w{{1,30}} [^\n]{{1,160}} (?:True|False)\+? *\n",
        many=True,
    ),
    Kind("no -a", rf"{_PROMPT}no +-a *\n|\s*(?:arpqsize|arptab_bsiz|bcastping) *= *\d", many=True),
    Kind(
        "mmlsconfig",
        rf"{_PROMPT}mmlsconfig|! *[a-zA-Z]\w+ +\S|Configuration data for cluster \S+:",
        command="mmlsconfig",
        folder="gpfs",
        live=True,
        many=True,
    ),
)


def _listings(evidence: Evidence) -> Iterator[tuple[Output, Listing | InputError]]:
    """Yield each output with what it lists, or why it cannot be read."""
    for kind in _KINDS:
        for told in evidence.outputs.every(kind.name):
            try:
                yield told, _listing(told)
            except InputError as error:
                yield told, error


def _listing(told: Output) -> Listing:
    lines = told.text.splitlines()
    if len(lines) > _MOST_LINES or max(map(len, lines), default=0) > _LONGEST_LINE:
        message = f"expected at most {_MOST_LINES} lines of {_LONGEST_LINE} characters"
        raise InputError(message, file=told.name)
    return parse_listing(f"{told.text}\n", told.name)  # the end was stripped


def _settings(evidence: Evidence) -> Iterator[Told]:
    """Yield the attributes, by the names of knobs."""
    for told, listing in _listings(evidence):
        if isinstance(listing, InputError):
            continue
        listed = listing.listed
        knob = listed.knob.replace("{{port}}", listing.device or "PORT")
        for one in listing.attributes:
            nodes = f" [{one.nodes}]" if one.nodes else ""
            if not one.repeats:
                name = f"{knob.format(one.name)}{nodes}"
                yield Told(name, one.value, told.name, why=_why(listing))


def _why(listing: Listing) -> str:
    what = "AIX" if listing.listed.system == "aix" else "a file system"
    return f"the scenario is of Linux and its network; one with {what} takes it with --apply"


def _notes(evidence: Evidence) -> Iterator[str]:
    for told, listing in _listings(evidence):
        if isinstance(listing, InputError):
            yield f"{told.name}: not used: {listing.message}"
        else:
            count = sum(not one.repeats for one in listing.attributes)
            yield (
                f"{told.name}: {count} attributes of {listing.title}, read, not used:"
                f" {_why(listing)}"
            )


PARSER: Final = Parser(kinds=_KINDS, settings=_settings, notes=_notes)
