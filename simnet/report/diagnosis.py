"""A diagnosis as one screen of text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from simnet.importing.source import is_piped
from simnet.printable import printable, typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.diagnose.diagnosis import Diagnosis, Finding

_WIDTH: Final = 80
# other findings, commands, pieces of evidence, places and files of the first screen
_MOST_OTHERS: Final = 3
_MOST_COMMANDS: Final = 2
_MOST_FACTS: Final = 2
_MOST_PLACES: Final = 4
_LONGEST: Final = 300
# a number and its % stay on one line
_GLUE: Final = "\u00a0"
# of the name of a source within a command
_SHORT: Final = 40


def diagnosis(found: Diagnosis, sources: Sequence[str] = (), *, every: bool = False) -> str:
    """Return the answer: the heaviest finding in full, the others in a line each.

    Args:
        found: the diagnosis.
        sources: what the user called the files, for the command that asks simnet.
        every: all findings in full.
    """
    return "\n".join(_lines(found, sources, every=every)) + "\n"


def _lines(found: Diagnosis, sources: Sequence[str], *, every: bool) -> Iterator[str]:
    match found.exit_status:
        case 1:
            shown = found.findings if every else found.findings[:1]
            for number, one in enumerate(shown):
                if number:
                    yield ""
                yield from _finding(one, sources)
            yield from _others(found.findings[len(shown) :])
        case 0:
            yield from _wrapped("", "Nothing is wrong in what these files count.")
        case _:
            yield "Cannot tell from these files."
    if found.systems:
        of = " and ".join(found.systems)
        text = f"These are outputs of {of}, or some are: simnet knows those of hosts with Linux."
        yield from _wrapped("", text)
    yield from _ruled_out(found)
    if found.exit_status != 1 or found.findings[0].hit.sure == "possible":
        asks = " and ".join(f"`{one}`" for one in found.asks)
        if asks and not (found.systems and not any(one.facts > 1 for one in found.files)):
            yield from _wrapped("Would tell most: ", f"{asks}, twice, some seconds apart.")
    unread = [
        f"{one.name} ({one.broken})" if one.broken else one.name
        for one in found.files
        if not one.facts
    ]
    if unread:
        names = ", ".join(unread[:3]) + (f" and {len(unread) - 3} more" if len(unread) > 3 else "")  # noqa: PLR2004 - names
        yield from _wrapped("Nothing known in: ", names)


def _finding(one: Finding, sources: Sequence[str]) -> Iterator[str]:
    where = "outside what this host can set" if one.rule.outside else "in this host"
    yield from _wrapped("", f"{one.title}.")
    yield from _wrapped("  ", f"{one.hit.sure}; place: {one.rule.place}, {where}")
    places = ", ".join(dict.fromkeys(fact.place for fact in one.hit.facts[:_MOST_FACTS]))
    yield from _wrapped("  ", f"{one.hit.said} ({places})")
    yield from _wrapped("  ", one.rule.means)
    yield from _wrapped("  Cure: ", one.rule.cure)
    for action in one.hit.actions[:_MOST_COMMANDS]:
        yield f"    {printable(action.do)}"
        if action.undo:
            yield f"      undo: {printable(action.undo)}"
    if len(one.hit.actions) > _MOST_COMMANDS:
        yield f"    and {len(one.hit.actions) - _MOST_COMMANDS} more like these (--json)"
    yield from _asked(one, sources)


def _asked(one: Finding, sources: Sequence[str]) -> Iterator[str]:
    modelled = [action.whatif for action in one.hit.actions if action.whatif]
    if one.rule.outside:
        return
    if not modelled and one.prediction is not None:
        yield from _wrapped("  No prediction: ", one.prediction.why)
        return
    if not modelled:
        yield "  simnet does not model this cure: no prediction."
        return
    if one.prediction is not None and one.prediction.verdict:
        told = one.prediction
        yield from _wrapped("  Predicted: ", f"{told.verdict}: {told.said} (load: {told.load})")
    elif one.prediction is not None:
        yield from _wrapped("  No prediction: ", one.prediction.why)
    plain = len(sources) == 1 and not is_piped(sources[0])
    source = sources[0] if plain and len(sources[0]) < _SHORT else "FOLDER"
    yield "  simnet models it; to ask what it would change:"
    yield "    " + typed("simnet", "import", source, "--out", "host")
    yield "    " + typed("simnet", "whatif", "host/scenario.toml", modelled[0])


def _others(others: Sequence[Finding]) -> Iterator[str]:
    if not others:
        return
    yield "Also:"
    by_rule: dict[str, list[Finding]] = {}
    for one in others:
        by_rule.setdefault(one.rule.name, []).append(one)
    groups = list(by_rule.values())
    for group in groups[:_MOST_OTHERS]:
        first = group[0]
        more = f", and {len(group) - 1} more" if len(group) > 1 else ""
        text = f"{first.hit.sure}: {first.title}: {first.hit.said}{more}"
        yield from _wrapped("  ", text, most=2)
    if len(groups) > _MOST_OTHERS:
        yield f"  and {len(groups) - _MOST_OTHERS} more (--all)"


def _ruled_out(found: Diagnosis) -> Iterator[str]:
    places = [f"{place} ({clear.said})" for place, clear in found.clear]
    if places:
        more = len(places) - _MOST_PLACES
        text = ", ".join(places[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")
        yield from _wrapped("Ruled out: ", text, most=3)


def _wrapped(start: str, text: str, *, most: int = 4) -> Iterator[str]:
    """Yield a text as lines of the screen's width, with an indent; escaped."""
    text = printable(text).replace(" %", f"{_GLUE}%")
    if len(text) > _LONGEST * 2:
        text = f"{text[: _LONGEST * 2]} ..."
    indent = " " * max(2, len(start) - len(start.lstrip())) if start else ""
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=start,
        subsequent_indent=indent,
        max_lines=most,
        placeholder=" ...",
        break_on_hyphens=False,
    )
    yield from (line.replace(_GLUE, " ") for line in lines)
