"""Eliminate a block of Gaussian unknowns: the largest set in which the log joint is a sum of weighted squares."""

from __future__ import annotations

from platewright.algebra.build import multiply, power
from platewright.algebra.expression import Expression, Quadratic, names
from platewright.elimination.state import GaussianConditional, State
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.operations.eliminate_gaussian import eliminate_gaussian
from platewright.recognition.groups import Group, choose_group, group_alone
from platewright.recognition.rows import Rows, Split, residual, rows_touching, split_rows
from platewright.recognition.scales import no_common_scale, scales_of
from platewright.recognition.spread import spread


def _gaussian_candidates(state: State) -> list[str]:
    return [name for name in state.unknown if state.nodes[name].domain.is_unbounded]


def gaussian_block(state: State) -> tuple[list[str], dict[str, str]]:
    """The largest set of unknowns in which the log joint is a sum of squares, and why the others are not in it."""
    block: list[str] = []
    refused: dict[str, str] = {}
    waiting = [_gaussian_candidates(state)]
    while waiting:
        # What is linear in many unknowns is linear in any of them: all are tried at once, and halves where that fails.
        some = waiting.pop()
        found = squares_of(state, [*block, *some], frozenset(some))
        if not isinstance(found, Declined):
            block += some
        elif len(some) == 1:
            refused[some[0]] = found.reason
        else:
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
    return block, refused


def tied_scales(state: State, block: list[str]) -> dict[str, str]:
    """Why unknowns with several unknown scales are not worth eliminating: their precision would be a sum of scales."""
    split = squares_of(state, block)
    if isinstance(split, Declined):
        return {}
    tied: dict[str, str] = {}
    unknown = frozenset(state.unknown)
    for name, rows in rows_touching(split[0]).items():
        scales = scales_of(rows, unknown)
        used = {other for scale in scales for other in names(scale) & unknown}
        if len(scales) > 1 and not all(state.nodes[other].domain.is_finite for other in used):
            tied[name] = no_common_scale([name], scales, unknown)
    return {name: tied[name] for name in block if name in tied}


def gaussian_move(state: State, block: list[str], first: str = "", group: Group | None = None) -> State | Declined:
    """Eliminate a group of a block of unknowns in which the log joint is a sum of squares.

    It is the group that leaves the least to do, or that of the unknown that is to go `first`, or a given one.
    """
    if not block:
        return Declined("gaussian block", "no unknown ranges over the whole real line")
    split = squares_of(state, block)
    assert not isinstance(split, Declined)
    rows, rest = split
    if first:
        group = group_alone(first, rows, block, state.nodes, state.chains)
    elif group is None:
        group = choose_group(rows, block, state.nodes, sizes_of(state), state.chains)
    done = eliminate_gaussian(f"block{state.blocks + 1}", rows, group, state.nodes, frozenset(state.unknown))
    if isinstance(done, Declined):
        return done
    gone, held = frozenset(group.variables), frozenset(block)
    kept = [found for found in rows if gone.isdisjoint(found.variables)]
    factors = [factor for factor in state.factors if held.isdisjoint(factor.names)]
    # At its best value a Gaussian block leaves its residual only; the volume belongs to the integral.
    left = done.factors[1:] if state.maximise else done.factors
    factors += [*rest, *(_as_factor(found) for found in kept), *left]
    named = ", ".join(group.variables)
    over = f" for each {', '.join(group.batch)}" if group.batch else ""
    over += f", step by step along {group.along}" if group.along is not None else ""
    return state.after(
        factors=tuple(factors),
        unknown=tuple(name for name in state.unknown if name not in gone),
        computed={**state.computed, **done.computed},
        statements=(*state.statements, *done.pools, done.statement),
        conditionals=(*state.conditionals, GaussianConditional(done.statement, done.scale, done.matrix)),
        log=(*state.log, f"{named}: jointly Gaussian given the rest{over}; scale {done.scale}"),
        blocks=state.blocks + 1,
    )


def sizes_of(state: State) -> dict[str, int] | None:
    """The sizes of plates, or about; None where neither model nor data have told those of the unknowns yet."""
    about = state.graph.about
    sizes = {name: about.get(name) if plate.size is None else plate.size for name, plate in state.graph.plates.items()}
    found = {name: size for name, size in sizes.items() if size is not None}
    wanted = {axis.plate for name in _gaussian_candidates(state) for axis in state.nodes[name].axes}
    return found if wanted <= set(found) else None


def squares_of(
    state: State, block: list[str], some: frozenset[str] | None = None
) -> tuple[list[Rows], list[Factor]] | Declined:
    """The factors that hold a block (or `some` of it) as rows of squares and what is left of them."""
    rows: list[Rows] = []
    rest: list[Factor] = []
    held = frozenset(block)
    for factor in state.factors:
        if (held if some is None else some).isdisjoint(factor.names):
            continue
        found = split_rows(factor, held)
        if isinstance(found, Declined):
            return found
        assert isinstance(found, Split)
        rows.extend(spread(one, state.nodes) for one in found.rows)
        rest.extend(found.rest)
    return rows, rest


def _as_factor(rows: Rows) -> Factor:
    form = residual(rows)
    square: Expression = power(form, 2.0)
    if rows.outputs is not None and rows.matrix is not None:
        square = Quadratic(form, rows.matrix, *rows.outputs)
    return Factor(rows.owner, rows.axes, multiply(-0.5, rows.weight, square))
