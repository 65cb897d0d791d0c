"""JSON schemas of model and scenario files, for editors.

They are generated from the classes that the loader uses, and lie in ``models/schema`` and
``scenarios/schema``; the first line of a file, ``#:schema PATH``, tells an editor where.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from simnet.scenario.files import ScenarioFile
from simnet.scenario.schema import MODELS, ModelKind, file_model

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["NAMES", "committed", "schema", "text"]

NAMES: Final = ("model", *MODELS, "scenario")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


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
        kind = cast("ModelKind", name)
        form = file_model(MODELS[kind], kind)
    generated = form.model_json_schema()
    generated.pop("title", None)
    return {"$schema": _DIALECT, "title": f"simnet {name}", **generated}


def text(name: str) -> str:
    """Return the JSON schema as text, as it lies in the folders."""
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


def committed() -> dict[str, str]:
    """Return the path, from the top of a checkout, and the text of every schema file."""
    return {
        f"{'scenarios' if name == 'scenario' else 'models'}/schema/{name}.json": text(name)
        for name in NAMES
    }
