"""The moves whose weights are products of rows of tables: eight levels at a time, and nothing is taken out.

    weight[level] = part[level] * (1.2 + T[w, level])        part: factors that stay the same for a run of elements

The element stays in its tables while its levels are weighed; the level at which it stands is weighed without it. Tables
change only when the element moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Literal,
    Multiply,
    Power,
    Reference,
    Sum,
    children,
    free_indices,
    walk,
)
from platewright.backends.c_collapsed.printer import CollapsedPrinter, TableLayout
from platewright.schemas.collapsed_move import Entry, Move

Factor = tuple[Expression, int]
"""A function of table rows, and its power in the product: 1 or -1."""


@dataclass(frozen=True)
class RowFactors:
    """A weight as a product of functions of table rows, level by level."""

    move: Move
    factors: tuple[Factor, ...]

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The rows that are looked at."""
        found: dict[Reference, None] = {}
        for factor, _ in self.factors:
            found.update({p: None for p in walk(factor) if isinstance(p, Reference) and self.move.level in p.indices})
        return tuple(found)

    def key(self, factor: Factor) -> tuple[Expression, ...]:
        """What of an element a factor depends on: the codes of its rows besides the level, and data that it holds."""
        found: dict[Expression, None] = {}

        def collect(part: Expression) -> None:
            if not free_indices(part) & set(self.move.axes):
                return
            if isinstance(part, Index) or (isinstance(part, Reference) and self.move.level not in part.indices):
                found[part] = None
            else:
                for inner in children(part):
                    collect(inner)

        collect(factor[0])
        return tuple(found)

    def run(self, printer: CollapsedPrinter, sizes: Mapping[str, int]) -> tuple[Expression, ...]:
        """The key of the largest table: elements sorted by it leave the smaller ones to be looked up at random."""
        best: tuple[Expression, ...] = ()
        most = -1
        for factor in self.factors:
            key = self.key(factor)
            if not key or not all(printer.code(code).integer for code in key):
                continue
            count = 1
            for reference in self.references:
                if reference in set(walk(factor[0])):
                    for plate in printer.tables_by_name[reference.name].plates:
                        count *= sizes.get(plate, 1)
            if count > most:
                best, most = key, count
        return best


def row_factors(move: Move, tables: Mapping[str, TableLayout]) -> RowFactors | None:
    """The move as a product over rows of tables, where that is what it is."""
    factors = move.factors
    if not factors or not move.axes:
        return None
    level = move.level
    if any(entry.rows or entry.members or level in free_indices(entry.value) for entry in move.entries):
        return None
    if not all(_is_row(factor, level, tables) for factor, _ in factors):
        return None
    return RowFactors(move, factors)


def _is_row(part: Expression, level: Index, tables: Mapping[str, TableLayout]) -> bool:
    """Whether eight levels of an expression can be computed at a time: rows, numbers, sums, products and ratios."""
    if level not in free_indices(part):
        return not any(isinstance(node, (Call, Sum)) and free_indices(node) for node in walk(part))
    match part:
        case Add(parts) | Multiply(parts):
            return all(_is_row(inner, level, tables) for inner in parts)
        case Power(base, Constant(-1.0)):
            return _is_row(base, level, tables)
        case Literal(_, _, _, indices):
            return indices == (level,)
        case Reference(name, indices) if name in tables and tables[name].order:
            last = tables[name].order[-1]
            return (
                all((level in free_indices(at)) == (k == last) for k, at in enumerate(indices))
                and indices[last] == level
            )
    return False


@dataclass
class RowPrinter:
    """Prints the body of one such move."""

    printer: CollapsedPrinter
    fast: RowFactors
    sizes: Mapping[str, int]
    own: str
    """The element's own value."""
    stride: str
    number: int

    def begin(self, key: Sequence[Expression]) -> tuple[list[str], list[str]]:
        """What stands before the loop over elements, and the names of the codes of the present run."""
        keys = [self.printer.temporary("key") for _ in key]
        levels = self.printer.size(self.fast.move.level.plate)
        lines = [f"for (int64_t at = 0; at < {self.stride}; at++)", f"    live[at] = at < {levels} ? 1.0 : 0.0;"]
        return [*lines, *([f"int64_t {name} = -1;" for name in keys] or ["int64_t begun = 0;"])], keys

    def body(self) -> tuple[list[str], list[str], tuple[Expression, ...]]:
        """The lines before the loop, those of one element, and the codes by which elements should be sorted."""
        fast = self.fast
        key = fast.run(self.printer, self.sizes)
        kept = [factor for factor in fast.factors if fast.key(factor) in ((), key)]
        other = [factor for factor in fast.factors if factor not in kept]
        before, keys = self.begin(key)
        lines = [f"const int64_t old = {self.own};", *self.pointers()]
        lines += self.renewed(kept, key, keys)
        lines.append(f"const double own = {self.at_level(fast.factors, 'old', without=True)};")
        lines += OWN.strip("\n").splitlines()
        lines += [f"for (int64_t block = 0; block < {self.stride}; block += WIDE) {{", *PART.strip("\n").splitlines()]
        lines += [
            f"        lanes found = {self.product(other, 'VALUES(part + at)')};",
            *LOOP.strip("\n").splitlines(),
            "}",
        ]
        lines.append(f"const int64_t new = drawn_level(running, {self.stride} / WIDE, state);")
        lines += ["if (new < 0)", f"    return {self.number};", "if (new != old) {"]
        lines += [f"    {line}" for line in self.moved(kept)] + ["}"]
        self.printer.rows.clear()
        return before, lines, key

    def pointers(self) -> list[str]:
        """The rows that the element looks at."""
        printer, lines = self.printer, []
        for number, reference in enumerate(self.fast.references, start=1):
            pointer = printer.rows[reference] = f"row_{number}"
            kind = printer.tables_by_name[reference.name].type
            lines.append(f"{kind} *const {pointer} = {printer.row(reference.name, reference.indices)};")
        return lines

    def renewed(self, kept: Sequence[Factor], key: Sequence[Expression], keys: Sequence[str]) -> list[str]:
        """The kept row is made anew where a run begins."""
        codes = [self.printer.code(part).text for part in key]
        tests = [f"{name} != {code}" for name, code in zip(keys, codes, strict=True)] or ["!begun"]
        set_to = [f"    {name} = {code};" for name, code in zip(keys, codes, strict=True)] or ["    begun = 1;"]
        return [
            f"if ({' || '.join(tests)}) {{",
            *set_to,
            f"    for (int64_t at = 0; at < {self.stride}; at += VECTOR)",
            f"        *(lanes *)(part + at) = {self.product(kept, 'VALUES(live + at)')};",
            "}",
        ]

    def moved(self, kept: Sequence[Factor]) -> list[str]:
        """The element goes from one level to another."""
        lines = [f"{self.own} = (int32_t)new;"]
        for variable, sign in (("old", "-"), ("new", "+")):
            for entry in self.fast.move.entries:
                value = self.printer.code(entry.value).text
                lines.append(f"{self.cell(entry, variable)} {sign}= {value};")
        return lines + [f"part[{variable}] = {self.at_level(kept, variable)};" for variable in ("old", "new")]

    def cell(self, entry: Entry, variable: str) -> str:
        """Where an entry goes at a level."""
        reference = Reference(entry.table, entry.codes)
        if reference in self.printer.rows:
            return f"{self.printer.rows[reference]}[{variable}]"
        self.printer.variables[self.fast.move.level] = variable
        return self.printer.cell(entry.table, entry.codes)

    def product(self, factors: Sequence[Factor], last: str) -> str:
        """A product of factors, those with power -1 under the bar."""
        self.printer.real = True
        self.printer.vector_level = self.fast.move.level if self.printer.rows else None
        over = [f"({self.printer.code(factor).text})" for factor, power in factors if power > 0]
        under = [f"({self.printer.code(factor).text})" for factor, power in factors if power < 0]
        self.printer.real, self.printer.vector_level = False, None
        top = " * ".join([*over, last] if last else over) or "1.0"
        if not under:
            return top
        return f"{top} / {under[0]}" if len(under) == 1 else f"{top} / ({' * '.join(under)})"

    def at_level(self, factors: Sequence[Factor], variable: str, without: bool = False) -> str:
        """The same at one level; `without` takes the element out of each cell first, where integers are exact."""
        printer = self.printer
        rows = dict(printer.rows)
        entries = {Reference(entry.table, entry.codes): entry.value for entry in self.fast.move.entries}
        printer.rows.clear()
        printer.variables[self.fast.move.level] = variable
        for reference, pointer in rows.items():
            cell = f"{pointer}[{variable}]"
            if without and reference in entries:
                cell = f"({cell} - {printer.code(entries[reference]).text})"
            printer.cells[reference] = f"(double){cell}"
        text = self.product(factors, "")
        printer.cells.clear()
        printer.rows.update(rows)
        return text


OWN = """
const lanes owns = own + (lanes){0};
const places first = (places)FIRST - old;
lanes sum[PARTS];
for (int64_t k = 0; k < PARTS; k++)
    sum[k] = (lanes){0};
"""

PART = """
    for (int64_t k = 0; k < PARTS; k++) {
        const int64_t at = block + k * VECTOR;
"""

LOOP = """
        const places here = first + at == 0;
        found = CHOSEN(here, owns, found);
        sum[k] += found;
        *(lanes *)(running + at) = sum[k];
    }
"""
