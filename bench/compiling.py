"""Compiles the components that only benchmarks need, with simnet's own build, into `out/bench`."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from simnet import _engine

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "simnet" / "_build" / "extensions.py"
KERNEL = ROOT / "simnet" / "kernel"
OUT = ROOT / "out" / "bench"


def load(name: str) -> ModuleType:
    """Return `bench/NAME.py` compiled, or as it is where simnet runs interpreted."""
    if _engine.active() == "interpreted":
        return import_module(f"bench.{name}")
    module = f"bench.{name}"
    declarations = [f"simnet/kernel/{file.name}" for file in sorted(KERNEL.glob("*.pxd"))]
    sources = [f"bench/{name}.py", f"bench/{name}.pxd", *declarations]
    digest = _engine.digest(ROOT, sources, {"python": sys.version})
    target = OUT / _engine.file_name(module, digest)
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(BUILD), module, str(target)], check=True, cwd=ROOT)
    spec = spec_from_file_location(module, target)
    if spec is None or spec.loader is None:
        message = f"{target} is no module"
        raise ImportError(message)
    made = module_from_spec(spec)
    sys.modules[module] = made
    spec.loader.exec_module(made)
    return made
