"""JSON schemas of model and scenario files, for editors.

They are generated from the classes that the loader uses, and lie in ``models/schema`` and
``scenarios/schema``; the first line of a file, ``#:schema PATH``, says where to an editor.
"""

import functools
import itertools
import json
import operator
import re
from typing import Annotated, Any, Final, get_args

from pydantic import Field, TypeAdapter

from simnet.scenario.core.files import ScenarioFile
from simnet.scenario.core.library import MODELS
from simnet.scenario.core.parameter import SHAPE, ModelState
from simnet.scenario.core.schema import file_model

NAMES: Final = ("model", *MODELS, "scenario")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_COLUMNS: Final = 100
# what holds no object and no list; a text with brackets leaves it as it is
_INNERMOST: Final = re.compile(r"^(.*[\[{])\n([^\[\]{}]*)\n *([\]}],?)$", re.MULTILINE)
_NUMBER: Final = {"type": ["string", "integer", "number"]}
_SHAPES: Final[dict[str, dict[str, Any]]] = {
    "number": _NUMBER,
    "quantity": {"type": "string", "pattern": r"^\s*\d[\d_]*(\.\d+)?([eE][+-]?\d+)?\s*[^\s\d].*$"},
    "sourced": {
        "type": "object",
        "additionalProperties": False,
        "required": ["value", "source", "state"],
        "properties": {
            "value": True,
            "source": {"type": "string", "minLength": 1},
            "state": {"enum": list(get_args(ModelState))},
            "low": _NUMBER,
            "high": _NUMBER,
        },
    },
}


def schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of a kind of file.

    Args:
        name: one of :data:`NAMES`; ``model`` is any kind of model.
    """
    if name == "model":
        kinds = [{"$ref": f"{kind}.json"} for kind in MODELS]
        return {"$schema": _DIALECT, "title": "simnet model", "oneOf": kinds}
    generated = _generated(name)
    generated["title"] = f"simnet {name}"
    made = _referring(generated)
    return {"$schema": _DIALECT, **made, "$defs": {**made.get("$defs", {}), **_SHAPES}}


def _generated(name: str) -> dict[str, Any]:
    if name == "scenario":
        return ScenarioFile.model_json_schema()
    section = MODELS[name]
    if not section.by:
        return file_model(section, name).model_json_schema()
    forms = (file_model(one, name) for one in section.variants().values())
    union: Any = functools.reduce(operator.or_, forms)
    generated = TypeAdapter(Annotated[union, Field(discriminator=section.by)]).json_schema()
    _share_keys(generated["$defs"])
    return generated


def _share_keys(defs: dict[str, Any]) -> None:
    """Define keys that are the same in several variants once."""
    tables = [variant["properties"] for variant in list(defs.values())]
    for table, other in itertools.combinations(tables, 2):
        for key in table:
            if SHAPE in table[key] and table[key] == other.get(key):
                defs.setdefault(key, table[key])
    for table in tables:
        for key in table:
            if table[key] == defs.get(key):
                table[key] = {"$ref": f"#/$defs/{key}"}


def _referring(node: Any) -> Any:
    """Return a schema that refers to the shapes by name, and whose titles repeat no key."""
    if isinstance(node, list):
        return [_referring(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {key: _referring(item) for key, item in node.items()}
    for key in ("properties", "$defs"):
        for part in made.get(key, {}).values():
            part.pop("title", None)
    if isinstance(made.get(SHAPE), str):
        made["$ref"] = f"#/$defs/{made.pop(SHAPE)}"
    return made


def text(name: str) -> str:
    """Return the JSON schema as text, as it lies in the folders."""
    return _INNERMOST.sub(_folded, json.dumps(schema(name), indent=1, ensure_ascii=False)) + "\n"


def _folded(found: re.Match[str]) -> str:
    """Return an object or a list on one line, if it fits."""
    inner = " ".join(line.strip() for line in found[2].splitlines())
    line = f"{found[1]}{inner}{found[3]}"
    return line if len(line) <= _COLUMNS else found[0]
