"""Every small mistake that could be made in a module, as a change of a few characters of its text.

What only hints or describes is left out: annotations, decorators, strings, what is raised, what
only compiled code runs, what functions return that tell nothing but whether they failed, the
numbers of events that nobody reads, and which of two equal numbers is the larger one.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from tests.mutants.unread import EVENT_NUMBER, SCHEDULING, Unread, unread_in

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("host", "net", "storage")

_COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "is not": "is",
    "is": "is not",
    "not in": "in",
    "in": "not in",
}
_ARITHMETIC = {
    "+": "-",
    "-": "+",
    "*": "//",
    "//": "*",
    "/": "*",
    "%": "//",
    "**": "*",
    "<<": ">>",
    ">>": "<<",
    "&": "|",
    "|": "&",
    "^": "&",
}
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.And: "and", ast.Or: "or",
}  # fmt: skip
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Another comparison says the opposite already.
_INVERTED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
_TYPED = {"cython.declare", "cython.cast", "cast"}
_HINTS = {"prefetch", "TypeVar"}
_NUMBERS = {"int", "float", "cython.int", "cython.uint", "cython.longlong", "cython.ulonglong"}
_TRUTHS = {"bool", "cython.bint"}
# Their functions are found in their class or module and can be changed there.
_CLASS = re.compile(r"^@cython\.cclass\n(?:@.*\n)*class (\w+)", re.MULTILINE)
# what `__init__` leaves to another function, which is called on new objects alone
_BEGINS = "Begin, as `__init__` says"
_PLAIN_DECORATOR = re.compile(r"cython\.|property$|staticmethod$|\w+\.setter$")


@dataclass(frozen=True)
class Mutant:
    """A module with one mistake."""

    # dotted name of the module, and of the class and function in it
    module: str
    scope: str
    # the statement, or the head of one with a body
    line: int
    end_line: int
    # the bytes that are replaced, and by what
    start: int
    end: int
    text: bytes
    function: int  # first line of the function to exchange; 0 if the module has to be imported anew
    operator: str
    diff: str  # the lines before and after
    original: bytes = field(repr=False)  # the text of the module
    number: int = 0  # among those that look alike in the same scope

    @property
    def key(self) -> str:
        """What names it wherever the line may move to."""
        return f"{self.module}\n{self.scope}\n{self.number}\n{self.diff}"

    @property
    def floor(self) -> str:
        return self.module.split(".")[1]

    def source(self) -> bytes:
        """Return the text of the module with the mistake."""
        return self.original[: self.start] + self.text + self.original[self.end :]


def path_of(module: str) -> Path:
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def modules_of(floors: Iterable[str] = FLOORS) -> list[str]:
    """Return the names of the mechanism modules."""
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for floor in floors
        for path in sorted((ROOT / "simnet" / floor).rglob("*.py"))
        if path.name != "__init__.py"
    ]


def mutants_of(module: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its text."""
    return mutants_in(module, path_of(module).read_bytes(), _unread())


@cache
def _unread() -> Unread:
    """Return what nothing reads: results of C functions whose integer says nothing, too."""
    sources = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_bytes()
        for path in sorted((ROOT / "simnet").rglob("*.py"))
    }
    unread = unread_in(sources)
    says: dict[str, bool] = {}
    for text in sources.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.returns:
                says[node.name] = says.get(node.name, True) and _returns_nothing(node)
    nothing = {its for its in unread.functions if says.get(its[-1], False)}
    return Unread(unread.functions, unread.results | nothing, unread.numbers)


def _returns_nothing(node: ast.FunctionDef) -> bool:
    """Whether a C function returns 0, or what another one does."""
    return (
        node.returns is not None
        and ast.unparse(node.returns) == "cython.int"
        and all(
            isinstance(value, ast.Call) or (isinstance(value, ast.Constant) and value.value == 0)
            for value in _returned(node)
        )
    )


def mutants_in(module: str, source: bytes, unread: Unread | None = None) -> list[Mutant]:
    """Return all mutants of a text, given what nothing reads."""
    finder = _Finder(module, source, unread or Unread())
    finder.visit(ast.parse(source))
    seen: Counter[str] = Counter()
    numbered = []
    for mutant in sorted(finder.found, key=lambda found: (found.start, found.end, found.text)):
        numbered.append(Mutant(**{**vars(mutant), "number": seen[mutant.key]}))
        seen[mutant.key] += 1
    return numbered


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str, source: bytes, unread: Unread) -> None:
        self.module = module
        self.source = source
        self.classes = set(_CLASS.findall(source.decode()))
        self.unread = unread
        self.begins = [0]
        for line in source.splitlines(keepends=True):
            self.begins.append(self.begins[-1] + len(line))
        self.found: list[Mutant] = []
        self.scope: list[str] = []
        self.function = 0
        self.lines = (1, 1)
        self.returns = ""
        self.choices: set[ast.Compare] = set()
        self.returns_nothing = False
        self.begins_object = False
        self.compiled = False

    # where things are

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self.begins[node.lineno - 1] + node.col_offset,
            self.begins[node.end_lineno - 1] + node.end_col_offset,
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, operator: str, start: int, end: int, text: str, *, anew: bool = False) -> None:
        first = self.source.rfind(b"\n", 0, start) + 1
        last = self.source.find(b"\n", end)
        old = self.source[first:last].decode().splitlines()
        new = (self.source[first:start] + text.encode() + self.source[end:last]).decode()
        diff = "\n".join(_changed(old, new.splitlines()))
        self.found.append(
            Mutant(
                self.module,
                ".".join(self.scope),
                *self.lines,
                start,
                end,
                text.encode(),
                0 if anew else self.function,
                operator,
                diff,
                self.source,
            )
        )

    def exchange(self, node: ast.expr | ast.stmt, operator: str, text: str) -> None:
        self.add(operator, *self.span(node), text, anew="super(" in self.text(node))

    def between(self, left: ast.expr, right: ast.expr, symbol: str, other: str, name: str) -> None:
        """Exchange the operator between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = re.sub(rb"#.*", lambda comment: b" " * len(comment[0]), self.source[start:end])
        pattern = r"\s+".join(map(re.escape, symbol.split()))
        found = re.search(pattern.encode(), gap)
        assert found, (self.module, left.lineno, symbol)
        self.add(name, start + found.start(), start + found.end(), other)

    # statements

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.stmt):
            super().visit(node)
            return
        kept = self.lines
        body = getattr(node, "body", None)
        end = node.end_lineno or node.lineno
        self.lines = (node.lineno, max(node.lineno, body[0].lineno - 1) if body else end)
        super().visit(node)
        self.lines = kept

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)
            if isinstance(node, ast.If) and _asks(node.test, "cython.compiled"):
                leaves = isinstance(node.body[-1], ast.Return)
                if leaves and "not cython.compiled" in ast.unparse(node.test):
                    return

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        kept = self.compiled
        self.compiled = node.name in self.classes
        self.scope.append(node.name)
        self.visit_all(node.body)
        self.scope.pop()
        self.compiled = kept

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.visit_all(default for default in node.args.defaults)
        self.visit_all(default for default in node.args.kw_defaults if default)
        kept = self.function, self.returns, self.returns_nothing, self.begins_object
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        if not self.function and all(map(_PLAIN_DECORATOR.match, decorators)):
            self.function = min([node.lineno, *(its.lineno for its in node.decorator_list)])
        self.returns = ast.unparse(node.returns) if node.returns else ""
        place = (self.module, ".".join(self.scope), node.name)
        self.returns_nothing = place in self.unread.results and _returns_nothing(node)
        told = (ast.get_docstring(node) or "").startswith(_BEGINS)
        self.begins_object = node.name == "__init__" or told
        self.scope.append(node.name)
        self.visit_all(node.body)
        self.scope.pop()
        self.function, self.returns, self.returns_nothing, self.begins_object = kept

    def visit_If(self, node: ast.If) -> None:
        if _asks(node.test, "TYPE_CHECKING"):
            return
        if len(node.body) == 1 and not node.orelse and isinstance(node.body[0], ast.Assign):
            self.note_choice(node.test, [node.body[0].value, *node.body[0].targets])
        if not _asks(node.test, "cython.compiled"):
            self.condition(node.test)
            self.visit_all(node.body)
        elif "not cython.compiled" in ast.unparse(node.test):
            self.visit_all(node.body)
        self.visit_all(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self.condition(node.test)
        self.visit_all([*node.body, *node.orelse])

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not self.is_hint(node.value):
            self.exchange(node, "statement", "pass")
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.assigned(node, node.targets)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.arithmetic(node.target, node.value, node.op, "=")
        self.assigned(node, [node.target])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # a field of a compiled class begins with zero whatever is written here
        declares = self.compiled and not self.function
        if node.value is not None and not (declares and _is_zero(node.value)):
            self.assigned(node, [node.target])

    def assigned(
        self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, targets: list[ast.expr]
    ) -> None:
        # a compiled object begins with zeros: only the interpreter needs to be told
        begins = self.compiled and self.begins_object
        zero = begins and node.value is not None and _is_zero(node.value)
        if not zero and any(ast.unparse(target).startswith("self.") for target in targets):
            self.exchange(node, "statement", "pass")
        self.visit_all([*targets, *([node.value] if node.value else [])])

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is raised is for people."""

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value is None or (self.returns_nothing and isinstance(value, ast.Constant)):
            return
        if not isinstance(value, ast.Constant) and not self.returns_nothing:
            if self.returns in _NUMBERS:
                self.exchange(value, "return", f"({self.text(value)}) + 1")
            elif self.returns not in _TRUTHS:
                self.exchange(value, "return", "None")
            else:
                self.negate(value, "return")
        self.visit(value)

    # expressions

    def condition(self, test: ast.expr) -> None:
        self.negate(test, "condition")
        self.visit(test)

    def note_choice(self, test: ast.expr, between: list[ast.expr]) -> None:
        """Of two that are equal, either is the larger one: `x = y` where `x < y`, or `x <= y`."""
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], _ORDERS):
            operands = [test.left, *test.comparators]
            if sorted(map(ast.unparse, operands)) == sorted(map(ast.unparse, between)):
                self.choices.add(test)

    def negate(self, test: ast.expr, operator: str) -> None:
        inverted = isinstance(test, ast.Compare) and isinstance(test.ops[-1], _INVERTED)
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        if not inverted and not negated and not isinstance(test, ast.Constant):
            self.exchange(test, operator, f"not ({self.text(test)})")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.note_choice(node.test, [node.body, node.orelse])
        self.condition(node.test)
        self.visit_all([node.body, node.orelse])

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        for test in node.ifs:
            self.condition(test)

    def visit_Compare(self, node: ast.Compare) -> None:
        for (left, right), operator in zip(
            pairwise([node.left, *node.comparators]), node.ops, strict=True
        ):
            symbol = _SYMBOLS[type(operator)]
            if node not in self.choices:
                self.between(left, right, symbol, _COMPARISONS[symbol], "comparison")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        symbol = _SYMBOLS[type(node.op)]
        for left, right in pairwise(node.values):
            self.between(left, right, symbol, "or" if symbol == "and" else "and", "logic")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str):
            self.arithmetic(node.left, node.right, node.op, "")
        self.generic_visit(node)

    def arithmetic(self, left: ast.expr, right: ast.expr, op: ast.operator, tail: str) -> None:
        symbol = _SYMBOLS[type(op)]
        other = _ARITHMETIC[symbol]
        self.between(left, right, symbol + tail, other + tail, "arithmetic")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        symbol = re.match(r"not\s+|.", self.text(node))
        assert symbol
        start, _ = self.span(node)
        self.add("arithmetic", start, start + symbol.end(), "")
        self.visit(node.operand)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.exchange(node, "constant", str(not value))
        elif isinstance(value, int | float):
            for other in (value + 1, value - 1):
                self.exchange(node, "constant", f"({other})" if other < 0 else f"{other}")

    def visit_Call(self, node: ast.Call) -> None:
        if self.is_hint(node):
            return
        if isinstance(node.func, ast.Name) and node.func.id in {"min", "max"}:
            self.exchange(node.func, "extreme", "max" if node.func.id == "min" else "min")
        typed = ast.unparse(node.func) in _TYPED
        read = [its for its in node.args[typed:] if its is not self.unread_number(node)]
        self.visit_all([node.func, *read, *node.keywords])

    def unread_number(self, node: ast.Call) -> ast.expr | None:
        """Return the number of an event that its component does not read."""
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in SCHEDULING
            and len(node.args) > EVENT_NUMBER
            and ast.unparse(node.args[1]) == "self"
            and (self.module, self.scope[0]) in self.unread.numbers
        ):
            return node.args[EVENT_NUMBER]
        return None

    def is_hint(self, node: ast.Call) -> bool:
        return ast.unparse(node.func) in _HINTS

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts are for people."""


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def _asks(test: ast.expr, name: str) -> bool:
    return name in ast.unparse(test)


def _changed(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield the lines that differ, as a unified diff does."""
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)
