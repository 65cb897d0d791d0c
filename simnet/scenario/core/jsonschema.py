"""JSON schemas of model and scenario files, for editors.

They are generated from the classes that the loader uses, and lie in ``models/schema`` and
``scenarios/schema``; the first line of a file, ``#:schema PATH``, tells an editor where.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, get_args

from simnet.scenario.core.files import ScenarioFile
from simnet.scenario.core.library import MODELS
from simnet.scenario.core.parameter import SHAPE, ModelState
from simnet.scenario.core.schema import file_model

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["NAMES", "committed", "schema", "text"]

NAMES: Final = ("model", *MODELS, "scenario")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NUMBER: Final = {"type": ["string", "integer", "number"]}
_SHAPES: Final[dict[str, dict[str, Any]]] = {
    "number": _NUMBER,
    "quantity": {
        "type": "string",
        "pattern": r"^\s*\d[\d_]*(\.\d+)?([eE][+-]?\d+)?\s*[^\s\d].*$",
    },
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
    form: type[BaseModel] = ScenarioFile
    if name != "scenario":
        form = file_model(MODELS[name], name)
    generated = form.model_json_schema()
    generated["title"] = f"simnet {name}"
    made = _referring(generated)
    return {"$schema": _DIALECT, **made, "$defs": {**made.get("$defs", {}), **_SHAPES}}


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
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


def committed() -> dict[str, str]:
    """Return the path, from the top of a checkout, and the text of every schema file."""
    return {
        f"{'scenarios' if name == 'scenario' else 'models'}/schema/{name}.json": text(name)
        for name in NAMES
    }
