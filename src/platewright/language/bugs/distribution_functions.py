"""Densities and distribution functions where numbers stand: every scalar family of the shelf by its name in BUGS.

dnorm(x, mu, tau)  ->  the density at x          logdensity.norm(x, mu, tau)  ->  its logarithm
pnorm(x, mu, tau)  ->  P(X <= x), of families that state it
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from platewright.algebra import build
from platewright.algebra.expression import Expression, Reference
from platewright.families import FAMILY_BY_NAME
from platewright.family import Argument, filled
from platewright.language.bugs.bounds import CUMULATIVE
from platewright.language.bugs.densities import FORMS, Form, canonical

LOGARITHM = "logdensity."


def function_of(word: str) -> tuple[int, Callable[..., Expression]] | None:
    """The function that a name such as `pnorm` stands for, with its number of arguments; None if it is no such name."""
    kind, rest = ("log", word[len(LOGARITHM) :]) if word.startswith(LOGARITHM) else (word[:1], word[1:])
    name = canonical("d" + rest)
    form = FORMS.get(name)
    if kind not in ("log", "d", "p") or form is None or any(form.ranks) or name == "dflat":
        return None
    count = len(form.words) + 1
    if kind != "p":
        return count, partial(_log_density if kind == "log" else _density, form)
    if name not in CUMULATIVE and FAMILY_BY_NAME[form.family].cumulative is None:
        return None
    return count, partial(_probability_below, name, form)


def _density(form: Form, x: Expression, *given: Expression) -> Expression:
    return _in_support(form, x, given, build.exp(_inside(form, x, given)), (0.0, 0.0))


def _log_density(form: Form, x: Expression, *given: Expression) -> Expression:
    return _in_support(form, x, given, _inside(form, x, given), (-math.inf, -math.inf))


def _inside(form: Form, x: Expression, given: tuple[Expression, ...]) -> Expression:
    """The log density where there is one."""
    return filled(FAMILY_BY_NAME[form.family].log_density, {**_arguments(form, given), "x": Argument(x)}, ())


def _probability_below(name: str, form: Form, x: Expression, *given: Expression) -> Expression:
    cumulative = FAMILY_BY_NAME[form.family].cumulative
    if name in CUMULATIVE:
        inside = CUMULATIVE[name](x, *given)
    else:
        assert cumulative is not None
        inside = filled(cumulative, {**_arguments(form, given), "x": Argument(x)}, ())
    return _in_support(form, x, given, inside, (0.0, 1.0))


def _in_support(
    form: Form, x: Expression, given: tuple[Expression, ...], inside: Expression, beyond: tuple[float, float]
) -> Expression:
    """A function of x within the support, and what it is below and above."""
    family, arguments = FAMILY_BY_NAME[form.family], _arguments(form, given)
    below, above = map(build.expression, beyond)
    lower = [build.expression(family.domain.lower)] if math.isfinite(family.domain.lower) else []
    upper = [build.expression(family.domain.upper)] if math.isfinite(family.domain.upper) else []
    lower += [filled(family.lower, arguments, ())] if family.lower is not None else []
    upper += [filled(family.upper, arguments, ())] if family.upper is not None else []
    for end in upper:
        inside = build.where(build.call("less", end, x), above, inside)
    for end in lower:
        inside = build.where(build.call("less", x, end), below, inside)
    return inside


def _arguments(form: Form, given: tuple[Expression, ...]) -> dict[str, Argument]:
    """The canonical parameters of the family from the words of BUGS."""
    family = FAMILY_BY_NAME[form.family]
    written: dict[Expression, Expression] = {Reference(word): value for word, value in zip(form.words, given)}
    found = {word: Argument(build.expression(value)) for word, value in form.fixed}
    for parameter in family.parameters:
        if parameter.name in found:
            continue
        spellings = family.spelled.get(parameter.name, {parameter.name: parameter.symbol})
        word = next(word for word in spellings if word in form.words)
        found[parameter.name] = Argument(build.substitute(spellings[word], written))
    return found
