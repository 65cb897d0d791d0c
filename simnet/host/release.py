"""Versions of Linux as numbers that compare."""

from __future__ import annotations

import re

from simnet.errors import InputError

__all__ = ["release", "release_in"]


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


def _numbers(dotted: str) -> tuple[int, ...]:
    return tuple(int(part) for part in dotted.split("."))
