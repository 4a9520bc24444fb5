"""Looks at earlier elements of an ordered plate: how far they go, and where a sequence has not gone so far yet.

m.lag("x", 2)      x at the step before the step before; the first two elements of each sequence take `start=`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from platewright.algebra.build import call
from platewright.algebra.expression import Expression, Index, Lag, Reference, names, references, walk
from platewright.algebra.put_in import put_in
from platewright.algebra.scanning import steps_back
from platewright.errors import ModelError
from platewright.language.plate import Plate, beginning
from platewright.language.variable import Variable

PENDING = Index("lag?", "lag?")
"""Stands for the ordered plate of a variable that refers to its own past before it is named."""


MOST_BACK = 100
"""Steps that a lag may go back: each is written out."""


def steps_before(index: Expression, back: int) -> Expression:
    """The position some steps before another."""
    for _ in range(back):
        index = Lag(index)
    return index


def is_pending(position: Expression) -> bool:
    """Whether a position is some steps back on a plate that is not known yet."""
    return isinstance(position, Lag) and steps_back(position, PENDING) is not None


def looked_back_at(name: object, back: object) -> str:
    """The name of the variable in `m.lag(name, back)`, which may be the variable itself."""
    if isinstance(back, bool) or not isinstance(back, int) or not 1 <= back <= MOST_BACK:
        raise ModelError(f"m.lag(..., {back!r})", expected=f"a whole number of steps back, from 1 to {MOST_BACK}")
    if isinstance(name, Reference):
        if any(isinstance(part, Lag) for part in walk(name)):
            raise ModelError(
                f"m.lag of {name}, which is a step back already",
                expected="a variable as it stands",
                hint=f"m.lag({name.name!r}, 2) is the variable two steps back",
            )
        name = name.name
    if not isinstance(name, str):
        raise ModelError(f"m.lag of {name!r}", expected="the name of a variable, or the variable")
    return name


def step_told(written: Expression, plates: Mapping[str, Plate]) -> Expression:
    """An expression that looks back at what is defined later, along the one ordered plate that there is."""
    ordered_ones = [plate.index for plate in plates.values() if plate.ordered]
    return put_in(written, {PENDING: ordered_ones[0]}) if len(ordered_ones) == 1 else written


def longest_look(written: Expression, step: Index) -> int:
    """How many steps back an expression looks."""
    looks = (steps_back(part, at) for part in walk(written) if isinstance(part, Lag) for at in (step, PENDING))
    return max((look for look in looks if look is not None), default=0)


def deepest_look(written: Expression, step: Index, variables: Mapping[str, Variable]) -> int:
    """How many steps back an expression looks, with all functions written out that have no start of their own."""
    found = longest_look(written, step)
    for place in references(written):
        if (inner := _function(place.name, variables)) is not None:
            found = max(found, longest_look(place, step) + deepest_look(inner, step, variables))
    return found


def written_out(written: Expression, variables: Mapping[str, Variable]) -> Iterator[Expression]:
    """An expression and the functions in it that have no start of their own."""
    yield written
    for name in names(written):
        if (inner := _function(name, variables)) is not None:
            yield from written_out(inner, variables)


def looks_back(written: Expression) -> bool:
    """Whether an expression refers to a previous element."""
    return any(isinstance(node, Lag) for node in walk(written))


def _function(name: str, variables: Mapping[str, Variable]) -> Expression | None:
    """What a name is defined as, where that is a function without a start of its own."""
    found = variables[name].definition if name in variables else None
    return None if found is None or any(map(_is_beginning, names(found))) else found


def beginning_of(step: Plate, back: int) -> Expression:
    """One at the elements of a sequence that have fewer than so many before them."""
    found: Expression = Reference(beginning(step.name), (step.index,))
    for count in range(1, back):
        found = call("maximum", found, Reference(beginning(step.name), (steps_before(step.index, count),)))
    return found


def _is_beginning(name: str) -> bool:
    """Whether a column says where sequences begin."""
    return name.startswith(beginning(""))


def ordered(name: str, own: Sequence[Plate]) -> Plate:
    """The plate along which a variable has a past."""
    for plate in own:
        if plate.ordered:
            return plate
    raise ModelError(f"`{name}` has a start but none of its plates is ordered", expected="m.plate(..., ordered=True)")
