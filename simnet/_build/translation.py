"""Has Cython make the C of core modules, and marks what of it need not be fast."""

from __future__ import annotations

import contextlib
import gc
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Declarations:
    """The ``.pxd`` files that modules include, read once for all that are then translated.

    A translation changes what was read, so each takes place in a process of its own, forked from
    the one that read.

    Args:
        sources: for each module to translate, the files of the package that Cython reads for it.
        settings: ``simnet/_engine.py``.
    """

    def __init__(self, sources: dict[str, list[str]], settings: Any) -> None:
        from Cython.Compiler import Errors
        from Cython.Compiler.Main import Context

        self._included = {module: _modules_of(files, settings) for module, files in sources.items()}
        self._context: Any = Context.from_options(
            _options(settings, shared_utility_qualified_name=settings.SHARED)
        )
        Errors.init_thread()
        # Nothing that is read is garbage.
        gc.disable()
        with _cython_mended():
            for module in sorted(set().union(*self._included.values())):
                self._context.find_module(module)
        gc.enable()
        self._sound = not Errors.get_errors_count()

    def context(self, module: str, options: Any) -> Any:
        """Return what Cython knows before it reads a module: what that includes, and no more.

        It is None where a declaration has a mistake: the translation then says which.
        """
        if not self._sound or module not in self._included:
            return None
        read: dict[str, Any] = self._context.pxds
        package = module.partition(".")[0]
        others = {name for name in read if name.startswith(f"{package}.")} - self._included[module]
        self._context.pxds = {name: tree for name, tree in read.items() if name not in others}
        self._context.options = options
        return self._context


def _modules_of(files: Iterable[str], settings: Any) -> set[str]:
    package = settings.PACKAGE.name
    return {
        ".".join((package, *Path(file).with_suffix("").parts))
        for file in files
        if file.endswith(".pxd")
    }


def _options(settings: Any, **others: Any) -> Any:
    from Cython.Compiler.Options import CompilationOptions

    return CompilationOptions(
        compiler_directives=dict(settings.DIRECTIVES), include_path=["."], **others
    )


def translate(
    module: str, source: str, directory: str, settings: Any, declarations: Declarations | None
) -> Any:
    """Make the C of one module in a directory, and return it as setuptools compiles it.

    Most of that C is never called by a simulation: what Python calls, and what runs at import. It
    is marked, so that the compiler spends no time on making it fast.

    Args:
        module: its dotted name.
        source: its file.
        directory: where the C goes.
        settings: ``simnet/_engine.py``.
        declarations: that have been read before, for this module among others.

    Raises:
        Cython.Compiler.Errors.CompileError: Cython refuses, and has said why on stderr.
    """
    from Cython.Build.SharedModule import generate_shared_module
    from Cython.Compiler.Errors import CompileError
    from Cython.Compiler.Main import compile_single
    from setuptools import Extension

    file = Path(directory, *module.split(".")).with_suffix(".c")
    file.parent.mkdir(parents=True, exist_ok=True)
    if module == settings.SHARED:
        generate_shared_module(_options(settings, shared_c_file_path=str(file)))
    else:
        options = _options(
            settings, output_file=str(file), shared_utility_qualified_name=settings.SHARED
        )
        context = declarations.context(module, options) if declarations else None
        with _cython_mended():
            if compile_single(source, options, module, context=context).num_errors:
                raise CompileError(None, source)
    made = file.read_bytes()
    if not module.startswith(settings.CALLED_FOR_EACH_EVENT):
        cold = rf"^static ((?:int|void|PyObject \*) ?(?:{settings.FOR_PYTHON})_\w+\()".encode()
        made = re.sub(cold, rb"static CYTHON_SMALL_CODE \1", made, flags=re.MULTILINE)
    file.write_bytes(settings.SMALL_CODE.encode() + made)
    return Extension(module, [str(file)])


def rehearse(module: str, source: str, directory: str, settings: Any) -> None:
    """Translate a module and forget it, for what Cython keeps in memory; it may have mistakes."""
    from Cython.Compiler.Errors import CompileError

    with contextlib.suppress(CompileError), contextlib.redirect_stderr(io.StringIO()):
        translate(module, source, f"{directory}/rehearsal", settings, None)


@contextlib.contextmanager
def _cython_mended() -> Iterator[None]:
    """Have Cython compile three things that it cannot.

    The sums in an enum are not checked for overflow: there is no place for the check. A function's
    exception value of type `long long` that stands in the ``.pxd`` alone is read from there as
    `-1LL`, and must not get that suffix again. The functions for memory views go only into a
    module that uses them, whatever else has been read.
    """
    from Cython.Compiler import ExprNodes, Nodes, Pipeline

    enum: Any = Nodes.CEnumDefItemNode
    integer: Any = ExprNodes.IntNode
    stages: Any = Pipeline
    analyse, literal = enum.analyse_enum_declarations, integer.get_constant_c_result_code
    inject = stages.inject_utility_pxd_code_stage_factory

    def analysed(self: Any, env: Any, *others: Any) -> Any:
        directives = env.directives
        env.directives = directives | {"overflowcheck": False}
        try:
            return analyse(self, env, *others)
        finally:
            env.directives = directives

    def suffixed_once(self: Any) -> Any:
        return self.value if str(self.value).endswith("LL") else literal(self)

    def injected_where_used(context: Any) -> Any:
        def stage(module: Any) -> Any:
            for tree, scope in context.utility_pxds.values():
                if scope in module.scope.cimported_modules:
                    module.merge_in(tree, scope, stage="pxd")
            return module

        return stage

    enum.analyse_enum_declarations, integer.get_constant_c_result_code = analysed, suffixed_once
    stages.inject_utility_pxd_code_stage_factory = injected_where_used
    try:
        yield
    finally:
        enum.analyse_enum_declarations, integer.get_constant_c_result_code = analyse, literal
        stages.inject_utility_pxd_code_stage_factory = inject
