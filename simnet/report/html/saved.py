"""A result that a command printed as JSON, read from a file that may come from a stranger.

Size, depth and numbers are bounded, characters that a page must not obey are escaped, and what is
left has to be a document of a known kind, to the last key.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import from_json

from simnet.errors import InputError
from simnet.faults import first_fault
from simnet.files import read_bytes
from simnet.printable import printable
from simnet.report.html.kinds import Kind, kinds

_MOST_BYTES: Final = 64 << 20
_LONGEST: Final = 4000
# a time of years in ps has 20 digits
_LARGEST: Final = 1e24


@dataclass(frozen=True)
class Saved:
    """A document, its kind and its file."""

    file: str
    kind: Kind
    document: Any


def read_saved(path: Path) -> Saved:
    """Read a file that a command printed with `--json`.

    Raises:
        InputError: it cannot be read, is no JSON, or no document that a report can show.
    """
    data = read_bytes(path, most_bytes=_MOST_BYTES, kind="result")
    try:
        tree = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(f"no JSON: {error}", file=path) from error
    kind = next((one for one in kinds() if one.matches(tree)), None)
    if kind is None:
        known = ", ".join(one.command for one in kinds())
        raise InputError(f"expected what --json printed of {known}", file=path)
    try:
        document = kind.read(json.dumps(_safe(tree, path)).encode())
    except ValidationError as error:
        what, where = first_fault(error)
        raise InputError(what, file=path, key=".".join(map(str, where)) or None) from error
    return Saved(str(path), kind, document)


def _safe(value: Any, path: Path) -> Any:
    """Return a value of JSON with its texts printable; the nesting is bounded by the parser."""
    match value:
        case str():
            if len(value) > _LONGEST:
                raise InputError(f"a text of over {_LONGEST} characters", file=path)
            return printable(value)
        case bool() | None:
            return value
        case int() | float():
            if not math.isfinite(value) or abs(value) > _LARGEST:
                raise InputError(f"expected numbers of at most {_LARGEST:g}", file=path)
            return value
        case list():
            return [_safe(one, path) for one in value]
        case _:
            return {_safe(key, path): _safe(one, path) for key, one in value.items()}
