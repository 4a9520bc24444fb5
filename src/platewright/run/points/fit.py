"""The result of quadrature over a few numbers: posteriors, independent draws, the evidence and its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.backends.kernels.held_density import Density_of, at_coordinates
from platewright.backends.kernels.lattice import drawn_among, drawn_from
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence import Evidence
from platewright.run.forward import extended
from platewright.run.points.apart import Apart
from platewright.run.points.gaussians import Gaussians, systematic
from platewright.run.points.given import density_of, given_points
from platewright.run.points.loaded import Eliminated
from platewright.run.points.mixture import Mixture
from platewright.run.points.number import Number
from platewright.run.results.followers import followers
from platewright.run.results.outcome import Written
from platewright.run.results.result import Result
from platewright.run.results.writing import iterated
from platewright.run.samplers.sampled import Sampled
from platewright.schemas.few_numbers import QuadraturePlan

if TYPE_CHECKING:
    from platewright.run.results.predicting import RowPrediction

DRAWS = 4000
POINTS, OPTIONS = "points", "options"
"""Groups of arrays in a file."""
COUNT = "count="
"""Under a name that no variable has."""
DISTINCT = 600
"""Points among which draws are made, where each point runs a program of its own."""
KERNEL = 0.3
"""The width of the kernel of a number's density, in standard deviations of the mode of a cell."""


@dataclass(frozen=True, eq=False, repr=False)
class QuadratureFit(Result):
    """What `m.learn(data, by="quadrature")` returns."""

    derivation: QuadraturePlan
    found: Mapping[str, Array]
    """Points in coordinates without ends, their shares, the log evidence, and the error."""
    count: int = field(default=DRAWS, kw_only=True)
    """How many draws `draws()` makes unless told."""

    @property
    def how(self) -> str:
        """One line: which algorithm ran, and how sure it is."""
        points = len(self.found["share"])
        modes = 1 if self.found["freedom"] else len(self.found["modes"])
        where = f"{points:,} points" if modes == 1 else f"{points:,} points around {modes} modes"
        word = "drawn and weighed, standard error" if self.found["freedom"] else "change at the last refinement"
        return f"quadrature: {self.derivation.summary}; {where}, {word} {self.error:.1g}"

    @property
    def error(self) -> float:
        """What the last refinement changed: of the log evidence, and of means and sds in units of the latter.

        Where points are drawn, as of more than a few numbers, their standard error.
        """
        return float(self.found["error"])

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`; `evidence` has its error."""
        return float(self.found["log_evidence"])

    @property
    def score(self) -> str:
        """The evidence with its error, as a table says it."""
        constant = "" if self.derivation.proper else " (up to a constant)"
        return f", log evidence {self.log_evidence:.6g} +- {self.error:.1g}{constant}"

    def written(self) -> Written:
        """What a file keeps: the points, and how many draws are made unless told; the rows say the rest again."""
        found = {name: np.asarray(value) for name, value in self.found.items()}
        found["is_line"] = found["is_line"].astype(np.int64)
        return iterated(self, {"columns": self.columns, POINTS: found, OPTIONS: {COUNT: np.array(self.count)}})

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence, with what the last refinement changed."""
        detail = f"{len(self.found['share']):,} points of {', '.join(self.derivation.held)}"
        return Evidence(self.log_evidence, "quadrature", self.error, detail, self.derivation.proper)

    # -- posteriors ---

    @cached_property
    def eliminated(self) -> Eliminated | Apart:
        """What the rows say of the other unknowns, from one pass: made anew where the fit was copied or loaded."""
        return given_points(self.derivation, self.columns, self.sizes)

    @cached_property
    def given(self) -> Gaussians | Apart:
        """The other unknowns at each point."""
        if isinstance(self.eliminated, Apart):
            return self.eliminated
        graph = self.derivation.graph
        return Gaussians(graph, self.eliminated, self.sizes, self._values, self.found["share"])

    @cached_property
    def density(self) -> Density_of:
        """The log density of the held numbers, over coordinates without ends."""
        return density_of(self.derivation, self.eliminated)

    @property
    def ends(self) -> list[tuple[float, float]]:
        """The open range of each number that was held."""
        return [self.derivation.graph.nodes[name].domain.open_ends for name in self.derivation.held]

    @cached_property
    def _values(self) -> Mapping[str, Array]:
        values = at_coordinates(self.found["u"], self.ends)[0]
        return {name: values[:, k] for k, name in enumerate(self.derivation.held)}

    def __getitem__(self, name: str) -> Number | Mixture | Sampled:
        """The posterior of one unknown."""
        held = self.derivation.held
        if name in held:
            k = held.index(name)
            inside = self.found["roots"][:, k] * self.found["is_line"]
            width = KERNEL * np.sqrt((inside**2).sum(axis=-1))[self.found["cell_mode"]]
            at, share = self.found["u"][:, k], self.found["share"]
            cells = self.found["cell_share"], self.found["cell_mean"][:, k], self.found["cell_variance"][:, k]
            ends = self.ends[k]
            return Number(name, at, share, cells, width, ends, partial(self._drawn, name))
        if name not in self.learned:
            return self._other(name)
        mixture = self._mixture(name)
        return Sampled(name, self._many[name], self.labels) if mixture is None else mixture

    @property
    def learned(self) -> tuple[str, ...]:
        """The unknowns that were learned, in the order of writing."""
        plan = self.derivation
        return tuple(name for name in plan.graph.unknown if name not in plan.barren)

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of unknowns, and what is predicted of the rows that were learned from."""
        plan = self.derivation
        return followers(plan.graph, self.learned, plan.barren, self.columns, self.sizes)

    def _mixture(self, name: str) -> Mixture | None:
        """The mixture of an unknown that is Gaussian at every point."""

        drawn = partial(self._drawn, name)
        if isinstance(self.given, Gaussians):
            return Mixture(name, *self.given.moments[name], partial(self._components, name), drawn)
        chosen, share = self._some
        found = self.given.marginals(name, self._values, chosen)
        kept = [one for one in found if one is not None and one.family.name == "Normal"]
        if len(kept) < len(found) or any(one.transform.name != "identity" for one in kept):
            return None
        means, variances = (np.stack([np.asarray(getattr(one, what)) for one in kept]) for what in ("mean", "variance"))
        mean = np.tensordot(share, means, 1)
        variance = np.tensordot(share, variances + (means - mean) ** 2, 1)
        return Mixture(name, mean, variance, partial(tuple, (share, means, np.sqrt(variances))), drawn)

    def _components(self, name: str) -> tuple[Array, Array, Array]:
        assert isinstance(self.given, Gaussians)
        return self.given.components(name)

    @cached_property
    def _some(self) -> tuple[Array, Array]:
        """The points that matter for moments, and their shares; of very many some, evenly."""
        share = self.found["share"]
        kept = np.flatnonzero(share > 1e-6 * share.max())
        if len(kept) <= DISTINCT:
            return kept, share[kept] / share[kept].sum()
        return systematic(share, DISTINCT), np.full(DISTINCT, 1.0 / DISTINCT)

    def _other(self, name: str) -> Sampled:
        """Predicted nodes and functions of unknowns are shown by draws."""
        nodes = self.derivation.graph.nodes
        if name in self.derivation.barren or (name in nodes and nodes[name].kind == "deterministic"):
            return Sampled(name, self._many[name], self.labels)
        raise self.absent(name, [*self.learned, *self.derivation.barren])

    def _drawn(self, name: str, count: int, seed: int) -> Array:
        return self.draws(count, seed)[name]

    @cached_property
    def _many(self) -> Mapping[str, Array]:
        return self.draws(DRAWS, self.seed)

    @property
    def estimate(self) -> Mapping[str, Array]:
        """The posterior mean of every unknown."""
        return {name: np.asarray(self[name].value) for name in self.learned}

    def draws(self, count: int | None = None, seed: int | None = None) -> dict[str, Array]:
        """Draws from the joint posterior, by name; the first axis numbers the draws.

        They are independent; where each point of the held numbers runs a program of its own, and more draws are wanted
        than `DISTINCT`, they are so given that many points, which lie evenly over the posterior.
        """
        wanted = self.count if count is None else count
        if not isinstance(wanted, int | np.integer) or wanted < 1:
            raise PlatewrightError(f"{count!r} draws", expected="a whole number from 1")
        generator = np.random.default_rng(self.seed if seed is None else seed)
        u = self._coordinates(int(wanted), generator)
        values = at_coordinates(u, self.ends)[0]
        held = {name: values[:, k] for k, name in enumerate(self.derivation.held)}
        drawn = {**held, **self.given.draws(held, generator)}
        graph = self.derivation.graph
        environment = Environment(self.columns, self.sizes)
        found = extended(graph, self.derivation.barren, environment, drawn, int(wanted), generator)
        return {name: found[name] for name in graph.nodes if name in found}

    def _coordinates(self, count: int, generator: np.random.Generator) -> Array:
        """Draws of the coordinates of what was held, among few where each runs a program of its own."""
        if isinstance(self.given, Apart) and count > DISTINCT:
            return drawn_among(self.density, self.found, count, DISTINCT, generator)
        return drawn_from(self.density, self.found, count, generator)

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> RowPrediction:
        """Posterior predictive of what `new` leaves open; `new` gives values of new rows, or just their number."""
        from platewright.run.results.predicting import predict_rows

        check_counts(count=count)
        chosen = self.seed if seed is None else seed
        return predict_rows(self.derivation, self.draws(count, chosen), self.sizes, self.labels, new, chosen)

    def diagnostics(self) -> dict[str, dict[str, Any]]:
        """Draws are independent: each counts, and there are no chains that could disagree."""
        count = np.asarray(float(self.count))
        return {
            name: {"r_hat": np.asarray(1.0), "effective_size": count, "independent": np.asarray(True)}
            for name in self.learned
        }
