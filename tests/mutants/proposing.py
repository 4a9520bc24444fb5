"""Propose defects: small changes of expressions, of kinds that people make, in every function of a module.

constant     2 -> 3, 0.5 -> 1.0            sign        -a -> a          operator     a + b -> a - b
dropped      a + b -> a                    swapped     f(a, b) -> f(b, a)
comparison   a < b -> a <= b, == -> !=     condition   a and b -> a or b, not a -> a, if a -> if not a
off by one   range(n) -> range(n - 1)      call        log(a) -> a
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator

from mutants.planting import Mutant, scopes

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.MatMult: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
PLAIN = {"exp", "log", "sqrt", "abs", "absolute", "log1p", "expm1", "cumsum", "conj"}
"""Calls that give something of the same kind as their argument."""
EITHER_WAY = {
    "maximum", "minimum", "max", "min", "add", "multiply", "logaddexp", "allclose", "array_equal", "isinstance",
    "getattr", "hasattr", "full", "linspace", "map", "filter", "zip", "gcd",
}  # fmt: skip
"""Calls whose arguments may be swapped without harm, or that only break."""
SAID = {"Declined", "PlatewrightError", "ModelError", "NotSolvable", "print", "repr", "warn"}
"""What stands inside these is words for people."""


def proposals(file: str, text: str) -> Iterator[Mutant]:
    """All defects of a module, scope by scope."""
    for scope, node in scopes(ast.parse(text)):
        if scope.split(".")[-1] in ("__repr__", "__str__", "__all__"):
            continue
        seen: Counter[str] = Counter()
        inner = {
            id(n)
            for child in ast.walk(node)
            if child is not node and isinstance(child, ast.FunctionDef)
            for n in ast.walk(child)
        }
        words = set(spoken(node))
        for part in ast.walk(node):
            if not isinstance(part, ast.expr):
                continue
            old = ast.unparse(part)
            nth = seen[old]
            seen[old] += 1
            if id(part) in inner or id(part) in words:
                continue
            for kind, new in changes(part):
                yield Mutant(file, scope, kind, old, ast.unparse(new), nth)


def spoken(node: ast.AST) -> Iterator[int]:
    """Expressions inside messages, annotations, text made for people, and defaults."""
    for part in ast.walk(node):
        words: list[ast.AST | None] = []
        if isinstance(part, ast.Raise | ast.JoinedStr) or is_said(part):
            words = [part]
        elif isinstance(part, ast.FunctionDef):
            words = [
                *part.decorator_list,
                part.returns,
                *(a.annotation for a in ast.walk(part.args) if isinstance(a, ast.arg)),
            ]
        elif isinstance(part, ast.AnnAssign):
            words = [part.annotation]
        for word in words:
            if word is not None:
                yield from (id(inside) for inside in ast.walk(word))


def is_said(node: ast.AST) -> bool:
    """Whether a call makes words for people."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAID


def changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The ways in which one expression goes wrong."""
    match node:
        case ast.Constant(value=bool(value)):
            yield "condition", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(value=float(value)) if value > 1e-4:
            yield "constant", ast.Constant(2 * value)
        case ast.UnaryOp(op=ast.USub(), operand=inner) | ast.UnaryOp(op=ast.Not(), operand=inner):
            yield "sign" if isinstance(node.op, ast.USub) else "condition", inner
        case ast.BinOp(left=left, op=op, right=right):
            if type(op) in OPERATORS:
                yield "operator", ast.BinOp(left, OPERATORS[type(op)](), right)
            if isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
                yield "dropped", left
                if isinstance(op, ast.Add | ast.Mult):
                    yield "dropped", right
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            yield "comparison", ast.Compare(left, [COMPARISONS[type(op)]()], [right])
        case ast.BoolOp(op=op, values=values):
            yield "condition", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield "dropped", values[0]
        case ast.IfExp(test=test, body=body, orelse=other):
            yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.Call(func=func, args=[one, two], keywords=words) if not isinstance(two, ast.Starred):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            same = ast.unparse(one) == ast.unparse(two) or isinstance(one, ast.Starred | ast.Constant)
            if not same and name not in EITHER_WAY:
                yield "swapped", ast.Call(func, [two, one], words)
        case ast.Call(func=func, args=[one], keywords=words):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name in PLAIN and not words:
                yield "call", one
            if name == "range":
                yield "off by one", ast.Call(func, [ast.BinOp(one, ast.Sub(), ast.Constant(1))], [])
            if name == "sum" and isinstance(func, ast.Attribute) and words:
                other = copy.deepcopy(node)
                other.func.attr = "mean"
                yield "call", other
        case ast.Subscript(value=value, slice=ast.Slice(lower=low, upper=high, step=None)):
            if low is not None:
                more = ast.BinOp(low, ast.Add(), ast.Constant(1))
                yield "off by one", ast.Subscript(value, ast.Slice(more, high, None), ast.Load())
            elif high is not None:
                less = ast.BinOp(high, ast.Sub(), ast.Constant(1))
                yield "off by one", ast.Subscript(value, ast.Slice(None, less, None), ast.Load())
