"""Versions of Linux as numbers that compare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from simnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def release(version: str) -> tuple[int, ...]:
    """Return an upstream version, as in 2.6.32, as its numbers.

    Raises:
        InputError: it is no version.
    """
    if re.fullmatch(r"\d+(\.\d+){1,3}", version) is None:
        message = f"kernel version {version!r}: expected numbers with dots, such as 2.6.32"
        raise InputError(message)
    return _numbers(version)


def release_in(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with, as in 6.18.44-amd64.

    Raises:
        InputError: it begins with none.
    """
    match = re.match(r"\d+\.\d+(\.\d+)*", version)
    if match is None:
        raise InputError(f'"{version}" is no version of Linux, as in "6.18"', key="kernel")
    return _numbers(match[0])


def values_in(
    version: str, changes: Iterable[tuple[tuple[int, ...], Mapping[str, Any]]]
) -> dict[str, Any]:
    """Return the values that hold in a version.

    Args:
        version: what `release_in` reads.
        changes: versions from which on values are others, in order.
    """
    numbers = release_in(version)
    values: dict[str, Any] = {}
    for since, changed in changes:
        if numbers >= since:
            values |= changed
    return values


def _numbers(dotted: str) -> tuple[int, ...]:
    return tuple(int(part) for part in dotted.split("."))
