"""Has Cython make the C of one core module, and marks what of it need not be fast."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def translate(module: str, source: str, directory: str, settings: Any) -> Any:
    """Make the C of one module in a directory, and return it as setuptools compiles it.

    Most of that C is never called by a simulation: what Python calls, and what runs at import. It
    is marked, so that the compiler spends no time on making it fast.

    Args:
        module: its dotted name.
        source: its file.
        directory: where the C goes.
        settings: ``simnet/_engine.py``.
    """
    from Cython.Build import cythonize
    from setuptools import Extension

    with _cython_mended():
        (extension,) = cythonize(
            [Extension(module, [source])],
            build_dir=directory,
            compiler_directives=settings.DIRECTIVES,
            force=True,
            quiet=True,
            shared_utility_qualified_name=settings.SHARED,
        )
    file = Path(extension.sources[0])
    made = file.read_bytes()
    if not module.startswith(settings.CALLED_FOR_EACH_EVENT):
        cold = rf"^static ((?:int|void|PyObject \*) ?(?:{settings.FOR_PYTHON})_\w+\()".encode()
        made = re.sub(cold, rb"static CYTHON_SMALL_CODE \1", made, flags=re.MULTILINE)
    file.write_bytes(settings.SMALL_CODE.encode() + made)
    return extension


@contextlib.contextmanager
def _cython_mended() -> Iterator[None]:
    """Have Cython compile two things that it cannot.

    The sums in an enum are not checked for overflow: there is no place for the check. A function's
    exception value of type `long long` that stands in the ``.pxd`` alone is read from there as
    `-1LL`, and must not get that suffix again.
    """
    from Cython.Compiler import ExprNodes, Nodes

    enum: Any = Nodes.CEnumDefItemNode
    integer: Any = ExprNodes.IntNode
    analyse, literal = enum.analyse_enum_declarations, integer.get_constant_c_result_code

    def analysed(self: Any, env: Any, *others: Any) -> Any:
        directives = env.directives
        env.directives = directives | {"overflowcheck": False}
        try:
            return analyse(self, env, *others)
        finally:
            env.directives = directives

    def suffixed_once(self: Any) -> Any:
        return self.value if str(self.value).endswith("LL") else literal(self)

    enum.analyse_enum_declarations, integer.get_constant_c_result_code = analysed, suffixed_once
    try:
        yield
    finally:
        enum.analyse_enum_declarations, integer.get_constant_c_result_code = analyse, literal
