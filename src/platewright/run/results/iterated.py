"""What fits by EM and mean field have in common: predictions, expected values, a file, a tree of draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.forward import extended
from platewright.run.results.about_chains import about_labels
from platewright.run.results.followers import followers
from platewright.run.results.result import Result
from platewright.schemas.hidden import joint_name

if TYPE_CHECKING:
    from platewright.run.results.predicting import RowPrediction

DRAWS_FOR_MEANS = 4_000


class Ended(Protocol):
    """A search that has come to its end, one way or another."""

    @property
    def converged(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...


def state_of(found: Ended) -> str:
    """How a search ended, in a word."""
    return "interrupted" if found.interrupted else "converged" if found.converged else "stopped"


class Iterated(Result):
    """A fit with parameters and with probabilities of hidden variables."""

    def probabilities(self, name: str) -> Array:
        """The posterior of a hidden discrete variable."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """Labels that could be swapped."""
        return tuple(about_labels(self.symmetries, "one of them is shown"))

    def _mean(self, name: str) -> Array:
        hidden = self.derivation.latent.names
        if name in self.derivation.barren:
            return self._predicted(name)
        if name not in hidden:
            return np.asarray(self[name].mean)
        if self.derivation.graph.nodes[name].domain.is_finite:
            return self.probabilities(name)
        found = self._hidden_mean(name)
        if found is None:
            raise PlatewrightError(f"`{name}` has no mean in this fit", hint="learn with by='gibbs'")
        return found

    def _predicted(self, name: str) -> Array:
        """The mean of what nobody depends on, such as missing responses: over draws of all that it depends on."""
        generator = np.random.default_rng(self.seed)
        drawn = dict(self.draws(DRAWS_FOR_MEANS, self.seed))
        for item in self.derivation.hidden:
            if self.derivation.graph.nodes[item.name].domain.is_finite:
                chances = np.cumsum(self.probabilities(item.name), axis=-1)
                at = generator.random((DRAWS_FOR_MEANS, *chances.shape[:-1], 1))
                drawn[item.name] = np.minimum((at > chances).sum(axis=-1), chances.shape[-1] - 1)
        environment = Environment(self.columns, self.sizes)
        found = extended(self.derivation.graph, self.derivation.barren, environment, drawn, DRAWS_FOR_MEANS, generator)
        return np.asarray(found[name].mean(axis=0))

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of the parameters; what holds a hidden variable has no value of its own here."""
        return followers(self.derivation.graph, self.learned, (), self.columns, self.sizes)

    def functions_of(self, drawn: Mapping[str, Array], count: int) -> dict[str, Array]:
        """Draws of the functions that the model names, as far as they need no hidden variable."""
        environment = Environment(self.columns, self.sizes)
        generator = np.random.default_rng(self.seed)
        found = extended(self.derivation.graph, (), environment, drawn, count, generator)
        return {name: values for name, values in found.items() if name in self.functions and name not in drawn}

    def _hidden_mean(self, name: str) -> Array | None:
        """The mean of a hidden Gaussian: that of its points, over the classes that it depends on."""
        kept = getattr(self, "estimate", None) or getattr(self, "result", None)
        expectations: Mapping[str, Array] = {} if kept is None else kept.expectations
        for group in self.derivation.latent.gaussian:
            for member in group.members:
                if member.name != name or member.point not in expectations:
                    continue
                mean = expectations[member.point].mean(axis=len(group.axes))
                classes = tuple(item.name for item in group.classes)
                if classes:
                    if joint_name(classes) not in expectations:
                        return None
                    environment = Environment({**self.columns, **expectations}, self.sizes)
                    weights = evaluate(group.share, environment, group.axes)
                    levels = tuple(range(len(group.batch), len(group.axes)))
                    inner = (...,) + (None,) * (mean.ndim - weights.ndim)
                    mean = (mean * weights[inner]).sum(axis=levels)
                order = [axis.plate for axis in (*group.batch, *member.inner)]
                return np.transpose(mean, [order.index(axis.plate) for axis in member.axes])
        return None

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> RowPrediction:
        """Predictive of what `new` leaves open; `new` gives values of new rows, or just their number.

        After EM the parameters are taken as known; after mean field they are drawn from their distribution.
        """
        from platewright.run.results.predicting import predict_rows

        chosen = self.seed if seed is None else seed
        if not isinstance(count, int | np.integer) or count < 1:
            raise PlatewrightError(f"{count!r} draws", expected="a whole number from 1")
        return predict_rows(self.derivation, self.draws(count, chosen), self.sizes, self.labels, new, chosen)
