"""Hatchling's build hook: puts the compiled core into a wheel, or beside an editable install.

``SIMNET_BUILD=auto`` (default) makes a pure wheel that records the cause where nothing can be
compiled, ``require`` fails instead, ``skip`` does not try.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from types import ModuleType


def _load_extensions() -> ModuleType:
    path = Path(__file__).with_name("extensions.py")
    spec = importlib.util.spec_from_file_location("simnet_build_extensions", path)
    if spec is None or spec.loader is None:
        message = f"{path} is missing"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its pool's processes look for it there
    spec.loader.exec_module(module)
    return module


class CompiledCoreHook(BuildHookInterface[Any]):
    """Compiles the core while a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and give hatchling the files to pack.

        Raises:
            RuntimeError: ``SIMNET_BUILD`` is unknown, or requires what cannot be done.
        """
        wanted = os.environ.get("SIMNET_BUILD") or "auto"
        if wanted not in ("auto", "require", "skip"):
            message = f"SIMNET_BUILD: expected auto, require or skip, not {wanted!r}"
            raise RuntimeError(message)
        extensions = _load_extensions()
        folder = f"simnet/{extensions.COMPILED}"
        in_tree = Path(self.root, folder)
        directory = in_tree
        if version != "editable":
            # Not in the tree: it may be read-only, and a wheel must hold nothing older.
            self._scratch = tempfile.TemporaryDirectory(prefix="simnet-wheel-")
            directory = Path(self._scratch.name)
            build_data["force_include"][str(directory)] = folder
        elif wanted == "skip":
            return  # what the checkout holds is its own affair
        try:
            if wanted == "skip":
                extensions.record_failure(directory, "SIMNET_BUILD=skip was set")
                return
            extensions.build(directory, cache=in_tree)
        except (extensions.BuildError, OSError) as error:
            if wanted == "require":
                message = f"SIMNET_BUILD=require, but the core cannot be compiled: {error}"
                raise RuntimeError(message) from error
            self.app.display_warning(f"simnet will run interpreted: {error}")
            return
        if version != "editable":
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what only the build needed."""
        del build_data, artifact_path
        if version != "editable":
            self._scratch.cleanup()
