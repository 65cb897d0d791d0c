"""What is wrong with a value of a file, in a sentence of simnet's own for each kind of fault.

The kinds are pydantic's (`ErrorDetails.type`). What simnet's own checks say is kept as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_TABLE: Final = "expected a table"
_LIST: Final = "expected a list"
_WHOLE: Final = "expected a whole number"
_NUMBER: Final = "expected a number"
_BOOLEAN: Final = "expected true or false"
_DATE: Final = "expected a date such as 2026-01-31"

SENTENCES: Final = {
    "missing": "missing",
    "extra_forbidden": "unknown key",
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "dict_type": _TABLE,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "too_long": "expected {max_length} values, got {actual_length}",
    "too_short": "expected {min_length} or more values, got {actual_length}",
    "string_type": "expected a text",
    "string_too_short": "expected a text of {min_length} or more characters",
    "string_pattern_mismatch": "expected a text of the form {pattern}",
    "string_unicode": "expected a text in UTF-8",
    "literal_error": "expected {expected}",
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "expected a smaller whole number",
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "expected a finite number",
    "greater_than": "expected more than {gt}",
    "greater_than_equal": "expected {ge} or more",
    "less_than_equal": "expected {le} or less",
    "less_than": "expected less than {lt}",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "json_invalid": "no JSON: {error}",
}
"""What is said of each kind of fault; the names in braces are pydantic's."""
OWN_WORDS: Final = frozenset({"value_error", "value", "range"})
"""Kinds of fault that a check of simnet's own has put into words."""


def sentence(fault: ErrorDetails) -> str:
    """Return what is wrong, without the place and without the value."""
    if fault["type"] in OWN_WORDS:
        return fault["msg"].removeprefix("Value error, ")
    return SENTENCES[fault["type"]].format_map(fault.get("ctx") or {})


def first_fault(error: ValidationError) -> tuple[str, tuple[int | str, ...]]:
    """Return what is wrong first, and at which keys."""
    fault = error.errors()[0]
    return sentence(fault), fault["loc"]


def fault_in(file: str | Path, error: ValidationError, line: int | None = None) -> InputError:
    """Return the first fault of a file that has no lines of its own keys, such as JSON."""
    message, keys = first_fault(error)
    return InputError(message, file=file, line=line, key=".".join(map(str, keys)) or None)
