"""Print the passes of a program as one standalone C99 file: one function, and one loop, for each row plate.

    int pass_n(const void *const *column, const int64_t *size, int64_t start, int64_t stop, void *const *out)

Rows start .. stop-1 are worked on in blocks; per-row scalars are short arrays that stay in cache. What follows the
passes is small and stays with the NumPy module; a statement that has no C stays there too, its reason in `left`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal as OneOf

from platewright.algebra.expression import (
    Call,
    Expression,
    Index,
    free_indices,
    names,
    walk,
)
from platewright.backends.c.expression import CPrinter, Unprintable
from platewright.backends.c.pool import Pieces, PoolPrinter, over_rows
from platewright.backends.c.support import BLOCK, c_comment, support_text
from platewright.backends.naming import Names
from platewright.program.program import Program, expressions_of, statement_text
from platewright.program.scatter import scatter
from platewright.program.statements import Pool, Statistic


@dataclass(frozen=True, eq=False)
class Output:
    """A statement that C computes, and the numbers it leaves: exact counts, doubles, or the four arrays of a pool."""

    statement: Statistic | Pool
    kind: OneOf["int64", "double", "pool"]


@dataclass(frozen=True, eq=False)
class CPass:
    """One function of the file: its name, the rows it runs over, and what its arguments hold, in order."""

    function: str
    over: tuple[Index, ...]
    columns: tuple[str, ...]
    sizes: tuple[str, ...]
    pitches: tuple[str, ...]
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class CProgram:
    """The file, how to call it, and the statements that stay with NumPy, each with its reason."""

    source: str
    passes: tuple[CPass, ...]
    left: tuple[tuple[str, str], ...]


def c_source(program: Program, integers: Collection[str] | None = None) -> str:
    """The file as text. `integers` names the columns that hold int64; without data it is read off the program."""
    return c_program(program, integers).source


def c_program(program: Program, integers: Collection[str] | None = None, upright: Collection[str] = ()) -> CProgram:
    """The file and how to call it; `upright` names the matrices that lie column by column."""
    held = frozenset(integer_columns(program) if integers is None else integers)
    rows: dict[tuple[Index, ...], list[Statistic | Pool]] = {}
    for statement in program.passes:
        rows.setdefault(statement.over, []).append(statement)
    file_names = Names()
    left: list[tuple[str, str]] = []
    functions, passes = [], []
    for number, (over, statements) in enumerate(rows.items()):
        label = "pass_" + "_".join(index.name for index in over)
        # Blanks keep labels of different rows apart; they vanish from the name.
        writer = _PassWriter(program, over, held, frozenset(upright), file_names(label + " " * number))
        text, found = writer.function(statements)
        left += writer.left
        if found.outputs:
            functions.append(text)
            passes.append(found)
    parts = [_header(program, left), *support_text("\n".join(functions)), *functions]
    return CProgram("\n\n".join(parts) + "\n", tuple(passes), tuple(left))


def integer_columns(program: Program) -> tuple[str, ...]:
    """Columns that hold codes or 0 and 1, as far as the program says."""
    return tuple(c for c in program.columns if c in program.codes or f"{c}.levels" in program.sizes)


def _header(program: Program, left: list[tuple[str, str]]) -> str:
    lines = [
        f"/* {c_comment(program.title)}: passes over rows, derived and written by Platewright.",
        *(f" * {c_comment(name)} stays with NumPy: {c_comment(reason)}" for name, reason in left),
        " */",
    ]
    included = [f"#include <{name}.h>" for name in ("math", "stdint", "stdlib", "string")]
    return "\n".join([*lines, *included, "", "/* Rows worked on at once. */", f"#define BLOCK {BLOCK}"])


class _PassWriter:
    """Writes the function of one row plate."""

    def __init__(
        self,
        program: Program,
        over: tuple[Index, ...],
        integers: frozenset[str],
        upright: frozenset[str],
        function: str,
    ) -> None:
        self.program = program
        self.over = over
        self.name = function
        self.printer = CPrinter(Names(), over, program.columns, integers, upright)
        self.left: list[tuple[str, str]] = []

    # -- the function ------------------------------------------------------------------------------------------------

    def function(self, statements: list[Statistic | Pool]) -> tuple[str, CPass]:
        """The text and how to call it; statements without C are noted and left out."""
        shared = self.share(statements)
        pieces: list[tuple[Output, Pieces]] = []
        for number, statement in enumerate(statements, 1):
            try:
                pieces.append(self.pieces(statement, number))
            except Unprintable as refusal:
                self.left.append((statement.name, str(refusal)))
                self.printer.take()
        lines = [line for _, piece in pieces for line in (*piece.before, *piece.block, *piece.after, piece.work)]
        words = set(re.findall(r"\w+", "\n".join([*shared, *lines])))
        columns = tuple(name for name in self.printer.used_columns if self.printer.column(name) in words)
        sizes = tuple(plate for plate in self.printer.used_sizes if self.printer.size(plate) in words)
        pitches = tuple(name for name in self.printer.used_pitches if self.printer.pitch(name) in words)
        found = CPass(self.name, self.over, columns, sizes, pitches, tuple(output for output, _ in pieces))
        return "\n".join([*self.heading(found), "{", *self.body(found, pieces, shared), "}"]), found

    def heading(self, found: CPass) -> list[str]:
        rows = " x ".join(c_comment(index.name) for index in self.over)
        lines = [f"/* One pass over rows {rows}, from `start` up to `stop`."]
        for number, name in enumerate(found.columns):
            axes = ", ".join(index.name for index in self.program.columns[name])
            lies = ", column by column" if name in self.printer.upright else ""
            lines.append(f" * column[{number}]: {c_comment(name)}[{c_comment(axes)}]{lies}")
        lines += [
            f" * size[{number}]: elements of plate {c_comment(plate)}" for number, plate in enumerate(found.sizes)
        ]
        lines += [
            f" * size[{number}]: from one column of {c_comment(name)} to the next"
            for number, name in enumerate(found.pitches, len(found.sizes))
        ]
        lines += [
            " * Returns 0; 1 when a code is outside its plate or a weight is negative; 2 when memory is short. */"
        ]
        arguments = "const void *const *column, const int64_t *size, int64_t start, int64_t stop, void *const *out"
        return [*lines, f"int {self.name}({arguments})"]

    def body(self, found: CPass, pieces: list[tuple[Output, Pieces]], shared: list[str]) -> list[str]:
        lines = [f"const int64_t {self.printer.size(plate)} = size[{k}];" for k, plate in enumerate(found.sizes)]
        lines += [
            f"const int64_t {self.printer.pitch(name)} = size[{k}];"
            for k, name in enumerate(found.pitches, len(found.sizes))
        ]
        for number, name in enumerate(found.columns):
            kind = "int64_t" if name in self.printer.integers else "double"
            lines.append(f"const {kind} *restrict const {self.printer.column(name)} = column[{number}];")
        for values, name in self.printer.tables.items():
            listed = ", ".join(repr(float(value)).replace("inf", "INFINITY").replace("nan", "NAN") for value in values)
            lines.append(f"static const double {name}[] = {{{listed}}};")
        empty = (("column", found.columns), ("size", found.sizes + found.pitches))
        lines += [f"(void){name};" for name, held in empty if not held]
        lines.append("int bad = 0;")
        lines += self.opening(pieces)
        lines.append("for (int64_t at = start; at < stop; at += BLOCK) {")
        lines.append("    const int64_t count = stop - at < BLOCK ? stop - at : BLOCK;")
        lines += [f"    {line}" for line in shared]
        for output, piece in pieces:
            lines += ["", *(f"    {line}" for line in (*self.because(output.statement), *piece.block))]
        lines.append("}")
        lines += [line for _, piece in pieces for line in piece.after]
        if any(piece.work for _, piece in pieces):
            lines.append("free(space);")
        lines.append("return bad;")
        return [f"    {line}".rstrip() for line in lines]

    def opening(self, pieces: list[tuple[Output, Pieces]]) -> list[str]:
        """Where results go, and the working space of all statements in one piece."""
        lines, place = [], 0
        pointers: list[str] = []
        for output, piece in pieces:
            kind = "int64_t" if output.kind == "int64" else "double"
            lines.append(f"/* {c_comment(output.statement.name)} */")
            for name in piece.outputs:
                lines.append(f"{kind} *restrict const {name} = out[{place}];")
                place += 1
            cut = piece.before.index("") if "" in piece.before else len(piece.before)
            lines += piece.before[:cut]
            pointers += piece.before[cut + 1 :]
        needs = [f"({piece.work})" for _, piece in pieces if piece.work]
        if needs:
            lines.append(f"double *const space = calloc((size_t)(8 + {' + '.join(needs)}), sizeof(double));")
            lines += ["if (!space)", "    return 2;", "/* from the start of a cache line on */"]
            lines += ["double *work = (double *)(((uintptr_t)space + 63) & ~(uintptr_t)63);", *pointers, "(void)work;"]
        return lines

    def because(self, statement: Statistic | Pool) -> list[str]:
        reason = f" ({c_comment(statement.because)})" if statement.because else ""
        return [f"/* {c_comment(statement_text(statement))}{reason} */"]

    # -- parts that several statements use ---------------------------------------------------------------------------

    def share(self, statements: list[Statistic | Pool]) -> list[str]:
        """Functions of a row that more than one statement needs become short arrays, computed once a block."""
        counts: Counter[Expression] = Counter()
        for statement in statements:
            parts = {part for whole in expressions_of(statement) for part in walk(whole) if isinstance(part, Call)}
            counts.update(part for part in parts if free_indices(part) <= set(self.over) and names(part))
        lines: list[str] = []
        for part in sorted((part for part, count in counts.items() if count > 1), key=str):
            try:
                value = self.printer.code(part)
            except Unprintable:
                self.printer.take()
                continue
            name = self.printer.temporary("shared")
            before = self.printer.take()
            lines.append(f"double {name}[BLOCK]; /* {c_comment(str(part))} */")
            lines += over_rows([*before, f"{name}[i] = {value.text};"])
            self.printer.shared[part] = name
        return lines

    # -- one statement -----------------------------------------------------------------------------------------------

    def pieces(self, statement: Statistic | Pool, number: int) -> tuple[Output, Pieces]:
        if isinstance(statement, Pool):
            return Output(statement, "pool"), PoolPrinter(self.printer, statement, number).pieces()
        return self.statistic(statement, f"stat_{number}")

    def statistic(self, statement: Statistic, name: str) -> tuple[Output, Pieces]:
        """A sum into one number, or scattered into a table by the codes of the row."""
        found = scatter(statement, self.is_integer)
        walked = frozenset(found.walked)
        variables: dict[Index, str] = {}

        def pick(positions: Iterable[tuple[Index, Expression]]) -> list[str]:
            lines = []
            for index, code in positions:
                variables[index] = self.printer.temporary("code")
                size = self.printer.size(index.plate)
                lines.append(
                    f"const int64_t {variables[index]} = within({self.printer.code(code).text}, {size}, &bad);"
                )
            return lines

        body = pick(pair for pair in found.codes if not free_indices(pair[1]) & walked)
        body = [*self.printer.take(), *body]
        with ExitStack() as loops:
            for index in found.walked:
                variables[index] = loops.enter_context(self.printer.loop(index))
            self.printer.lines += pick(pair for pair in found.codes if free_indices(pair[1]) & walked)
            for index in found.others:
                variables[index] = loops.enter_context(self.printer.loop(index))
            value = self.printer.code(found.summand)
            kind: OneOf["int64", "double"] = "int64" if value.integer and statement.kind == "sum" else "double"
            target = f"{name}[{self.flat(statement.indices, variables)}]" if statement.indices else "part"
            self.printer.lines.append(_update(statement.kind, target, value.whole))
        body += self.printer.take()
        first = {"sum": "0", "max": "-INFINITY", "min": "INFINITY"}[statement.kind]
        block = over_rows(body)
        if not statement.indices:
            held = "int64_t" if kind == "int64" else "double"
            lines = [f"{held} part = {first};", *block, _update(statement.kind, f"{name}[0]", "part")]
            block = ["{", *(f"    {line}" for line in lines), "}"]
        length = " * ".join(self.printer.size(index.plate) for index in statement.indices) or "1"
        before = (f"for (int64_t k = 0; k < {length}; k++)", f"    {name}[k] = {first};")
        return Output(statement, kind), Pieces((name,), before, tuple(block))

    def is_integer(self, code: Expression) -> bool:
        """Whether a code is an integer in C, and so may pick the entry of a table."""
        with ExitStack() as loops:
            for index in sorted(free_indices(code) - set(self.over), key=str):
                loops.enter_context(self.printer.loop(index))
            found = self.printer.code(code).integer
        self.printer.take()
        return found

    def flat(self, indices: tuple[Index, ...], variables: dict[Index, str]) -> str:
        """Where an entry lies in its table."""
        text = ""
        for index in indices:
            left = text if re.fullmatch(r"\w+", text) else f"({text})"
            text = f"{left} * {self.printer.size(index.plate)} + {variables[index]}" if text else variables[index]
        return text


def _update(kind: str, target: str, value: str) -> str:
    if kind == "sum":
        return f"{target} += {value};"
    return f"{target} = {'larger' if kind == 'max' else 'smaller'}({target}, {value});"
