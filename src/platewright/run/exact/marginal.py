"""The posterior of one unknown as a distribution: moments, quantiles, density, draws.

Moments under a change of variable come from the log normaliser alone (Equation 29):
E exp(c t_i(y)) = Z(natural_i + c) / Z(natural_i).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from platewright.algebra.build import substitute
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    Call,
    Expression,
    Index,
    Reference,
    free_indices,
    rebuild,
    walk,
)
from platewright.errors import PlatewrightError
from platewright.family import EVENT, EVENT_TOO, Array, Family, X
from platewright.recognition.moments import expected_statistics
from platewright.recognition.transform import IDENTITY, Transform, coefficients
from platewright.run.results.quantity import Numbers, Quantity

_Y = Reference("y")


@dataclass(frozen=True, eq=False)
class Marginal(Quantity):
    """`transform(variable)` follows `family` with these parameters, independently along the leading axes."""

    family: Family
    parameters: Mapping[str, Array]
    transform: Transform = IDENTITY
    axes: tuple[Index, ...] = ()
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    point: Array | None = None
    """The joint mode, for goal `map`."""
    joint: Callable[[], Array | None] | None = None
    """What computes the covariance of jointly Gaussian (or Student) elements."""

    def __getstate__(self) -> dict[str, object]:
        """Numbers in place of what computes them; the covariance computes itself once more."""
        return {**super().__getstate__(), "parameters": dict(self.parameters)}

    @cached_property
    def covariance(self) -> Array | None:
        """For jointly Gaussian (or Student) elements: their covariance, flattened in the order of the axes."""
        return None if self.joint is None else self.joint()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one value."""
        leading = self._batch
        events = self._event_size
        return (*leading, *((events,) * self.family.rank))

    @property
    def _batch(self) -> tuple[int, ...]:
        shapes = []
        for parameter in self.family.parameters:
            shape = np.shape(self.parameters[parameter.name])
            shapes.append(shape[: len(shape) - parameter.rank])
        return np.broadcast_shapes(*shapes)

    @property
    def _event_size(self) -> int:
        for parameter in self.family.parameters:
            if parameter.rank:
                return int(np.shape(self.parameters[parameter.name])[-1])
        return 0

    # -- moments ---

    @property
    def value(self) -> Numbers:
        """The point estimate: the joint mode for goal `map`, else the posterior mean; of a category, the mode."""
        if self.point is not None:
            return self.point
        return self.mode if self.family.domain.is_finite or self.family.mean is None else self.mean

    @property
    def mean(self) -> Numbers:
        """Posterior mean."""
        if self.transform is IDENTITY:
            return self._asked("mean")(self.parameters)
        return self._moment(1.0)

    @property
    def variance(self) -> Numbers:
        """Posterior variance."""
        if self.transform is IDENTITY:
            return self._asked("variance")(self.parameters)
        with np.errstate(invalid="ignore"):
            return self._moment(2.0) - self._moment(1.0) ** 2

    @property
    def sd(self) -> Numbers:
        """Posterior standard deviation."""
        return np.sqrt(self.variance)

    @property
    def mode(self) -> Numbers:
        """Mode of the density in the variable itself, whatever the change of variable."""
        if self.transform is IDENTITY:
            return self._asked("mode")(self.parameters)
        moved = self._shifted(coefficients(self.transform.log_jacobian), -1.0)
        return self._back(self._asked("mode")(moved))

    @property
    def moments(self) -> dict[str, Numbers]:
        """The expected sufficient statistics, by what they are: derivatives of the log normaliser (Lemma 4.2)."""
        if self.family.from_natural is None:
            raise PlatewrightError(
                f"`{self.name}` is {self.family.name}, which is no exponential family of its own",
                hint="use .mean and .variance, or .draw(n) and work with the draws",
            )
        found = {}
        for statistic, expected in zip(self.family.statistics, expected_statistics(self.family), strict=True):
            found[self._shown(statistic)] = evaluate_at(expected, self.parameters, self._batch)
        return found

    def _shown(self, statistic: Expression) -> str:
        """A statistic in words of the unknown itself."""
        axes = zip((EVENT, EVENT_TOO), self.axes[len(self.axes) - self.family.rank :], strict=False)
        events: dict[Expression, Expression] = {at: axis for at, axis in axes if at in free_indices(statistic)}
        if self.transform is not IDENTITY:
            statistic = substitute(statistic, {X: self.transform.forward})

        def named(part: Expression) -> Expression:
            if isinstance(part, Reference) and part.name == "x":
                return Reference(self.name, tuple(events.get(at, at) for at in part.indices))
            return rebuild(part, named)

        return str(named(statistic))

    def _moment(self, order: float) -> Array:
        """E x^order, with x = exp(c t(y)) for a statistic t of the family."""
        powers = coefficients(self._log_backward())
        moved = self._shifted(powers, order)
        finite = np.all([np.all(np.asarray(moved[p.name]) > 0) for p in self.family.parameters if p.domain.lower == 0])
        if not finite:
            return self._moment_elementwise(moved)
        return np.exp(self._log_normaliser(moved) - self._log_normaliser(self.parameters))

    def _moment_elementwise(self, moved: Mapping[str, Array]) -> Array:
        good = np.ones(self._batch, dtype=bool)
        for parameter in self.family.parameters:
            if parameter.domain.lower == 0:
                good &= np.broadcast_to(np.asarray(moved[parameter.name]) > 0, self._batch)
        safe = {k: np.where(good, np.broadcast_to(v, self._batch), 1.0) for k, v in moved.items()}
        ratio = np.exp(self._log_normaliser(safe) - self._log_normaliser(self.parameters))
        return np.where(good, ratio, np.inf)

    def _log_backward(self) -> Expression:
        """`log x` in terms of y."""
        back = self.transform.backward
        match back:
            case Call("exp", (inner,)):
                return inner
        from platewright.algebra.build import call, multiply
        from platewright.algebra.expression import Power

        if isinstance(back, Power):
            return multiply(back.exponent, call("log", back.base))
        raise PlatewrightError(f"moments of `{self.name}` have no closed form; use draws")

    def _shifted(self, powers: Mapping[Expression, float], by: float) -> dict[str, Array]:
        """Parameters after the natural parameters of some statistics have moved."""
        environment = self._environment(self.parameters)
        weights: dict[str, Array] = {}
        for number, (natural, statistic) in enumerate(zip(self.family.natural, self.family.statistics, strict=True)):
            value = evaluate_at(natural, environment, self._batch)
            amount = powers.get(substitute(statistic, {X: _Y}), 0.0)
            weights[f"weight{number}"] = value + by * amount
        assert self.family.from_natural is not None
        moved = self._environment(weights)
        return {name: evaluate_at(form, moved, self._batch) for name, form in self.family.from_natural.items()}

    def _log_normaliser(self, parameters: Mapping[str, Array]) -> Array:
        return evaluate_at(self.family.log_normaliser, self._environment(parameters), self._batch)

    def _environment(self, parameters: Mapping[str, Array]) -> Mapping[str, Array]:
        return parameters

    # -- quantiles, density, draws -------------------------------------------------------------------------------------

    def quantile(self, q: object) -> Numbers:
        """Quantiles at the given probabilities; several probabilities give a leading axis."""
        wanted = _numbers(q, "a quantile")
        if ((wanted < 0) | (wanted > 1)).any():
            raise PlatewrightError(f"a quantile at {q}", expected="probabilities from 0 to 1")
        decreasing = self.transform.exponent is not None and self.transform.exponent < 0
        at = 1 - wanted if decreasing else wanted
        at = at.reshape((*at.shape, *((1,) * len(self.shape))))
        return self._back(self._asked("quantile")(at, self.parameters))

    def draw(self, count: int = 1, seed: int = 0) -> Array:
        """Independent draws; the first axis numbers them."""
        return self.draw_with(np.random.default_rng(seed), count)

    def draw_with(self, generator: np.random.Generator, count: int) -> Array:
        """Draws from a generator that is shared with others."""
        return self._back(self._asked("draw")(generator, self.parameters, (count, *self.shape)))

    def log_density(self, value: object) -> Numbers:
        """Log density at a value of the variable, for each element along the leading axes."""
        x = _numbers(value, "the density")
        try:
            np.broadcast_shapes(x.shape, self.shape)
        except ValueError:
            shape = f"{self.shape}, the shape of `{self.name}`"
            raise PlatewrightError(f"the density at a value of shape {x.shape}", expected=shape) from None
        y = x
        jacobian: Array = np.zeros(())
        if self.transform is not IDENTITY:
            y = scalar(self.transform.forward, {"x": x})
            jacobian = scalar(self.transform.log_jacobian, {"y": y})
        density = evaluate_at(self.family.log_density, {**self.parameters, "x": y}, self._batch, self.family.rank)
        return density - jacobian

    def _back(self, y: Array) -> Array:
        return y if self.transform is IDENTITY else scalar(self.transform.backward, {"y": y})

    def _asked(self, what: str) -> Callable[..., Array]:
        function: Callable[..., Array] | None = getattr(self.family, what)
        if function is None and self.family.domain.is_finite:
            raise PlatewrightError(
                f"`{self.name}` is a category, which has no {what}",
                hint=f'use fit.probabilities("{self.name}") or .mode',
            )
        if function is None:
            raise PlatewrightError(
                f"the {what} of {self.family.name} has no closed form", hint="use .draw(n) and work with the draws"
            )
        return function

    def __repr__(self) -> str:
        changed = "" if self.transform is IDENTITY else f" ({self.transform.name} of it)"
        shown = ""
        if all(np.ndim(value) == 0 for value in self.parameters.values()):
            shown = ", ".join(f"{name}={float(value):.6g}" for name, value in self.parameters.items())
        return f"<posterior of {self.name}: {self.family.name}{shown and f'({shown})'}{changed}>"


def _numbers(value: object, what: str) -> Array:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise PlatewrightError(f"{what} at {value!r}"[:80], expected="numbers") from None


def scalar(expression: Expression, values: Mapping[str, Array]) -> Array:
    """An expression of scalars applied elementwise to arrays."""
    shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
    elementwise, axes = _elementwise(expression, tuple(values), len(shape))
    sizes = {axis.plate: size for axis, size in zip(axes, shape, strict=True)}
    full = {name: np.broadcast_to(value, shape) for name, value in values.items()}
    return np.array(evaluate(elementwise, Environment(full, sizes), axes))


@lru_cache(maxsize=256)
def _elementwise(expression: Expression, names: tuple[str, ...], rank: int) -> tuple[Expression, tuple[Index, ...]]:
    """An expression of scalars over so many axes; iterations ask for the same again and again."""
    axes = tuple(Index(f"axis{k}", f"axis{k}") for k in range(rank))
    changes: dict[Expression, Expression] = {Reference(name): Reference(name, axes) for name in names}
    return substitute(expression, changes), axes


def evaluate_at(
    template: Expression, values: Mapping[str, Array], batch: tuple[int, ...], x_rank: int | None = None
) -> Array:
    """A family's template evaluated over leading axes that all values share."""
    lifted, axes, free, ranks = _lifted(template, len(batch))
    sizes = {axis.plate: size for axis, size in zip(axes, batch, strict=True)}
    arrays: dict[str, Array] = {}
    for name, value in values.items():
        rank = ranks.get(name, 0)
        if name == "log_probabilities":
            rank = 1
        shape = np.shape(value)
        events = shape[len(shape) - rank :] if rank else ()
        arrays[name] = np.broadcast_to(value, (*batch, *events))
        if events:
            sizes["event"] = events[-1]

    return np.array(evaluate(lifted, Environment(arrays, sizes), (*axes, *free)))


Lifted = tuple[Expression, tuple[Index, ...], tuple[Index, ...], Mapping[str, int]]


@lru_cache(maxsize=256)
def _lifted(template: Expression, rank: int) -> Lifted:
    """A template over so many leading axes, these axes, those of events, and how many of the latter its names have."""
    axes = tuple(Index(f"batch{k}", f"batch{k}") for k in range(rank))

    def lifted(part: Expression) -> Expression:
        if isinstance(part, Reference):
            return Reference(part.name, (*axes, *(lifted(index) for index in part.indices)))
        return rebuild(part, lifted)

    free = tuple(index for index in (EVENT, EVENT_TOO) if index in free_indices(template))
    ranks = {node.name: len(node.indices) for node in walk(template) if isinstance(node, Reference)}
    return lifted(template), axes, free, ranks
