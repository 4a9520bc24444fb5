"""Logarithms of probabilities that keep their digits where the probability is close to 0 or to 1.

    log(1 - F(x))        = log F(-x)                         F logistic or normal: symmetric about 1/2
    log(F(b) - F(a))     = log F(b) + log(1 - exp(log F(a) - log F(b))),   in the tail where a and b lie
    log(1 - F(b) + F(a)) = log F(a) - log logistic(log F(a) - log F(-b))
    log(exp(b) - exp(a)) = b + log(-expm1(a - b))            survival up to two times
    log(1 - exp(v))      = log(-expm1(v))                    the complementary log-log link
    log(1 + exp(v))      = -log logistic(-v)                 and 1 / (1 + exp(v)) = logistic(-v)

As written, the left sides subtract numbers that agree in all digits: 1 - Phi(9) is 0, and its logarithm -inf.
"""

from __future__ import annotations

from itertools import permutations

from platewright.algebra.expression import Add, Call, Constant, Expression, Multiply

SYMMETRIC = {"logistic": "log_logistic", "normal_cdf": "log_normal_cdf"}
"""Functions with f(-x) = 1 - f(x), and their logarithms, which keep their digits in both tails."""


def minus(whole: Expression) -> Expression:
    """The negative, in the form in which products are built."""
    match whole:
        case Constant(value):
            return Constant(-value)
        case Add(terms):
            return Add(tuple(minus(term) for term in terms))
        case Multiply((Constant(-1.0), only)):
            return only
        case Multiply((Constant(-1.0), *rest)):
            return Multiply(tuple(rest))
        case Multiply((Constant(value), *rest)):
            return Multiply((Constant(-value), *rest))
        case Multiply(factors):
            return Multiply((Constant(-1.0), *factors))
    return Multiply((Constant(-1.0), whole))


def log_of(whole: Expression) -> Expression | None:
    """The logarithm of an expression in a form without cancellation, where there is one."""
    match whole:
        case Call(name, (inner,)) if name in SYMMETRIC:
            return Call(SYMMETRIC[name], (inner,))
        case Add((Constant(1.0), other)) | Add((other, Constant(1.0))):
            return _log_beside_one(other)
        case Add((one, other)):
            found = _log_of_difference(one, other)
            return found if found is not None else _log_of_difference(other, one)
        case Add((_, _, _)):
            return _log_outside(whole.terms)
    return None


def logistic_of(base: Expression) -> Expression | None:
    """`1 / base` where base is `1 + exp(v)`."""
    match base:
        case Add((Constant(1.0), Call("exp", (v,)))) | Add((Call("exp", (v,)), Constant(1.0))):
            return Call("logistic", (minus(v),))
    return None


def without_odds(factors: list[Expression]) -> list[Expression]:
    """The factors of a product with `exp(v) logistic(-v)` taken together: they are `logistic(v)`."""
    for factor in factors:
        match factor:
            case Call("logistic", (w,)) if Call("exp", (minus(w),)) in factors:
                v = minus(w)
                rest = [other for other in factors if other not in (factor, Call("exp", (v,)))]
                return [*rest, Call("logistic", (v,))]
    return factors


def _log_beside_one(other: Expression) -> Expression | None:
    """`log(1 + other)`."""
    match other:
        case Multiply((Constant(-1.0), Call(name, (inner,)))) if name in SYMMETRIC:
            return Call(SYMMETRIC[name], (minus(inner),))
        case Multiply((Constant(-1.0), Call("exp", (v,)))):
            return Call("log", (minus(Call("expm1", (v,))),))
        case Call("exp", (v,)):
            return minus(Call("log_logistic", (minus(v),)))
        case Call("expm1", (v,)):
            return v
    return None


def _log_of_difference(high: Expression, low: Expression) -> Expression | None:
    """`log(F(b) - F(a))`; where a + b is above zero both are turned round, so that nothing is close to one.

    The minima turn both at once: b <= -a says the same as a <= -b. They have slopes, which a condition on them has not.
    """
    match high, low:
        case Call(name, (b,)), Multiply((Constant(-1.0), Call(same, (a,)))) if name == same and name in SYMMETRIC:
            top = Call(SYMMETRIC[name], (Call("minimum", (b, minus(a))),))
            bottom = Call(SYMMETRIC[name], (Call("minimum", (a, minus(b))),))
            return _log_between(top, bottom)
        case Call("exp", (b,)), Multiply((Constant(-1.0), Call("exp", (a,)))):
            return _log_between(b, a)
    return None


def _log_between(top: Expression, bottom: Expression) -> Expression:
    """`log(exp(top) - exp(bottom))`."""
    return _sum(top, Call("log", (minus(Call("expm1", (_sum(bottom, minus(top)),))),)))


def _sum(*terms: Expression) -> Expression:
    """A sum without sums inside it."""
    return Add(tuple(part for term in terms for part in (term.terms if isinstance(term, Add) else (term,))))


def _log_outside(terms: tuple[Expression, ...]) -> Expression | None:
    """`log(1 - F(b) + F(a))`, the probability of what is not between a and b."""
    for one, below, above in permutations(terms):
        match one, below, above:
            case Constant(1.0), Call(name, (a,)), Multiply((Constant(-1.0), Call(same, (b,)))) if name == same:
                if name not in SYMMETRIC:
                    return None
                left, right = Call(SYMMETRIC[name], (a,)), Call(SYMMETRIC[name], (minus(b),))
                return Add((left, minus(Call("log_logistic", (Add((left, minus(right))),)))))
    return None
