"""Leave out of an emitted function what it computes and never looks at."""

from __future__ import annotations

import ast


def pruned(text: str) -> str:
    """The function without assignments of single names that nothing reads, and without the remarks above them."""
    while True:
        function = ast.parse(text).body[0]
        read = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        idle = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and _is_idle(node, read)]
        if not idle:
            return text
        lines = text.split("\n")
        for node in sorted(idle, key=lambda node: -node.lineno):
            first = node.lineno - 1
            while lines[first - 1].lstrip().startswith("#"):
                first -= 1
            del lines[first : node.end_lineno]
        text = "\n".join(lines)


def _is_idle(node: ast.Assign, read: set[str]) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name not in read
    return False
