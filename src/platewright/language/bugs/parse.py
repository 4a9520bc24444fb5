"""Read BUGS text into its tree: an LALR parse, with limits on length and depth, and errors that point.

    BugsError: unexpected `)`
      where:    line 3, column 14:   y[i] ~ dnorm(mu, )
                                                      ^
      expected: a number, a name or `(`

Nothing in the text is ever executed.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from platewright.errors import BugsError, MissingExtra
from platewright.language.bugs import syntax
from platewright.language.bugs.complaint import complain

MOST_CHARACTERS = 2_000_000
"""A parse takes 100 bytes a character at its peak."""
MOST_BRACKETS = 60
"""Deepest nesting of brackets; the deepest model anyone has shown us uses 9."""
MOST_LEVELS = 100

_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "ASSIGN": "`<-`",
    "EQUAL": "`=`",
    "TILDE": "`~`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "FOR": "`for`",
    "IN": "`in`",
    "MODEL": "`model`",
    "DATA": "`data`",
    "VAR": "`var`",
    "$END": "the end",
}
_REFUSED = {
    r"D\s*\(": ("differential equations are not solved here", "a solution in closed form"),
    r"(?:ode|solution)(?:\.\w+)?\s*\(": ("differential equations are not solved here", "a solution in closed form"),
    r"integral\s*\(": ("integrals over functions are not solved here", "the integral in closed form"),
    r"jump\.[\w.]+\s*\(": (
        "the number of terms of a sum is not chosen by jumps between models",
        "an indicator for each term: g[j] ~ dbern(0.5), and g[j] * b[j] in the sum",
    ),
    r"if\s*\(": ("statements are not chosen by conditions", "`ifelse(condition, a, b)`, or `step` and `equals`"),
    r"while\s*\(": ("loops run over known ranges", "a loop `for (i in 1:N)`, or a sum over a vector"),
    r"function\s*\(": ("functions are not defined in a model", "the expression where it is used"),
}
"""What others say and this reader cannot, by the way it begins: the first of them is the trouble, parsed or not."""
_OPERATORS = {"PLUS", "MINUS", "TIMES", "POWER", "MATMUL", "COMPARE", "AND", "OR"}
_SILENT = {"SEMICOLON", "NOT", "BOUNDS"}


def parse(text: str) -> syntax.Text:
    """The tree of a BUGS text, or a `BugsError` that points at the first trouble."""
    check_size(text)
    parser = _parser()
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    try:
        tree: syntax.Text = parser.parse(text)
    except UnexpectedCharacters as trouble:
        if (refusal := _refused(text, trouble.pos_in_stream)) is not None:
            raise refusal from None
        character = text[trouble.pos_in_stream : trouble.pos_in_stream + 1] if trouble.pos_in_stream is not None else ""
        raise complain(
            text,
            (trouble.line, trouble.column),
            f"unexpected `{character}`",
            expected=_expected(trouble.allowed or set()),
        ) from None
    except UnexpectedInput as trouble:
        refusal = _refused(text, getattr(trouble, "pos_in_stream", None))
        raise refusal if refusal is not None else _unexpected(text, trouble) from None
    if (refusal := _refused(text, None)) is not None:
        raise refusal
    _check_depth(text, tree)
    return syntax.Text(tree.model, tree.data, tree.declared, text)


def _refused(text: str, end: int | None) -> BugsError | None:
    """Where the parse fails after something that is never read, that is the trouble, whatever comes after it."""
    begun = text[: len(text) if end is None else end + 1]
    plain = re.sub(r"#[^\n]*|/\*.*?\*/", lambda remark: re.sub(r"[^\n]", " ", remark.group()), begun, flags=re.DOTALL)
    match = re.search(r"(?<![\w.])(?:" + "|".join(_REFUSED) + ")", plain)
    if match is None:
        return None
    found, instead = next(told for form, told in _REFUSED.items() if re.match(form, match.group()))
    before = plain[: match.start()]
    place = (before.count("\n") + 1, match.start() - before.rfind("\n"))
    return complain(text, place, f"`{match.group().rstrip('( ')}` is not supported: {found}", hint=instead)


def check_size(text: str) -> None:
    """Refuse texts that are too long or nested too deeply before any work is done."""
    if len(text) > MOST_CHARACTERS:
        raise BugsError(f"the text has {len(text):,} characters", expected=f"at most {MOST_CHARACTERS:,}")
    depth, line, column, signs, remark = 0, 1, 0, 0, False
    for character in text:
        column += 1
        remark = (remark or character == "#") and character != "\n"
        if remark:  # rows of dashes are dear to those who write remarks
            continue
        if character in "!-+":
            signs += 1
            if signs > MOST_LEVELS:
                raise complain(text, (line, column), "signs are nested too deeply", f"at most {MOST_LEVELS} in a row")
        elif not character.isspace():
            signs = 0
        if character == "\n":
            line, column = line + 1, 0
        elif character in "([{":
            depth += 1
            if depth > MOST_BRACKETS:
                raise complain(text, (line, column), "brackets are nested too deeply", f"at most {MOST_BRACKETS}")
        elif character in ")]}":
            depth = max(depth - 1, 0)


def _check_depth(text: str, tree: syntax.Text) -> None:
    """Refuse towers such as `a ^ a ^ a ...` that brackets do not show; later stages recurse over expressions."""
    waiting: list[syntax.Statement] = [*tree.data, *tree.model]
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, syntax.Loop):
            waiting.extend(statement.body)
            tops: tuple[syntax.Index, ...] = (statement.domain,)
        else:
            tops = (statement.target, *syntax.expressions(statement))
        level: list[syntax.Index] = list(tops)
        for _ in range(MOST_LEVELS):
            if not level:
                break
            level = [part for node in level for part in syntax.parts(node)]
        if level:
            raise complain(text, statement.place, "an expression is nested too deeply", f"at most {MOST_LEVELS} levels")


@cache
def _parser() -> Any:
    """Building the tables takes a tenth of a second, so it happens at first use, once."""
    try:
        from lark import Lark

        from platewright.language.bugs.tree import TreeBuilder  # needs lark, which is an extra
    except ImportError:
        raise MissingExtra("reading BUGS text needs lark", hint="pip install lark") from None
    grammar = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", transformer=TreeBuilder(), maybe_placeholders=True)


def _unexpected(text: str, trouble: Any) -> BugsError:
    token = getattr(trouble, "token", None)
    found = "the text ends too early" if token is None or token.type == "$END" else f"unexpected `{token}`"
    wanted = set(getattr(trouble, "accepts", None) or getattr(trouble, "expected", None) or ())
    where = (getattr(trouble, "line", -1), getattr(trouble, "column", -1))
    if token is None or token.type == "$END" or where[0] is None or where[0] < 1:
        lines = text.rstrip().split("\n")
        where = (len(lines), len(lines[-1]) + 1)
    return complain(text, where, found, expected=_expected(wanted))


def _expected(terminals: set[str]) -> str:
    """Terminals in words, in a fixed order; operators as one word."""
    words = sorted(_WORDS[name] for name in terminals if name in _WORDS)
    if terminals & _OPERATORS and not terminals <= {"MINUS", "PLUS", *_SILENT, *_WORDS}:
        words.append("an operator")
    return ", ".join(words)
