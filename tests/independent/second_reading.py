"""A second reading of the language: the same lines of a model, with arrays of named axes and scipy for densities.

Nothing of Platewright is used. `SecondModel` stands for `pw.Model` when all values are given; assigning a distribution
adds its log density at the given value. Values may have a leading axis of points, at all of which it is computed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special, stats
from scipy.special import expit

from independent.named_arrays import POINT, Named, apply

Array = Any


@dataclass(frozen=True)
class SecondPlate:
    """A plate as a dimension."""

    name: str
    within: str | None = None
    ordered: bool = False


@dataclass(frozen=True)
class Call:
    """A distribution or an input that waits for its name."""

    family: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    plates: tuple[SecondPlate, ...]
    over: SecondPlate | None
    start: Any


class SecondModel:
    """The log joint of everything that is assigned, at the given values; those of `many` have an axis of points."""

    def __init__(
        self, values: Mapping[str, Array], groups: Mapping[str, Array], many: Collection[str] = frozenset()
    ) -> None:
        self.__dict__.update(_values=values, _groups=groups, _many=many, _plates={}, _known={}, _total=0.0)

    def plate(self, name: str, size: int | None = None, **words: Any) -> SecondPlate:
        within = words.get("within")
        self._plates[name] = SecondPlate(name, within.name if within else None, bool(words.get("ordered")))
        return self._plates[name]

    def lag(self, name: str) -> Array:
        """The value before; what stands at the beginning of a sequence is never looked at."""
        found = self._known.get(name)
        if found is None:
            step = next(plate for plate in self._plates.values() if plate.ordered)
            found = self.named(name, [step.name])
        return found.rolled(next(dim for dim in found.dims if dim in self._plates and self._plates[dim].ordered))

    def named(self, name: str, axes: Sequence[str]) -> Named:
        """A value as it was given, with the names of its axes."""
        return Named(np.asarray(self._values[name]), (*([POINT] if name in self._many else []), *axes))

    def __getattr__(self, name: str) -> Array:
        return self._known[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, Call):
            self._known[name] = self.inside(value, ())
            return
        axes = [plate.name for plate in value.plates]
        if value.over is not None and value.family not in ("Categorical",):
            axes.append(value.over.name)
            if value.family in ("Wishart", "InverseWishart"):
                axes.append(value.over.name + "'")
        self._known[name] = self.named(name, axes)
        if value.family != "Input":
            self.__dict__["_total"] = self._total + self.log_density(name, value)

    def inside(self, value: Any, own: Sequence[str]) -> Any:
        """A value on an outer plate as seen from the elements of an inner one."""
        if not isinstance(value, Named):
            return value
        for inner in [*own, *value.dims]:
            plate = self._plates.get(inner)
            codes: Any = slice(None)
            while plate is not None and plate.within is not None:
                codes = np.asarray(self._groups[plate.name])[codes]
                if plate.within in value.dims:
                    value = value.at(plate.within, codes, inner)
                plate = self._plates.get(plate.within)
        return value

    def log_density(self, name: str, call: Call) -> Array:
        """Summed over all but the points."""
        own = [plate.name for plate in call.plates]
        x = self._known[name]
        found, points = _densities(
            x, call.family, self.given(call.arguments, own), self.given(call.named, own), own, call.over
        )
        if call.start is not None:
            start = call.start
            if isinstance(start, Call):
                first_of = (self.given(start.arguments, own), self.given(start.named, own))
            else:
                first_of = (self.given((start, *call.arguments[1:]), own), self.given(call.named, own))
            first, points_too = _densities(x, call.family, *first_of, own, call.over)
            step = next(plate for plate in call.plates if plate.ordered)
            codes = np.asarray(self._groups.get(step.name, np.zeros(x.size(step.name), dtype=int)))
            begins = np.concatenate([[True], codes[1:] != codes[:-1]])
            points = points or points_too
            found = np.where(begins, first, found)
        return found.reshape(len(found), -1).sum(axis=1) if points else float(found.sum())

    def given(self, values: Any, own: Sequence[str]) -> Any:
        if isinstance(values, Mapping):
            return {word: self.inside(value, own) for word, value in values.items()}
        return tuple(self.inside(value, own) for value in values)


def _densities(
    x: Named, family: str, arguments: tuple[Any, ...], named: Mapping[str, Any], own: list[str], over: Any
) -> tuple[np.ndarray, bool]:
    """The log density of each element, over the plates in order; whether there is an axis of points before them."""
    every = [x, *arguments, *named.values()]
    count = next((value.size(POINT) for value in every if isinstance(value, Named) and POINT in value.dims), None)
    sizes = {**({POINT: count} if count is not None else {}), **{dim: x.size(dim) for dim in own}}

    def flat(value: Any, *events: str) -> np.ndarray:
        if not isinstance(value, Named):
            value = Named(np.asarray(value, float), events if np.ndim(value) else ())
        spread = value.along((*sizes, *events))
        return np.broadcast_to(spread, (*sizes.values(), *(x.size(event.rstrip("'")) for event in events)))

    if family in SCALAR:
        return SCALAR[family](flat, flat(x), arguments, named), count is not None
    return _with_events(flat, x, family, arguments, named, sizes, over), count is not None


def _sd(flat: Any, named: Mapping[str, Any]) -> np.ndarray:
    if "sd" in named or "scale" in named:
        return flat(named.get("sd", named.get("scale")))
    return flat(named["variance"]) ** 0.5 if "variance" in named else flat(named["precision"]) ** -0.5


def _scale(flat: Any, named: Mapping[str, Any]) -> np.ndarray:
    return flat(named["scale"]) if "scale" in named else 1 / flat(named["rate"])


def _p(flat: Any, a: tuple[Any, ...], named: Mapping[str, Any], at: int = 0) -> np.ndarray:
    return expit(flat(named["logit"])) if "logit" in named else flat(a[at] if len(a) > at else named["p"])


def _logistic_normal(f: Any, x: np.ndarray, a: tuple[Any, ...], k: Mapping[str, Any]) -> np.ndarray:
    return stats.norm.logpdf(np.log(x / (1 - x)), f(a[0]), _sd(f, k)) - np.log(x * (1 - x))


def _weibull(f: Any, x: np.ndarray, a: tuple[Any, ...], k: Mapping[str, Any]) -> np.ndarray:
    scale = f(k["scale"]) if "scale" in k else f(k["rate"]) ** (-1 / f(a[0]))
    return stats.weibull_min.logpdf(x, f(a[0]), scale=scale)


SCALAR = {
    "Normal": lambda f, x, a, k: stats.norm.logpdf(x, f(a[0]), _sd(f, k)),
    "LogNormal": lambda f, x, a, k: stats.norm.logpdf(np.log(x), f(a[0]), _sd(f, k)) - np.log(x),
    "LogisticNormal": _logistic_normal,
    "HalfNormal": lambda f, x, a, k: stats.halfnorm.logpdf(x, scale=_sd(f, k)),
    "HalfCauchy": lambda f, x, a, k: stats.halfcauchy.logpdf(x, scale=f(a[0] if a else k["scale"])),
    "StudentT": lambda f, x, a, k: stats.t.logpdf(x, f(a[0]), f(a[1]), _sd(f, k)),
    "Laplace": lambda f, x, a, k: stats.laplace.logpdf(x, f(a[0]), _scale(f, k)),
    "Gamma": lambda f, x, a, k: stats.gamma.logpdf(x, f(a[0]), scale=_scale(f, k)),
    "InverseGamma": lambda f, x, a, k: stats.invgamma.logpdf(x, f(a[0]), scale=f(k["scale"])),
    "ChiSquare": lambda f, x, a, k: stats.chi2.logpdf(x, f(a[0])),
    "Exponential": lambda f, x, a, k: stats.expon.logpdf(x, scale=_scale(f, k)),
    "Weibull": _weibull,
    "Pareto": lambda f, x, a, k: stats.pareto.logpdf(x, f(a[0]), scale=f(a[1] if len(a) > 1 else k["scale"])),
    "Uniform": lambda f, x, a, k: stats.uniform.logpdf(x, f(a[0]), f(a[1]) - f(a[0])),
    "InverseGaussian": lambda f, x, a, k: stats.invgauss.logpdf(x, f(a[0]) / f(a[1]), scale=f(a[1])),
    "VonMises": lambda f, x, a, k: stats.vonmises.logpdf(x, f(a[1]), f(a[0])),
    "Beta": lambda f, x, a, k: stats.beta.logpdf(x, f(a[0]), f(a[1])),
    "Bernoulli": lambda f, x, a, k: stats.bernoulli.logpmf(x, _p(f, a, k)),
    "Binomial": lambda f, x, a, k: stats.binom.logpmf(x, f(a[0]), _p(f, a, k, 1)),
    "Geometric": lambda f, x, a, k: stats.geom.logpmf(x, _p(f, a, k)),
    "NegativeBinomial": lambda f, x, a, k: stats.nbinom.logpmf(x, f(a[0]), _p(f, a, k, 1)),
    "Poisson": lambda f, x, a, k: stats.poisson.logpmf(x, f(a[0])),
}


def _with_events(
    flat: Any, x: Named, family: str, arguments: Any, named: Any, sizes: Mapping[str, int], over: Any
) -> np.ndarray:
    """Families with an axis inside each value."""
    if family == "Categorical":
        table = (
            arguments[0] if isinstance(arguments[0], Named) else Named(np.asarray(arguments[0], float), (over.name,))
        )
        event = over.name if over is not None else next(dim for dim in table.dims if dim not in sizes)
        weights = np.broadcast_to(table.along((*sizes, event)), (*sizes.values(), table.size(event)))
        chosen = flat(x).astype(int)
        return np.log(np.take_along_axis(weights, chosen[..., None], axis=-1)[..., 0])
    event = over.name
    rank = 2 if family in ("Wishart", "InverseWishart") else 1
    value = flat(x, *[event, event + "'"][:rank])
    if family == "Dirichlet":
        a = flat(arguments[0], event)
        return (
            special.gammaln(a.sum(axis=-1)) - special.gammaln(a).sum(axis=-1) + ((a - 1) * np.log(value)).sum(axis=-1)
        )
    first = flat(arguments[0], event) if family == "MultivariateNormal" else flat(arguments[0])
    if family == "Multinomial":
        second = flat(arguments[1], event)
    else:
        word = next(word for word in ("covariance", "precision", "scale") if word in named)
        second = flat(named[word], event, event + "'")
    result = np.empty(tuple(sizes.values()))
    for at in np.ndindex(result.shape):
        one = value[at]
        match family:
            case "Multinomial":
                result[at] = stats.multinomial.logpmf(one, first[at], second[at] / second[at].sum())
            case "MultivariateNormal":
                spread = second[at] if "covariance" in named else np.linalg.inv(second[at])
                result[at] = stats.multivariate_normal.logpdf(one, first[at], spread)
            case "Wishart":
                result[at] = stats.wishart.logpdf(one, first[at], second[at])
            case "InverseWishart":
                result[at] = stats.invwishart.logpdf(one, first[at], second[at])
            case _:
                raise NotImplementedError(family)
    return result


def _call(family: str) -> Any:
    def make(*arguments: Any, plates: Any = (), over: Any = None, start: Any = None, **named: Any) -> Call:
        several = tuple(plates) if isinstance(plates, (tuple, list)) else (plates,)
        named.pop("levels", None)
        return Call(family, arguments, named, several, over, start)

    return make


def _array(values: Any, over: Any) -> Named:
    axes = over if isinstance(over, (tuple, list)) else (over,)
    return Named(np.asarray(values, float), tuple(plate.name for plate in axes))


def second_language(sizes: Mapping[str, int]) -> SimpleNamespace:
    """What stands for `pw` in the lines of a model."""
    names = [*SCALAR, "Categorical", "Dirichlet", "Multinomial", "MultivariateNormal", "Wishart", "InverseWishart"]
    return SimpleNamespace(
        **{name: _call(name) for name in (*names, "Input")},
        array=_array,
        exp=np.exp,
        log=np.log,
        sqrt=np.sqrt,
        sin=np.sin,
        cos=np.cos,
        tanh=np.tanh,
        absolute=np.abs,
        logistic=expit,
        where=lambda condition, yes, no: apply(np.where, condition, yes, no),
        equal=lambda one, two: apply(np.equal, one, two) * 1.0,
        less=lambda one, two: apply(np.less, one, two) * 1.0,
        sum=lambda value, over: value.summed(over.name),
        dot=lambda one, two, over: (one * two).summed(over.name),
        identity=lambda plate: Named(np.eye(sizes[plate.name]), (plate.name, plate.name + "'")),
    )


def second_log_joint(
    lines: Sequence[str],
    values: Mapping[str, Array],
    groups: Mapping[str, Array],
    sizes: Mapping[str, int],
    many: Collection[str] = frozenset(),
) -> Array:
    """The log joint of a model written as lines, all of whose variables have the given values.

    Those of `many` have a leading axis of points; if there are any, there is one log joint a point.
    """
    model = SecondModel(values, groups, many)
    space = {"pw": second_language(sizes), "np": np, "m": model}
    for line in lines:
        exec(line.strip(), space)
    return model._total
