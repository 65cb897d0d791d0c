"""What the mechanisms hand over and nothing in the package reads, found by the types it declares.

A C procedure returns 0, and an event has a number that its component may not want: no other
number there could change anything. Where a type is not known, every class that has a method of
that name is taken to be asked.
"""

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Function = tuple[str, str, str]
"""Module, class or nothing, and name."""

_FOREIGN = frozenset(
    {*dir(builtins), "deque", "array", "defaultdict", "Path", "Counter", "OrderedDict"}
)
_WRAPPED = re.compile(r"(?:Public|ClassVar|Final)\[(.*)\]")
_WORD = re.compile(r"\w+$")
_UNKNOWN = ""
SCHEDULING = frozenset({"at", "after"})
EVENT_NUMBER = 3
"""Its place among what they are given."""


@dataclass(frozen=True)
class Unread:
    """What is not read."""

    functions: frozenset[Function] = frozenset()  # all
    results: frozenset[Function] = frozenset()  # functions whose result nothing reads
    # classes, with their modules, whose `on_event` does not read the event's number
    numbers: frozenset[tuple[str, str]] = frozenset()


@dataclass
class _Class:
    module: str
    bases: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


def unread_in(sources: Mapping[str, bytes]) -> Unread:
    """Return what no module reads, of all modules by their names."""
    package = _Package({name: ast.parse(text) for name, text in sources.items()})
    for module, tree in package.trees.items():
        _Reader(package, module).visit(tree)
    package.spread()
    functions = frozenset(package.functions)
    numbers = {
        (its.module, name)
        for name, all_its in package.classes.items()
        for its in all_its
        if not package.reads_number(name)
    }
    return Unread(functions, functions - package.read, frozenset(numbers))


class _Package:
    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self.trees = trees
        self.classes: defaultdict[str, list[_Class]] = defaultdict(list)
        self.functions: dict[Function, ast.FunctionDef] = {}
        self.named: defaultdict[str, set[Function]] = defaultdict(set)
        self.below: defaultdict[str, set[str]] = defaultdict(set)
        self.read: set[Function] = set()
        self.returned: defaultdict[Function, set[Function]] = defaultdict(set)
        """By a function, those whose result it returns."""
        for module, tree in trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.add_class(module, node)
            for part in tree.body:
                if isinstance(part, ast.FunctionDef):
                    self.add_function(module, "", part)

    def add_class(self, module: str, node: ast.ClassDef) -> None:
        its = _Class(module, [ast.unparse(base).rpartition(".")[2] for base in node.bases])
        self.classes[node.name].append(its)
        for base in its.bases:
            self.below[base].add(node.name)
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                its.methods[part.name] = part
                self.add_function(module, node.name, part)
        for each in ast.walk(node):
            if isinstance(each, ast.AnnAssign):
                target = ast.unparse(each.target)
                its.fields.setdefault(target.removeprefix("self."), type_of(each.annotation))

    def add_function(self, module: str, owner: str, node: ast.FunctionDef) -> None:
        function = module, owner, node.name
        self.functions[function] = node
        self.named[node.name].add(function)

    def above(self, name: str) -> list[str]:
        """Return a class and what it is made of, nearest first."""
        found = [name]
        for its in found:
            for one in self.classes.get(its, ()):
                found += [base for base in one.bases if base not in found]
        return found

    def beneath(self, name: str) -> list[str]:
        """Return a class and those that are made of it."""
        found = [name]
        for its in found:
            found += [other for other in sorted(self.below[its]) if other not in found]
        return found

    def field(self, owner: str, name: str) -> str:
        """Return the type of a field, method or property."""
        for above in self.above(owner):
            for its in self.classes.get(above, ()):
                if name in its.fields:
                    return its.fields[name]
                if name in its.methods:
                    return type_of(its.methods[name].returns)
        return _UNKNOWN

    def methods(self, owner: str, name: str) -> set[Function]:
        """Return what may run if a method is called on something."""
        if owner in _FOREIGN:
            return set()
        if owner not in self.classes:
            return self.named[name]
        related = {*self.above(owner), *self.beneath(owner)}
        return {its for its in self.named[name] if its[1] in related}

    def spread(self) -> None:
        """What a function returns is read if its own result is."""
        todo = list(self.read)
        while todo:
            for function in self.returned[todo.pop()] - self.read:
                self.read.add(function)
                todo.append(function)

    def reads_number(self, name: str) -> bool:
        """Whether a class, or one that is made of it, reads the last that `on_event` is given."""
        return any(self.own_reads_number(its) for its in self.beneath(name))

    def own_reads_number(self, name: str) -> bool:
        for above in self.above(name):
            nodes = [its.methods.get("on_event") for its in self.classes.get(above, ())]
            found = [node for node in nodes if node is not None]
            if found:
                return any(node.args.args[-1].arg in _names(node.body) for node in found)
        return False


def _names(body: Iterable[ast.AST]) -> Iterator[str]:
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Del):
                yield node.id


def type_of(annotation: ast.expr | None) -> str:
    """Return the name of an annotated class, or nothing."""
    if annotation is None:
        return _UNKNOWN
    text = ast.unparse(annotation).strip("'\"").removesuffix(" | None")
    wrapped = _WRAPPED.fullmatch(text)
    text = (wrapped[1] if wrapped else text).strip("'\"").removesuffix(" | None")
    plain = _WORD.search(text.partition("[")[0])
    return plain[0] if plain and " | " not in text and plain[0] != "Any" else _UNKNOWN


class _Reader(ast.NodeVisitor):
    """Notes whose results a module reads."""

    def __init__(self, package: _Package, module: str) -> None:
        self.package = package
        self.module = module
        self.owner = ""
        self.function: Function | None = None
        self.types: dict[str, str] = {}
        self.modules: set[str] = set()

    def visit_Import(self, node: ast.Import) -> None:
        self.modules |= {(its.asname or its.name).partition(".")[0] for its in node.names}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        kept = self.owner
        self.owner = node.name
        self.generic_visit(node)
        self.owner = kept

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        kept = self.function, self.types
        self.function = self.module, self.owner if kept[0] is None else "", node.name
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.types = {**self.types, **{its.arg: type_of(its.annotation) for its in arguments}}
        if kept[0] is None and self.owner and arguments:
            self.types[arguments[0].arg] = self.owner
        for part in ast.walk(node):
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                self.types[part.target.id] = type_of(part.annotation)
        self.generic_visit(node)
        self.function, self.types = kept

    def visit_Expr(self, node: ast.Expr) -> None:
        """What is called for its effect is not read."""
        if isinstance(node.value, ast.Call):
            self.parts(node.value)
        else:
            self.visit(node.value)

    def visit_Return(self, node: ast.Return) -> None:
        if not isinstance(node.value, ast.Call) or self.function is None:
            self.generic_visit(node)
            return
        if self.function in self.package.functions:
            self.package.returned[self.function] |= self.called(node.value.func)
        else:
            self.package.read |= self.called(node.value.func)
        self.parts(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.package.read |= self.called(node.func)
        self.parts(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A method that is handed on may be called by anyone."""
        if isinstance(node.ctx, ast.Load):
            self.package.read |= self.called(node)
        self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        self.package.read |= {its for its in self.package.named[node.id] if not its[1]}

    def parts(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def called(self, node: ast.expr) -> set[Function]:
        """Return what may run if this is called."""
        if isinstance(node, ast.Name):
            return {its for its in self.package.named[node.id] if not its[1]}
        if not isinstance(node, ast.Attribute):
            return set()
        if isinstance(node.value, ast.Name) and node.value.id in self.modules:
            return {its for its in self.package.named[node.attr] if not its[1]}
        return self.package.methods(self.type(node.value), node.attr)

    def type(self, node: ast.expr) -> str:
        """Return the class of a value, or nothing."""
        found = _UNKNOWN
        match node:
            case ast.Name(name) | ast.Call(ast.Name(name)) if name in self.package.classes:
                found = name
            case ast.Name(name):
                found = self.types.get(name, _UNKNOWN)
            case ast.Attribute(value, name) | ast.Call(ast.Attribute(value, name)):
                found = self.package.field(self.type(value), name)
            case ast.Call(ast.Name("super")):
                found = self.owner
            case ast.Call(ast.Name("cast"), [kind, _]):
                found = type_of(kind)
            case ast.Constant(str()):
                found = "str"
        return found
