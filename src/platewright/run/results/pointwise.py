"""Pointwise scores of a result that has draws: the log predictive density of new rows, and leave-one-out of its own.

    log p(new | data)   = log mean_s p(new | theta_s)
    log p(y_n | others) = -log mean_s 1 / p(y_n | theta_s)      (importance weights, their tail smoothed: PSIS)

theta_s are draws from the posterior given all rows; the weights take row n out again. An estimate has no draws: it is
found anew without each row, from where it stands.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from platewright.data.bind import bind
from platewright.errors import NotLearned, ShapeError, UnsureWarning
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.operations.split_partly_known import as_written, observed_name
from platewright.run.execute import columns_of
from platewright.run.results.chosen_elements import chosen_elements
from platewright.run.results.likelihood import Likelihood, check_rows, likelihood_given, row_plates
from platewright.run.results.outcome import Outcome
from platewright.run.results.signature_of import signature_of
from platewright.run.samplers.diagnosing import array_stats
from platewright.run.ticking import progress

MOST_K = 0.7
"""The largest shape of the tail of importance weights at which their mean is to be trusted."""


def log_predictive(fit: Outcome, new: object) -> Array:
    """For each complete new row its log density, averaged over draws; what is hidden in a row is integrated out."""
    plan = fit.derivation
    graph = as_written(plan.graph, plan.steps)
    dataset = bind(signature_of(graph), new, labels=fit.labels)
    columns, sizes = columns_of(graph, dataset), {**fit.sizes, **dataset.sizes}
    row = _one(row_plates(graph))
    if lacking := [name for name in graph.known if graph.nodes[name].kind == "random" and name not in columns]:
        raise NotLearned(f"the new rows have no `{lacking[0]}`", hint="fit.predict(rows) predicts what is left out")
    drawn = {n: v for n, v in fit.parameters().items() if n in graph.nodes and not _is_on(graph, n, row)}
    for name in drawn:
        for axis in graph.nodes[name].axes:
            if sizes[axis.plate] != fit.sizes[axis.plate]:
                raise ShapeError(
                    f"plate `{axis.plate}` has size {sizes[axis.plate]} in the new rows",
                    where=f"plate {axis.plate} of `{name}`",
                    expected=f"{fit.sizes[axis.plate]}, as learned",
                )
    found = likelihood_given(graph, drawn)
    return _log_mean(by_row(found, found.per_draw(drawn, columns, sizes), row))


def leave_one_out(fit: Outcome) -> Array:
    """For each row its log predictive density given all others; says where the weights are not to be trusted."""
    if fit.is_estimate:
        return _found_anew(fit)
    plan = fit.derivation
    check_rows(plan.graph, fit.columns)
    row = _one(row_plates(plan.graph))
    drawn = fit.parameters()
    found = likelihood_given(plan.graph, drawn, _hidden(fit), gaussians=True)
    scores = by_row(found, found.per_draw(drawn, fit.columns, fit.sizes), row)
    same = ~np.ptp(scores, axis=0).astype(bool)  # rows that tell nothing of the parameters
    weights, shapes = array_stats().psislw(scores[:, ~same], axis=0)  # which takes the rows out: it turns the sign
    if (bad := np.flatnonzero(~same)[np.asarray(shapes) > MOST_K]).size:
        shown = ", ".join(map(str, bad[:5])) + (", ..." if bad.size > 5 else "")
        warnings.warn(
            f"{bad.size} rows ({shown}) tell so much that leave-one-out from draws is not to be trusted there: "
            "learn without them and ask log_predictive",
            UnsureWarning,
            stacklevel=3,
        )
    left = np.array(scores[0])
    left[~same] = np.logaddexp.reduce(np.asarray(weights) + scores[:, ~same].T, axis=-1)
    return left


def _hidden(fit: Outcome) -> frozenset[str]:
    latent = getattr(fit.derivation, "latent", None)
    return frozenset() if latent is None else frozenset(latent.names)


def by_row(found: Likelihood, densities: Mapping[str, Array], row: str) -> Array:
    """The log density of each row by draw: that of all variables of the row together."""
    total: Array = np.zeros(())
    for label, values in densities.items():
        axes = [axis.plate for axis in found.axes[label]]
        if row not in axes:
            raise NotLearned(
                f"`{label}` has a density for each element of {', '.join(axes) or 'the whole'}, not for each {row}",
                hint="learn with by='gibbs', which draws what elements share",
            )
        others = tuple(place for place, plate in enumerate(axes, start=1) if plate != row)
        total = total + values.sum(axis=others)
    return total


def _one(plates: frozenset[str]) -> str:
    if len(plates) != 1:
        raise NotLearned(
            f"the data lie on {len(plates)} plates ({', '.join(sorted(plates))}), and of which are the rows?"
        )
    return next(iter(plates))


def _is_on(graph: Graph, name: str, row: str) -> bool:
    return row in {axis.plate for axis in graph.nodes[name].axes}


def _log_mean(scores: Array) -> Array:
    return np.asarray(np.logaddexp.reduce(scores, axis=0) - np.log(len(scores)))


# -- an estimate --------------------------------------------------------------------------------------------------


def _found_anew(fit: Outcome) -> Array:
    """The estimate without each row, and the density of the row at it."""
    plan = fit.derivation
    check_rows(plan.graph, fit.columns)
    row = _one(row_plates(plan.graph))
    if any(observed_name(name) in fit.columns for name in plan.graph.nodes):
        raise NotLearned("rows with missing cells are not left out of an estimate", hint="learn with by='gibbs'")
    if held := [name for name in fit.point if _is_on(plan.graph, name, row)]:
        raise NotLearned(f"`{held[0]}` has a value for each row, and none for a row that was left out")
    found = likelihood_given(plan.graph, fit.point, _hidden(fit))
    count = fit.sizes[row]
    scores = np.empty(count)
    for number in progress(range(count), "leave-one-out"):
        drawn = {name: np.asarray(value)[None] for name, value in fit.without_row(row, number).items()}
        one = chosen_elements(plan.graph, fit.columns, row, [number])
        scores[number] = by_row(found, found.per_draw(drawn, one, {**fit.sizes, row: 1}), row)[0, 0]
    return scores
