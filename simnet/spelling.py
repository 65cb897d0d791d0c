"""Names that may have been meant.

A suggestion that is far off costs more than none. A name is near if it differs by a slip or two in
the words that are not the same, one slip in three letters at most and none in a name of two, or by
whole words that were left out or are too many. Where none is near, one is whose end is near to a
word that stands alone, as ``rx-usecs`` is of a command; else those that begin with the given words
may be meant.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

_LETTERS_A_SLIP: Final = 3
_LARGEST_FAMILY: Final = 12
_MOST_BEGUN: Final = 4
_WORD: Final = re.compile(r"[^\W_]+")
_SEPARATOR: Final = re.compile(r"[ ./]")
_FAMILY: Final = re.compile(r"(.+[ ./])[^ ./]+")


def nearest(name: str, names: Iterable[str], *, whole: bool = False) -> str:
    """Return ``; did you mean X?`` with the name that is most like ``name``, or nothing.

    If none is, with those that begin with its words. With ``whole`` no name's end is enough.
    """
    known = sorted(names)
    match = closest(name, known, whole=whole)
    meant = [match] if match else _begun(name, known)
    return f"; did you mean {' or '.join(meant)}?" if meant else ""


def nearest_or_all(name: str, names: Iterable[str]) -> str:
    """Return the same, or where there is nothing ``: expected one of`` and all names."""
    known = tuple(names)
    return nearest(name, known) or f": expected one of {', '.join(known)}"


def closest(name: str, names: Iterable[str], *, whole: bool = False) -> str | None:
    """Return the name that is most like ``name``, or None if none is near."""
    typed = name.lower()
    known = {one: one.lower() for one in sorted(names)}
    near = {one: text for one, text in known.items() if _near(typed, text)}
    alone = len(typed) >= _LETTERS_A_SLIP and not _SEPARATOR.search(typed)
    if not near and alone and not whole:
        ends = {one: _SEPARATOR.split(text)[-1] for one, text in known.items()}
        near = {one: end for one, end in ends.items() if _slipped(typed, end)}
    return max(near, key=lambda one: (_likeness(typed, near[one]), -len(one), one), default=None)


def _likeness(typed: str, known: str) -> float:
    return difflib.SequenceMatcher(a=known, b=typed).ratio()


def _begun(name: str, names: Sequence[str]) -> list[str]:
    """The names that begin with the given words, if they are few."""
    words = _WORD.findall(name.lower())
    begun = [one for one in names if words and _WORD.findall(one.lower())[: len(words)] == words]
    return begun if len(begun) <= _MOST_BEGUN else []


def family(name: str, names: Iterable[str]) -> str:
    """Return ``; F has X, Y`` for the names that differ from ``name`` in its last word alone.

    Nothing where there is none, or where they are more than one reads.
    """
    match = _FAMILY.fullmatch(name)
    if match is None:
        return ""
    front = match[1]
    last = {one.removeprefix(front) for one in names if one.startswith(front)}
    members = sorted(one for one in last if not re.search(r"[ ./]", one))
    if not 0 < len(members) <= _LARGEST_FAMILY:
        return ""
    return f"; {front.rstrip(' ./')} has {', '.join(members)}"


def _near(given: str, known: str) -> bool:
    words, others = _WORD.findall(given), _WORD.findall(known)
    skip = _skips(words, others) or _skips(others, words)
    return _slipped(given, known) or (skip and max(len(given), len(known)) >= _LETTERS_A_SLIP)


def _slipped(given: str, known: str) -> bool:
    if given == known or max(len(given), len(known)) < _LETTERS_A_SLIP:
        return given == known
    words, others = _WORD.findall(given), _WORD.findall(known)
    while words and others and words[0] == others[0]:
        del words[0], others[0]
    while words and others and words[-1] == others[-1]:
        del words[-1], others[-1]
    left, right = " ".join(words), " ".join(others)
    slips = max(1, max(len(left), len(right)) // _LETTERS_A_SLIP)
    # nothing in common is no slip
    slips = min(slips, max(len(left), len(right)) - 1)
    if abs(len(left) - len(right)) > slips:
        return False
    # a slip mends no more than one letter that the other has not
    ours, theirs = Counter(left), Counter(right)
    if (ours - theirs).total() > slips or (theirs - ours).total() > slips:
        return False
    return _distance(left, right, slips) <= slips


def _skips(few: Sequence[str], many: Sequence[str]) -> bool:
    """Return whether leaving words out of ``many``, 60 % of it at most, gives ``few``."""
    rest = iter(many)
    return 5 * len("".join(few)) >= 2 * len("".join(many)) and all(word in rest for word in few)


def _distance(left: str, right: str, most: int) -> int:
    """Return how many letters to put in, leave out, exchange or swap (optimal string alignment).

    What is more than ``most`` is not counted to its end.
    """
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, start=1):
        before, last, row = row, before, [i]
        for j, other in enumerate(right, start=1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and (letter, left[i - 2]) == (right[j - 2], other):
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most and min(before) > most:
            return most + 1
    return row[-1]
