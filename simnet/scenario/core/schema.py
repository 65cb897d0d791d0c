"""The form that a model or a table has in files, by the section that it becomes.

A :class:`~simnet.scenario.core.section.Section` is the effective form: plain numbers in base units
with the unit in the attribute's name; this is what the mechanisms read. The form in files follows
from it (:func:`file_model`): the same key without the unit, and a table with value, state and
source.
"""

import functools
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model

from simnet.scenario.core.parameter import Bare, Parameter, Spec
from simnet.scenario.core.section import Section

ModelKind: TypeAlias = str
"""One of the kinds that subjects announce; `simnet.scenario.core.library.MODELS` has them all."""


class FileTable(BaseModel):
    """A table of a scenario file."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class ModelFile(BaseModel):
    """What every model file starts with."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")
    # said once for the file, no part of what is modelled
    header: ClassVar[frozenset[str]] = frozenset({"kind", "description", "notes"})

    kind: str
    description: Annotated[str, Field(min_length=1, description="what this is, one line")]
    notes: Annotated[str, Field(description="sources at length, caveats")] = ""


def spec_of(section: type[Section], attribute: str) -> Spec | None:
    """Return the spec of an attribute, or None for structure (names, nested sections)."""
    for item in section.model_fields[attribute].metadata:
        if isinstance(item, Spec):
            return item
    return None


def value_spec(section: type[Section], attribute: str) -> Spec:
    """Return the spec of an attribute that is a value; LookupError for structure."""
    spec = spec_of(section, attribute)
    if spec is None:
        raise LookupError(attribute)
    return spec


@functools.cache
def file_model(section: type[Section], kind: str = "", *, bare: bool = False) -> type[BaseModel]:
    """Return the pydantic model that a file of this section is checked against.

    Args:
        section: what the file holds.
        kind: given for a whole file, which then has the keys of :class:`ModelFile` too.
        bare: values need no table with source and state.
    """
    fields: dict[str, Any] = {}
    for attribute, info in section.model_fields.items():
        spec = spec_of(section, attribute)
        if spec is not None:
            form = Bare(spec) if bare else spec
            default = ... if info.is_required() else None
            fields[spec.key(attribute)] = (Annotated[Parameter, form], default)
        elif section_in(info.annotation) is None:
            fields[attribute] = (info.annotation, info)
        else:
            fields[attribute] = (_file_form(info.annotation), ...)
    doc = (section.__doc__ or "").split("\n", maxsplit=1)[0]
    name = f"{section.__name__}{'File' if kind else 'Table'}"
    if kind:
        fields |= section.beside
        fields["kind"] = (Literal[kind], ...)
        whole = create_model(name, __base__=ModelFile, __doc__=doc, **fields)
        whole.header = ModelFile.header.union(section.beside)
        return whole
    return create_model(name, __config__=Section.model_config, __doc__=doc, **fields)


def section_in(annotation: Any) -> type[Section] | None:
    """Return the section that an annotation is, or is a tuple of; None for anything else."""
    inner = get_args(annotation)[0] if get_origin(annotation) is tuple else annotation
    return inner if isinstance(inner, type) and issubclass(inner, Section) else None


def _file_form(annotation: Any) -> Any:
    section = section_in(annotation)
    if section is None:
        return annotation
    form: Any = file_model(section)
    return tuple[form, ...] if get_origin(annotation) is tuple else form
