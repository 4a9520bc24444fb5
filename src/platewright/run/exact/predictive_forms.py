"""Closed forms of predicted variables: what has a mean that is linear in the unknowns, or a probability that is.

Tables have exact probabilities, regressions are Student t (Gaussian where the scale is known).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import exp, substitute
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Lag, Multiply, Reference, mentions, names, walk
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.families import FAMILY_BY_NAME
from platewright.family import Array
from platewright.language.variable import Variable
from platewright.recognition.linear import Linear, NotLinear, linear
from platewright.run.exact.linear_forms import form_mean, form_variance, form_weights
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.predictive_density import Density


@dataclass(frozen=True, eq=False)
class PredictiveForms:
    """The posterior, and the columns of the new rows."""

    posterior: Posterior
    environment: Environment
    unknown: frozenset[str]
    labels: Mapping[str, tuple[object, ...]]

    def marginal(self, node: Variable) -> Marginal | None:
        """The distribution of a variable of the new rows, the others being given; None where it has no closed form."""
        assert node.family is not None
        if node.family.name == "Categorical":
            return self._table(node)
        if node.family.name == "Bernoulli":
            mean = self.linear_mean(node, dict(node.parameters)["p"])
            if mean is None:
                return None
            return Marginal(node.name, node.family, {"p": mean}, axes=node.axes, labels=self.labels)
        if node.family.name == "Normal":
            return self._normal(node)
        return None

    def linear_mean(
        self, node: Variable, expression: Expression, axes: tuple[Index, ...] | None = None
    ) -> Array | None:
        """The posterior mean of an expression that is linear in the unknowns and has closed marginals."""
        form = self._closed_form(expression)
        if form is None:
            return None
        means = {part.variable: self._mean(part.variable) for part in form.parts}
        return form_mean(form, means, self.environment, node.plates if axes is None else axes)

    def _closed_form(self, expression: Expression) -> Linear | None:
        """The expression as a linear form of unknowns that have a mean."""
        try:
            form = linear(expression, self.unknown)
        except NotLinear:
            return None
        marginals = [self.posterior.marginal(part.variable) for part in form.parts]
        return form if all(found is not None and found.family.mean is not None for found in marginals) else None

    def _mean(self, name: str) -> Array:
        found = self.posterior.marginal(name)
        assert found is not None
        return found.mean

    def level_density(self, node: Variable) -> Density | None:
        """The log probability of a category as a function of it: no other category is looked at."""
        if (
            node.family is None
            or node.family.name != "Categorical"
            or any(isinstance(p, Lag) for p in walk(node.log_density))
        ):
            return None
        level = Index(str(node.domain.levels), str(node.domain.levels))
        probability = exp(dict(node.parameters)["log_probabilities"])
        form = self._closed_form(substitute(probability, {level: Reference(node.name, node.plates)}))
        if form is None:
            return None
        means = {part.variable: self._mean(part.variable) for part in form.parts}

        def density(value: object) -> Array:
            shape = tuple(self.environment.sizes[axis.plate] for axis in node.plates)
            given = self.environment.with_values({node.name: np.broadcast_to(np.asarray(value), shape)})
            with np.errstate(divide="ignore"):
                return np.log(form_mean(form, means, given, node.plates))

        return density

    def _table(self, node: Variable) -> Marginal | None:
        level = Index(str(node.domain.levels), str(node.domain.levels))
        probabilities = exp(dict(node.parameters)["log_probabilities"])
        mean = self.linear_mean(node, probabilities, (*node.plates, level))
        if mean is None:
            return None
        with np.errstate(divide="ignore"):
            parameters = {"log_probabilities": np.log(mean)}
        return Marginal(node.name, FAMILY_BY_NAME["Categorical"], parameters, axes=node.axes, labels=self.labels)

    def _normal(self, node: Variable) -> Marginal | None:
        parameters = dict(node.parameters)
        try:
            form = linear(parameters["mean"], self.unknown)
        except NotLinear:
            return None
        owners = [self.posterior.conditional(part.variable) for part in form.parts]
        if not all(isinstance(owner, GaussianConditional) and owner.matrix is None for owner in owners):
            return None
        scale = self._scale(parameters["precision"], form, node.plates)
        if scale is None:
            return None
        kind, known_weight, shape, rate = scale
        mean = self.linear_mean(node, parameters["mean"])
        if mean is None:
            return None
        variance = 1.0 / known_weight
        if form.parts:
            weights = form_weights(form, self.posterior, self.environment, node.plates)
            variance = variance + form_variance(weights, self.posterior, len(node.plates))
        if kind == "number":
            normal = {"mean": mean, "precision": 1.0 / variance}
            return Marginal(node.name, FAMILY_BY_NAME["Normal"], normal, axes=node.axes, labels=self.labels)
        student = {"degrees": 2 * shape, "mean": mean, "precision": shape / (rate * variance)}
        student = {key: np.broadcast_to(value, np.shape(mean)) for key, value in student.items()}
        return Marginal(node.name, FAMILY_BY_NAME["StudentT"], student, axes=node.axes, labels=self.labels)

    def _scale(
        self, precision: Expression, form: Linear, axes: tuple[Index, ...]
    ) -> tuple[str, Array, Array, Array] | None:
        """The precision of new rows as known weight times the scale of the unknowns in their mean."""
        unknown = set(self.unknown)
        factors = precision.factors if isinstance(precision, Multiply) else (precision,)
        known = [factor for factor in factors if not mentions(factor, unknown)]
        other = [factor for factor in factors if mentions(factor, unknown)]
        weight = np.ones(())
        for factor in known:
            weight = weight * np.array(evaluate(factor, self.environment, axes))
        none = np.zeros(())
        if not other:
            scales = [self.posterior.conditional(part.variable) for part in form.parts]
            fixed = all(isinstance(c, GaussianConditional) and not mentions(c.scale, unknown) for c in scales)
            return ("number", weight, none, none) if fixed else None
        return self._gamma_scale(other, form, weight, axes)

    def _gamma_scale(
        self, other: list[Expression], form: Linear, weight: Array, axes: tuple[Index, ...]
    ) -> tuple[str, Array, Array, Array] | None:
        if len(other) != 1:
            return None
        places = [n for n in walk(other[0]) if isinstance(n, Reference) and n.name in self.unknown]
        if len(places) != 1:
            return None
        owner = self.posterior.conditional(places[0].name)
        if not isinstance(owner, FamilyConditional) or owner.recognised.family.name != "Gamma":
            return None
        if substitute(other[0], {places[0]: owner.recognised.transform.backward}) != Reference("y"):
            return None
        for part in form.parts:
            block = self.posterior.conditional(part.variable)
            assert isinstance(block, GaussianConditional)
            if names(block.scale) & self.unknown != {places[0].name}:
                return None
        marginal = self.posterior.marginal(places[0].name)
        if marginal is None:
            return None
        environment = self.environment
        shape = evaluate(
            Reference("shape@", places[0].indices),
            environment.with_values({"shape@": marginal.parameters["shape"]}),
            axes,
        )
        rate = evaluate(
            Reference("rate@", places[0].indices),
            environment.with_values({"rate@": marginal.parameters["rate"]}),
            axes,
        )
        return "gamma", weight, np.array(shape), np.array(rate)
