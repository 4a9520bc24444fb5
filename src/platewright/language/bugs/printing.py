"""Print BUGS expressions as text again."""

from __future__ import annotations

from platewright.language.bugs.syntax import Element, Empty, FunctionCall, Index, Number, Operation, Range


def printed(node: Index) -> str:
    """The text of an expression, with parentheses wherever they could matter."""
    match node:
        case Number(value):
            return f"{value:.17g}" if value != int(value) or abs(value) > 1e15 else str(int(value))
        case Empty():
            return ""
        case Range(first, last):
            return f"{printed(first)}:{printed(last)}"
        case Element(name, None):
            return name
        case Element(name, indices):
            return f"{name}[{', '.join(printed(part) for part in indices or ())}]"
        case FunctionCall(name, arguments):
            return f"{name}({', '.join(printed(part) for part in arguments)})"
        case Operation("neg", (operand,)):
            return f"-{_inside(operand)}"
        case Operation("not", (operand,)):
            return f"!{_inside(operand)}"
        case Operation(operator, operands):
            return f" {operator} ".join(_inside(part) for part in operands)
    raise TypeError(f"not an expression: {node!r}")


def _inside(node: Index) -> str:
    text = printed(node)
    return f"({text})" if isinstance(node, Operation) or text.startswith("-") else text
