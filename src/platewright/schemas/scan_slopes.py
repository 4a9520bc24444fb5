"""Slopes through a scan, by the recursion that runs the other way  (the adjoint of `h[t] = f(h[t-1], theta)`).

    slope[t] = d factor / d h[t]  +  slope[t+1] df/dh at t+1         d factor / d theta = sum_t slope[t] df/dtheta at t

What comes out is a scan again, so that it is printed, run and differentiated as any other; the work is linear in the
steps. With looks j steps back, `message j` is what the steps from t on owe to the state at t-j.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import add, equal, multiply, substitute, totals
from platewright.algebra.expression import (
    ZERO,
    Before,
    Expression,
    Index,
    Lag,
    Reference,
    Scan,
    children,
    mentions,
    names,
    rebuild,
    walk,
)
from platewright.algebra.kept import kept_for
from platewright.algebra.scanning import is_open, loop_of
from platewright.errors import ModelError
from platewright.graph.graph import Factor
from platewright.operations.replacing import Replacement, replace_references
from platewright.program.derivatives import Slope

Derive = Callable[[Factor, frozenset[str]], list[Slope]]


@kept_for
def has_scan(expression: Expression, wanted: frozenset[str]) -> bool:
    """Whether one of the wanted variables enters a scan of the expression."""
    return any(isinstance(part, Scan) and mentions(part, wanted) for part in walk(expression))


def slopes_through_scans(factor: Factor, wanted: frozenset[str], derive: Derive) -> list[Slope]:
    """All slopes of a factor, scans being marked meanwhile; `derive` finds those of a factor without scans."""
    scans = _outermost(factor.expression, wanted)
    marked = _Marked.of(factor.expression, scans)
    plain = replace(factor, expression=marked.expression)
    found = [_unmarked(slope, marked.back) for slope in derive(plain, wanted)]
    for scan in scans:
        if loop_of(scan).outer:
            raise ModelError(f"a scan of {', '.join(scan.states)} that differs between rows of a factor has no slope")
        seeds = derive(plain, frozenset(marked.marks[scan].values()))
        found += _through(scan, marked.marks[scan], seeds, marked.back, wanted, derive)
    return found


def _outermost(expression: Expression, wanted: frozenset[str]) -> list[Scan]:
    found: dict[Scan, None] = {}
    stack = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, Scan) and mentions(part, wanted):
            found[part.whole] = None
        else:
            stack += children(part)
    return list(found)


@dataclass(frozen=True)
class _Marked:
    """An expression with a name for each state of some scans, and what the names stand for."""

    expression: Expression
    marks: Mapping[Scan, Mapping[str, str]]
    back: Mapping[str, Replacement]

    @classmethod
    def of(cls, expression: Expression, scans: Sequence[Scan]) -> _Marked:
        taken = set(names(expression))
        marks: dict[Scan, dict[str, str]] = {}
        back: dict[str, Replacement] = {}
        for scan in scans:
            marks[scan] = {state: _fresh(state, taken) for state in scan.states}
            for state, mark in marks[scan].items():
                back[mark] = _state_of(scan, state)
        return cls(_with_marks(expression, marks), marks, back)


def _fresh(state: str, taken: set[str]) -> str:
    mark = f"{state}@state"
    while mark in taken:
        mark += "'"
    taken.add(mark)
    return mark


def _state_of(scan: Scan, state: str) -> Replacement:
    return lambda place: replace(scan, state=state, at=place.indices)


def _with_marks(part: Expression, marks: Mapping[Scan, Mapping[str, str]]) -> Expression:
    if isinstance(part, Scan) and part.whole in marks:
        return Reference(marks[part.whole][part.state], part.at)
    return rebuild(part, lambda inner: _with_marks(inner, marks))


def _unmarked(slope: Slope, back: Mapping[str, Replacement]) -> Slope:
    return replace(slope, expression=replace_references(slope.expression, back))


def _through(
    scan: Scan,
    marks: Mapping[str, str],
    seeds: Sequence[Slope],
    back: Mapping[str, Replacement],
    wanted: frozenset[str],
    derive: Derive,
) -> list[Slope]:
    """The slopes of what enters the bodies of a scan, given those of its states."""
    taken = {*marks.values(), *(name for body in scan.bodies for name in names(body))}
    slopes = {state: _fresh(f"{state}.slope", taken) for state in scan.states}
    factors = []
    for state, axes, body in zip(scan.states, scan.axes, scan.bodies, strict=True):
        weighed = multiply(Reference(slopes[state], axes), _as_names(body, marks))
        factors.append(Factor(state, axes, weighed))
    adjoint = _adjoint(scan, marks, slopes, factors, seeds, back, derive)
    known = {**back, **{slopes[state]: _state_of(adjoint, _slope_of(state)) for state in scan.states}}
    return [_unmarked(slope, known) for factor in factors for slope in derive(factor, wanted)]


def _slope_of(state: str) -> str:
    return f"{state}.slope"


def _as_names(part: Expression, marks: Mapping[str, str]) -> Expression:
    """A body with a name in place of each state that it looks at."""
    if isinstance(part, Before):
        return Reference(marks[part.state], part.indices)
    return rebuild(part, lambda inner: _as_names(inner, marks)) if is_open(part) else part


def _adjoint(
    scan: Scan,
    marks: Mapping[str, str],
    slopes: Mapping[str, str],
    factors: Sequence[Factor],
    seeds: Sequence[Slope],
    back: Mapping[str, Replacement],
    derive: Derive,
) -> Scan:
    """The scan of the slopes: for each state its own, the last state first, then the messages to earlier steps."""
    axes = dict(zip(scan.states, scan.axes, strict=True))
    owed: dict[tuple[str, int], list[Expression]] = {}
    states = {mark: state for state, mark in marks.items()}
    looked_at = frozenset(states)
    for slope in (*seeds, *(slope for factor in factors for slope in derive(factor, looked_at))):
        state = states[slope.variable]
        steps, part = _gathered(slope, axes[state], scan.step)
        owed.setdefault((state, steps), []).append(part)
    moved: dict[Expression, Index] = {old: Index(f"{old.name}_back", old.plate) for own in scan.axes for old in own}
    known: dict[str, Replacement] = {**back, **{slopes[state]: _now(_slope_of(state)) for state in scan.states}}
    listed: list[tuple[str, str, int]] = [(_slope_of(state), state, 0) for state in reversed(scan.states)]
    listed += [(_message(state, steps), state, steps) for state, steps in owed if steps]
    bodies = []
    for _, state, steps in listed:
        parts = [replace_references(part, known) for part in owed.get((state, steps), ())]
        if not steps:
            parts += [
                Before(_message(*key), _later(axes[state], scan.step, key[1])) for key in owed if _is_to(key, state)
            ]
        bodies.append(substitute(add(*parts) if parts else ZERO, moved))
    shapes = tuple(tuple(moved[index] for index in axes[state]) for _, state, _ in listed)
    names_of = tuple(name for name, _, _ in listed)
    return Scan(moved[scan.step], names_of, shapes, tuple(bodies), not scan.backward, names_of[0], shapes[0])


def _now(state: str) -> Replacement:
    return lambda place: Before(state, place.indices)


def _message(state: str, steps: int) -> str:
    return f"{state}.message {steps}"


def _is_to(key: tuple[str, int], state: str) -> bool:
    return key[0] == state and key[1] > 0


def _later(axes: Sequence[Index], step: Index, steps: int) -> tuple[Expression, ...]:
    place: Expression = step
    for _ in range(steps):
        place = Lag(place)
    return tuple(place if index == step else index for index in axes)


def _gathered(slope: Slope, axes: Sequence[Index], step: Index) -> tuple[int, Expression]:
    """How many steps back the place of a slope lies, and its sum over all rows by the place of the step itself."""
    apart: dict[Expression, Expression] = {index: Index(f"{index.name}^", index.plate) for index in slope.over}
    left = list(apart.values())
    changes: dict[Expression, Expression] = {}
    chosen: list[Expression] = []
    back = 0
    for axis, place in zip(axes, slope.at, strict=True):
        place = substitute(place, apart)
        while isinstance(place, Lag):
            if axis != step:
                raise ModelError(f"a look back along another plate than `{step.plate}` has no slope")
            place, back = place.index, back + 1
        if place in left and isinstance(place, Index) and place.plate == axis.plate:
            changes[place] = axis
            left.remove(place)
        elif back and axis == step:
            raise ModelError(f"a look back from a place on `{step.plate}` that is not a step has no slope")
        else:
            chosen.append(equal(axis, place))
    whole = multiply(*chosen, substitute(slope.expression, apart))
    whole = substitute(whole, changes)
    inner = [index for index in left if isinstance(index, Index)]
    return back, totals(whole, inner)
