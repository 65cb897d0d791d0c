"""Makes the sources of the compiled core: for each room one module that Cython understands.

A room is a folder of `simnet` with modules that import `cython`. Its compiled form is one
extension, so that what Python needs of an extension is paid for once, and calls inside a room are
direct. Of each module stands a copy in the room, line by line, so that tracebacks name file and
line of the original. What is written once there, Cython wants in two places or in other words:

- A typed line in the body of a class marked `@cython.cclass` becomes a field of the C struct, and
  what the field begins with.
- A method whose result is a C type or a compiled class becomes a C method, and so does another
  that is marked `@cython.ccall` or `@cython.cfunc`. Python may call it, unless its name begins
  with `_` or it is marked `@cython.cfunc`. One of a number says an exception by the value -1.
- `NAME: cython.int = 5` in a module is the number itself, wherever the name is used.
- A function marked `@native` is the one of the header beside the module.
- An import of another compiled module's class, function or number is nothing in the same room,
  else a `cimport`.
- A name that two modules of a room give to different things becomes two names.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeGuard

PREFIX = "_core_"
"""How the name of a room's extension begins, in the package."""

_C_TYPES = {
    "bint": "bint",
    "char": "char",
    "double": "double",
    "float": "float",
    "int": "int",
    "long": "long",
    "longlong": "long long",
    "p_char": "char*",
    "p_int": "int*",
    "p_longlong": "long long*",
    "p_ulonglong": "unsigned long long*",
    "p_void": "void*",
    "Py_ssize_t": "Py_ssize_t",
    "schar": "signed char",
    "short": "short",
    "uchar": "unsigned char",
    "uint": "unsigned int",
    "ulonglong": "unsigned long long",
    "ushort": "unsigned short",
    "void": "void",
}
_NUMBERS = frozenset(type_ for type_ in _C_TYPES.values() if type_[-1] != "*" and type_ != "void")
_PYTHON_TYPES = {type_: f"cython.{name}" for name, type_ in _C_TYPES.items()}
_BUILTINS = frozenset({"bytearray", "bytes", "dict", "list", "set", "str", "tuple", "type"})
_OF_PYTHON = ("property", "staticmethod", "classmethod", "contextmanager", "setter")
_CLOSURES = (ast.Lambda, ast.GeneratorExp, ast.FunctionDef, ast.Yield, ast.YieldFrom)
_MARKS = frozenset({"cython.ccall", "cython.cfunc"})
_BY_VALUE = " except? -1"
_VALUE = "@cython.exceptval(-1, check=True)"
_FEW = 6
"""With fewer modules than this, a folder is no room of its own."""

_BRACED = re.compile(rb"\{[^{}]*\}")
_WORD = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")


class SourceError(Exception):
    """A source cannot be compiled as it stands; the text says where and why, on one line."""


@dataclass
class Method:
    """A C method or function: `cdef` or `cpdef`, types, and whether it may raise an exception."""

    kind: str
    result: str
    arguments: list[tuple[str, str, bool]]
    ending: str

    def declaration(self, name: str) -> str:
        """Return its line in a ``.pxd``."""
        given = [
            f"{type_} {argument}{'=*' * optional}".strip()
            for type_, argument, optional in self.arguments
        ]
        return f"{self.kind} {self.result} {name}({', '.join(given)}){self.ending}"


@dataclass
class Module:
    """A module of the core as it is written, and what it defines.

    Attributes:
        name: dotted.
        file: relative to the root.
        classes, functions, natives, constants: what machine code knows of it, by name.
        others: further names that it gives to something.
        imported: where a name comes from: module and name there.
    """

    name: str
    file: str
    text: bytes
    tree: ast.Module
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    natives: dict[str, ast.FunctionDef] = field(default_factory=dict)
    constants: dict[str, tuple[str, float]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)

    def defined(self) -> set[str]:
        """Return the names that it gives to something that exists when it runs."""
        return self.others | self.classes.keys() | self.functions.keys()


@dataclass(eq=False)
class Room:
    """The sources of one extension.

    Attributes:
        name: of the extension, dotted.
        files: what Cython reads, by the name under which it reads it.
        uses: other rooms whose declarations it reads.
        modules: for each module, its source, what its names are called in the extension, and its
            numbers.
    """

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    uses: set[str] = field(default_factory=set)
    modules: dict[str, dict[str, Any]] = field(default_factory=dict)

    def all_used(self, rooms: dict[str, Room]) -> set[str]:
        """Return the rooms that this one uses, and those that they use."""
        return _reachable(self.name, {name: room.uses for name, room in rooms.items()})


class Core:
    """All modules that are compiled, what they define, and their rooms.

    Args:
        sources: for each module that counts, by its dotted name: file and text.

    Attributes:
        modules: those that are compiled, by name.
        room_of: the room of each.
        between: files, relative to the package, of modules that compiled ones import.

    Raises:
        SourceError: one cannot be compiled.
    """

    def __init__(self, sources: dict[str, tuple[str, bytes]]) -> None:
        trees = {name: _parsed(text, file) for name, (file, text) in sources.items()}
        self.modules = {
            name: _collected(Module(name, sources[name][0], sources[name][1], tree))
            for name, tree in trees.items()
            if is_compiled(sources[name][1])
        }
        self._plain = {
            name: _plain_numbers(tree) for name, tree in trees.items() if name not in self.modules
        }
        self._needs = {name: _imports(tree) & trees.keys() for name, tree in trees.items()}
        self._order = [name for name in self._sorted(self._needs) if name in self.modules]
        for name in self._order:
            self._evaluate(self.modules[name])
        near = set().union(*(self._needs[name] for name in self.modules))
        plain = set().union(near, *(_reachable(name, self._needs) for name in near))
        self.between = {sources[name][0].partition("/")[2] for name in plain - self.modules.keys()}
        self.room_of = self._rooms()
        self._called = self._unique_names()
        self._methods: dict[tuple[str, str], dict[str, Method]] = {}
        for name in self._order:
            self._declare(self.modules[name])

    def rooms(self) -> list[Room]:
        """Return the rooms, in the order of their first modules."""
        members: dict[str, list[Module]] = {}
        for name in self._order:
            members.setdefault(self.room_of[name], []).append(self.modules[name])
        return [_Writer(self, name, modules).room() for name, modules in members.items()]

    def find(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Return the compiled module that defines what a name means here, and the name there."""
        if name in module.imported:
            home, name = module.imported[name]
            if home not in self.modules:
                return None
            return self.find(self.modules[home], name) or (self.modules[home], name)
        known = (module.classes, module.functions, module.natives, module.constants, module.others)
        return (module, name) if any(name in names for names in known) else None

    def constant(self, module: Module, name: str) -> tuple[str, float] | None:
        """Return type and value of a number that a name means here."""
        found = self.find(module, name)
        if found:
            return found[0].constants.get(found[1])
        home, original = module.imported.get(name, ("", ""))
        value = self._plain.get(home, {}).get(original)
        return None if value is None else ("long long", value)

    def class_of(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Return where the compiled class is defined that a name means here."""
        found = self.find(module, name)
        return found if found and found[1] in found[0].classes else None

    def called(self, module: Module, name: str) -> str:
        """Return what a name that is defined in a module is called in its room."""
        return self._called.get((module.name, name), name)

    def methods(self, module: Module, name: str) -> dict[str, Method]:
        """Return the C methods of a class, inherited ones first."""
        return self._methods[module.name, name]

    def inherited(self, module: Module, node: ast.ClassDef) -> dict[str, Method]:
        """Return the C methods of a class's bases."""
        known: dict[str, Method] = {}
        for base in node.bases:
            found = self.class_of(module, base.id) if isinstance(base, ast.Name) else None
            if found:
                known |= self.methods(*found)
        return known

    def c_type(self, module: Module, annotation: ast.expr | None) -> str:
        """Return the C type of an annotation; `object` for what Cython does not know."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        if isinstance(annotation, ast.BinOp):
            return self.c_type(module, annotation.left)
        if isinstance(annotation, ast.Subscript):
            return self._parametrised(module, annotation)
        if isinstance(annotation, ast.Attribute):
            of_cython = isinstance(annotation.value, ast.Name) and annotation.value.id == "cython"
            if of_cython and annotation.attr not in _C_TYPES:
                message = (
                    f"{module.file}:{annotation.lineno}: {ast.unparse(annotation)}: expected one of"
                    f" {', '.join(_C_TYPES)}"
                )
                raise SourceError(message)
            return _C_TYPES[annotation.attr] if of_cython else "object"
        if isinstance(annotation, ast.Name):
            found = self.class_of(module, annotation.id)
            if found:
                return self.called(*found)
            return "void*" if annotation.id == "Address" else _of_python(annotation.id)
        return "object"

    def _parametrised(self, module: Module, annotation: ast.Subscript) -> str:
        base = annotation.value.id if isinstance(annotation.value, ast.Name) else ""
        if base == "Public":
            return self.c_type(module, annotation.slice)
        if base == "Array":
            return f"{self.c_type(module, annotation.slice)}[::1]"
        if base == "ConstArray":
            return f"const {self.c_type(module, annotation.slice)}[::1]"
        if base == "Pointer":
            return f"{self.c_type(module, annotation.slice)}*"
        return _of_python(base)

    def _sorted(self, needs: dict[str, set[str]]) -> list[str]:
        try:
            return list(
                TopologicalSorter(
                    {name: sorted(needs[name]) for name in sorted(needs)}
                ).static_order()
            )
        except CycleError as error:
            message = f"modules import each other: {' -> '.join(error.args[1])}"
            raise SourceError(message) from None

    def _evaluate(self, module: Module) -> None:
        for node in module.tree.body:
            if _declares_number(node):
                value = self._value(module, node.value)
                type_ = self.c_type(module, node.annotation)
                module.constants[node.target.id] = (type_, value)
                module.others.discard(node.target.id)

    def _value(self, module: Module, node: ast.expr) -> float:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        known = {name: self.constant(module, name) for name in names}
        numbers = {name: found[1] for name, found in known.items() if found}
        try:
            code = compile(ast.Expression(node), module.file, "eval")
            value: float = eval(code, {"__builtins__": {}}, numbers)  # noqa: S307 - simnet's own
        except (NameError, TypeError):
            message = f"{module.file}: {ast.unparse(node)}: a compiled number is made of numbers"
            raise SourceError(message) from None
        return value

    def _declare(self, module: Module) -> None:
        for node in module.tree.body:
            if (
                isinstance(node, ast.FunctionDef)
                and node.name in module.others
                and self._is_c(module, node, {})
            ):
                module.functions[node.name] = node
                module.others.discard(node.name)
        for name, node in module.classes.items():
            known = self.inherited(module, node)
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and self._is_c(module, method, known):
                    known[method.name] = self.method(module, method, known.get(method.name))
            self._methods[module.name, name] = known

    def _is_c(self, module: Module, node: ast.FunctionDef, known: dict[str, Method]) -> bool:
        marks = _decorators(node)
        named = node.args.kwonlyargs or node.args.vararg or node.args.kwarg
        if node.name.startswith("__") or named or any(mark.endswith(_OF_PYTHON) for mark in marks):
            return False
        if node.name in known or {"cython.ccall", "cython.cfunc"} & marks.keys():
            return True
        result = node.returns
        if any(isinstance(inner, _CLOSURES) for part in node.body for inner in ast.walk(part)):
            return False
        if isinstance(result, ast.Attribute):
            return self.c_type(module, result) != "object"
        return isinstance(result, ast.Name) and self.class_of(module, result.id) is not None

    def method(self, module: Module, node: ast.FunctionDef, base: Method | None = None) -> Method:
        """Return the C form of a method or function; of one that overrides another, that one's."""
        arguments = [*node.args.posonlyargs, *node.args.args]
        optional = len(arguments) - len(node.args.defaults)
        given = [
            (
                "" if argument.arg == "self" else self.c_type(module, argument.annotation),
                argument.arg,
                place >= optional,
            )
            for place, argument in enumerate(arguments)
        ]
        if base:
            given = [
                (of_base[0], name, is_optional)
                for of_base, (_, name, is_optional) in zip(base.arguments, given, strict=True)
            ]
            return Method(base.kind, base.result, given, base.ending)
        marks = _decorators(node)
        private = "cython.cfunc" in marks or (
            node.name.startswith("_") and "cython.ccall" not in marks
        )
        of_nothing = isinstance(node.returns, ast.Constant) and node.returns.value is None
        result = "void" if of_nothing else self.c_type(module, node.returns)
        return Method("cdef" if private else "cpdef", result, given, _ending(result, node))

    def _rooms(self) -> dict[str, str]:
        """Return the room of each module: its folder's, or that of folders that need each other."""
        reach: dict[str, set[str]] = {}
        for name in self._sorted(self._needs):
            direct = self._needs[name]
            reach[name] = {
                far for near in direct for far in ({near} if near in self.modules else reach[near])
            }
        folders = {name: name.rpartition(".")[0] for name in self.modules}
        needs: dict[str, set[str]] = {folder: set() for folder in folders.values()}
        for name in self.modules:
            needs[folders[name]] |= {folders[far] for far in reach[name]} - {folders[name]}
        few = {folder for folder in needs if list(folders.values()).count(folder) < _FEW}
        joined = _with_parents(_joined(needs), needs, few)
        return {name: _room_name(joined[folder]) for name, folder in folders.items()}

    def _unique_names(self) -> dict[tuple[str, str], str]:
        owners: dict[tuple[str, str], list[Module]] = {}
        for name in self._order:
            module = self.modules[name]
            for each in module.defined():
                owners.setdefault((self.room_of[name], each), []).append(module)
            for each, (home, original) in module.imported.items():
                if home not in self.modules and original != each:
                    owners.setdefault((self.room_of[name], each), []).append(module)
        return {
            (module.name, name): f"{name}__{module.name.rpartition('.')[2]}"
            for (_, name), modules in owners.items()
            if len(modules) > 1
            for module in modules
            if name in module.defined()
        }


class _Writer:
    """Writes what Cython reads of one room."""

    def __init__(self, core: Core, name: str, modules: list[Module]) -> None:
        self._core = core
        self._modules = modules
        self._room = Room(name)
        self._cimports: dict[str, set[str]] = {}

    def room(self) -> Room:
        """Return the room."""
        room = self._room
        declared = [line for module in self._modules for line in self._declarations(module)]
        early = [
            f"cdef class {self._core.called(module, name)}" + self._base(module, node)
            for module in self._modules
            for name, node in module.classes.items()
        ]
        for module in self._modules:
            room.files[module.file] = _Copy(
                self._core, module, self._room.name, self._cimports
            ).text()
            room.modules[module.name] = {
                "room": room.name,
                "source": module.file,
                "names": {
                    name: self._core.called(module, name) for name in sorted(module.defined())
                },
                "numbers": {name: value for name, (_, value) in module.constants.items()},
            }
        cimports = [
            f"from {home} cimport {', '.join(sorted(names))}"
            for home, names in sorted(self._cimports.items())
        ]
        room.uses = set(self._cimports)
        path = room.name.replace(".", "/")
        room.files[f"{path}.pxd"] = _joined_lines(
            ["cimport cython", *cimports, "", *early, "", *declared]
        )
        included = [f'include "{module.file}"' for module in self._modules]
        room.files[f"{path}.pyx"] = _joined_lines(
            ["from __future__ import annotations", "import cython", *included]
        )
        return room

    def _base(self, module: Module, node: ast.ClassDef) -> str:
        bases = [self._type(module, base) for base in node.bases]
        bases = [base for base in bases if base != "object"]
        return f"({bases[0]})" if bases else ""

    def _type(self, module: Module, annotation: ast.expr | None) -> str:
        for node in ast.walk(annotation) if annotation else ():
            if isinstance(node, ast.Name):
                found = self._core.class_of(module, node.id)
                if found:
                    self._need(*found)
        return self._core.c_type(module, annotation)

    def _need(self, home: Module, name: str) -> None:
        room = self._core.room_of[home.name]
        if room != self._room.name:
            self._cimports.setdefault(room, set()).add(self._core.called(home, name))

    def _declarations(self, module: Module) -> list[str]:
        lines: list[str] = []
        if module.natives:
            header = module.file.removesuffix(".py") + ".h"
            lines.append(f'cdef extern from "{header}":')
            for name, node in module.natives.items():
                form = self._core.method(module, node)
                if form.result == "object":
                    ending = ""
                else:
                    ending = " except NULL" if form.result.endswith("*") else " noexcept"
                arguments = ", ".join(
                    f"{'const void*' if type_ == 'void*' else type_} {argument}"
                    for type_, argument, _ in form.arguments
                )
                lines.append(f"    {form.result} {name}({arguments}){ending}")
        for name, cls in module.classes.items():
            lines += ["", *self._class(module, name, cls)]
        for name, node in module.functions.items():
            for argument in node.args.args:
                self._type(module, argument.annotation)
            self._type(module, node.returns)
            lines += [
                "",
                self._core.method(module, node).declaration(self._core.called(module, name)),
            ]
        return lines

    def _class(self, module: Module, name: str, node: ast.ClassDef) -> list[str]:
        marks = [mark for mark in _decorators(node) if mark in ("cython.final", "cython.no_gc")]
        lines = [f"@{mark}" for mark in marks]
        lines.append(f"cdef class {self._core.called(module, name)}{self._base(module, node)}:")
        body: list[str] = []
        for field_ in node.body:
            if _is_field(field_):
                type_ = self._type(module, field_.annotation)
                hidden = type_.endswith(("]", "*"))
                seen = "public " if _is_public(field_) else "" if hidden else "readonly "
                body.append(f"    cdef {seen}{type_} {ast.unparse(field_.target)}")
        known = self._core.methods(module, name)
        inherited = self._core.inherited(module, node)
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name in known:
                for argument in method.args.args:
                    self._type(module, argument.annotation)
                self._type(module, method.returns)
                form = known[method.name]
                if method.name not in inherited:
                    body.append(f"    {form.declaration(method.name)}")
        return [*lines, *(body or ["    pass"])]


class _Copy:
    """The copy of a module's text for its room, line by line."""

    def __init__(
        self, core: Core, module: Module, room: str, cimports: dict[str, set[str]]
    ) -> None:
        self._core = core
        self._module = module
        self._room = room
        self._cimports = cimports
        self._lines = module.text.split(b"\n")
        self._edits: list[tuple[int, int, int, int, str]] = []

    def text(self) -> bytes:
        """Return it."""
        for node in self._module.tree.body:
            self._statement(node)
        self._names()
        return self._edited()

    def _edit(self, node: Any, text: str) -> None:
        self._edits.append(
            (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, text)
        )

    def _blank(self, node: Any) -> None:
        self._edit(node, "")

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ImportFrom):
            self._import(node)
        elif _is_for_types(node) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            self._blank(node)
        elif isinstance(node, ast.ClassDef):
            if node.name in self._module.classes:
                self._class(node)
            else:
                self._rename_definition(node, "class ")
        elif isinstance(node, ast.FunctionDef):
            if node.name in self._module.natives:
                self._blank_decorated(node)
            elif node.name in self._module.functions:
                self._header(node, self._core.method(self._module, node))
            else:
                self._rename_definition(node, "def ")
        elif _declares_number(node):
            self._blank(node)

    def _blank_decorated(self, node: ast.FunctionDef) -> None:
        first = min(mark.lineno for mark in node.decorator_list)
        self._edits.append((first, 0, node.end_lineno or node.lineno, node.end_col_offset or 0, ""))

    def _rename_definition(self, node: ast.ClassDef | ast.FunctionDef, word: str) -> None:
        called = self._core.called(self._module, node.name)
        if called != node.name:
            start = node.col_offset + len(word)
            self._edits.append((node.lineno, start, node.lineno, start + len(node.name), called))

    def _import(self, node: ast.ImportFrom) -> None:
        if node.module == "__future__":
            self._blank(node)
            return
        kept: list[str] = []
        for alias in node.names:
            name = alias.asname or alias.name
            found = self._core.find(self._module, name)
            if not found:
                kept.append(f"{alias.name} as {alias.asname}" if alias.asname else alias.name)
                continue
            home, original = found
            room = self._core.room_of[home.name]
            if room == self._room or original in home.constants:
                continue
            if original in home.others:
                kept.append(f"{alias.name} as {alias.asname}" if alias.asname else alias.name)
            else:
                self._cimports.setdefault(room, set()).add(self._core.called(home, original))
        if len(kept) < len(node.names):
            self._edit(node, f"from {node.module} import {', '.join(kept)}" if kept else "")

    def _class(self, node: ast.ClassDef) -> None:
        is_data = any("dataclass" in mark for mark in _decorators(node))
        self._rename_definition(node, "class ")
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "dataclass":
                self._edit(mark.func, "cython.dataclasses.dataclass")
        if not is_data:
            self._fields(node)
        known = self._core.methods(self._module, node.name)
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name in known:
                self._header(method, known[method.name])

    def _fields(self, node: ast.ClassDef) -> None:
        fields = [each for each in node.body if _is_field(each)]
        begins = [
            f"self.{ast.unparse(each.target)} = {ast.unparse(self._inlined(each.value))}"
            for each in fields
            if each.value and not _is_nothing(each.value)
        ]
        for place, each in enumerate(fields):
            text = ""
            if place == 0:
                text = f"def __cinit__(self): {'; '.join(begins)}" if begins else "pass"
            self._edit(each, text)

    def _inlined(self, node: ast.expr) -> ast.expr:
        core, module = self._core, self._module

        class Inline(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> ast.expr:
                found = core.constant(module, name.id)
                return ast.Constant(found[1]) if found else name

        replaced: ast.expr = Inline().visit(ast.parse(ast.unparse(node), mode="eval").body)
        return replaced

    def _header(self, node: ast.FunctionDef, form: Method) -> None:
        """Mark a C function in the line above it, and say its types as Cython needs them.

        A number's value for exceptions takes a line more. Where the mark is written, it is free,
        else it is the header's own, which then stands where the description did.
        """
        marks = _decorators(node)
        first = min([mark.lineno for mark in node.decorator_list] + [node.lineno])
        mark = "@cython.ccall" if form.kind == "cpdef" else "@cython.cfunc"
        by_value = form.ending == _BY_VALUE
        if not _MARKS & marks.keys():
            self._line_above(node, first, mark)
        elif by_value:
            self._line_above(node, first, _VALUE)
        if node.returns is None:
            message = f"{self._module.file}:{node.lineno}: {node.name} says no result"
            raise SourceError(message)
        if by_value and not _MARKS & marks.keys():
            self._header_below(node, form)
            return
        if node.col_offset == 0:
            self._rename_definition(node, "def ")
        arguments = [*node.args.posonlyargs, *node.args.args]
        for argument, (type_, _, _) in zip(arguments, form.arguments, strict=True):
            if argument.annotation:
                self._edit(argument.annotation, _argument(type_))
        self._edit(node.returns, _result(form.result))

    def _line_above(self, node: ast.FunctionDef, first: int, text: str) -> None:
        above = self._lines[first - 2]
        if above.strip() and not above.strip().startswith(b"#"):
            message = f"{self._module.file}:{first}: expected a blank line above {node.name}"
            raise SourceError(message)
        self._edits.append((first - 1, 0, first - 1, len(above), " " * node.col_offset + text))

    def _header_below(self, node: ast.FunctionDef, form: Method) -> None:
        description = node.body[0]
        if not _is_description(description):
            message = (
                f"{self._module.file}:{node.lineno}: {node.name} overrides a method with a"
                " description: expected one here, too, or @cython.cfunc"
            )
            raise SourceError(message)
        before = description.lineno - 1
        end = len(self._lines[before - 1])
        self._edits.append((node.lineno, node.col_offset, before, end, _VALUE))
        name = node.name if node.col_offset else self._core.called(self._module, node.name)
        given = ", ".join(self._given(node, form))
        header = f"{' ' * node.col_offset}def {name}({given}) -> {_result(form.result)}:"
        last = description.end_lineno or description.lineno
        self._edits.append(
            (
                *(description.lineno, 0, last, len(self._lines[last - 1])),
                header if node.body[1:] else f"{header} pass",
            )
        )

    def _given(self, node: ast.FunctionDef, form: Method) -> list[str]:
        """Return the arguments of a function in the words of Cython's Python."""
        arguments = [*node.args.posonlyargs, *node.args.args]
        required = len(arguments) - len(node.args.defaults)
        defaults = [None] * required + [
            ast.unparse(self._inlined(one)) for one in node.args.defaults
        ]
        return [
            argument.arg
            + (f": {_argument(type_)}" if argument.annotation else "")
            + (f" = {default}" if default else "")
            for argument, (type_, _, _), default in zip(
                arguments, form.arguments, defaults, strict=True
            )
        ]

    def _names(self) -> None:
        """Put numbers for their names, and a room's names for a module's."""
        written = [edit[:4] for edit in self._edits]
        texts = [node for node in ast.walk(self._module.tree) if isinstance(node, ast.JoinedStr)]
        inside = {id(name) for text in texts for name in ast.walk(text)}
        for text in texts:
            self._formatted(text)
        for node in ast.walk(self._module.tree):
            if isinstance(node, ast.Global):
                names = [self._replaced(name) or name for name in node.names]
                self._edit(node, f"global {', '.join(names)}")
            if (
                isinstance(node, ast.Name)
                and id(node) not in inside
                and not any(_within(node, span) for span in written)
                and (replaced := self._replaced(node.id))
            ):
                self._edit(node, replaced)

    def _formatted(self, text: ast.JoinedStr) -> None:
        """Do the same in a formatted string: Python 3.11 does not know where its parts are."""
        for number in range(text.lineno, (text.end_lineno or text.lineno) + 1):
            for part in _BRACED.finditer(self._lines[number - 1]):
                for word in _WORD.finditer(part[0]):
                    if replaced := self._replaced(word[0].decode()):
                        start = part.start() + word.start()
                        self._edits.append((number, start, number, start + len(word[0]), replaced))

    def _replaced(self, name: str) -> str | None:
        found = self._core.constant(self._module, name)
        return _literal(*found) if found else self._renamed(name)

    def _renamed(self, name: str) -> str | None:
        found = self._core.find(self._module, name)
        if not found:
            return None
        home, original = found
        if self._core.room_of[home.name] != self._room and original in home.others:
            return None
        called = self._core.called(home, original)
        return called if called != name else None

    def _edited(self) -> bytes:
        lines = list(self._lines)
        for first, start, last, end, text in sorted(self._edits, reverse=True):
            head = lines[first - 1][:start]
            tail = lines[last - 1][end:]
            lines[first - 1 : last] = [head + text.encode() + tail, *[b""] * (last - first)]
        return b"\n".join(lines)


def _collected(module: Module) -> Module:
    """Note what a module defines and imports, as far as its text says it alone."""
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and "cython.cclass" in _decorators(node):
            module.classes[node.name] = node
        elif isinstance(node, ast.FunctionDef) and "native" in _decorators(node):
            module.natives[node.name] = node
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            module.others.add(node.name)
        else:
            module.others |= _assigned(node)
    only_for_types = [
        inner for node in module.tree.body if _is_for_types(node) for inner in node.body
    ]
    for node in [*module.tree.body, *only_for_types]:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                origin = (node.module or "", alias.name)
                module.imported.setdefault(alias.asname or alias.name, origin)
    return module


def _assigned(node: ast.stmt) -> set[str]:
    """Return the names that an assignment gives to something."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    else:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [name for target in targets for name in ast.walk(target)]
    return {name.id for name in names if isinstance(name, ast.Name)}


def _is_for_types(node: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def is_compiled(text: bytes) -> bool:
    """Return whether a module with this text is part of the core: it imports `cython`."""
    return b"\nimport cython\n" in text


def _parsed(text: bytes, file: str) -> ast.Module:
    try:
        return ast.parse(text, file)
    except SyntaxError as error:
        message = f"{file}:{error.lineno}: {error.msg}"
        raise SourceError(message) from None


def _within(node: Any, span: tuple[int, int, int, int]) -> bool:
    return (
        span[:2] <= (node.lineno, node.col_offset)
        and (node.end_lineno, node.end_col_offset) <= span[2:]
    )


def _of_python(name: str) -> str:
    return name if name in _BUILTINS else "object"


def _annotation(type_: str) -> str:
    """Return a C type in the words of Cython's Python."""
    return _PYTHON_TYPES.get(type_, type_)


def _argument(type_: str) -> str:
    """Return the annotation of an argument: an object may be None, as in a declaration in C."""
    is_number = type_ in _PYTHON_TYPES or type_.endswith(("]", "*"))
    return _annotation(type_) if is_number or type_ == "object" else f"{type_} | None"


def _literal(type_: str, value: float) -> str:
    return f"({value})" if type_ == "int" else f"cython.cast({_annotation(type_)}, {value})"


def _joined_lines(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _decorators(node: ast.ClassDef | ast.FunctionDef) -> dict[str, None]:
    return {ast.unparse(mark).partition("(")[0]: None for mark in node.decorator_list}


class _Number(ast.AnnAssign):
    """A line of a module that declares a compiled number."""

    target: ast.Name
    value: ast.expr


def _declares_number(node: ast.stmt) -> TypeGuard[_Number]:
    return (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.annotation, ast.Attribute)
        and ast.unparse(node.annotation).startswith("cython.")
        and isinstance(node.target, ast.Name)
        and node.value is not None
    )


def _plain_numbers(tree: ast.Module) -> dict[str, int]:
    """Return the whole numbers that a module which is not compiled gives names to."""
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
    }


def _is_field(node: ast.stmt) -> TypeGuard[ast.AnnAssign]:
    """Return whether a statement in a compiled class declares a field: one of each object."""
    return isinstance(node, ast.AnnAssign) and not ast.unparse(node.annotation).startswith(
        "ClassVar"
    )


def _is_public(node: ast.AnnAssign) -> bool:
    return (
        isinstance(node.annotation, ast.Subscript)
        and ast.unparse(node.annotation.value) == "Public"
    )


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value and not isinstance(node.value, str)


def _ending(result: str, node: ast.FunctionDef) -> str:
    """Return how a C function says that an exception was raised.

    A number by one of its values, which is compared after each call; there must be room to say so
    in the source. Else Cython asks the interpreter after each call.
    """
    marks = _decorators(node)
    if "cython.exceptval" in marks:
        return " noexcept"
    has_room = bool(_MARKS & marks.keys()) or _is_description(node.body[0])
    return _BY_VALUE if result in _NUMBERS and has_room else ""


def _is_description(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _result(type_: str) -> str:
    return "cython.void" if type_ == "void" else _annotation(type_)


def _imports(tree: ast.Module) -> set[str]:
    """Return the modules that a module imports when it is imported itself."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _room_name(folder: str) -> str:
    package, _, inner = folder.partition(".")
    return f"{package}.{PREFIX}{inner.replace('.', '_')}"


def _joined(needs: dict[str, set[str]]) -> dict[str, str]:
    """Return for each folder the first of those that need each other with it."""
    reach = {folder: _reachable(folder, needs) for folder in needs}
    return {
        folder: min({folder} | {far for far in reach[folder] if folder in reach[far]})
        for folder in needs
    }


def _with_parents(
    joined: dict[str, str], needs: dict[str, set[str]], few: set[str]
) -> dict[str, str]:
    """Return the rooms when folders with few modules share their parent's, if no circle forms.

    Where the parent has no module, such folders beside each other share one in its name.
    """
    for folder in sorted(few):
        parent = folder.rpartition(".")[0]
        room = joined.get(parent, parent if "." in parent else folder)
        tried = joined | {folder: room}
        of_rooms: dict[str, set[str]] = {room: set() for room in tried.values()}
        for each, room in tried.items():
            of_rooms[room] |= {tried[far] for far in needs[each]} - {room}
        if _joined(of_rooms) == {room: room for room in of_rooms}:
            joined = tried
    return joined


def _reachable(start: str, needs: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for near in needs[waiting.pop()] - found:
            found.add(near)
            waiting.append(near)
    return found
