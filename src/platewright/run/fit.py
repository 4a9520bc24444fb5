"""The result of learning: posteriors, evidence, draws, and the derivation that led to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from platewright.algebra.evaluate import evaluate
from platewright.algebra.expression import Add, Constant, Expression, Multiply, Size, Sum
from platewright.data.bind import bind
from platewright.data.signature import Signature
from platewright.errors import ImproperPosterior, PlatewrightError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.program.program import EVIDENCE
from platewright.run.changing import forgotten, row_plate, updated
from platewright.run.execute import Loaded, Statistics, check_finite, columns_of, finish, loaded
from platewright.run.marginal import Marginal
from platewright.run.posterior import Posterior
from platewright.run.prediction import Prediction
from platewright.run.sampled import Sampled
from platewright.run.scoring import leave_one_out, log_predictive, prequential
from platewright.run.shown import Shown
from platewright.schema import Plan
from platewright.schemas.exact import local_name

DRAWS_FOR_MARGINALS = 4000


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Shown):
    """What `m.learn(data)` returns."""

    plan: Plan
    statistics: Statistics
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    labels: Mapping[str, tuple[object, ...]]
    backend: str = "numpy"
    seed: int = 0
    seconds: Mapping[str, float] | None = None
    signature: Signature | None = None

    @cached_property
    def module(self) -> Loaded:
        """The emitted program that computed the values."""
        return loaded(self.plan.program)

    @cached_property
    def values(self) -> Mapping[str, Array]:
        """Everything the program computed, by name, checked."""
        found = finish(self.plan.program, self.module, self.statistics, self.columns, self.sizes)
        self._check_parameters(found)
        check_finite("log evidence", found[EVIDENCE])
        return found

    def _check_parameters(self, found: Mapping[str, Array]) -> None:
        """Parameters outside their range mean that prior and data together are improper."""
        from platewright.elimination.state import FamilyConditional

        for conditional in self.plan.conditionals:
            if not isinstance(conditional, FamilyConditional):
                continue
            family = conditional.recognised.family
            for parameter in family.parameters:
                value = found.get(f"{conditional.variable}.{parameter.name}")
                if value is None or parameter.domain.lower != 0.0 or parameter.rank == 2:
                    continue
                if not (np.asarray(value) > 0).all():
                    worst = float(np.min(value))
                    raise ImproperPosterior(
                        f"the posterior of `{conditional.variable}` is improper: its {parameter.name} is {worst:g}",
                        expected=f"a {parameter.name} above 0",
                        hint=_missing(worst, parameter.name, conditional.recognised.parameters[parameter.name]),
                    )
        self._check_degrees()

    def _check_degrees(self) -> None:
        """A Wishart over d elements needs more than d - 1 degrees, and d may come from the data."""
        for node in self.plan.graph.nodes.values():
            degrees = dict(node.parameters).get("degrees")
            if node.rank != 2 or not isinstance(degrees, Constant):
                continue
            size = self.sizes[node.events[0].plate]
            if degrees.value <= size - 1:
                raise ImproperPosterior(
                    f"`{node.name}` has {degrees.value:g} degrees over {size} elements of {node.events[0].plate}",
                    expected=f"more than {size - 1} degrees",
                )

    # -- answers ---

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`; up to a constant when a prior is improper."""
        if self.plan.goal == "map":
            raise PlatewrightError("a fit for the goal `map` has no evidence", hint='learn with goal="posterior"')
        return float(self.values[EVIDENCE])

    @property
    def local_evidence(self) -> Mapping[tuple[str, ...], float]:
        """The log evidence of each independent piece, by its unknowns (Lemma 6.4); the sum is the log evidence."""
        found = {}
        for piece in self.plan.pieces:
            value = self.values.get(local_name(piece), self.values[EVIDENCE])
            found[piece] = float(value)
        known = self.values.get(local_name(()))
        return found if known is None else {**found, (): float(known)}

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        return f"{self.plan.schema}: {self.plan.summary} ({self.backend})"

    @cached_property
    def posterior(self) -> Posterior:
        """The joint posterior."""
        return Posterior(self.plan, self.values, self.columns, self.sizes)

    def __getitem__(self, name: str) -> Marginal | Sampled:
        """The posterior of one unknown."""
        if name not in self.posterior.unknown:
            return self._other(name)
        found = self.posterior.marginal(name)
        if found is None:
            return Sampled(name, self._marginal_draws[name], self.labels)
        point = found.value
        if self.plan.goal == "map":
            point = self.posterior.modes[name]
        elif found.family.mean is not None:
            point = found.mean
        return replace(found, labels=self.labels, value=point)

    def _other(self, name: str) -> Sampled:
        """Predicted nodes and functions of unknowns are shown by draws."""
        nodes = self.plan.graph.nodes
        if name in self.plan.barren or (name in nodes and nodes[name].kind == "deterministic"):
            return Sampled(name, self._marginal_draws[name], self.labels)
        known = [*self.posterior.unknown, *self.plan.barren]
        raise UnknownName(name, known, where="fit[...]")

    @cached_property
    def _marginal_draws(self) -> Mapping[str, Array]:
        return self.draws(DRAWS_FOR_MARGINALS, self.seed)

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """Independent draws from the joint posterior, by name; the first axis numbers the draws."""
        from platewright.run.forward import extend_draws

        if not isinstance(count, int | np.integer) or count < 1:
            raise PlatewrightError(f"{count!r} draws", expected="a whole number from 1")
        generator = np.random.default_rng(self.seed if seed is None else seed)
        drawn = self.posterior.draws(count, generator)
        return extend_draws(self.posterior, drawn, count, generator)

    def log_joint_at(self, point: Mapping[str, Array]) -> float:
        """`log p(data, point)`: the joint density of data and unknowns, straight from the model."""
        if lacking := sorted(self.posterior.unknown - set(point)):
            raise PlatewrightError(f"the point has no `{lacking[0]}`", expected="a value for every unknown")
        if not self.columns and self.plan.program.columns:
            raise PlatewrightError("the rows were read from a file and not kept", hint="learn from data in memory")
        return self._log_density_of(self.plan.factors, point)

    def _log_density_of(self, factors: Iterable[Factor], point: Mapping[str, Array]) -> float:
        environment = self.posterior.environment.with_values(point)
        return float(sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in factors))

    def probabilities(self, name: str) -> Array:
        """For a discrete unknown the posterior probability of each of its values, along the last axis."""
        node = self.plan.graph.nodes.get(name)
        if node is None or name not in self.posterior.unknown or not node.domain.is_finite:
            raise PlatewrightError(
                f"`{name}` is not a discrete unknown", expected="a variable with finitely many values"
            )
        found = self[name]
        if isinstance(found, Sampled):
            size = int(np.max(found.values)) + 1 if node.domain.levels is None else self.sizes[node.domain.levels]
            return np.stack([(found.values == level).mean(axis=0) for level in range(size)], axis=-1)
        if "p" in found.parameters:
            return np.stack([1 - found.parameters["p"], found.parameters["p"]], axis=-1)
        return np.exp(found.parameters["log_probabilities"])

    def expected(self, name: str) -> Array:
        """The posterior mean of an unknown, of a discrete one the probabilities; missing cells among those seen."""
        twin, seen = missing_name(name), observed_name(name)
        if seen in self.columns and (twin in self.posterior.unknown or twin in self.plan.barren):
            return np.where(self.columns[seen] != 0, self.columns[name], self.expected(twin))
        node = self.plan.graph.nodes.get(name)
        if node is not None and name in self.posterior.unknown and node.domain.is_finite:
            return self.probabilities(name)
        found = self[name]
        if isinstance(found, Marginal) and found.family.mean is None:
            return np.asarray(self._marginal_draws[name].mean(axis=0))
        return np.asarray(found.mean)

    @property
    def estimate(self) -> Mapping[str, Array]:
        """The point estimate of every unknown."""
        if self.plan.goal == "map":
            return self.posterior.modes
        return {name: np.asarray(self[name].value) for name in self.posterior.unknown}

    @property
    def log_joint(self) -> float:
        """`log p(data, estimate)`."""
        return self.log_joint_at(self.estimate)

    @property
    def log_likelihood(self) -> float:
        """`log p(data | estimate)`: the factors of the known variables at the estimate."""
        known = self.plan.graph.known
        return self._log_density_of([factor for factor in self.plan.factors if factor.owner in known], self.estimate)

    # -- new rows ---

    def _bound(self, new: object) -> tuple[dict[str, Array], dict[str, int]]:
        if self.signature is None:
            raise PlatewrightError("this fit does not know its model", hint="learn again")
        dataset = bind(self.signature, new, labels=self.labels)
        return columns_of(self.plan.graph, dataset), {**self.sizes, **dataset.sizes}

    def _rows(self, count: int) -> tuple[dict[str, Array], dict[str, int]]:
        """New rows without inputs: their number says all."""
        plate = row_plate(self.plan.program, self.plan.program.columns)
        return {}, {**self.sizes, plate: count}

    def predict(self, new: object, count: int = 4000, seed: int | None = None) -> Prediction:
        """Posterior predictive of what `new` leaves open; `new` gives the inputs of new rows, or just their number."""
        columns, sizes = self._rows(new) if isinstance(new, int) else self._bound(new)
        known = self.plan.graph.known
        targets = tuple(name for name in self.plan.graph.nodes if name in known and name not in columns)
        return Prediction(
            self.posterior, columns, sizes, targets, self.labels, count, self.seed if seed is None else seed
        )

    def log_predictive(self, new: object) -> Array:
        """For each complete new row its log predictive density, exact by a ratio of evidence."""
        columns, sizes = self._bound(new)
        return log_predictive(self, columns, sizes)

    def update(self, more: object) -> Fit:
        """The fit after more rows, exactly as if all had been there from the start."""
        return updated(self, *self._bound(more))

    def forget(self, rows: object) -> Fit:
        """The fit without some of its rows (by number or mask), exactly as if they had never been there."""
        return forgotten(self, rows)

    def leave_one_out(self) -> Array:
        """For each row its log predictive density given all others."""
        return leave_one_out(self)

    def prequential(self) -> Array:
        """For each row its log predictive density given those before it; adds up to the log evidence."""
        return prequential(self)

    def source(self, backend: str = "numpy") -> str:
        """The emitted program."""
        from platewright.backends.emit import emit

        return emit(self.plan.program, backend)

    def to_arviz(self, count: int = 4000, seed: int | None = None) -> Any:
        """The posterior as an ArviZ DataTree of draws (needs the extra `arviz`)."""
        from platewright.run.arviz import to_arviz

        return to_arviz(self, count, seed)

    def save(self, path: str | Path) -> None:
        """Write the result to a file that `pw.load` reads: JSON and arrays, no code."""
        from platewright.run.saving import save

        save(self, path)


def _missing(worst: float, name: str, form: Expression) -> str:
    """How many observations would do, from what each adds to the parameter; a rate needs values that differ."""
    if name in ("shape", "degrees"):
        step = _each_adds(form)
        count = int(np.floor(-worst / step)) + 1
        return f"at least {count} more observation{'s' if count > 1 else ''} needed, or a proper prior"
    return "at least 1 more observation that differs from the others is needed, or a proper prior"


def _each_adds(form: Expression) -> float:
    """The coefficient of the number of rows in a sum such as `2 + 0.5 #n`."""
    found = []
    for term in form.terms if isinstance(form, Add) else (form,):
        match term:
            case Multiply((Constant(number), Size() | Sum())):
                found.append(number)
            case Size() | Sum():
                found.append(1.0)
    return max((number for number in found if number > 0), default=0.5)
