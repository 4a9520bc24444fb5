"""Expected log factors under the posterior of the parameters: what mean field puts in place of plain ones.

    E log theta[k]               a moment of the family (Lemma 4.2)
    E phi (f'u - y)^2            = E phi (f' E u - y)^2 + sum of squared loadings, for u Gaussian with scale phi

Moments become named arrays; the expression that comes out is known, like the one it replaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from platewright.algebra.build import add, multiply, substitute, total, totals
from platewright.algebra.expand import Inseparable, Term, expand
from platewright.algebra.expression import (
    ONE,
    Expression,
    Index,
    Inverse,
    LogDeterminant,
    Multiply,
    Quadratic,
    Reference,
    Size,
    mentions,
    names,
    rebuild,
    walk,
)
from platewright.algebra.facts import Facts
from platewright.elimination.loadings import (
    direction,
    gaussian_arrays,
    loading_name,
    mean_name,
    owner_of,
    sources_of,
    without_output,
)
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

    @cached_property
    def arrays(self) -> dict[str, tuple[Index, ...]]:
        """The moments that expectations may refer to, with their axes."""
        found = gaussian_arrays(self.conditionals, self.nodes)
        for conditional in self.conditionals:
            if isinstance(conditional, FamilyConditional):
                node = self.nodes[conditional.variable]
                for statistic, number in _statistics(conditional, node).items():
                    found[moment_name(node.name, number)] = _statistic_axes(statistic, node)
        return found

    @property
    def gaussian(self) -> frozenset[str]:
        """Parameters in Gaussian blocks."""
        found = [c for c in self.conditionals if isinstance(c, GaussianConditional)]
        return frozenset(name for conditional in found for name in conditional.variables)

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
        if (of_matrix := self.known_residual(term)) is not None:
            return of_matrix
        if mentions(term, set(self.gaussian)):
            rows = square_of(owner, axes, term, self.gaussian)
            return rows if isinstance(rows, Declined) else self.square(rows)
        return self.moments(term)

    def known_residual(self, term: Expression) -> Expression | Declined | None:
        """A quadratic form whose matrix alone holds a parameter stays a quadratic form, with the expected matrix."""
        factors = term.factors if isinstance(term, Multiply) else (term,)
        holding = [factor for factor in factors if mentions(factor, set(self.unknown))]
        if len(holding) != 1 or not isinstance(holding[0], Quadratic) or mentions(holding[0].residual, self.unknown):
            return None
        whole = holding[0]
        matrix = self.expected_matrix(whole.matrix)
        if isinstance(matrix, Declined):
            return matrix
        others = [factor for factor in factors if factor is not whole]
        return multiply(*others, Quadratic(whole.residual, matrix, whole.row, whole.column))

    # -- families ---

    def moments(self, term: Expression) -> Expression | Declined:
        """The expectation of a term; what is known in it stays as it is written, squares and all."""
        factors = term.factors if isinstance(term, Multiply) else (term,)
        known = [factor for factor in factors if not mentions(factor, set(self.unknown))]
        holding = [factor for factor in factors if mentions(factor, set(self.unknown))]
        try:
            terms = expand(multiply(*holding), self.unknown, self.facts)
        except Inseparable as tied:
            return Declined(WORD, f"{tied.part} {tied.reason}")
        parts: list[Expression] = []
        for found in terms:
            expected = self.atoms(found)
            if isinstance(expected, Declined):
                return expected
            parts.append(totals(multiply(found.weight, expected), found.indices))
        return multiply(*known, add(*parts))

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
        owner = owner_of(self.conditionals, name)
        if not isinstance(owner, FamilyConditional):
            return Declined(WORD, f"{name} has no family")
        if any(mentions(value, set(self.unknown)) for value in owner.parameters.values()):
            return Declined(WORD, f"the posterior of {name} depends on other parameters")
        node = self.nodes[name]
        found = owner.recognised
        if (of_matrix := _of_matrix(atom, name, found.family.name)) is not None:
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
        statistics = _statistics(owner, node)
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
        """`E -weight/2 (form)^2`, the weight holding the scale of the block: a square at the means, and loadings."""
        known, scale = parted(rows.weight, self.unknown)
        own_matrix = rows.matrix is not None and mentions(rows.matrix, set(self.unknown))
        if own_matrix and scale != ONE:
            return Declined(WORD, f"{rows.owner} has a matrix and a scalar scale")
        expected_scale = ONE if scale == ONE else self.moments(scale)
        matrix = self.expected_matrix(rows.matrix) if own_matrix and rows.matrix is not None else rows.matrix
        if isinstance(expected_scale, Declined):
            return expected_scale
        if isinstance(matrix, Declined):
            return matrix
        at_means = _squared(_at_means(residual(rows), rows.variables), rows, matrix)
        terms = [multiply(-0.5, known, expected_scale, at_means)]
        # The scale of the rows is the scale of the block: it cancels in the spread, as an own matrix does but for its
        # size.
        scaled = own_matrix or any(mentions(owner.scale, set(self.unknown)) for owner in self.owners(rows))
        weight = multiply(-0.5, known, ONE if scaled else expected_scale)
        for moved, along in self.directions(rows):
            spread = moved**2 if own_matrix else _squared(moved, rows, matrix)
            copies = Size(rows.outputs[0].plate) if own_matrix and rows.outputs is not None else ONE
            terms.append(multiply(weight, copies, total(spread, along)))
        return add(*terms)

    def owners(self, rows: Rows) -> list[GaussianConditional]:
        """The Gaussian blocks that rows touch."""
        found = [owner_of(self.conditionals, part.variable) for part in rows.parts]
        return [owner for owner in found if isinstance(owner, GaussianConditional)]

    def directions(self, rows: Rows) -> list[tuple[Expression, Index]]:
        """How the form of rows moves with each noise that its unknowns move with."""
        moved: dict[str, list[Expression]] = {}
        for part, owner in zip(rows.parts, self.owners(rows), strict=True):
            at = tuple(part.at[number] for number in without_output(owner, part.variable))
            for source in sources_of(self.conditionals, part.variable):
                loading = Reference(loading_name(part.variable, source), (*at, direction(source)))
                moved.setdefault(source, []).append(totals(multiply(part.coefficient, loading), part.inner))
        return [(add(*parts), direction(source)) for source, parts in moved.items()]

    def expected_matrix(self, matrix: Expression) -> Expression | Declined:
        """`E S` of a Wishart, `E S^-1` of an inverse Wishart: the second statistic of either."""
        inner = matrix.matrix if isinstance(matrix, Inverse) else matrix
        if not isinstance(inner, Reference):
            return Declined(WORD, f"{matrix} is not a parameter by itself")
        owner = owner_of(self.conditionals, inner.name)
        wanted = "InverseWishart" if isinstance(matrix, Inverse) else "Wishart"
        if not isinstance(owner, FamilyConditional) or owner.recognised.family.name != wanted:
            return Declined(WORD, f"{inner.name} is not {wanted}")
        at = inner.indices
        if isinstance(matrix, Inverse):
            at = (*inner.indices[:-2], matrix.at_row, matrix.at_column)
        return Reference(moment_name(inner.name, 1), at)


def _squared(form: Expression, rows: Rows, matrix: Expression | None) -> Expression:
    """The square of a form, or its quadratic form over the outputs of the rows."""
    if rows.outputs is None or matrix is None:
        return form**2
    return Quadratic(form, matrix, *rows.outputs)


def _of_matrix(atom: Expression, name: str, family: str) -> Expression | None:
    """Log determinant of a matrix parameter, and inverse of one that is inverse Wishart: statistics of their family."""
    match atom:
        case LogDeterminant(Reference(found, at), _, _) if found == name:
            return Reference(moment_name(name, 0), at[:-2])
        case Inverse(Reference(found, at), _, _, row, column) if found == name and family == "InverseWishart":
            return Reference(moment_name(name, 1), (*at[:-2], row, column))
    return None


def _at_means(expression: Expression, variables: frozenset[str]) -> Expression:
    """The same expression with unknowns replaced by their means, wherever they stand."""
    if isinstance(expression, Reference) and expression.name in variables:
        return Reference(mean_name(expression.name), tuple(_at_means(at, variables) for at in expression.indices))
    return rebuild(expression, lambda part: _at_means(part, variables))


def _statistics(conditional: FamilyConditional, node: Variable) -> dict[Expression, int]:
    """The statistics of the family of an unknown, written in the unknown, with their numbers."""
    x = Argument(node.symbol, node.events)
    family = conditional.recognised.family
    return {filled(found, {"x": x}, node.events): number for number, found in enumerate(family.statistics)}


def _statistic_axes(statistic: Expression, node: Variable) -> tuple[Index, ...]:
    from platewright.algebra.expression import free_indices

    free = free_indices(statistic)
    return tuple(axis for axis in node.axes if axis in free or axis in node.plates)
