"""Expand and collect: write an expression as `sum_i weight_i(rest) * t_i(targets)`  (Definition 4.1, Lemma 5.1).

    -(y[n] - mu[z[n]])^2 in mu    becomes    sum_k [z[n]=k] (-y[n]^2 + 2 y[n] mu[k] - mu[k]^2)

A nested index is split into cases first (Comment 4.1). What cannot be written so raises `Inseparable`, which names the
part that ties targets and the rest together: the reason of a refusal.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from platewright.algebra.build import add, at_most, call, equal, log_determinant, multiply, power, substitute, total
from platewright.algebra.expression import (
    ONE,
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Literal,
    LogDeterminant,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Sum,
    Where,
    all_indices,
    bound,
    free_indices,
    fresh,
    mentions,
    parts,
)
from platewright.algebra.facts import Facts

MOST_TERMS = 4000
FEW_TERMS = 24
"""Up to so many terms are multiplied out one by one, so that every product is seen; more are put together first."""
MOST_SWITCHES = 6


@dataclass(frozen=True, slots=True)
class Term:
    """`sum over indices of weight * product of atoms`; the weight is free of targets, each atom holds one."""

    indices: tuple[Index, ...]
    weight: Expression
    atoms: tuple[Expression, ...]


class Inseparable(Exception):
    """A part in which targets and other variables cannot be pulled apart."""

    def __init__(self, part: Expression, reason: str) -> None:
        super().__init__(f"{part}: {reason}")
        self.part = part
        self.reason = reason


def expand(expression: Expression, targets: Set[str], facts: Facts) -> list[Term]:
    """All terms of an expression in the targets."""
    terms = _Expander(frozenset(targets), facts).expand(expression)
    return [term for term in terms if term.weight != Constant(0.0)]


class _Expander:
    """Carries the targets through the recursion, and the terms of parts that were met before."""

    def __init__(self, targets: frozenset[str], facts: Facts) -> None:
        self.targets = targets
        self.facts = facts
        self.met: dict[Expression, list[Term]] = {}

    def free(self, expression: Expression) -> bool:
        return not mentions(expression, self.targets)

    def pure(self, expression: Expression) -> bool:
        """Nothing but targets, indices and numbers."""
        return all(
            not isinstance(node, Reference) or node.name in self.targets for node in parts(expression)
        ) and not any(isinstance(node, Literal) for node in parts(expression))

    def expand(self, expression: Expression) -> list[Term]:
        if self.free(expression):
            return [Term((), expression, ())]
        if expression not in self.met:
            self.met[expression] = self.expanded(expression)
        return self.met[expression]

    def expanded(self, expression: Expression) -> list[Term]:
        match expression:
            case Add(terms):
                return [term for part in terms for term in self.expand(part)]
            case Sum(index, body):
                return [self.summed(index, term) for term in self.expand(body)]
            case Where(condition, then, otherwise):
                return self.expand(multiply(condition, then)) + self.expand(multiply(1 - condition, otherwise))
        if (inner := self.inner_where(expression)) is not None:
            yes = substitute(expression, {inner: inner.then})
            no = substitute(expression, {inner: inner.otherwise})
            return self.expand(multiply(inner.condition, yes)) + self.expand(multiply(1 - inner.condition, no))
        if (case := self.nested(expression)) is not None:
            return self.expand(self.split(expression, *case))
        match expression:
            case Reference() | Indicator():
                return self.atom(expression)
            case Multiply(factors):
                return self.product([_together(self.expand(factor)) for factor in factors], expression)
            case Power(base, exponent):
                return self.powers(base, exponent, expression)
            case Call("log", (argument,)):
                return self.logarithm(argument, expression)
            case Call("exp", (argument,)):
                return self.exponential(argument, expression)
            case Call(
                "lgamma",
                (Add((Reference() as alone, Constant(1.0)) | (Constant(1.0), Reference() as alone)),),
            ) if self.facts.is_positive(alone):
                # Gamma(x + 1) = x Gamma(x): both forms must be seen as one, or they do not cancel
                return [*self.atom(call("lgamma", alone)), *self.expand(call("log", alone))]
            case Quadratic(residual, matrix, row, column):
                return self.expand(_written_out(residual, matrix, row, column))
            case LogDeterminant(matrix, row, column):
                return self.determinant(matrix, row, column, expression)
            case AtMost(low, high):
                return self.constraint(low, high, expression)
        return self.atom(expression)

    def atom(self, expression: Expression) -> list[Term]:
        if not self.pure(expression):
            raise Inseparable(expression, "ties the unknown to other variables inside a function")
        return [Term((), ONE, (expression,))]

    def summed(self, index: Index, term: Term) -> Term:
        if index in term.indices:
            term = _apart(term, {index})
        return Term((index, *term.indices), term.weight, term.atoms)

    # -- cases ---

    def inner_where(self, expression: Expression) -> Where | None:
        """A choice inside a function or product that holds a target."""
        for node in parts(expression):
            if isinstance(node, Where) and not self.free(node) and self.visible(expression, node):
                return node
        return None

    def switch(self, expression: Expression) -> Reference | None:
        """A variable of value 0 or 1 that is no target: `f(z) = z f(1) + (1 - z) f(0)`."""
        found = [
            node
            for node in parts(expression)
            if isinstance(node, Reference) and node.name not in self.targets and self.facts.is_binary(node)
        ]
        if len(set(found)) > MOST_SWITCHES:
            return None
        return next((node for node in found if self.visible(expression, node)), None)

    def nested(self, expression: Expression) -> tuple[Expression, str] | None:
        """A variable used as an index, where it or the indexed variable is a target; with the plate it ranges over.

        A target may also be looked up at a function of others: `rate[step(i - k)]`.
        """
        for node in parts(expression):
            if isinstance(node, (Sum, Quadratic, LogDeterminant, Inverse)):
                continue
            if not isinstance(node, (Reference, Literal)):
                continue
            plates = node.plates if isinstance(node, Literal) else self.facts.axes.get(node.name, ())
            for position, part in enumerate(node.indices):
                outer = isinstance(node, Reference) and node.name in self.targets
                if not isinstance(part, Reference) and not (outer and self.free(part) and not self.pure(part)):
                    continue
                if (outer or not self.free(part)) and self.visible(expression, part):
                    return part, plates[position]
        return None

    def visible(self, expression: Expression, part: Expression) -> bool:
        """Whether a part depends on no index bound inside the expression, so that it can be split on here."""
        own = free_indices(part)
        if not own <= free_indices(expression):
            return False
        # The same name may be free here and bound again inside: `sum_k (a[k] - sum_k a[k])^2`.
        again = any(not own.isdisjoint(bound(node)) for node in parts(expression))
        return not again or substitute(expression, {part: Constant(0.0)}) != expression

    def split(self, expression: Expression, part: Expression, plate: str) -> Expression:
        index = fresh(Index(plate, plate), all_indices(expression) | all_indices(part))
        return total(multiply(equal(part, index), substitute(expression, {part: index})), index)

    # -- rules ---

    def product(self, groups: list[list[Term]], whole: Expression) -> list[Term]:
        result = [Term((), ONE, ())]
        for group in groups:
            if len(result) * len(group) > MOST_TERMS:
                raise Inseparable(whole, f"has more than {MOST_TERMS} terms when multiplied out")
            result = [_times(left, right) for left in result for right in group]
        return result

    def powers(self, base: Expression, exponent: Expression, whole: Expression) -> list[Term]:
        if not self.free(exponent):
            if self.facts.is_positive(base):
                return self.expand(call("exp", multiply(exponent, call("log", base))))
            return self.atom(whole)
        terms = _together(self.expand(base))
        degree = exponent.value if isinstance(exponent, Constant) and float(exponent.value).is_integer() else None
        if len(terms) == 1 and not terms[0].indices:
            term = terms[0]
            # An atom that is positive leaves a weight that is positive wherever the power is real at all.
            if degree is not None or term.weight == ONE or all(self.facts.is_positive(atom) for atom in term.atoms):
                return [Term((), power(term.weight, exponent), tuple(power(atom, exponent) for atom in term.atoms))]
        if degree is not None and 2 <= degree <= 4:
            return self.product([terms] * int(degree), whole)
        return self.atom(whole)

    def logarithm(self, argument: Expression, whole: Expression) -> list[Term]:
        if (parts := self.parts_of_logarithm(argument)) is not None:
            return [term for part in parts for term in self.expand(part)]
        terms = self.expand(argument)
        if len(terms) == 1 and not terms[0].indices:
            term = terms[0]
            # The logarithm exists only where its argument is positive, so positive atoms leave a positive weight.
            if term.weight == ONE or all(self.facts.is_positive(atom) for atom in term.atoms):
                logs = [] if term.weight == ONE else [Term((), call("log", term.weight), ())]
                for atom in term.atoms:
                    logs.extend(self.log_of_atom(atom))
                return logs
        if (switch := self.switch(whole)) is not None:
            on, off = substitute(whole, {switch: ONE}), substitute(whole, {switch: Constant(0.0)})
            return self.expand(multiply(switch, on)) + self.expand(multiply(1 - switch, off))
        return self.atom(whole)

    def parts_of_logarithm(self, argument: Expression) -> list[Expression] | None:
        """`log(p (1 - q)^k)` as `log p + k log(1 - q)`, where sums of targets are above zero as they stand."""
        factors = argument.factors if isinstance(argument, Multiply) else (argument,)
        sums = [factor.base if isinstance(factor, Power) else factor for factor in factors]
        if not any(isinstance(part, Add) and not self.free(part) for part in sums) or sums == [argument]:
            return None
        if not all(self.facts.is_positive(part) for part in sums):
            return None
        return [
            multiply(factor.exponent if isinstance(factor, Power) else 1, call("log", part))
            for factor, part in zip(factors, sums, strict=True)
        ]

    def log_of_atom(self, atom: Expression) -> list[Term]:
        match atom:
            case Power(base, exponent) if self.free(exponent) and self.facts.is_positive(base):
                return [Term((), exponent, (call("log", base),))]
            case Call("exp", (inner,)):
                return self.expand(inner)
        return [Term((), ONE, (call("log", atom),))]

    def exponential(self, argument: Expression, whole: Expression) -> list[Term]:
        weight: list[Expression] = []
        atoms: list[Expression] = []
        for term in self.expand(argument):
            if not term.atoms:
                weight.append(call("exp", _summed_weight(term)))
                continue
            if term.indices or not isinstance(term.weight, Constant):
                raise Inseparable(whole, "ties the unknown to other variables inside exp")
            atoms.append(call("exp", multiply(term.weight, *term.atoms)))
        return [Term((), multiply(*weight), tuple(atoms))]

    def determinant(self, matrix: Expression, row: Index, column: Index, whole: Expression) -> list[Term]:
        rebuilt = log_determinant(matrix, row, column)
        if rebuilt != whole:
            return self.expand(rebuilt)
        return self.atom(whole)

    def constraint(self, low: Expression, high: Expression, whole: Expression) -> list[Term]:
        """A bound on a target stays whole: bounds are combined by maximum and minimum, not by addition."""
        lone = isinstance(low, Reference) and low.name in self.targets and self.free(high)
        lone = lone or (isinstance(high, Reference) and high.name in self.targets and self.free(low))
        if not lone:
            raise Inseparable(whole, "bounds the unknown through an expression")
        return [Term((), ONE, (at_most(low, high),))]


def _together(terms: list[Term]) -> list[Term]:
    """Many terms with the same atoms as one, whose weight is their sum."""
    if len(terms) <= FEW_TERMS:
        return terms
    weights: dict[tuple[Expression, ...], list[Expression]] = {}
    for term in terms:
        if not term.indices:
            weights.setdefault(term.atoms, []).append(term.weight)
    return [
        *(Term((), add(*found), atoms) for atoms, found in weights.items()),
        *(term for term in terms if term.indices),
    ]


def _summed_weight(term: Term) -> Expression:
    result = term.weight
    for index in term.indices:
        result = total(result, index)
    return result


def _written_out(residual: Expression, matrix: Expression, row: Index, column: Index) -> Expression:
    there = substitute(residual, {row: column})
    return Sum(row, Sum(column, multiply(matrix, residual, there)))


def _apart(term: Term, taken: Set[Index]) -> Term:
    """The same term with its summed indices renamed away from those taken."""
    used = set(taken) | set(term.indices) | set(all_indices(term.weight))
    for atom in term.atoms:
        used |= all_indices(atom)
    changes: dict[Expression, Expression] = {}
    for index in term.indices:
        if index in taken:
            new = fresh(index, used)
            used.add(new)
            changes[index] = new
    if not changes:
        return term
    return Term(
        tuple(changes.get(index, index) for index in term.indices),  # type: ignore[misc]
        substitute(term.weight, changes),
        tuple(substitute(atom, changes) for atom in term.atoms),
    )


def _times(left: Term, right: Term) -> Term:
    taken = set(left.indices) | all_indices(left.weight)
    for atom in left.atoms:
        taken |= all_indices(atom)
    if right.indices:
        right = _apart(right, taken)
    if left.indices:
        outside = set(free_indices(right.weight)) | {i for atom in right.atoms for i in free_indices(atom)}
        if clash := outside & set(left.indices) - set(right.indices):
            left = _apart(left, clash)
    product = multiply(*left.atoms, *right.atoms)
    atoms = product.factors if isinstance(product, Multiply) else (product,)
    atoms = tuple(atom for atom in atoms if atom != ONE)
    return Term((*left.indices, *right.indices), _ordered_product(left.weight, right.weight), atoms)


def _ordered_product(left: Expression, right: Expression) -> Expression:
    """`x y` and `y x` become the same product, so that equal terms are seen to be equal."""
    product = multiply(left, right)
    if not isinstance(product, Multiply) or isinstance(left, Constant) or isinstance(right, Constant):
        return product
    head = product.factors[:1] if isinstance(product.factors[0], Constant) else ()
    return Multiply((*head, *sorted(product.factors[len(head) :], key=str)))
