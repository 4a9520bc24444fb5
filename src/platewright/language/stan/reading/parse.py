"""Read Stan text into its tree: remarks blanked, sizes checked, functions refused by name, then an LALR parse.

    StanError: functions are not read: `growth`
      where:    line 2, column 8:     real growth(real t, real r) {
                                           ^

Nothing in the text is ever executed.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from platewright.errors import MissingExtra
from platewright.language.bugs.parse import check_size
from platewright.language.bugs.syntax import Place
from platewright.language.stan.reading import syntax
from platewright.language.stan.reading.trouble import Trouble

MOST_LEVELS = 200
"""Deepest nesting of an expression or of statements; a sum of so many terms is as deep."""

REFUSED = {
    **dict.fromkeys(
        ("ode_rk45", "ode_rk45_tol", "ode_bdf", "ode_bdf_tol", "ode_adams", "ode_adams_tol", "ode_ckrk",
         "ode_adjoint_tol_ctl",
         "integrate_ode", "integrate_ode_rk45", "integrate_ode_bdf", "integrate_ode_adams", "dae", "dae_tol"),
        "differential equations are not solved here",
    ),
    **dict.fromkeys(
        ("algebra_solver", "algebra_solver_newton", "solve_newton", "solve_powell", "solve_newton_tol", "integrate_1d"),
        "equations and integrals are not solved here",
    ),
    **dict.fromkeys(("map_rect", "reduce_sum", "reduce_sum_static"), "it calls a function of the text's own"),
}  # fmt: skip
"""Functions that call functions of the text's own, or that are no expression: refused wherever they stand."""

_WORDS = {
    "NAME": "a name", "NUMBER": "a number", "EQUAL_0": "`=`", "TILDE": "`~`", "LPAR": "`(`", "RPAR": "`)`",
    "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`", "COMMA": "`,`", "COLON": "`:`", "FOR": "`for`",
    "IN": "`in`", "SEMICOLON": "`;`", "TYPE": "a type", "DATA": "`data`", "MODEL": "`model`", "$END": "the end",
}  # fmt: skip
_OPERATORS = {"PLUS", "MINUS", "TIMES", "POWER"}


def parse(text: str) -> syntax.Program:
    """The tree of a Stan text, or `Trouble` at its first place."""
    plain = blanked(text)
    check_size(plain)
    _refuse_functions(plain)
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, VisitError

    parser = _parser()
    try:
        program: syntax.Program = parser.parse(plain)
    except UnexpectedCharacters as trouble:
        at = trouble.pos_in_stream or 0
        raise Trouble(Place(trouble.line, trouble.column), f"unexpected `{plain[at : at + 1]}`",
                      _expected(trouble.allowed or set())) from None  # fmt: skip
    except UnexpectedInput as trouble:
        raise _unexpected(plain, trouble) from None
    except VisitError as trouble:
        if isinstance(trouble.orig_exc, Trouble):
            raise trouble.orig_exc from None
        raise
    _check(program)
    return syntax.Program(program.blocks, text)


def blanked(text: str) -> str:
    """The text with spaces in place of its remarks, so that lines and columns stay."""
    remark = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)

    def spaces(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return remark.sub(spaces, text)


def _refuse_functions(plain: str) -> None:
    for word in (r"#include\b", r"\bfunctions\s*\{", r"\btuple\s*\("):
        match = re.search(word, plain)
        if match is None:
            continue
        if "tuple" in word:
            raise Trouble(_place(plain, match.start()), "tuples are not read", "a variable for each part")
        if word.startswith("#"):
            raise Trouble(_place(plain, match.start()), "`#include` is not read: a text stands alone")
        first = re.compile(r"\s*(?:\}|(?:[\w,\[\]]+\s+)+(\w+)\s*\()").match(plain, match.end())
        if first is None or first.group(1):
            at, name = (first.start(1), first.group(1)) if first is not None else (match.start(), "functions")
            raise Trouble(_place(plain, at), f"functions of the text's own are not read: `{name}`",
                          hint="write its expression where it is called")  # fmt: skip
        raise Trouble(_place(plain, match.start()), "an empty block of functions", hint="leave it out")


def _place(text: str, at: int) -> Place:
    before = text[:at]
    return Place(before.count("\n") + 1, at - before.rfind("\n"))


def _check(program: syntax.Program) -> None:
    """Refuse what is nested too deeply for later stages, and functions that are never read."""
    waiting: list[tuple[syntax.Statement, int]] = [(one, 0) for body in program.blocks.values() for one in body]
    while waiting:
        statement, depth = waiting.pop()
        waiting += [(one, depth + 1) for one in syntax.inside(statement)]
        for expression in syntax.expressions(statement):
            level: list[Any] = [expression]
            for _ in range(MOST_LEVELS):
                for part in level:
                    if isinstance(part, syntax.Call) and part.name in REFUSED:
                        raise Trouble(part.place, f"`{part.name}` is not supported: {REFUSED[part.name]}")
                level = [part for node in level for part in syntax.parts(node)]
                if not level:
                    break
            else:
                raise Trouble(expression.place, "an expression is nested too deeply", f"at most {MOST_LEVELS} levels")


@cache
def _parser() -> Any:
    """Building the tables takes half a second, so it happens at first use, once."""
    try:
        from lark import Lark

        from platewright.language.stan.reading.tree import TreeBuilder  # needs lark, which is an extra
    except ImportError:
        raise MissingExtra("reading Stan text needs lark", hint="pip install lark") from None
    grammar = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", transformer=TreeBuilder(), maybe_placeholders=True)


def _unexpected(text: str, trouble: Any) -> Trouble:
    token = getattr(trouble, "token", None)
    wanted = set(getattr(trouble, "accepts", None) or getattr(trouble, "expected", None) or ())
    if token is None or token.type == "$END":
        lines = text.rstrip().split("\n")
        return Trouble(Place(len(lines), len(lines[-1]) + 1), "the text ends too early", _expected(wanted))
    return Trouble(Place(token.line, token.column), f"unexpected `{str(token)[:40]}`", _expected(wanted))


def _expected(terminals: set[str]) -> str:
    words = sorted(_WORDS[name] for name in terminals if name in _WORDS)
    return ", ".join([*words, *(["an operator"] if terminals & _OPERATORS and "NAME" not in terminals else [])])
