"""One element of a hidden variable leaves its cells and enters others: what each level changes in the log evidence.

    take out      T[codes(element, old)] -= value
    weigh         log p(level | rest) = sum of changes of the terms that the element touches, up to a constant
    put back      T[codes(element, new)] += value

Where an element has several rows in one cell (the words of a document whose class is hidden), they enter one after
another, each weighed with those before it in place: the changes telescope.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from platewright.algebra.build import substitute
from platewright.algebra.expression import (
    ZERO,
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Lag,
    Multiply,
    Reference,
    free_indices,
    mentions,
    walk,
)
from platewright.schemas.collapsed_change import Shift, difference
from platewright.schemas.collapsed_tables import Collapse, Table, Term, places_of


@dataclass(frozen=True)
class Members:
    """The rows of an element where a known code says so: those `row` with `code = element`."""

    row: Index
    code: Expression
    axis: Index


@dataclass(frozen=True)
class Entry:
    """How one element enters one table: its rows run over `rows`, or are listed by `members`."""

    table: str
    codes: tuple[Expression, ...]
    value: Expression
    rows: tuple[Index, ...]
    members: Members | None


@dataclass(frozen=True)
class Change:
    """The change of one term: the sum of `expression` over `loops`."""

    loops: tuple[Index, ...]
    expression: Expression


@dataclass(frozen=True)
class Stage:
    """Rows that enter one after another: the changes of one row, then its entries."""

    rows: tuple[Index, ...]
    members: Members | None
    changes: tuple[Change, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Move:
    """How one element of a hidden variable is drawn given all others."""

    hidden: str
    axes: tuple[Index, ...]
    level: Index
    entries: tuple[Entry, ...]
    changes: tuple[Change, ...]
    stages: tuple[Stage, ...]

    @property
    def factors(self) -> tuple[tuple[Expression, int], ...] | None:
        """The weight of a level as a product `g1 g2 / g3`, where the changes are logarithms alone."""
        if self.stages or any(change.loops for change in self.changes):
            return None
        found: list[tuple[Expression, int]] = []
        for change in self.changes:
            for term in change.expression.terms if isinstance(change.expression, Add) else (change.expression,):
                match term:
                    case Call("log", (inner,)):
                        found.append((inner, 1))
                    case Multiply((Constant(-1.0), Call("log", (inner,)))):
                        found.append((inner, -1))
                    case _:
                        return None
        return tuple(found)


def at_positions(expression: Expression, at: Collection[str]) -> Expression:
    """The expression with the indices of these names replaced by named positions."""
    changes: dict[Expression, Expression] = {
        index: Reference(f"at {index.name}") for index in free_indices(expression) if index.name in at
    }
    return substitute(expression, changes)


@dataclass(frozen=True)
class Element:
    """The names that one element goes by while its move is derived."""

    hidden: str
    axes: tuple[Index, ...]
    level: Index
    binary: frozenset[str] = frozenset()
    """Variables and indices whose values are 0 or 1."""


def element_of(hidden: str, axes: tuple[Index, ...], levels: str, binary: frozenset[str]) -> Element:
    """Names of their own, so that no sum captures them."""
    own = tuple(Index(f"{hidden}.{axis.name}", axis.plate) for axis in axes)
    level = Index(f"{hidden}.level", levels)
    if hidden in binary:
        binary |= {level.name}
    return Element(hidden, own, level, binary)


def entry_of(table: Table, element: Element, hidden: frozenset[str]) -> Entry:
    """The rows that one element has in a table, and where they go at each level."""
    places = places_of(element.hidden, (*table.codes, table.value))
    if len(places) > 1 or any(isinstance(node, Lag) for at in places for part in at for node in walk(part)):
        raise Collapse(
            f"different elements of `{element.hidden}` meet in a row of `{table.name}`: "
            "they are neighbours, not exchangeable given the statistics"
        )
    (place,) = places
    rows: dict[Index, Index] = {}
    members: tuple[Index, Expression, Index] | None = None
    for at, axis in zip(place, element.axes, strict=True):
        if isinstance(at, Index) and at in table.over and at not in rows:
            rows[at] = axis
            continue
        inner = [index for index in free_indices(at) if index in table.over]
        if mentions(at, hidden):
            raise Collapse(f"which element of `{element.hidden}` a row of `{table.name}` sees is itself hidden")
        if members is not None or len(inner) != 1 or inner[0] in rows:
            raise Collapse(f"the rows of `{table.name}` that see an element of `{element.hidden}` are not a plain list")
        members = (inner[0], at, axis)
    rest = [index for index in table.over if index not in rows]
    # Rows have names of their own too: a row `j` is one position, a cell `j` of a term is any.
    rows |= {index: Index(f"{element.hidden}.row.{index.name}", index.plate) for index in rest}
    renamed: dict[Expression, Expression] = {old: new for old, new in rows.items()}

    def placed(part: Expression) -> Expression:
        # Where the variable stands is told by its place as written, so it goes before the rows are renamed.
        return substitute(substitute(part, {Reference(element.hidden, place): element.level}), renamed)

    return Entry(
        table.name,
        tuple(placed(code) for code in table.codes),
        placed(table.value),
        tuple(rows[index] for index in rest),
        None if members is None else Members(rows[members[0]], substitute(members[1], renamed), members[2]),
    )


def move_of(element: Element, tables: Mapping[str, Table], terms: Iterable[Term], hidden: frozenset[str]) -> Move:
    """What moves when one element moves."""
    entries = {
        table.name: entry_of(table, element, hidden)
        for table in tables.values()
        if mentions(table.value, {element.hidden}) or any(mentions(code, {element.hidden}) for code in table.codes)
    }
    direct: list[Change] = []
    staged: list[tuple[Term, list[Entry]]] = []
    for term in terms:
        touched = [entries[name] for name in _tables_in(term.body) if name in entries]
        if not touched:
            continue
        if all(_is_one_row_a_cell(entry, term) for entry in touched):
            direct.append(_change(term, touched, element))
        else:
            staged.append((term, touched))
    direct = [change for change in direct if element.level in free_indices(change.expression)]
    return Move(
        element.hidden, element.axes, element.level, tuple(entries.values()), tuple(direct), _stages(staged, element)
    )


def _tables_in(body: Expression) -> list[str]:
    return list(dict.fromkeys(part.name for part in walk(body) if isinstance(part, Reference)))


def _is_one_row_a_cell(entry: Entry, term: Term) -> bool:
    """Whether the rows of an element go to cells of their own, so that none of them sees another."""
    return entry.members is None and all(row in entry.codes for row in entry.rows)


def _change(term: Term, touched: list[Entry], element: Element, row: Iterable[Index] = ()) -> Change:
    """The change of a term when the touched entries are put in at once; `row` names indices that are fixed."""
    entries = {entry.table: entry for entry in touched}
    fixed = set(row) | set(element.axes) | {element.level}
    bound: dict[Index, set[Expression]] = {cell: set() for cell in term.cells}
    absent: dict[Index, str] = {}
    added: dict[Reference, Expression] = {}
    for part in walk(term.body):
        if not isinstance(part, Reference) or part.name not in entries:
            continue
        entry = entries[part.name]
        renamed: dict[Expression, Expression] = {}
        for at, code in zip(part.indices, entry.codes, strict=True):
            if not isinstance(at, Index):
                raise Collapse(f"`{part}` is not looked up at a cell of its own")
            if isinstance(code, Index) and code in entry.rows and code not in fixed:
                renamed[code] = at
        for at, code in zip(part.indices, entry.codes, strict=True):
            assert isinstance(at, Index)
            if code in renamed:
                if at in bound:
                    bound[at].add(at)
            elif at in bound:
                bound[at].add(substitute(code, renamed))
            else:
                raise Collapse(f"one element of `{element.hidden}` enters `{part}` at one of many cells of a matrix")
        for cell in term.cells:
            if cell not in part.indices:
                absent[cell] = part.name
        added[part] = substitute(entry.value, renamed)
    places: dict[Expression, Expression] = {}
    loops: list[Index] = []
    for cell, codes in bound.items():
        if not codes or codes == {cell}:
            loops.append(cell)
        elif len(codes) > 1:
            raise Collapse(f"an element of `{element.hidden}` touches different cells of `{cell.plate}` in one term")
        elif cell in absent:
            raise Collapse(
                f"an element of `{element.hidden}` changes `{absent[cell]}`, and with it every cell of `{cell.plate}`"
            )
        else:
            places[cell] = next(iter(codes))
    change = difference(term.body, Shift(added.get, element.binary))
    return Change(tuple(loops), substitute(change, places))


def _stages(staged: list[tuple[Term, list[Entry]]], element: Element) -> tuple[Stage, ...]:
    """Rows grouped by what they run over; each group enters after those before it."""
    groups: dict[tuple[tuple[Index, ...], Members | None], dict[str, Entry]] = {}
    for _, touched in staged:
        for entry in touched:
            groups.setdefault((entry.rows, entry.members), {})[entry.table] = entry
    found = []
    for (rows, members), entries in groups.items():
        changes = []
        for term, touched in staged:
            here = [entry for entry in touched if entry.table in entries]
            if not here:
                continue
            change = _change(term, here, element, rows)
            if change.expression != ZERO:
                changes.append(change)
        found.append(Stage(rows, members, tuple(changes), tuple(entries.values())))
    return tuple(found)
