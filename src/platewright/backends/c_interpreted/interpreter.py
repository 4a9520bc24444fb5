"""The interpreter as one C text: what a program is, the functions it may call, the machine, and the reader.

It is compiled once on a machine, with the functions that all samplers share; after that a small model needs no
compiler. The wrappers that let it call those functions are written from their heads.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from platewright.backends.c.support import SUPPORT
from platewright.backends.c_gibbs.apart import PREAMBLE, declared_text
from platewright.backends.c_gibbs.support import SHARED

FOLDER = Path(__file__).parent
RUNNING = ("machine.c", "assembler.c", "machine_code.c")
READING = ("words.c", "registers.c", "calls.c", "expressions.c", "statements.c", "doors.c")
MOST_HANDED = 32
"""Functions of one program that shared functions call back."""

PAGES = "#if defined(__unix__) || defined(__APPLE__)\n#include <sys/mman.h>\n#endif"

STANDARD = {
    **dict.fromkeys(
        ("sqrt", "exp", "log", "log1p", "expm1", "lgamma", "fabs", "floor", "sin", "cos", "tan", "erf", "erfc"), "dd"
    ),
    **dict.fromkeys(("pow", "atan2", "ldexp"), "ddd"),
    **dict.fromkeys(("isfinite", "isnan"), "id"),
    "memset": "vpii",
    "memcpy": "vppi",
    "free": "vp",
}
"""Functions of C by the kinds of their result and arguments: double, integer, pointer, void."""

_HEAD = re.compile(r"^static (?:inline )?(?P<result>\w+ \**)(?P<name>\w+)\((?P<arguments>[^)]*)\)\n\{", re.MULTILINE)
_CALLED_BACK = re.compile(r"^typedef double (?P<name>\w+_function)\((?P<arguments>[^)]*)\);", re.MULTILINE)
_KINDS = {"double": "d", "int64_t": "i", "uint64_t": "i", "int": "i", "void": "v"}
_POINTED = {"double", "int64_t", "uint64_t", "void", "struct chain"}


@cache
def interpreter_text() -> str:
    """The whole text, with the shared functions declared only."""
    texts = [*SUPPORT.values(), *SHARED.values()]
    doors = {found["name"]: _split(found["arguments"]) for text in texts for found in _CALLED_BACK.finditer(text)}
    heads = [
        found for text in texts for found in _HEAD.finditer(text) if found["name"] in (SUPPORT.keys() | SHARED.keys())
    ]
    kinds = {found["name"]: _kinds(found["result"], _split(found["arguments"]), list(doors)) for found in heads}
    natives = {**STANDARD, **{name: found for name, found in kinds.items() if found}}
    calls = "\n".join(_wrapper(name, found, list(doors)) for name, found in natives.items())
    rows = "".join(f'    {{"{name}", call_{name}, "{found}"}},\n' for name, found in natives.items())
    table = f"static const struct native natives[] = {{\n{rows}    {{NULL, NULL, NULL}},\n}};"
    back = "\n".join(_callable(kind, arguments) for kind, arguments in enumerate(doors.values()))
    listed = ",\n".join(
        "    {" + ", ".join(_door(kind, k) for k in range(MOST_HANDED)) + "}" for kind in range(len(doors))
    )
    handed = f"static void (*const doors[][{MOST_HANDED}])(void) = {{\n{listed},\n}};"
    own = [_file("program.c"), calls, table, back, handed, *map(_file, RUNNING + READING)]
    defined = (
        f"#include <setjmp.h>\n#include <stddef.h>\n#include <stdio.h>\n{PAGES}\n#define MOST_HANDED {MOST_HANDED}"
    )
    return "\n\n".join([PREAMBLE, defined, *declared_text(calls), *own]) + "\n"


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8").strip()


def _split(arguments: str) -> list[str]:
    return [" ".join(part.split()) for part in arguments.split(",")]


def _kind(argument: str, doors: list[str]) -> str:
    """The letter of one declared argument; none where no program of ours could give it."""
    words, star, _ = argument.rpartition("*")
    if not star:
        return _KINDS.get(argument.replace("const ", "").rpartition(" ")[0], "")
    pointed = words.replace("const", "").strip()
    if pointed in doors:
        return str(doors.index(pointed))
    return "p" if pointed in _POINTED else ""


def _kinds(result: str, arguments: list[str], doors: list[str]) -> str:
    """Kinds of a shared function; none where it is not for programs."""
    found = [_kind(f"{result}result", doors), *(_kind(argument, doors) for argument in arguments)]
    return "".join(found) if all(found) else ""


def _wrapper(name: str, kinds: str, doors: list[str]) -> str:
    given = []
    for number, kind in enumerate(kinds[1:]):
        given.append(f"({doors[int(kind)]} *)r[{number}].f" if kind.isdigit() else f"r[{number}].{kind}")
    call = f"{name}({', '.join(given)})"
    return f"static void call_{name}(value *r) {{ {'' if kinds[0] == 'v' else f'r[0].{kinds[0]} = '}{call}; }}"


def _door(kind: int, place: int) -> str:
    return f"(void (*)(void))door_{kind}_{place}"


def _callable(kind: int, arguments: list[str]) -> str:
    """The functions of one kind that stand for a program's own."""
    names = [re.findall(r"\w+", argument)[-1] for argument in arguments]
    values = ", ".join(
        f"{{.{'p' if '*' in argument else _kind(argument, [])} = {'(void *)' if '*' in argument else ''}{name}}}"
        for argument, name in zip(arguments, names, strict=True)
    )
    return "\n".join(
        f"static double door_{kind}_{place}({', '.join(arguments)})"
        f" {{ const value given[] = {{{values}}}; return called_back({place}, given).d; }}"
        for place in range(MOST_HANDED)
    )
