"""Predictive scores from the evidence alone: leave-one-out and prequential, exact and without refitting by hand.

log p(row | all other rows) = log evidence(all) - log evidence(all but the row)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.errors import DataError, ImproperPosterior, SupportError
from platewright.family import Array
from platewright.operation import Declined
from platewright.program.program import EVIDENCE
from platewright.run.exact.changing import (
    check_more,
    check_no_table,
    chosen_rows,
    forgotten,
    looks_back,
    needs_rows,
    row_plate,
    statistics_like,
    updated,
)
from platewright.run.exact.solved import Solved
from platewright.run.execute import finish
from platewright.run.ticking import progress


def leave_one_out(fit: Solved) -> Array:
    """For each row its log predictive density given all others."""
    row = _kept_rows(fit)
    whole = fit.log_evidence
    scores = np.empty(fit.sizes[row])
    for number in progress(range(fit.sizes[row]), "leave-one-out"):
        scores[number] = whole - forgotten(fit, [number]).log_evidence
    return scores


def prequential(fit: Solved) -> Array:
    """For each row its log predictive density given the rows before it, and what is known beside the rows.

    The scores add up to the log evidence, less that of what is known beside the rows.
    """
    program, module = fit.derivation.program, fit.module
    row = _kept_rows(fit)
    if not fit.derivation.proper:
        raise ImproperPosterior("an improper prior gives the first row no score", hint="give proper priors")
    count = fit.sizes[row]
    scores = np.empty(count)
    check_no_table(program, row, fit.derivation.graph)
    before = 0.0 if _all_on(fit, row) else _evidence(fit, np.arange(0))
    if looks_back(program) or needs_rows(program):
        prefixes = [_evidence(fit, np.arange(number + 1)) for number in progress(range(count), "prequential")]
        return np.diff([before, *prefixes])
    found = None
    for number in progress(range(count), "prequential"):
        part = chosen_rows(program, fit.columns, row, np.array([number]))
        one = statistics_like(fit, part, {**fit.sizes, row: 1})
        found = one if found is None else module.merged(found, one)
        sizes = {**fit.sizes, row: number + 1}
        data = chosen_rows(program, fit.columns, row, np.arange(number + 1))
        after = float(finish(program, module, found, data, sizes)[EVIDENCE])
        scores[number] = after - before
        before = after
    return scores


def _all_on(fit: Solved, row: str) -> bool:
    """Whether nothing is known but rows: without them the evidence of a proper model is 1."""
    nodes = fit.derivation.graph.nodes
    return all(any(axis.plate == row for axis in nodes[name].axes) for name in fit.derivation.graph.known)


def _kept_rows(fit: Solved) -> str:
    """The plate of the rows, which must be in memory."""
    if not fit.columns:
        raise DataError(
            "the rows were not kept: they were read from a file, or the fit was",
            hint="learn from data in memory to score rows",
        )
    return row_plate(fit.derivation.program, fit.columns)


def _evidence(fit: Solved, rows: Array) -> float:
    program, module = fit.derivation.program, fit.module
    row = row_plate(program, fit.columns)
    data = chosen_rows(program, fit.columns, row, rows)
    sizes = {**fit.sizes, row: len(rows)}
    found = statistics_like(fit, data, sizes)
    return float(finish(program, module, found, data, sizes)[EVIDENCE])


def log_predictive(fit: Solved, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    """For each new row its log predictive density given what was learned."""
    row = row_plate(fit.derivation.program, columns)
    if looks_back(fit.derivation.program):
        return log_continued(fit, columns, sizes[row], row)
    check_more(fit, columns, sizes)
    return row_scores(fit, columns, sizes)


def row_scores(fit: Solved, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    """The log density of each row by itself, node by node or by ratios of evidence; one that cannot be has none."""
    from platewright.run.exact.row_densities import nodes_apart, rows_density

    row = row_plate(fit.derivation.program, columns)
    apart = nodes_apart(fit.derivation.graph, fit.posterior, row)
    if not isinstance(apart, Declined) and all(name in columns for name in apart):
        found = rows_density(apart, fit.posterior, columns, sizes, row)
        if not isinstance(found, Declined):
            return found
    whole = fit.log_evidence
    scores = np.empty(sizes[row])
    for number in progress(range(sizes[row]), "log predictive"):
        one = chosen_rows(fit.derivation.program, columns, row, np.array([number]))
        try:
            scores[number] = updated(fit, one, {**sizes, row: 1}).log_evidence - whole
        except SupportError:  # a value that parameters from columns do not allow: its density is zero
            scores[number] = -np.inf
    return scores


def log_continued(fit: Solved, columns: Mapping[str, Array], count: int, row: str) -> Array:
    """For each new step of a sequence its log predictive density given all steps before it."""
    from platewright.run.exact.continuing import check_kept, checked, joined_rows, steps_after

    program, module, graph = fit.derivation.program, fit.module, fit.derivation.graph
    check_no_table(program, row, graph)
    check_kept(fit.columns, row)
    steps = checked(steps_after(graph, row, fit.columns, fit.sizes, columns, count), row)
    axes = {name: tuple(axis.plate for axis in found) for name, found in program.columns.items()}
    scores, before = np.empty(count), fit.log_evidence
    for number in progress(range(count), "log predictive"):
        data = joined_rows(graph, steps, axes, fit.columns, columns, number + 1)
        size = {**fit.sizes, row: fit.sizes[row] + number + 1}
        after = float(finish(program, module, statistics_like(fit, data, size), data, size)[EVIDENCE])
        scores[number], before = after - before, after
    return scores
