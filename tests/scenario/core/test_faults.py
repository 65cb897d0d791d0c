"""Every fault that a file can have is told in simnet's own words."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from simnet.faults import OWN_WORDS, SENTENCES, sentence
from simnet.scenario.core.files import ScenarioFile
from simnet.scenario.core.library import MODELS
from simnet.scenario.core.schema import file_model
from simnet.study.calibrate import conditions, stages
from simnet.study.conform import trace
from simnet.study.validate import measurements, predictions, residuals

_TABLE = {"model_type", "model_attributes_type", "missing", "extra_forbidden"}
_WHOLE = {"int_type", "int_from_float", "int_parsing", "int_parsing_size", "finite_number"}
_DATE = {"date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"}
# by kind of schema, and by what limits it: the faults that its values can have
_FAULTS: dict[str, set[str]] = {
    "str": {"string_type", "string_unicode"},
    "int": _WHOLE,
    "float": {"float_type", "float_parsing", "finite_number"},
    "bool": {"bool_type", "bool_parsing"},
    "date": _DATE,
    "literal": {"literal_error"},
    "tuple": {"tuple_type", "too_long", "missing"},
    "list": {"list_type"},
    "dict": {"dict_type"},
    "model": _TABLE,
    "model-fields": _TABLE,
}
_LIMITS: dict[tuple[str, str], set[str]] = {
    ("str", "min_length"): {"string_too_short"},
    ("str", "pattern"): {"string_pattern_mismatch"},
    ("tuple", "min_length"): {"too_short"},
    ("list", "min_length"): {"too_short"},
}
_BOUNDS = {
    "gt": "greater_than",
    "ge": "greater_than_equal",
    "le": "less_than_equal",
    "lt": "less_than",
}
_CHECKS = {"function-after", "function-before", "function-wrap", "function-plain"}
# kinds that only hold others, or that anything fits
_NO_FAULT = {
    "any", "nullable", "default", "definitions", "definition-ref", "union", "model-field",
    "no-info", "with-info", "computed-field",
}  # fmt: skip
_NO_LIMIT = {"str", "int", "float", "tuple", "list", "dict"}
_NOT_LIMITS = {
    "type", "ref", "metadata", "serialization", "strict", "items_schema", "variadic_item_index",
    "keys_schema", "values_schema", "allow_inf_nan",
}  # fmt: skip


def _forms() -> Iterator[type[BaseModel]]:
    yield ScenarioFile
    for kind, section in MODELS.items():
        for one in section.variants().values() if section.by else (section,):
            yield file_model(one, kind)
    for module in (conditions, stages, trace, measurements, predictions, residuals):
        for form in vars(module).values():
            if isinstance(form, type) and issubclass(form, BaseModel) and form is not BaseModel:
                yield form


def _schema(form: type[BaseModel]) -> Any:
    form.model_rebuild()  # forms of files are built when the first such file is read
    return form.__pydantic_core_schema__


def _tables(schema: Any) -> Iterator[dict[str, Any]]:
    """All tables in a schema of pydantic's core that say a type."""
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str):
            yield schema
        for key, value in schema.items():
            if key not in {"metadata", "serialization"}:
                yield from _tables(value)
    elif isinstance(schema, (list, tuple)):
        for value in schema:
            yield from _tables(value)


def _faults_of(table: dict[str, Any]) -> set[str]:
    kind = table["type"]
    if kind in _CHECKS:
        return set(OWN_WORDS)
    if kind in _NO_FAULT:
        return set()
    found = set(_FAULTS[kind])
    for limit in table.keys() - _NOT_LIMITS if kind in _NO_LIMIT else ():
        found |= {_BOUNDS[limit]} if limit in _BOUNDS else _LIMITS[kind, limit]
    return found


def test_each_fault_that_a_schema_can_find_has_a_sentence_and_no_other() -> None:
    tables = (table for form in _forms() for table in _tables(_schema(form)))
    found = set().union(*map(_faults_of, tables)) | {"json_invalid"}
    assert found - OWN_WORDS == SENTENCES.keys()


@pytest.mark.parametrize(
    ("form", "given", "expected"),
    [
        (tuple[int, int], [1, 2, 3], "expected 2 values, got 3"),
        (tuple[int, int], [1], "missing"),
        (int, "one", "expected a whole number"),
        (int, 1.5, "expected a whole number"),
        (bool, "perhaps", "expected true or false"),
        (dict[str, int], 1, "expected a table"),
    ],
)
def test_a_fault_is_told_without_pydantic(form: Any, given: Any, expected: str) -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(form).validate_python(given)
    assert sentence(raised.value.errors()[0]) == expected
