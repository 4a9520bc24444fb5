"""Monotone changes of variable under which a conditional may be recognised.

a standard deviation s with terms log s and s^-2 is a Gamma precision y = s^-2:     s = y^(-1/2)
a positive x with terms log x and (log x)^2 is a Normal y = log x:                  x = exp(y)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from platewright.algebra.build import add, call, exp, log, multiply, power
from platewright.algebra.domain import POSITIVE, REAL, Domain
from platewright.algebra.expression import ZERO, Add, Constant, Expression, Multiply, Power, Reference, walk


@dataclass(frozen=True)
class Transform:
    """`y = forward(x)`, `x = backward(y)`, and `log |dx / dy|` as functions of y."""

    name: str
    domain: Domain
    forward: Expression
    backward: Expression
    log_jacobian: Expression
    exponent: float | None = None
    """For a power: y = x^exponent."""

    def __reduce__(self) -> str | tuple[object, ...]:
        """Copies of the identity are the identity itself, which is known by being it."""
        if self is IDENTITY:
            return "IDENTITY"
        return Transform, (self.name, self.domain, self.forward, self.backward, self.log_jacobian, self.exponent)


X = Reference("x")
Y = Reference("y")

IDENTITY = Transform("identity", REAL, X, Y, ZERO)
LOGARITHM = Transform("log", REAL, log(X), exp(Y), Y)
LOGIT = Transform(
    "logit",
    REAL,
    add(log(X), multiply(-1.0, log(1 - X))),
    call("logistic", Y),
    add(call("log_logistic", Y), call("log_logistic", -Y)),
)


def raised(exponent: float) -> Transform:
    """`y = x^exponent` on the positive half line."""
    back = 1.0 / exponent
    jacobian = add(log(Constant(abs(back))), multiply(back - 1.0, log(Y)))
    return Transform(f"power {exponent:g}", POSITIVE, power(X, exponent), power(Y, back), jacobian, exponent)


def candidates(atoms: list[Expression], target: Expression, domain: Domain) -> Iterator[Transform]:
    """The changes of variable worth trying for a target with these atoms, the identity first."""
    yield IDENTITY
    if domain != POSITIVE:
        return
    tried = set()
    for atom in atoms:
        for node in walk(atom):
            if isinstance(node, Power) and node.base == target and isinstance(node.exponent, Constant):
                exponent = node.exponent.value
                if exponent not in tried and exponent != 1.0:
                    tried.add(exponent)
                    yield raised(exponent)
    yield LOGARITHM


def coefficients(expression: Expression) -> dict[Expression, float]:
    """A sum of numbers times functions of y, as a table from function to number."""
    terms = expression.terms if isinstance(expression, Add) else (expression,)
    found: dict[Expression, float] = {}
    for term in terms:
        match term:
            case Constant():
                continue
            case Multiply((Constant(number), *rest)):
                found[add(rest[0]) if len(rest) == 1 else Multiply(tuple(rest))] = number
            case _:
                found[term] = 1.0
    return found
