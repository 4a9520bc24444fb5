"""Parameters whose mode has no closed form: the part of the expected log joint that holds them, and its slopes.

    sum_n sum_k p(z[n] = k | data, parameters) log p(x[n] | theta[k]) + log p(theta)

Each log factor that is a sum of `w(theta) t(row)` leaves statistics, and N is gone; any other stays a sum over rows and
over the values of their hidden variables. No maximum is needed: whatever raises this sum raises the objective
(generalised EM; Dempster, Laird and Rubin 1977), and its slope is that of the objective itself (Equation 18).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.expand import Inseparable, expand
from platewright.algebra.expression import Constant, Expression, Power, Quadratic, Reference, mentions, walk
from platewright.algebra.zero_times_log import zero_wins
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.operations.remove_plate import collected
from platewright.program.derivatives import Bent, Slope
from platewright.program.program import Hoister, Program
from platewright.program.statements import Statistic
from platewright.schemas.concave import has_one_top
from platewright.schemas.exact import may_be_zero, program_of
from platewright.schemas.hidden import NAME
from platewright.schemas.predictors import bent_factors
from platewright.schemas.rough import coupled, touching
from platewright.schemas.slopes import MOST_KEPT, slopes_of


@dataclass(frozen=True)
class Draft:
    """The log factors of some parameters, as if all else were known: sums over rows, and terms of these sums."""

    variables: tuple[str, ...]
    why: str
    program: Program
    """Statistics, and for each factor that has none its own sum over rows."""
    terms: tuple[Factor, ...]
    owners: Mapping[str, str]
    """Whose factor a sum over rows is."""


@dataclass(frozen=True)
class Ascent:
    """Parameters that are raised along the slopes of expected log factors, all else being known."""

    variables: tuple[str, ...]
    why: str
    factors: tuple[Factor, ...]
    slopes: tuple[Slope, ...]
    bent: tuple[Bent, ...] = ()
    """The same by predictors, with all second derivatives; nothing where one of these is not known."""
    one_top: bool = False
    """Whether they are concave together and have a mode, which is then the only one."""


def draft_ascents(
    graph: Graph, factors: Sequence[Factor], hidden: frozenset[str], reasons: Mapping[str, str], taken: Iterable[str]
) -> tuple[Draft, ...] | Declined:
    """One draft for each set of parameters that meet, with others that they meet in the density of data.

    `taken` are names that no statistic may have.
    """
    for name in reasons:
        if reason := _refusal(graph, factors, name):
            return Declined(NAME, f"{reasons[name]}; and {reason}")
    found: list[Draft] = []
    for group in coupled(factors, list(reasons)):
        why = "; ".join(dict.fromkeys(reasons[name] for name in group))
        near = [name for name in _met(graph, factors, hidden, group) if not _refusal(graph, factors, name)]
        made = [*taken, *(statement.name for draft in found for statement in draft.program.passes)]
        found.append(_draft(graph, factors, hidden, [*group, *near], why, made))
    return tuple(found)


def _refusal(graph: Graph, factors: Sequence[Factor], name: str) -> str:
    """Why an unknown cannot be raised along slopes."""
    domain = graph.nodes[name].domain
    if domain.is_discrete:
        return f"`{name}` has no slope, for its values are apart"
    if domain.kind == "circle":
        return f"`{name}` is an angle, and coordinates of a circle have an end"
    slopes = slopes_of(touching(factors, (name,)), (name,), MOST_KEPT)
    return slopes.reason if isinstance(slopes, Declined) else ""


def _met(graph: Graph, factors: Sequence[Factor], hidden: frozenset[str], group: Sequence[str]) -> list[str]:
    """Parameters that data tie to those of a group: in turn with them, each would wait for the other."""
    seen = {name for f in touching(factors, group) if graph.is_likelihood(f, hidden) for name in f.names}
    return [name for name in graph.unknown if name in seen - set(group) - hidden]


def _draft(
    graph: Graph,
    factors: Sequence[Factor],
    hidden: frozenset[str],
    group: Sequence[str],
    why: str,
    taken: Sequence[str],
) -> Draft:
    known, is_open = replace(graph, known=frozenset(graph.nodes) - set(group)), may_be_zero(graph)
    columns = frozenset(name for name in graph.nodes if graph.is_known(name))
    hoister = Hoister(known.known, [*graph.nodes, *taken])
    rows: list[Statistic] = []
    terms: list[Factor] = []
    owners: dict[str, str] = {}
    for factor in touching(factors, group):
        term = _in_statistics(known, factor, hidden | columns, hoister)
        if term is None and mentions(factor.expression, hidden):
            rows.append(Statistic(hoister.fresh(f"rows_{factor.owner}"), (), factor.axes, factor.expression))
            owners[rows[-1].name] = factor.owner
            continue
        found = term or replace(factor, expression=hoister.hoist(factor.expression))
        terms.append(replace(found, expression=zero_wins(found.expression, is_open)))
    sums = [replace(s, summand=zero_wins(s.summand, is_open)) for s in hoister.statistics.values()]
    return Draft(tuple(group), why, program_of(known, (*sums, *rows), ()), tuple(terms), owners)


def _in_statistics(graph: Graph, factor: Factor, of_rows: frozenset[str], hoister: Hoister) -> Factor | None:
    """A factor as a sum of functions of the unknowns times statistics, where it is one.

    Squares of differences are never multiplied out, for their statistics would cancel.
    """
    wanted = frozenset(graph.unknown)
    if any(_is_difference(part, wanted) for part in walk(factor.expression)):
        return None
    try:
        terms = expand(factor.summed, wanted, graph.facts)
    except Inseparable:
        return None
    before = dict(hoister.statistics)
    whole = collected(terms, hoister)
    if mentions(whole, of_rows):
        hoister.statistics = before
        return None
    return Factor(factor.owner, (), whole)


def _is_difference(part: Expression, wanted: frozenset[str]) -> bool:
    """A power of something in which unknowns and what is known meet."""
    match part:
        case Quadratic():
            return mentions(part, wanted)
        case Power(base, Constant(degree)) if degree > 1:
            return mentions(base, wanted) and any(isinstance(p, Reference) and p.name not in wanted for p in walk(base))
    return False


def expected_ascent(draft: Draft, soft: Program, nodes: Mapping[str, Variable]) -> tuple[Ascent, Program] | Declined:
    """The ascent for expectations of hidden variables, and the program of the statistics that it needs."""
    rows = [s for s in soft.passes if isinstance(s, Statistic) and s.name in draft.owners]
    factors = (*draft.terms, *(Factor(draft.owners[row.name], row.over, row.summand) for row in rows))
    slopes = slopes_of(factors, draft.variables, MOST_KEPT)
    if isinstance(slopes, Declined):
        return Declined(NAME, slopes.reason)
    kept = tuple(statement for statement in soft.passes if statement not in rows)
    bent = bent_factors(factors, draft.variables)
    known = () if isinstance(bent, Declined) else bent
    one_top = has_one_top(known, draft.variables, nodes)
    return Ascent(draft.variables, draft.why, factors, slopes, known, one_top), replace(soft, passes=kept)
