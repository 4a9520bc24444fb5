"""Expected log factors under the posterior of the parameters: what mean field puts in place of plain ones.

    E log theta[k]               a moment of the family (Lemma 4.2)
    E phi (f'u - y)^2            = E phi (f' E u - y)^2 + f' (R'R)^-1 f          for u Gaussian with scale phi

Moments become named arrays; the expression that comes out is known, like the one it replaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platewright.algebra.build import add, multiply, substitute, totals
from platewright.algebra.expand import Inseparable, Term, expand
from platewright.algebra.expression import (
    ONE,
    Constant,
    Expression,
    Index,
    Inverse,
    LogDeterminant,
    Quadratic,
    Reference,
    Size,
    mentions,
    names,
    rebuild,
    walk,
)
from platewright.algebra.facts import Facts
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional
from platewright.family import Argument, filled
from platewright.graph.graph import Factor
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.recognition.rows import Rows, flat_terms, residual, square_of
from platewright.recognition.scales import parted
from platewright.recognition.transform import IDENTITY

WORD = "expected factor"


def moment_name(variable: str, number: int) -> str:
    """The array of the expectation of a family's statistic."""
    return f"{variable}.moment{number}"


def mean_name(variable: str) -> str:
    """The array of a Gaussian unknown's mean."""
    return f"{variable}.mean"


def covariance_name(block: str) -> str:
    """The array of a Gaussian block's covariance at scale one: batch, column, column."""
    return f"{block}.covariance"


@dataclass(frozen=True)
class Expecter:
    """Takes expectations under a chain of conditionals."""

    conditionals: tuple[Conditional, ...]
    nodes: Mapping[str, Variable]
    facts: Facts

    @property
    def unknown(self) -> frozenset[str]:
        """All parameters."""
        return frozenset(name for conditional in self.conditionals for name in conditional.variables)

    @property
    def gaussian(self) -> frozenset[str]:
        """Parameters in Gaussian blocks."""
        found = [c for c in self.conditionals if isinstance(c, GaussianConditional)]
        return frozenset(name for conditional in found for name in conditional.variables)

    def owner(self, name: str) -> Conditional:
        """The conditional of a parameter."""
        return next(c for c in self.conditionals if name in c.variables)

    def factor(self, factor: Factor) -> Factor | Declined:
        """The expectation of a log factor."""
        parts: list[Expression] = []
        for axes, term in flat_terms(factor.axes, factor.expression, set(self.unknown)):
            found = self.term(factor.owner, axes, term)
            if isinstance(found, Declined):
                return found
            parts.append(totals(found, [axis for axis in axes if axis not in factor.axes]))
        return Factor(factor.owner, factor.axes, add(*parts))

    def term(self, owner: str, axes: tuple[Index, ...], term: Expression) -> Expression | Declined:
        if not mentions(term, set(self.unknown)):
            return term
        if mentions(term, set(self.gaussian)):
            rows = square_of(owner, axes, term, self.gaussian)
            return rows if isinstance(rows, Declined) else self.square(rows)
        return self.moments(term)

    # -- families ---

    def moments(self, term: Expression) -> Expression | Declined:
        try:
            terms = expand(term, self.unknown, self.facts)
        except Inseparable as tied:
            return Declined(WORD, f"{tied.part} {tied.reason}")
        parts: list[Expression] = []
        for found in terms:
            expected = self.atoms(found)
            if isinstance(expected, Declined):
                return expected
            parts.append(totals(multiply(found.weight, expected), found.indices))
        return add(*parts)

    def atoms(self, term: Term) -> Expression | Declined:
        """The expectation of a product: parameters of different conditionals are independent."""
        product: list[Expression] = []
        by_name: dict[str, list[Expression]] = {}
        for atom in term.atoms:
            held = names(atom) & self.unknown
            if len(held) != 1:
                return Declined(WORD, f"{atom} ties several parameters together")
            by_name.setdefault(next(iter(held)), []).append(atom)
        for name, found in by_name.items():
            expected = self.atom(name, multiply(*found))
            if isinstance(expected, Declined):
                return expected
            product.append(expected)
        return multiply(*product)

    def atom(self, name: str, atom: Expression) -> Expression | Declined:
        """A function of one parameter as a sum of its family's statistics."""
        owner = self.owner(name)
        if not isinstance(owner, FamilyConditional):
            return Declined(WORD, f"{name} has no family")
        if any(mentions(value, set(self.unknown)) for value in owner.parameters.values()):
            return Declined(WORD, f"the posterior of {name} depends on other parameters")
        node = self.nodes[name]
        found = owner.recognised
        if (of_matrix := _of_matrix(atom, name)) is not None:
            return of_matrix
        places = {n.indices for n in walk(atom) if isinstance(n, Reference) and n.name == name}
        if len(places) != 1:
            return Declined(WORD, f"{atom} looks {name} up at several places")
        place = places.pop()
        back = dict(zip(node.axes, place, strict=True))
        own = substitute(atom, {Reference(name, place): node.symbol})
        value: Expression = node.symbol
        if found.transform is not IDENTITY:
            value = substitute(found.transform.backward, {Reference("y"): node.symbol})
            own = substitute(own, {node.symbol: value})
            own_facts = Facts(self.facts.axes, {**self.facts.domains, name: found.transform.domain})
        else:
            own_facts = self.facts
        statistics = {
            filled(statistic, {"x": Argument(node.symbol, node.events)}, node.events): number
            for number, statistic in enumerate(found.family.statistics)
        }
        parts: list[Expression] = []
        try:
            pieces = expand(own, {name}, own_facts)
        except Inseparable as tied:
            return Declined(WORD, f"{tied.part} {tied.reason}")
        for piece in pieces:
            key = multiply(*piece.atoms)
            if not piece.atoms:
                parts.append(piece.weight)
            elif key in statistics and not piece.indices:
                axes = _statistic_axes(key, node)
                moment = Reference(moment_name(name, statistics[key]), axes)
                parts.append(multiply(piece.weight, moment))
            else:
                return Declined(WORD, f"the expectation of {key} is not a moment of {found.family.name}")
        return substitute(add(*parts), back)  # type: ignore[arg-type]

    # -- Gaussian blocks ---

    def square(self, rows: Rows) -> Expression | Declined:
        """`E -weight/2 (form)^2`, the weight holding the scale of the block."""
        owners = {id(self.owner(part.variable)): self.owner(part.variable) for part in rows.parts}
        if len(owners) != 1:
            return Declined(WORD, f"{rows.owner} mixes unknowns of several blocks")
        block = next(iter(owners.values()))
        assert isinstance(block, GaussianConditional)
        if block.statement.outer:
            return Declined(WORD, f"the posterior of {rows.parts[0].variable} depends on unknowns of another plate")
        form = _at_means(residual(rows), rows.variables)
        spread = self.spread(rows, block)
        known, scale = parted(rows.weight, self.unknown)
        if rows.outputs is not None and rows.matrix is not None and mentions(rows.matrix, set(self.unknown)):
            return self.matrix_square(rows, form, spread, known, scale)
        expected_scale: Expression | Declined = ONE
        if scale != ONE:
            expected_scale = self.moments(scale)
            if isinstance(expected_scale, Declined):
                return expected_scale
        if rows.outputs is not None:
            return Declined(WORD, f"{rows.owner} has a known matrix and a scalar scale")
        if mentions(block.scale, set(self.unknown)):
            # the scale of the rows is the scale of the block: it cancels in the spread
            inside = add(multiply(expected_scale, form**2), spread)
        else:
            at = substitute(block.scale, self.batch_at(rows, block))
            inside = multiply(expected_scale, add(form**2, multiply(spread, at**-1)))
        return multiply(-0.5, known, inside)

    def matrix_square(
        self, rows: Rows, form: Expression, spread: Expression, known: Expression, scale: Expression
    ) -> Expression | Declined:
        assert rows.outputs is not None and rows.matrix is not None
        if scale != ONE:
            return Declined(WORD, f"{rows.owner} has a matrix and a scalar scale")
        row, column = rows.outputs
        matrix = self.expected_matrix(rows.matrix)
        if isinstance(matrix, Declined):
            return matrix
        inside = add(Quadratic(form, matrix, row, column), multiply(Size(row.plate), spread))
        return multiply(-0.5, known, inside)

    def expected_matrix(self, matrix: Expression) -> Expression | Declined:
        """`E S` of a Wishart, `E S^-1` of an inverse Wishart: the second statistic of either."""
        inner = matrix.matrix if isinstance(matrix, Inverse) else matrix
        if not isinstance(inner, Reference):
            return Declined(WORD, f"{matrix} is not a parameter by itself")
        owner = self.owner(inner.name)
        wanted = "InverseWishart" if isinstance(matrix, Inverse) else "Wishart"
        if not isinstance(owner, FamilyConditional) or owner.recognised.family.name != wanted:
            return Declined(WORD, f"{inner.name} is not {wanted}")
        at = inner.indices
        if isinstance(matrix, Inverse):
            at = (*inner.indices[:-2], matrix.at_row, matrix.at_column)
        return Reference(moment_name(inner.name, 1), at)

    def batch_at(self, rows: Rows, block: GaussianConditional) -> dict[Expression, Expression]:
        """Where the batch indices of a block are, seen from rows."""
        column = next(c for c in block.statement.columns if c.variable == rows.parts[0].variable)
        return {own: at for own, at in zip(column.at, rows.parts[0].at, strict=True) if own in block.statement.batch}

    def spread(self, rows: Rows, block: GaussianConditional) -> Expression:
        """`f' (R'R)^-1 f` for the features f of a row."""
        statement = block.statement
        batch = self.batch_at(rows, block)
        placed = []
        for number, part in enumerate(rows.parts):
            column = next(c for c in statement.columns if c.variable == part.variable)
            flat: Expression = Constant(0.0)
            for own, at in zip(column.at, part.at, strict=True):
                if own in column.dense:
                    assert isinstance(own, Index)
                    flat = add(multiply(flat, Size(own.plate)), at)
            position = add(_offset(statement.columns, part.variable), flat)
            rename: dict[Expression, Index] = {i: Index(f"{i.name}.{number}", i.plate) for i in part.inner}
            inner = [rename[i] for i in part.inner]
            placed.append((substitute(position, rename), substitute(part.coefficient, rename), inner))
        terms = []
        where = tuple(batch[own] for own in statement.batch)
        for one, first, inner_one in placed:
            for two, second, inner_two in placed:
                again: dict[Expression, Index] = {i: Index(f"{i.name}*", i.plate) for i in inner_two}
                element = Reference(covariance_name(statement.name), (*where, one, substitute(two, again)))
                product = multiply(first, substitute(second, again), element)
                terms.append(totals(product, [*inner_one, *again.values()]))
        return add(*terms)


def _of_matrix(atom: Expression, name: str) -> Expression | None:
    """Log determinant and inverse of a matrix parameter: the two statistics of its family."""
    match atom:
        case LogDeterminant(Reference(found, at), _, _) if found == name:
            return Reference(moment_name(name, 0), at[:-2])
        case Inverse(Reference(found, at), _, _, row, column) if found == name:
            return Reference(moment_name(name, 1), (*at[:-2], row, column))
    return None


def _at_means(expression: Expression, variables: frozenset[str]) -> Expression:
    """The same expression with unknowns replaced by their means, wherever they stand."""
    if isinstance(expression, Reference) and expression.name in variables:
        return Reference(mean_name(expression.name), tuple(_at_means(at, variables) for at in expression.indices))
    return rebuild(expression, lambda part: _at_means(part, variables))


def _offset(columns: Sequence[object], variable: str) -> Expression:
    found: Expression = Constant(0.0)
    for column in columns:
        if column.variable == variable:  # type: ignore[attr-defined]
            return found
        found = add(found, multiply(*(Size(index.plate) for index in column.dense)))  # type: ignore[attr-defined]
    return found


def _statistic_axes(statistic: Expression, node: Variable) -> tuple[Index, ...]:
    from platewright.algebra.expression import free_indices

    free = free_indices(statistic)
    return tuple(axis for axis in node.axes if axis in free or axis in node.plates)
