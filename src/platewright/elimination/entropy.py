"""The entropy of a posterior that is a chain of conditionals, from its parameters and moments.

    family      log Z - sum_i natural_i E t_i + E log |dx / dy|        for x a function of y, which follows the family
    Gaussian    d/2 log(2 pi e) - log det R - d/2 E log phi            for d unknowns with root R and scale phi

Conditionals add up: the entropy of a chain is the sum of the expected entropies of its links.
"""

from __future__ import annotations

import math

from platewright.algebra.build import add, log, log_determinant, multiply, substitute, totals
from platewright.algebra.expand import expand
from platewright.algebra.expression import ONE, ZERO, Expression, Index, Reference, Size, free_indices, mentions
from platewright.algebra.facts import Facts
from platewright.elimination.expected import WORD, Expecter, moment_name
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.family import EVENT, EVENT_TOO, Argument, filled
from platewright.operation import Declined
from platewright.recognition.transform import IDENTITY


def entropy_of(expecter: Expecter) -> Expression | Declined:
    """The entropy as one expression of parameters (`tau.shape`), roots (`block1.log_root`) and moments."""
    parts: list[Expression] = []
    for conditional in expecter.conditionals:
        match conditional:
            case FamilyConditional():
                found = _of_family(conditional, expecter)
            case GaussianConditional():
                found = _of_gaussian(conditional, expecter)
            case _:
                found = Declined(WORD, f"{conditional.variable} has finitely many values")
        if isinstance(found, Declined):
            return found
        parts.append(found)
    return add(*parts)


def _of_family(conditional: FamilyConditional, expecter: Expecter) -> Expression | Declined:
    node = expecter.nodes[conditional.variable]
    family, transform = conditional.recognised.family, conditional.recognised.transform
    if any(mentions(value, expecter.unknown) for value in conditional.parameters.values()):
        return Declined(WORD, f"the posterior of {node.name} depends on other parameters")
    if family.base != ZERO:
        return Declined(WORD, f"the base measure of {family.name} has no expectation in closed form")
    axes = node.events
    given = {
        name: Argument(value, axes[: family.parameter(name).rank]) for name, value in conditional.parameters.items()
    }
    parts = [filled(family.log_normaliser, given, axes)]
    for number, (natural, statistic) in enumerate(zip(family.natural, family.statistics, strict=True)):
        events = tuple(axis for axis in (EVENT, EVENT_TOO) if axis in free_indices(statistic))
        moment = Argument(Reference(moment_name(node.name, number), (*node.plates, *axes[: len(events)])), axes)
        product = multiply(-1.0, natural, Reference("moment", events))
        parts.append(filled(totals(product, events), {**given, "moment": moment}, axes))
    if transform is not IDENTITY:
        y = Reference("y")
        for term in expand(transform.log_jacobian, {"y"}, Facts({"y": ()}, {"y": transform.domain})):
            if not term.atoms:
                parts.append(term.weight)
                continue
            written = [substitute(statistic, {Reference("x"): y}) for statistic in family.statistics]
            key = multiply(*term.atoms)
            if key not in written:
                return Declined(WORD, f"the expectation of {key} is not a moment of {family.name}")
            parts.append(multiply(term.weight, Reference(moment_name(node.name, written.index(key)), node.plates)))
    return totals(add(*parts), node.plates)


def _of_gaussian(conditional: GaussianConditional, expecter: Expecter) -> Expression | Declined:
    statement = conditional.statement
    columns = statement.columns[: statement.eliminated]
    count = add(*(multiply(*(Size(index.plate) for index in column.dense)) for column in columns))
    copies: Expression = ONE if statement.output is None else Size(statement.output.plate)
    parts = [
        multiply(0.5 * math.log(2 * math.pi * math.e), count, copies),
        multiply(-1.0, copies, Reference(f"{statement.name}.log_root", statement.batch)),
    ]
    logs = [] if conditional.scale == ONE else [multiply(copies, log(conditional.scale))]
    if conditional.matrix is not None:
        assert statement.output is not None
        too = Index(statement.output.name + "'", statement.output.plate)
        logs.append(log_determinant(conditional.matrix, statement.output, too))
    for found in logs:
        expected = expecter.moments(found)
        if isinstance(expected, Declined):
            return expected
        parts.append(multiply(-0.5, count, expected))
    return totals(add(*parts), statement.batch)
