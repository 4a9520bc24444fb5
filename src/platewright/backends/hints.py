"""The text of a function without its type hints, for programs that carry it; all else stays as it is written."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

LINE = 120


def functions_of(text: str) -> dict[str, str]:
    """The functions of a module as they are written, by name: each goes on while lines stand in from the margin."""
    found = re.finditer(r"(?m)^def (\w+).*\n(?:(?:[ )].*)?\n)*", text)
    return {one.group(1): one.group().rstrip() + "\n" for one in found}


@lru_cache(maxsize=1024)
def without_hints(text: str) -> str:
    """Cut the hints of arguments, results and assignments out of a function's text."""
    raw = text.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    cuts: list[tuple[int, int]] = []
    tree = ast.parse(text)
    # The hints of a class say which fields it has.
    fields = {part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body}
    for node in ast.walk(tree):
        if node in fields and isinstance(node, ast.AnnAssign):
            continue
        match node:
            case ast.arg(annotation=ast.expr() as hint):
                begin = starts[node.lineno - 1] + node.col_offset + len(node.arg.encode())
            case ast.AnnAssign(annotation=hint, target=target):
                begin = starts[(target.end_lineno or 1) - 1] + (target.end_col_offset or 0)
            case ast.FunctionDef(returns=ast.expr() as hint):
                arrow = raw.rindex(b"->", 0, starts[hint.lineno - 1] + hint.col_offset)
                begin = len(raw[:arrow].rstrip())
            case _:
                continue
        cuts.append((begin, starts[(hint.end_lineno or 1) - 1] + (hint.end_col_offset or 0)))
    for begin, end in sorted(cuts, reverse=True):
        raw = raw[:begin] + raw[end:]
    return re.sub(r"(?m)^ *def \w+\((?:.*\n)*?.*?\):$", _on_one_line, raw.decode().strip())


def _on_one_line(signature: re.Match[str]) -> str:
    """A signature that its hints had broken into lines, joined again where it fits."""
    found = signature.group()
    joined = re.sub(r"\(\n\s+", "(", re.sub(r",?\n\s*\)", ")", found))
    joined = re.sub(r",\n\s+", ", ", joined)
    joined = joined.replace(" = ", "=")  # a default stands apart from a hint only
    return joined if len(joined) <= LINE else found
