"""A result as an ArviZ DataTree, for its diagnostics, comparisons and plots, with the labels of the data.

    posterior             draws of all unknowns and of the functions that the model names
    posterior_predictive  what was seen, drawn anew for each draw
    prior                 all unknowns before the data, and what would be seen then: prior_predictive
    log_likelihood        log p(row | draw), what is hidden in a row integrated out (`likelihood.py`)
    sample_stats          lp: log p(data, draw)
    observed_data         what was seen                                      constant_data: inputs

A group that this result cannot have is left out with a warning, and the reason stands in the attributes of the tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.algebra.expression import Index
from platewright.errors import LeftOutWarning, MissingExtra, PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.operations.split_partly_known import as_written, observed_name, seen_name
from platewright.run.forward import replicated
from platewright.run.results.likelihood import Likelihood, check_rows, likelihood_given
from platewright.run.results.outcome import Outcome

KEPT_BY_ARVIZ = frozenset(("chain", "draw", "sample"))
PRIOR_DRAWS = 1000
Group = dict[str, Array]


def to_arviz(fit: Outcome, count: int = 4000, seed: int | None = None) -> Any:
    """All groups that the result can have."""
    try:
        from arviz_base import from_dict  # an extra, and slow to load
        from xarray import DataTree
    except ImportError as error:
        raise MissingExtra(
            "arviz-base is not installed", expected="the extra `arviz`", hint="pip install 'platewright[arviz]'"
        ) from error
    groups = Groups(fit, count, fit.seed if seed is None else seed)
    made = groups.made()
    taken = {name for group in made.values() for name in group}
    attributes = {"inference_library": "platewright", "algorithm": fit.how, **groups.facts}
    found: dict[str, Any] = {}
    for group, values in made.items():
        axes = {name: groups.axes(group, name) for name in values}
        dims = {name: [_dim(axis, taken) for axis in listed] for name, listed in axes.items()}
        coords = _coords(fit, axes, dims)
        tree = from_dict({group: values}, coords=coords, dims=dims, check_conventions=False)
        found[group] = tree[group].to_dataset().assign_attrs(attributes)
    whole = DataTree.from_dict(found)
    whole.attrs = attributes
    return whole


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a result, each made from the draws."""

    fit: Outcome
    count: int
    seed: int
    facts: dict[str, str] = field(default_factory=dict)
    """What is said beside the numbers: where draws come from, what was left out and why."""

    def made(self) -> dict[str, Group]:
        """All groups by name that are not empty."""
        ways: dict[str, Callable[[], Mapping[str, Group]]] = {
            "posterior": self._posterior,
            "posterior_predictive": self._predictive,
            "log_likelihood": self._likelihoods,
            "prior": self._prior,
        }
        found: dict[str, Group] = {}
        try:
            self.drawn  # noqa: B018 - without draws there are no groups of them
        except PlatewrightError as error:
            gone = [name for name in ways if name != "prior"]
            self.left_out(", ".join(gone), error.found)
            ways = {"prior": self._prior}
        for name, way in ways.items():
            try:
                found |= way()
            except PlatewrightError as error:
                self.left_out(name, error.found)
        found |= {"observed_data": self._observed(), "constant_data": self._constant()}
        return {name: group for name, group in found.items() if group}

    def left_out(self, group: str, reason: str) -> None:
        """Say that a group, or a variable of it, is not there."""
        said = f"{group}: {reason}"
        self.facts["left_out"] = "; ".join(filter(None, [self.facts.get("left_out"), said]))
        warnings.warn(f"left out of the tree: {said}", LeftOutWarning, stacklevel=5)

    # -- shapes ---

    @cached_property
    def graph(self) -> Graph:
        """The model as it was written."""
        return as_written(self.fit.derivation.graph, self.fit.derivation.steps)

    def axes(self, group: str, name: str) -> tuple[Index, ...]:
        """The plates of a variable in a group, without chains and draws."""
        if group == "log_likelihood":
            return tuple(self.likelihood.axes[name])
        nodes = {**self.fit.derivation.graph.nodes, **self.graph.nodes}
        return nodes[name].axes if name in nodes else ()

    # -- groups ---

    @cached_property
    def drawn(self) -> Group:
        """By chain and draw, whatever has draws."""
        drawn, source = self.fit.draws_by_chain(self.count, self.seed)
        self.facts["draws"] = source
        return drawn

    @cached_property
    def flat(self) -> Group:
        """Draws of unknowns, all chains in one row."""
        kinds = {name: node.kind for name, node in self.fit.derivation.graph.nodes.items()}
        kept = {name: values for name, values in self.drawn.items() if kinds[name] != "deterministic"}
        return {name: values.reshape(-1, *values.shape[2:]) for name, values in kept.items()}

    @property
    def total(self) -> int:
        """How many draws there are."""
        chains, draws = next(iter(self.drawn.values())).shape[:2]
        return int(chains * draws)

    def _by_chain(self, flat: Array) -> Array:
        chains, draws = next(iter(self.drawn.values())).shape[:2]
        return flat.reshape(chains, draws, *flat.shape[1:])

    def _posterior(self) -> dict[str, Group]:
        return {"posterior": self.drawn}

    @cached_property
    def likelihood(self) -> Likelihood:
        """How densities of what was seen follow from the draws."""
        plan = self.fit.derivation
        latent = getattr(plan, "latent", None)
        return likelihood_given(plan.graph, self.flat, () if latent is None else latent.names)

    def _likelihoods(self) -> dict[str, Group]:
        fit = self.fit
        check_rows(fit.derivation.graph, fit.columns)
        densities = self.likelihood.per_draw(self.flat, fit.columns, fit.sizes)
        joint = self.likelihood.log_joint(densities, self.flat, fit.columns, fit.sizes)
        if self.likelihood.given:
            self.facts["log_likelihood_given"] = ", ".join(self.likelihood.given)
        return {
            "log_likelihood": {name: self._by_chain(values) for name, values in densities.items()},
            "sample_stats": {"lp": self._by_chain(joint)},
        }

    def _predictive(self) -> dict[str, Group]:
        found = self._replicated("posterior_predictive", self.flat, self.total)
        return {"posterior_predictive": {name: self._by_chain(found[name]) for name in self._seen if name in found}}

    def _prior(self) -> dict[str, Group]:
        found = self._replicated("prior", {}, min(self.count, PRIOR_DRAWS))
        unknown = [name for name in self.graph.nodes if name in found and name not in self._seen]
        kept = [name for name in unknown if not self.graph.is_known(name)]
        return {
            "prior": {name: found[name][None] for name in kept},
            "prior_predictive": {name: found[name][None] for name in self._seen if name in found},
        }

    def _replicated(self, group: str, drawn: Group, count: int) -> Group:
        graph, fit = self.graph, self.fit
        given = {name: values for name, values in fit.columns.items() if _kind(graph, name) == "input"}
        kept = {name: values for name, values in drawn.items() if _kind(graph, name) in ("random", "undirected")}
        generator = np.random.default_rng([self.seed, 2 if drawn else 3])
        found, refused = replicated(graph, Environment(given, fit.sizes), kept, count, generator)
        for name, reason in refused.items():
            self.left_out(group, f"`{name}`: {reason}")
        return found

    @cached_property
    def _seen(self) -> list[str]:
        """The random variables among the data, in the order of writing."""
        return [n for n in self.graph.nodes if n in self.graph.known and self.graph.nodes[n].kind != "input"]

    def _observed(self) -> Group:
        found = {}
        for name in self._seen:
            values = self.fit.columns.get(name, self.fit.columns.get(seen_name(name)))
            if values is not None:
                mask = self.fit.columns.get(observed_name(name))
                found[name] = np.asarray(values) if mask is None else np.where(mask != 0, values, np.nan)
        return found

    def _constant(self) -> Group:
        columns = self.fit.columns
        return {name: np.asarray(columns[name]) for name in columns if self._is_constant(name)}

    def _is_constant(self, name: str) -> bool:
        return "@" not in name and _kind(self.graph, name) == "input"


def _kind(graph: Graph, name: str) -> str:
    return graph.nodes[name].kind if name in graph.nodes else ""


def _dim(axis: Index, taken: Iterable[str]) -> str:
    """Called like the plate; a second axis over one plate, and one called like a variable, get names of their own."""
    name = axis.name.replace("'", "_too")
    return f"{name}_plate" if name in taken or name in KEPT_BY_ARVIZ else name


def _coords(fit: Outcome, axes: Mapping[str, tuple[Index, ...]], dims: Mapping[str, list[str]]) -> dict[str, Any]:
    """Labels of the dimensions in use, where the data or the model gave any."""
    found: dict[str, Any] = {}
    for name, listed in dims.items():
        for dim, axis in zip(listed, axes[name], strict=True):
            declared = fit.derivation.graph.plates.get(axis.plate)
            if declared is None:
                continue
            labels = fit.labels.get(axis.plate) or declared.labels or fit.labels.get(declared.like or "")
            if labels:
                found[dim] = list(labels)
    return found
