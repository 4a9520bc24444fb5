"""The functions of a family as text: how it is drawn, where its peak is, how its distribution is inverted.

They are taken from where the family states them, so that what a file does is what the library does.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from platewright.backends.carried import carried, definitions
from platewright.backends.hints import without_hints
from platewright.errors import PlatewrightError
from platewright.family import Family

DOCS = {
    "draw": "Draws from {family}, whose parameters are in p.",
    "mode": "The peak of {family}, whose parameters are in p.",
    "quantile": "The point of {family} below which a share q of it lies; its parameters are in p.",
    "tail": "The point of {family} beyond which a share of it lies, whose logarithm is given.",
}


def family_name(family: Family, kind: str) -> str:
    """The name that a function of a family has in a program."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"\W", "", family.name)).lower()
    return f"{kind}_of_{words}"


def family_text(family: Family, kind: str) -> list[str]:
    """The text of the function, after those that it calls."""
    function: Callable[..., Any] | None = getattr(family, kind)
    if function is None:
        raise PlatewrightError(f"the {kind} of {family.name} has no closed form, and so no standalone source")
    module = sys.modules[function.__module__]
    name = family_name(family, kind)
    if function.__name__ != "<lambda>":
        text = without_hints(definitions(module)[function.__name__])
        text = re.sub(rf"\b{re.escape(function.__name__)}\b", name, text)
    else:
        arguments, body = _lambda_of(function)
        text = f'def {name}({arguments}):\n    """{DOCS[kind].format(family=family.name)}"""\n    return {body}'
    reached = [
        module,
        *(sys.modules[f.__module__] for f in vars(module).values() if inspect.isfunction(f) and _is_ours(f)),
    ]
    return [*carried(text, list(dict.fromkeys(reached))), text]


def _is_ours(function: Callable[..., Any]) -> bool:
    return function.__module__.startswith("platewright.families")


def drawn_inline(family: Family, parameters: Mapping[str, str], size: str) -> str | None:
    """A draw as an expression of its parameters, where the family states one that names each of them once."""
    function = family.draw
    if function is None or function.__name__ != "<lambda>":
        return None
    body = _lambda_of(function)[1]
    if "\n" in body:  # not of one line: it is carried as a function
        return None
    changes: list[tuple[int, int, str]] = []
    known = {"generator", "np"}
    tree = ast.parse(body, mode="eval")
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id="p"), slice=ast.Constant(value=str(key)), end_col_offset=int(end)):
                changes.append((node.col_offset, end, parameters[key]))
                known.add("p")
            case ast.Name(id="size", end_col_offset=int(end)):
                changes.append((node.col_offset, end, size))
                known.add("size")
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    texts = [text for _, _, text in changes]
    if not words <= known or len(set(texts)) < len(texts):
        return None
    for begin, end, text in sorted(changes, reverse=True):
        body = body[:begin] + text + body[end:]
    return body


@lru_cache(maxsize=256)
def _lambda_of(function: Callable[..., Any]) -> tuple[str, str]:
    """The arguments of a lambda and its value, as they are written."""
    source = inspect.getsource(sys.modules[function.__module__])
    line = function.__code__.co_firstlineno
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Lambda) and node.lineno == line:
            arguments = ", ".join(argument.arg for argument in node.args.args)
            if arguments.split(", ") == list(function.__code__.co_varnames[: function.__code__.co_argcount]):
                return arguments, ast.get_source_segment(source, node.body) or ""
    raise PlatewrightError(f"a function of `{function.__module__}` is written where it cannot be read")
