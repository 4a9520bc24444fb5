"""A distribution as the user calls it: a family, its arguments as given, and the plates it repeats over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import expression
from platewright.algebra.expression import Expression, Index, Indicator, Literal
from platewright.errors import ParameterError, nearest
from platewright.family import Family
from platewright.language.plate import Plate

# `Bernoulli(0.3)` and `Categorical(theta)` can only mean probabilities; `Normal(0, 2)` could mean three things.
_PLAIN = ("p", "probabilities")


@dataclass(frozen=True)
class Distribution:
    """What stands on the right of `m.y = pw.Normal(...)` until the model gives it a name."""

    family: Family
    given: Mapping[str, object]
    plates: tuple[Plate, ...] = ()
    over: Plate | None = None
    optional: tuple[Expression, ...] = ()
    start: object = None

    def __repr__(self) -> str:
        return f"pw.{self.family.name}(...)"


HELP = """\
{usage}

    {formulas}

Each value x is {values}. Parameters are numbers, variables or expressions; of keywords with | between them give one.

{options}

Raises `ParameterError` where the call does not fit, `PlateError` where a parameter lives on another plate."""

OPTIONS = {
    "plates=": "the plates over which it is repeated",
    "over=": "the plate along which one value has its components (`event` above)",
    "optional=": "parents whose arcs may be left out (`m.instances()`)",
    "start=": "on an ordered plate, the first parameter of the first element, or a distribution for it",
}


@dataclass(frozen=True)
class Constructor:
    """`pw.Normal`: checks the call against the family's spellings and remembers it."""

    family: Family
    of_matrices: Family | None = None
    """The family of the same name whose values are matrices; `over=` asks for it."""

    def __call__(
        self,
        *arguments: object,
        plates: Plate | Sequence[Plate] = (),
        over: Plate | None = None,
        optional: Expression | Sequence[Expression] = (),
        start: object = None,
        **named: object,
    ) -> Distribution:
        if over is not None:
            check_plate(over, "over=")
            if self.of_matrices is not None:
                return Constructor(self.of_matrices)(*arguments, plates=plates, over=over, optional=optional, **named)
        given = self._named(arguments, named)
        arcs = (optional,) if isinstance(optional, Expression) else tuple(optional)
        return Distribution(self.family, given, as_plates(plates), over, arcs, start)

    def _named(self, arguments: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
        slots = [self._spellings(parameter.name) for parameter in self.family.parameters]
        positional = [words for words in slots if len(words) == 1 or words[0] in _PLAIN]
        if len(arguments) > len(positional):
            raise ParameterError(
                f"{self.family.name} was given {len(arguments)} unnamed arguments",
                expected=self.usage,
                hint="name the parameters, so that nobody has to guess the convention",
            )
        given = {words[0]: value for words, value in zip(positional, arguments, strict=False)}
        if doubled := set(given) & set(named):
            raise ParameterError(f"{self.family.name} was given `{min(doubled)}` twice", expected=self.usage)
        given.update(named)
        known = [word for words in slots for word in words]
        if extra := sorted(set(given) - set(known)):
            raise ParameterError(
                f"{self.family.name} has no parameter `{extra[0]}`", expected=self.usage, hint=_meant(extra[0], known)
            )
        for words in slots:
            chosen = [word for word in words if word in given]
            if len(chosen) > 1:
                raise ParameterError(
                    f"{self.family.name} was given {' and '.join(chosen)}, which say the same thing",
                    expected=self.usage,
                )
            if not chosen and words[0] in self.family.defaults:
                given[words[0]] = self.family.defaults[words[0]]
            elif not chosen:
                raise ParameterError(f"{self.family.name} lacks {' or '.join(words)}", expected=self.usage)
        return given

    def _spellings(self, parameter: str) -> tuple[str, ...]:
        return tuple(self.family.spelled.get(parameter, {parameter: None}))

    @property
    def usage(self) -> str:
        """The call as one line: `Normal(mean, sd= | variance= | precision=)`."""
        shown = []
        for parameter in self.family.parameters:
            words = self._spellings(parameter.name)
            plain = len(words) == 1 or words[0] in _PLAIN
            shown.append(" | ".join(w if plain and k == 0 else f"{w}=" for k, w in enumerate(words)))
        if any(parameter.rank for parameter in self.family.parameters):
            shown.append("over=plate")
        return f"{self.family.name}({', '.join(shown)})"

    def __repr__(self) -> str:
        return f"<{self.usage}>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        values = "an element of a plate" if self.family.domain.levels else str(self.family.domain)
        formulas = [f"log p(x) = {self.family.log_density}"]
        for parameter, ways in self.family.spelled.items():
            formulas += [f"{parameter} = {way}" for word, way in ways.items() if word != parameter]
        has_components = any(parameter.rank for parameter in self.family.parameters)
        shown = [(word, text) for word, text in OPTIONS.items() if word != "over=" or has_components]
        return HELP.format(
            usage=self.usage,
            formulas="\n    ".join(formulas),
            values=values,
            options="\n".join(f"{word:<12} {text}" for word, text in shown),
        )


_ELSEWHERE = {
    **dict.fromkeys(("sigma", "std", "stddev", "scale"), "sd"),
    **dict.fromkeys(("mu", "loc"), "mean"),
    **dict.fromkeys(("tau", "inv_cov", "precision_matrix"), "precision"),
    **dict.fromkeys(("var", "sigma2"), "variance"),
    **dict.fromkeys(("cov", "covariance_matrix"), "covariance"),
    **dict.fromkeys(("lam", "lambda_", "beta"), "rate"),
    **dict.fromkeys(("nu", "df"), "degrees"),
    **dict.fromkeys(("probs", "prob"), "p"),
    **dict.fromkeys(("n", "total_count"), "count"),
    "alpha": "shape",
}
"""What other libraries call our parameters."""
_NOT_HERE = {
    **dict.fromkeys(("observed", "obs", "data"), "a variable is known when m.learn(data) is given its name"),
    **dict.fromkeys(("shape", "dims", "size", "sample_shape"), "a variable is repeated by plates=m.plate('name')"),
    **dict.fromkeys(("initval", "testval", "init"), "values to start from: m.learn(data, initial={...})"),
}


def _meant(word: str, known: Sequence[str]) -> str:
    """The parameter that a word of another library stands for, the nearest one, or where its matter is said."""
    if (ours := _ELSEWHERE.get(word)) in known:
        return f"write `{ours}`"
    if word in _NOT_HERE:
        return _NOT_HERE[word]
    near = nearest(word, [*known, "plates", "over", "start", "optional"])
    return f"did you mean `{near}`?" if near else ""


def as_plates(plates: object) -> tuple[Plate, ...]:
    """One plate or several, checked."""
    several = tuple(plates) if isinstance(plates, (tuple, list)) else (plates,)
    for plate in several:
        check_plate(plate, "plates=")
    if len({plate.name for plate in several}) < len(several):
        raise ParameterError("a plate is listed twice", hint="use m.plate('other', like=plate) for a second index")
    return several


def check_plate(plate: object, where: str) -> Plate:
    """A plate, or an error that says where one was wanted."""
    if not isinstance(plate, Plate):
        raise ParameterError(f"{plate!r} is not a plate", where=where, expected="what m.plate('name') returned")
    return plate


def array(values: object, *, over: Plate | Sequence[Plate]) -> Expression:
    """A table of numbers as an expression; `over` names its axes in order."""
    plates = as_plates(over)
    return literal(values, tuple(plate.index for plate in plates), [plate.size for plate in plates])


def literal(values: object, axes: tuple[Index, ...], sizes: Sequence[int | None]) -> Expression:
    """A table with named axes; sizes that are known must agree."""
    try:
        table = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ParameterError("a table holds something that is not a number", expected="an array of numbers") from error
    if table.ndim == 0:
        return expression(float(table))
    if table.ndim != len(axes):
        raise ParameterError(
            f"a table with {table.ndim} axes where {len(axes)} are named",
            expected="one axis for each of: " + (", ".join(axis.plate for axis in axes) or "(none)"),
            hint="name the axes: pw.array(values, over=(plate, other_plate))",
        )
    for axis, found, size in zip(axes, table.shape, sizes, strict=True):
        if size is not None and size != found:
            raise ParameterError(f"a table has {found} elements along plate {axis.plate}", expected=f"{size} elements")
    if not np.isfinite(table).all():
        raise ParameterError("a table holds NaN or infinity", expected="finite numbers")
    return Literal(tuple(table.ravel().tolist()), table.shape, tuple(axis.plate for axis in axes), axes)


def identity(plate: Plate) -> Expression:
    """The unit matrix over a plate."""
    check_plate(plate, "identity(...)")
    return Indicator(plate.index, Index(plate.name + "'", plate.name))


@dataclass(frozen=True)
class Input:
    """An always-known variable without a distribution; with `levels`, a category usable as an index."""

    plates: tuple[Plate, ...] = ()
    levels: int | Plate | None = None

    def __init__(self, plates: Plate | Sequence[Plate] = (), levels: int | Plate | None = None) -> None:
        object.__setattr__(self, "plates", as_plates(plates))
        object.__setattr__(self, "levels", levels)


@dataclass(frozen=True)
class Recursion:
    """A function of earlier elements along an ordered plate, for which `start=` stands at the first ones.

    `m.h = pw.Recursion(m.w + m.b * m.lag("h"), start=1.0, plates=step)`; those that feed each other are written alike.
    """

    value: object
    start: object
    plates: tuple[Plate, ...]

    def __init__(self, value: object, *, start: object, plates: Plate | Sequence[Plate]) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "plates", as_plates(plates))


@dataclass(frozen=True)
class Undirected:
    """A variable of an undirected component: its distribution comes from the potentials around it."""

    levels: int | Plate | None = None
    plates: tuple[Plate, ...] = ()

    def __init__(self, levels: int | Plate | None = None, plates: Plate | Sequence[Plate] = ()) -> None:
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "plates", as_plates(plates))
