"""What the declarations of parameters mean for those cells that no line draws, and what of a program is drawn twice.

real<lower=0> s;            s ~ dflat() C(0, )                     flat on its range
simplex[K] p;               p[1:K] ~ ddirich((1, .., 1))           uniform
ordered[K] c;               c[k] ~ ... C(c[k - 1], )               each above the one before
y ~ normal(a, 1);  y ~ normal(b, 1);                               the second is a log factor
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.arithmetic import NotKnown, Scope, count_cells
from platewright.language.bugs.arrays import Fixed, Span, locate, spread
from platewright.language.bugs.densities import FACTOR
from platewright.language.bugs.relations import Relation, fix_index, flatten, lay_out
from platewright.language.bugs.syntax import Bounds, Density, Draw, Element, Number, Place, Range
from platewright.language.stan.reading.state import Head, State, Variable
from platewright.language.stan.reading.trouble import Trouble

Array = np.ndarray
MOST_SINGLE = 500
"""Cells of one variable that are written one by one."""
ORDERED = {"ordered", "positive_ordered"}


def settle(state: State, scope: Scope, shapes: dict[str, tuple[int, ...]], source: str) -> list[bugs.Statement]:
    """The statements with every cell of a variable drawn once, and every cell of a parameter drawn."""
    owned: dict[str, Array] = {}
    found: list[bugs.Statement] = []
    for number, whole in enumerate(state.said):
        relation = flatten([whole])[0]
        known = state.variables.get(relation.name)
        if not isinstance(relation.statement, Draw) or relation.statement.density.name == FACTOR or known is None:
            found.append(whole)
            continue
        shape = shapes.get(relation.name) if known.sizes else ()
        cells = None if shape is None else _cells(relation, shape, scope, source)
        if shape is not None and cells is not None:
            owner = owned.setdefault(relation.name, np.zeros(shape, dtype=bool))
            if owner[cells].any() or _repeats(cells, lay_out(relation, scope, source).shape):
                found.append(_as_factor(whole, relation, state.instead.get(number), state))
                continue
            owner[cells] = True
        found += _in_order(whole, relation, known)
        if number in state.masses:
            found.append(_as_factor(whole, relation, state.masses[number], state))
    for name, known in state.variables.items():
        if known.role == "parameter":
            found += _rest(name, known, owned.get(known.array), shapes, state)
    return found


def _repeats(cells: tuple[Array, ...], rounds: tuple[int, ...]) -> bool:
    """Whether one statement says some cell twice."""
    if not cells:
        return count_cells(rounds) > 1
    rows = np.stack([np.ravel(at) for at in np.broadcast_arrays(*cells)])
    return np.unique(rows, axis=1).shape[1] < rows.shape[1]


def _cells(relation: Relation, shape: tuple[int, ...], scope: Scope, source: str) -> tuple[Array, ...] | None:
    """The cells that a statement draws; None where they cannot be told."""
    try:
        grid = lay_out(relation, scope, source)
        spots = locate(relation.target, shape, grid, scope)
        if not all(isinstance(spot, (Fixed, Span)) for spot in spots):
            return None
        cells = spread(spots, grid)
    except (NotKnown, BugsError):
        return None
    if any((at < 0).any() or (at >= size).any() for at, size in zip(cells, shape)):
        raise Trouble(relation.place, f"`{relation.name}` is indexed outside its {shape}", "an index within the array")
    return cells


def _as_factor(
    whole: bugs.Statement, relation: Relation, instead: bugs.Expression | None, state: State
) -> bugs.Statement:
    """A log factor in the place of a draw: of what has been drawn before, its log density."""
    if instead is None:
        raise Trouble(relation.place, f"`{relation.name}` is drawn twice", "one `~` for each of its elements")
    loops = tuple(Element(head.variable, None, relation.place) for head in relation.loops)
    target = Element(state.fresh("target"), loops or None, relation.place)
    return _around(whole, Draw(target, Density(FACTOR, (instead,), None, relation.place), relation.place))


def _around(whole: bugs.Statement, inner: bugs.Statement) -> bugs.Statement:
    """Another statement inside the same loops."""
    if isinstance(whole, bugs.Loop):
        return replace(whole, body=(_around(whole.body[0], inner),))
    return inner


def _in_order(whole: bugs.Statement, relation: Relation, known: Variable) -> list[bugs.Statement]:
    """A draw of an ordered vector: each element is above the one before."""
    statement = relation.statement
    if known.base not in ORDERED:
        return [whole]
    assert isinstance(statement, Draw) and statement.target.indices
    last = statement.target.indices[-1]
    if isinstance(last, Number):
        return [_around(whole, _above(statement, last.value == 1.0))]
    if not isinstance(last, Element) or last.indices is not None:
        raise Trouble(relation.place, f"the elements of `{relation.name}` by a computed index", "a loop, or numbers")
    head = next((head for head in relation.loops if head.variable == last.name), None)
    if head is None or not isinstance(head.domain, Range) or head.domain.first != Number(1.0):
        return [_around(whole, _above(statement, False))]
    first = _only(whole, head.variable, _above(_at_one(statement, head.variable), True))
    others = _from_two(whole, head.variable, _above(statement, False))
    return [first] if head.domain.last == Number(1.0) else [first, others]


def _above(draw: Draw, is_first: bool) -> Draw:
    """A draw with the element before as its lower bound."""
    bounds = draw.density.bounds
    if is_first:
        return draw
    assert draw.target.indices
    last = draw.target.indices[-1]
    at = Number(last.value - 1, last.place) if isinstance(last, Number) else bugs.Operation("+", (last, Number(-1.0)))  # type: ignore[arg-type]
    before = replace(draw.target, indices=(*draw.target.indices[:-1], at))
    upper = None if bounds is None else bounds.upper
    return replace(draw, density=replace(draw.density, bounds=Bounds("C", before, upper, draw.place)))


def _at_one(draw: Draw, variable: str) -> Draw:
    arguments = tuple(fix_index(part, variable, 1) for part in draw.density.arguments)
    return replace(draw, target=fix_index(draw.target, variable, 1), density=replace(draw.density, arguments=arguments))


def _only(whole: bugs.Statement, variable: str, inner: Draw) -> bugs.Statement:
    """The statement without the loop over a variable."""
    if not isinstance(whole, bugs.Loop):
        return inner
    rest = _only(whole.body[0], variable, inner)
    return rest if whole.variable == variable else replace(whole, body=(rest,))


def _from_two(whole: bugs.Statement, variable: str, inner: Draw) -> bugs.Statement:
    if not isinstance(whole, bugs.Loop):
        return inner
    rest = _from_two(whole.body[0], variable, inner)
    if whole.variable != variable:
        return replace(whole, body=(rest,))
    assert isinstance(whole.domain, Range)
    return replace(whole, domain=replace(whole.domain, first=Number(2.0)), body=(rest,))


def _rest(
    name: str, known: Variable, owner: Array | None, shapes: dict[str, tuple[int, ...]], state: State
) -> list[bugs.Statement]:
    """Draws for the cells of a parameter that no line draws."""
    place = Place(0, 0)
    if owner is not None and owner.all():
        return []
    if owner is None or not owner.any():
        return _flat(known, known.sizes, None, place, state)
    events = 1 if known.base == "simplex" else 2 if known.base in ("cov_matrix", "corr_matrix") else 0
    left = np.argwhere(~(owner.all(axis=tuple(range(owner.ndim - events, owner.ndim))) if events else owner))
    if len(left) > MOST_SINGLE:
        raise Trouble(place, f"`{name}` has a prior for some of its elements only", f"all, or all but {MOST_SINGLE:,}")
    found: list[bugs.Statement] = []
    for at in left.tolist():
        found += _flat(known, known.sizes, tuple(Number(k + 1.0) for k in at), place, state)
    return found


def _flat(
    known: Variable, sizes: tuple[bugs.Expression, ...], at: tuple[Number, ...] | None, place: Place, state: State
) -> list[bugs.Statement]:
    """A flat draw of all cells, or of one."""
    events = 1 if known.base == "simplex" else 2 if known.kind == "matrix" and known.base in ("cov_matrix",) else 0
    plain = sizes[: len(sizes) - events]
    heads = () if at is not None else state.heads(plain, place)
    indices: tuple[bugs.Index, ...] = at if at is not None else tuple(Element(head.variable) for head in heads)
    whole = tuple(Range(Number(1.0), size) for size in sizes[len(plain) :])
    target = Element(known.array, (*indices, *whole) or None, place)
    if known.base == "simplex":
        density = Density("ddirich", (_ones(sizes[-1], state),), None, place)
    elif events == 2:
        density = Density("dflatmatrix", (), None, place)
    else:
        ends = [None if end is None else end.at(indices if end.rank else ()) for end in (known.lower, known.upper)]
        bounds = None if ends == [None, None] else Bounds("C", ends[0], ends[1], place)
        density = Density("dflat", (), bounds, place)
    statement: bugs.Statement = Draw(target, density, place)
    for head in reversed(heads):
        statement = bugs.Loop(head.variable, head.domain, (statement,), head.place)
    return _in_order(statement, flatten([statement])[0], known)


def _ones(size: bugs.Expression, state: State) -> Element:
    """A vector of ones."""
    name, head = state.fresh("ones"), Head(state.fresh("i"), Range(Number(1.0), size), Place(0, 0))
    one = bugs.Assignment(Element(name, (Element(head.variable),)), Number(1.0))
    state.added.append(bugs.Loop(head.variable, head.domain, (one,), head.place))
    return Element(name, (Range(Number(1.0), size),))
