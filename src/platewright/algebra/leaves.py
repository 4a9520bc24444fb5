"""What expressions end in: numbers, positions, variables and tables looked up at positions."""

from __future__ import annotations

from platewright.algebra.node import Expression, node


@node
class Constant(Expression):
    """A number."""

    value: float


@node
class Index(Expression):
    """A position on a plate; two indices over one plate differ by name. Its value is the position, from 0."""

    name: str
    plate: str


@node
class Lag(Expression):
    """The position before another on an ordered plate, inside a reference alone; two of them go two steps back."""

    index: Expression


@node
class Reference(Expression):
    """A variable at given positions: `mu[k]`, `mu[z[n]]`, `x[n, j]`."""

    name: str
    indices: tuple[Expression, ...] = ()


@node
class Literal(Expression):
    """A table of numbers written in the model; `plates` names its axes, `indices` says where it is looked up."""

    values: tuple[float, ...]
    shape: tuple[int, ...]
    plates: tuple[str, ...]
    indices: tuple[Expression, ...]


@node
class Size(Expression):
    """The number of elements of a plate."""

    plate: str
