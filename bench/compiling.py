"""Compiles the components that only benchmarks need, with simnet's own build, into `out/bench`."""

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from simnet import _engine

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "simnet" / "_build" / "extensions.py"
OUT = ROOT / "out" / "bench"


def load(name: str) -> ModuleType:
    """Return `bench/NAME.py` compiled, or as it is where simnet runs interpreted."""
    if _engine.active() == "interpreted":
        return import_module(f"bench.{name}")
    module = f"bench.{name}"
    sources = _engine.core_sources() | {module: (ROOT / "bench" / f"{name}.py").read_bytes()}
    target = OUT / _engine.file_name(module, _engine.digest(sources, {"python": sys.version}))
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(BUILD), module, str(target)], check=True, cwd=ROOT)
    made = json.loads(target.with_suffix(".json").read_text("utf-8"))
    room = made["room"]
    spec = spec_from_file_location(room, target)
    if spec is None or spec.loader is None:
        message = f"{target} is no module"
        raise ImportError(message)
    sys.modules[room] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[room])
    compiled = ModuleType(module)
    _engine.fill(compiled, made)
    return compiled
