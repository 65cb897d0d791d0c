"""Finding models, and reading them and scenarios, with errors that name file, line and key."""

import functools
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from simnet import _share
from simnet.errors import InputError
from simnet.faults import sentence
from simnet.files import read_text
from simnet.scenario.core import toml
from simnet.scenario.core.files import ScenarioFile
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.schema import ModelFile, ModelKind, file_model
from simnet.scenario.core.section import Section
from simnet.scenario.core.subject import models
from simnet.scenario.core.tree import Tree
from simnet.spelling import nearest

_Section = TypeVar("_Section", bound=Section)

MODELS: Final = {one.kind: one.section for one in models()}
"""What a model of each kind consists of."""
MODEL_FOLDERS: Final = {one.kind: one.folder for one in models()}
"""Where the models of each kind lie, below the folder of models."""
_LONGEST_SHOWN: Final = 60


def model_names(kind: ModelKind) -> tuple[str, ...]:
    """Return the names of all models of a kind that come with simnet."""
    folder = _share.folder("models") / MODEL_FOLDERS[kind]
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def find_model(kind: ModelKind, name: str, beside: Path | None = None) -> Path:
    """Return the file of a model.

    Args:
        kind: which kind.
        name: a model that comes with simnet, or a path that ends with ``.toml``.
        beside: the file that names the model; relative paths start from its folder.

    Raises:
        InputError: no such model; the message names the nearest.
    """
    if name.endswith(".toml"):
        return (beside.parent if beside else Path()) / name
    found = _share.folder("models") / MODEL_FOLDERS[kind] / f"{name}.toml"
    # `Path.is_file` raises for a name that is too long
    if found.stem == name and os.path.isfile(found):  # noqa: PTH113
        return found
    hint = nearest(name, model_names(kind)) or ": simnet list models shows all"
    raise InputError(f"unknown {kind} model {name!r}{hint}")


def read_model(kind: ModelKind, path: Path) -> tuple[BaseModel, toml.Document]:
    """Return a model in its file form, checked, and the document with line numbers.

    Raises:
        InputError: the file cannot be read or breaks the schema.
    """
    shown = toml.as_typed(path)
    return _model(kind, read_text(path, shown=shown), shown)


def read_section(section: type[_Section], kind: ModelKind, name: str) -> _Section:
    """Return the values of a model that comes with simnet, or of that of a file.

    Args:
        section: what the model is made of.
        kind: which kind.
        name: as in `simnet list`, or a path that ends with ``.toml``.

    Raises:
        InputError: no such model, or it breaks the schema.
    """
    form, _ = read_model(kind, find_model(kind, name))
    tree = Tree()
    tree.graft((), section, form)
    return section(**tree.values)


def parse_model(kind: ModelKind, text: str, shown: str) -> tuple[BaseModel, toml.Document]:
    """Return the model that a text holds, as `read_model` does; messages call it `shown`."""
    return _model(kind, text, shown)


@functools.lru_cache(maxsize=64)
def _model(kind: ModelKind, text: str, shown: str) -> tuple[BaseModel, toml.Document]:
    """Return a checked model; a sweep loads the same text thousands of times."""
    try:
        form, document = _known_model(kind, text)
    except InputError:
        return _checked_model(kind, text, shown)
    return form, replace(document, file=shown)


@functools.lru_cache(maxsize=64)
def _known_model(kind: ModelKind, text: str) -> tuple[BaseModel, toml.Document]:
    """Return a checked model of no file; an import writes the same text into several folders."""
    return _checked_model(kind, text, "")


def _checked_model(kind: ModelKind, text: str, shown: str) -> tuple[BaseModel, toml.Document]:
    document = toml.parse(text, shown)
    section = MODELS[kind]
    if not section.by or document.data.get("kind") != kind:
        return _checked(file_model(section, kind), document)
    name = _variant(section, document)
    form = file_model(section.variants()[name], kind)
    return _checked(form, document, f"the {section.by} {name} has no such key")


def _variant(section: type[Section], document: toml.Document) -> str:
    """Return what the document says by which one of a section's variants is chosen."""
    legal = f"expected one of {', '.join(section.variants())}"
    if section.by not in document.data:
        raise document.error(f"missing: {legal}", (section.by,))
    name = str(document.data[section.by])
    if name not in section.variants():
        guess = nearest(name, section.variants()) or f": {legal}"
        raise document.error(f"unknown {section.by} {name!r}{guess}", (section.by,))
    return name


def kind_of(name: str) -> ModelKind | None:
    """Return which kind of model a file says it is; None for anything else.

    Raises:
        InputError: the file cannot be read or is no TOML.
    """
    kind = toml.read(Path(name), toml.as_typed(Path(name))).data.get("kind")
    return next((known for known in MODEL_FOLDERS if known == kind), None)


def flat(form: BaseModel) -> tuple[dict[str, Parameter], dict[str, Any]]:
    """Return a model's values by dotted key, and what it consists of (CPU, ports) by key."""
    values: dict[str, Parameter] = {}
    structure: dict[str, Any] = {}
    header = form.header if isinstance(form, ModelFile) else frozenset()
    for key in (one for one in type(form).model_fields if one not in header):
        item = getattr(form, key)
        if isinstance(item, Parameter):
            values[key] = item
        elif isinstance(item, BaseModel):
            values |= {f"{key}.{inner}": value for inner, value in flat(item)[0].items()}
        elif isinstance(item, tuple):
            structure[key] = [part.model_dump(mode="json") for part in item]
        elif item is not None:
            # None is a value that the file leaves to its default
            structure[key] = item
    return values, structure


def read_scenario(path: Path) -> tuple[ScenarioFile, toml.Document]:
    """Return a scenario in its file form, checked, and the document with line numbers.

    Raises:
        InputError: the file cannot be read or breaks the schema.
    """
    shown = toml.as_typed(path)
    return _scenario(read_text(path, shown=shown), shown)


def parse_scenario(text: str, shown: str) -> None:
    """Check the scenario that a text holds, as `read_scenario` does; messages call it `shown`."""
    _scenario(text, shown)


@functools.lru_cache(maxsize=64)
def _scenario(text: str, shown: str) -> tuple[ScenarioFile, toml.Document]:
    form, document = _checked(ScenarioFile, toml.parse(text, shown))
    return cast("ScenarioFile", form), document


def _checked(
    form: type[BaseModel], document: toml.Document, unknown: str = "unknown key"
) -> tuple[BaseModel, toml.Document]:
    try:
        return form.model_validate(document.data), document
    except ValidationError as error:
        raise _translate(error, form, document, unknown) from error


def _translate(
    error: ValidationError, form: type[BaseModel], document: toml.Document, unknown: str
) -> InputError:
    """Return the first error of a file as one line: unknown keys before what they leave missing."""
    details = sorted(error.errors(), key=lambda detail: detail["type"] == "missing")
    detail = details[0]
    path: toml.KeyPath = tuple(part for part in detail["loc"] if part != "[key]")
    field = (detail.get("ctx") or {}).get("field", "value")
    if field != "value":
        path = (*path, field)
    return document.error(_message(detail, form, unknown), path)


def _message(detail: ErrorDetails, form: type[BaseModel], unknown: str) -> str:
    kind, given = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        name = str(detail["loc"][-1])
        what = unknown if len(detail["loc"]) == 1 else "unknown key"
        return f"{what}{nearest(name, _keys_at(form, detail['loc'][:-1]))}"
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        keys = _keys_at(form, detail["loc"])
        if "value" in keys:
            return 'expected a table such as {value = ..., state = "assumed", source = "..."}'
        return f"expected a table with the keys {', '.join(keys)}"
    if kind in {"missing", "value", "range"}:
        return sentence(detail)
    shown = repr(given)
    known = len(shown) <= _LONGEST_SHOWN and not isinstance(given, (dict, list))
    return sentence(detail) + (f", got {shown}" if known else "")


def _keys_at(form: type[BaseModel], path: toml.KeyPath) -> tuple[str, ...]:
    """Return the legal keys of the table at a place of a file."""
    annotation: Any = form
    for part in path:
        if get_origin(annotation) is tuple and isinstance(part, int):
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) is dict:
            annotation = get_args(annotation)[1]
        elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
            field = annotation.model_fields.get(str(part))
            annotation = field.annotation if field else _extra(annotation)
        if get_origin(annotation) not in {tuple, dict, None} and get_args(annotation):
            annotation = get_args(annotation)[0]  # Annotated[X, ...], X | None
    if annotation is Parameter:
        return ("value", "source", "state", "low", "high")
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return tuple(annotation.model_fields)
    return ()


def _extra(form: type[BaseModel]) -> Any:
    """Return the type of the values whose keys a table leaves free."""
    return get_args(get_type_hints(form)["__pydantic_extra__"])[1]
