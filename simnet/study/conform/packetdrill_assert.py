"""What a packetdrill script asserts in `%{ ... }%`: comparisons of the fields of `tcp_info`.

The code is Python; understood are `assert`, with `and`, `or`, `not`, comparisons and additions of
fields, numbers and the states of congestion control, and `print`, which does nothing.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import Any, Final

from simnet.spelling import nearest

#: names of the states of `Recovery`, as numbers
CA_STATES: Final = {
    f"TCP_CA_{name}": number
    for number, name in enumerate(("Open", "Disorder", "CWR", "Recovery", "Loss"))
}
#: fields of `tcp_info` that the model has
FIELDS: Final = (
    "tcpi_snd_cwnd", "tcpi_snd_ssthresh", "tcpi_ca_state", "tcpi_unacked", "tcpi_sacked",
    "tcpi_lost", "tcpi_retrans", "tcpi_reordering", "tcpi_snd_mss", "tcpi_backoff", "tcpi_rtt",
    "tcpi_min_rtt", "tcpi_reord_seen",
)  # fmt: skip
_COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def _tests(code: str) -> list[ast.expr]:
    """Expressions that are to hold; `print` is left out."""
    found = []
    for statement in ast.parse(dedent(code).strip()).body:
        if isinstance(statement, ast.Assert):
            found.append(statement.test)
        elif not (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and ast.unparse(statement.value.func) == "print"
        ):
            raise SyntaxError(ast.unparse(statement).split("\n", 1)[0])
    return found


def problem(code: str) -> str | None:
    """What of a script's code is not understood; None if all is."""
    try:
        tests = _tests(code)
        for test in tests:
            for node in ast.walk(test):
                if isinstance(node, ast.Name) and node.id not in {*FIELDS, *CA_STATES}:
                    return f"{node.id} is not modelled{nearest(node.id, FIELDS)}"
            _value(test, dict.fromkeys(FIELDS, 0))
    except SyntaxError as error:
        return f"only assert is understood, not: {error.msg}"
    except KeyError as error:
        return f"not understood in an assert: {error.args[0]}"
    except (RecursionError, MemoryError):
        # MemoryError is what the parser says
        return "not understood in an assert: so many operators"
    return None


def failed(code: str, info: Mapping[str, int]) -> str | None:
    """The first assertion that does not hold, with what is so; None if all hold."""
    for test in _tests(code):
        if not _value(test, info):
            names = sorted({n.id for n in ast.walk(test) if isinstance(n, ast.Name)} & {*info})
            so = ", ".join(f"{name} is {_shown(name, info[name])}" for name in names)
            return f"expected {ast.unparse(test)}, {so}"
    return None


def _shown(name: str, value: int) -> str:
    if name == "tcpi_ca_state":
        return next(state for state, number in CA_STATES.items() if number == value)
    return str(value)


def _value(node: ast.expr, info: Mapping[str, int]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return info[node.id] if node.id in info else CA_STATES[node.id]
    if isinstance(node, ast.BoolOp):
        held = [_value(value, info) for value in node.values]
        return all(held) if isinstance(node.op, ast.And) else any(held)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, info)
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return _ARITHMETIC[type(node.op)](_value(node.left, info), _value(node.right, info))
    if isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
        sides = [_value(side, info) for side in (node.left, *node.comparators)]
        return all(
            _COMPARE[type(op)](left, right)
            for op, left, right in zip(node.ops, sides, sides[1:], strict=False)
        )
    raise KeyError(ast.unparse(node))
