"""Eliminate unknowns one after another until none is left, or say which condition stops it.

The order matters: a mean before its precision, a weight before its noise. Gaussian blocks go first, other families
next, variables with finitely many values last; an order that gets stuck is undone and the next one tried.
"""

from __future__ import annotations

from collections.abc import Iterator

from platewright.algebra.build import log_sum_exp, substitute, totals
from platewright.algebra.domain import Domain
from platewright.algebra.expression import Expression, Index, Reference, mentions, names, walk
from platewright.elimination.state import FamilyConditional, GaussianConditional, State, TableConditional
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.operations.eliminate_gaussian import eliminate_gaussian
from platewright.program.statements import Assign
from platewright.recognition.groups import choose_group
from platewright.recognition.recognise import Recognised, recognise
from platewright.recognition.rows import Rows, Split, split_rows

MOST_TRIES = 400


class Search:
    """Depth-first over elimination orders, remembering which remainders cannot be solved."""

    def __init__(self) -> None:
        self.dead: set[frozenset[str]] = set()
        self.tries = 0
        self.reasons: dict[str, str] = {}

    def solve(self, state: State) -> State | None:
        """A state without unknowns, or None when every order gets stuck."""
        if not state.unknown:
            return state
        rest = frozenset(state.unknown)
        if rest in self.dead or self.tries > MOST_TRIES:
            return None
        for after in self.moves(state):
            self.tries += 1
            solved = self.solve(after)
            if solved is not None:
                return solved
            if self.is_safe(state, after):
                break
        self.dead.add(rest)
        return None

    def is_safe(self, before: State, after: State) -> bool:
        """An elimination whose conditional holds no other unknown cannot have been the wrong one."""
        last = after.conditionals[-1]
        if isinstance(last, FamilyConditional):
            others = set(before.unknown) - {last.variable}
            return not any(mentions(value, others) for value in last.parameters.values())
        return False

    def moves(self, state: State) -> Iterator[State]:
        """States one elimination further, the most promising first."""
        found = gaussian_move(state)
        if isinstance(found, State):
            yield found
        else:
            for name in _gaussian_candidates(state):
                self.reasons[name] = found.reason
        for name in state.unknown:
            if state.nodes[name].domain.is_finite:
                continue
            moved = family_move(state, name)
            if isinstance(moved, State):
                yield moved
            elif name not in self.reasons or not _gaussian_candidates(state):
                self.reasons[name] = moved.reason
        for name in state.unknown:
            if not state.nodes[name].domain.is_finite:
                continue
            moved = table_move(state, name)
            if isinstance(moved, State):
                yield moved
            else:
                self.reasons[name] = moved.reason


# -- Gaussian blocks --------------------------------------------------------------------------------------------------


def _gaussian_candidates(state: State) -> list[str]:
    unbounded = Domain("real")
    return [n for n in state.unknown if state.nodes[n].domain == unbounded or state.nodes[n].domain.kind == "vector"]


def gaussian_move(state: State) -> State | Declined:
    """Eliminate the first group of the largest set of unknowns in which the log joint is a sum of squares."""
    block: list[str] = []
    reason = Declined("gaussian block", "no unknown ranges over the whole real line")
    for name in _gaussian_candidates(state):
        found = _rows(state, [*block, name])
        if isinstance(found, Declined):
            reason = found
        else:
            block.append(name)
    if not block:
        return reason
    split = _rows(state, block)
    assert not isinstance(split, Declined)
    rows, rest = split
    group = choose_group(rows, block, state.nodes)
    done = eliminate_gaussian(f"block{state.blocks + 1}", rows, group, state.nodes, frozenset(state.unknown))
    if isinstance(done, Declined):
        return done
    kept = [found for found in rows if not set(group.variables) & found.variables]
    factors = [factor for factor in state.factors if not set(block) & factor.names]
    # At its best value a Gaussian block leaves its residual only; the volume belongs to the integral.
    left = done.factors[1:] if state.maximise else done.factors
    factors += [*rest, *(_as_factor(found) for found in kept), *left]
    named = ", ".join(group.variables)
    over = f" for each {', '.join(group.batch)}" if group.batch else ""
    return state.after(
        factors=tuple(factors),
        unknown=tuple(name for name in state.unknown if name not in group.variables),
        computed={**state.computed, **done.computed},
        statements=(*state.statements, *done.pools, done.statement),
        conditionals=(*state.conditionals, GaussianConditional(done.statement, done.scale, done.matrix)),
        log=(*state.log, f"{named}: jointly Gaussian given the rest{over}; scale {done.scale}"),
        blocks=state.blocks + 1,
    )


def _rows(state: State, block: list[str]) -> tuple[list[Rows], list[Factor]] | Declined:
    rows: list[Rows] = []
    rest: list[Factor] = []
    for factor in state.factors:
        if not set(block) & factor.names:
            continue
        found = split_rows(factor, set(block))
        if isinstance(found, Declined):
            return found
        assert isinstance(found, Split)
        rows.extend(found.rows)
        rest.extend(found.rest)
    return rows, rest


def _as_factor(rows: Rows) -> Factor:
    from platewright.algebra.build import multiply, power
    from platewright.algebra.expression import Quadratic
    from platewright.recognition.rows import residual

    form = residual(rows)
    square: Expression = power(form, 2.0)
    if rows.outputs is not None and rows.matrix is not None:
        square = Quadratic(form, rows.matrix, *rows.outputs)
    return Factor(rows.owner, rows.axes, multiply(-0.5, rows.weight, square))


# -- families of the shelf -------------------------------------------------------------------------------------------


def family_move(state: State, name: str) -> State | Declined:
    """Eliminate one unknown whose conditional is recognised."""
    node = state.nodes[name]
    touching = state.touching(name)
    found = recognise(touching, node, state.facts)
    if isinstance(found, Declined):
        return found
    others = set(state.unknown) - {name}
    settled = not any(mentions(value, others) for value in found.parameters.values())
    if state.maximise and not settled:
        return Declined(f"maximise {name}", f"the mode of `{name}` depends on other unknowns")
    parameters, statements, computed = _parameters(name, found) if settled else (found.parameters, (), {})
    normaliser = _normaliser(found, parameters)
    factors = [factor for factor in state.factors if factor not in touching]
    factors.append(Factor(f"{name}: rest", (), found.rest))
    factors.append(Factor(f"{name}: normaliser", node.plates, normaliser))
    shown = ", ".join(f"{key} = {value}" for key, value in found.parameters.items())
    changed = "" if found.transform.name == "identity" else f" (as {found.transform.name} of it)"
    return state.after(
        factors=tuple(factors),
        unknown=tuple(other for other in state.unknown if other != name),
        computed={**state.computed, **computed},
        statements=(*state.statements, *statements),
        conditionals=(*state.conditionals, FamilyConditional(name, found, parameters)),
        log=(*state.log, f"{name}: {found.family.name}{changed} with {shown}"),
    )


def _parameters(
    name: str, found: Recognised
) -> tuple[dict[str, Expression], tuple[Assign, ...], dict[str, tuple[Index, ...]]]:
    """Parameters that hold no unknown get names, so that they are computed once."""
    references: dict[str, Expression] = {}
    statements = []
    computed = {}
    for parameter, value in found.parameters.items():
        rank = found.family.parameter(parameter).rank
        axes = (*found.target.plates, *found.target.events[:rank])
        label = f"{name}_{parameter}"
        because = f"{name} given the statistics: {found.family.name}"
        statements.append(Assign(label, axes, value, because))
        computed[label] = axes
        references[parameter] = Reference(label, axes)
    return references, tuple(statements), computed


def _normaliser(found: Recognised, parameters: dict[str, Expression]) -> Expression:
    from platewright.family import Argument, filled

    axes = found.target.events
    ranked = {key: Argument(value, axes[: found.family.parameter(key).rank]) for key, value in parameters.items()}
    return filled(found.family.log_normaliser, ranked, axes)


# -- finite tables ---------------------------------------------------------------------------------------------------


def table_move(state: State, name: str) -> State | Declined:
    """Sum out a variable with finitely many values: one log weight for each, then a log-sum-exp."""
    node = state.nodes[name]
    word = f"sum out {name}"
    if state.maximise and len(state.unknown) > 1:
        return Declined(word, f"the mode of `{name}` depends on other unknowns")
    if node.axes and any(_coupled(factor, name) for factor in state.touching(name)):
        return Declined(word, f"different elements of `{name}` meet in one factor")
    plate = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    level = Index(f"{name}.level", plate)
    weights: list[Expression] = []
    for factor in state.touching(name):
        moved = _at_level(factor, name, node.axes, level)
        if isinstance(moved, Declined):
            return moved
        weights.append(moved)
    from platewright.algebra.build import add

    whole = add(*weights)
    factors = [factor for factor in state.factors if name not in factor.names]
    factors.append(Factor(f"{name}: summed", node.plates, log_sum_exp(whole, level)))
    return state.after(
        factors=tuple(factors),
        unknown=tuple(other for other in state.unknown if other != name),
        conditionals=(*state.conditionals, TableConditional(name, level, whole)),
        log=(*state.log, f"{name}: summed over its {plate.split('.')[0]} values"),
    )


def _places(factor: Factor, name: str) -> set[tuple[Expression, ...]]:
    return {n.indices for n in walk(factor.expression) if isinstance(n, Reference) and n.name == name}


def _coupled(factor: Factor, name: str) -> bool:
    return len(_places(factor, name)) > 1


def _at_level(factor: Factor, name: str, axes: tuple[Index, ...], level: Index) -> Expression | Declined:
    """A factor's contribution to one element of the variable, with the variable set to `level`."""
    place = next(iter(_places(factor, name)))
    expression = substitute(factor.expression, {Reference(name, place): level})
    changes: dict[Expression, Expression] = {}
    for axis, at in zip(axes, place, strict=True):
        if not isinstance(at, Index) or at not in factor.axes or at in changes:
            return Declined(f"sum out {name}", f"`{name}` is looked up at {at} in {factor.owner}")
        changes[at] = axis
    left = [axis for axis in factor.axes if axis not in changes]
    return totals(substitute(expression, changes), left)


def unsolved(search: Search, state: State) -> str:
    """The reasons that stopped the elimination, one sentence for each unknown."""
    return "; ".join(search.reasons[name] for name in state.unknown if name in search.reasons)


def holds_unknown(expression: Expression, unknown: set[str]) -> bool:
    """Whether an expression still refers to unknowns."""
    return bool(names(expression) & unknown)
