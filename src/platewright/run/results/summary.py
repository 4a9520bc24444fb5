"""A table of posteriors: mean, standard deviation and quantiles of every unknown, one element a row.

    coin: exact, log evidence -35.824

    name   family    mean     sd     5%    50%    95%
    theta  Beta     0.443  0.067  0.333  0.443  0.556

Numbers are exact where the family has them in closed form; a note names those that come from draws. Long arrays are
shown by their first and last elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

from platewright.derive.cautions import cautions
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.checks.sanity import check_counts
from platewright.run.exact.marginal import Marginal
from platewright.run.points.mixture import Mixture
from platewright.run.points.number import Number
from platewright.run.results.about_chains import about_sizes
from platewright.run.results.followers import worth_showing
from platewright.run.results.outcome import DRAWS_FOR_MARGINALS, Outcome
from platewright.run.results.quantity import Quantity
from platewright.run.results.table import GAP, Row, Summary, table_html
from platewright.run.samplers.convergence import converged
from platewright.run.samplers.sampled import Sampled, Summed

Found = Marginal | Sampled | Mixture | Number
PROBABILITIES = (0.05, 0.5, 0.95)
MOST_ROWS = 20
FIRST, LAST = 8, 3


def summary(fit: Outcome, most: int | None = MOST_ROWS, functions: bool = True) -> Summary:
    """The table of all unknowns, and of functions of them unless these are not wanted.

    Of arrays with more than `most` elements only the first and last are shown.
    """
    if most is not None:
        check_counts(most=most)
    rows: list[Row] = []
    notes: list[str] = []
    shown = worth_showing(fit.derivation.graph, fit.learned, fit.functions if functions else (), fit.derivation.barren)
    for name in shown:
        found = fit[name]
        if isinstance(found, Summed):
            rows += _summed_rows(fit, name, found, most, notes)
        elif isinstance(found, Found):
            rows += _rows(fit, name, found, most, notes)
        else:
            rows += _point_rows(fit, name, found, most, notes)
    notes = [*_grouped(notes), *fit.notes, *about_sizes(fit)]
    notes += [f"take care: {caution}" for caution in cautions(fit.derivation)]
    return Summary(f"{fit.derivation.graph.title}: {fit.derivation.schema}{fit.score}", tuple(rows), tuple(notes))


def _grouped(notes: Iterable[str]) -> list[str]:
    """Notes that say the same of several unknowns say it once."""
    names: dict[str, list[str]] = {}
    for note in notes:
        name, _, said = note.partition(": ")
        names.setdefault(said, []).append(name)
    return [f"{', '.join(several)}: {said}" for said, several in names.items()]


def _point_rows(fit: Outcome, name: str, found: Quantity, most: int | None, notes: list[str]) -> list[Row]:
    """An estimate has a value, and a standard error where that is known soon."""
    value = np.asarray(found.value, dtype=float)
    error = _asked(found, "sd") if fit.shows_errors else None
    table = [value] if error is None or not np.isfinite(error).all() else [value, error]
    return _listed(fit, name, "estimate", table, most, notes)


def _rows(fit: Outcome, name: str, found: Found, most: int | None, notes: list[str]) -> list[Row]:
    family = _family(found)
    if family == "Categorical" and isinstance(found, Marginal):
        return _level_rows(fit, name, family, np.exp(found.parameters["log_probabilities"]), most, notes)
    node = fit.derivation.graph.nodes[name]
    if isinstance(found, Sampled) and node.domain.kind == "levels":
        levels = range(fit.sizes[str(node.domain.levels)])
        shares = np.stack([(found.values == level).mean(axis=0) for level in levels], axis=-1)
        notes.append(f"{name}: shares of {len(found.values)} draws")
        return _level_rows(fit, name, family, shares, most, notes)
    with np.errstate(all="ignore"):
        mean, sd = _asked(found, "mean"), _asked(found, "sd")
        quantiles = _quantiles(found)
    drawn = [word for word, value in (("moments", sd), ("quantiles", quantiles)) if value is None]
    if drawn:
        draws = found.draw(DRAWS_FOR_MARGINALS, fit.seed)
        mean = draws.mean(axis=0) if mean is None else mean
        sd = draws.std(axis=0) if sd is None else sd
        quantiles = np.quantile(draws, PROBABILITIES, axis=0) if quantiles is None else quantiles
    count = DRAWS_FOR_MARGINALS
    if isinstance(found, Sampled):
        drawn, count = ["all numbers"], len(found.values)
    if drawn:
        notes.append(f"{name}: {' and '.join(drawn)} from {count} draws")
    assert mean is not None and sd is not None and quantiles is not None
    table = [np.broadcast_to(part, np.shape(mean)) for part in (mean, sd, *quantiles)]
    return _listed(fit, name, family, table, most, notes, found.chains if isinstance(found, Sampled) else None)


def _summed_rows(fit: Outcome, name: str, found: Summed, most: int | None, notes: list[str]) -> list[Row]:
    """Sums of draws have a mean and a spread, or shares of levels."""
    notes.append(f"{name}: sums of {found.total.count} draws, none of which was kept")
    if fit.derivation.graph.nodes[name].domain.kind == "levels":
        return _level_rows(fit, name, "sums", found.shares, most, notes)
    return _listed(fit, name, "sums", [np.asarray(found.mean), np.asarray(found.sd)], most, notes)


def _listed(
    fit: Outcome,
    name: str,
    family: str,
    table: list[Array],
    most: int | None,
    notes: list[str],
    chains: Array | None = None,
) -> list[Row]:
    """One row for each element, or for the first and last of many; of draws by chain with what these say."""
    axes = tuple(axis.plate for axis in fit.derivation.graph.nodes[name].axes)
    rows: list[Row] = []
    wanted = _wanted(fit, name, table[0].shape)
    for place in _places(table[0].shape, most, wanted):
        if place is None:
            rows.append(GAP)
            notes.append(f"{name}: {FIRST + LAST} of {np.count_nonzero(wanted):,} elements shown")
            continue
        row = Row(element_name(fit, name, axes, place), family, *(float(part[place]) for part in table))
        if chains is not None:
            index: tuple[Any, ...] = (slice(None), slice(None), *place)
            r_hat, size = converged(chains[index])
            row = replace(row, effective=float(size), r_hat=float(r_hat))
        rows.append(row)
    return rows


def _wanted(fit: Outcome, name: str, shape: tuple[int, ...]) -> Array:
    """The elements to show: of missing cells, those that are missing; the others say nothing of the data."""
    columns: Mapping[str, Array] = getattr(fit, "columns", {})
    seen = columns.get(observed_name(name.removesuffix(missing_name("")))) if name.endswith(missing_name("")) else None
    return np.ones(shape, dtype=bool) if seen is None or seen.shape != shape else seen == 0


def _level_rows(fit: Outcome, name: str, family: str, chances: Array, most: int | None, notes: list[str]) -> list[Row]:
    """A category has no mean: one row a level, with its probability where the mean stands."""
    node = fit.derivation.graph.nodes[name]
    levels = str(node.domain.levels)
    rows = []
    wanted = np.broadcast_to(_wanted(fit, name, chances.shape[:-1])[..., None], chances.shape)
    for place in _places(chances.shape, most, wanted):
        if place is None:
            rows.append(GAP)
            notes.append(f"{name}: {FIRST + LAST} of {np.count_nonzero(wanted):,} probabilities shown")
            continue
        where = element_name(fit, name, tuple(axis.plate for axis in node.plates), place[:-1])
        rows.append(Row(f"{where} = {label_of(fit, levels, place[-1])}", family, float(chances[place])))
    notes.append(f"{name}: the mean column holds probabilities")
    return rows


def _family(found: Found) -> str:
    if isinstance(found, Sampled):
        return "draws"
    if isinstance(found, Mixture | Number):
        return found.word
    name = found.family.name
    power = found.transform.exponent
    if name == "Gamma" and power == -1:
        return "InverseGamma"
    return name if found.transform.name == "identity" else f"{name} ({found.transform.name})"


def _asked(found: Quantity, what: str) -> Array | None:
    try:
        return np.asarray(getattr(found, what), dtype=float)
    except PlatewrightError:
        return None


def _quantiles(found: Found) -> Array | None:
    if isinstance(found, Marginal) and found.family.name == "Bernoulli":
        return np.array([np.asarray(found.mean) > 1 - q for q in PROBABILITIES], dtype=float)
    try:
        return np.asarray(found.quantile(PROBABILITIES), dtype=float)
    except PlatewrightError:
        return None


def _places(shape: tuple[int, ...], most: int | None, wanted: Array) -> Iterator[tuple[int, ...] | None]:
    """The positions in an array that are wanted; None stands for those left out of many."""
    flat = np.flatnonzero(wanted)
    if most is None or len(flat) <= most:
        yield from (tuple(int(at) for at in np.unravel_index(one, shape)) for one in flat)
        return
    for one in flat[:FIRST]:
        yield tuple(int(at) for at in np.unravel_index(one, shape))
    yield None
    for one in flat[-LAST:]:
        yield tuple(int(at) for at in np.unravel_index(one, shape))


def element_name(fit: Outcome, name: str, axes: tuple[str, ...], place: tuple[int, ...]) -> str:
    """`w[height]`: the name with the labels of its position."""
    if not place:
        return name
    return f"{name}[{', '.join(label_of(fit, plate, at) for plate, at in zip(axes, place))}]"


def label_of(fit: Outcome, plate: str, at: int) -> str:
    """What a position on a plate is called: its label in the data or the model, else its number."""
    labels = fit.labels.get(plate)
    if labels is None and plate in fit.derivation.graph.plates:
        declared = fit.derivation.graph.plates[plate]
        labels = declared.labels
        if labels is None and declared.like is not None:
            labels = fit.labels.get(declared.like)
    return str(labels[at]) if labels is not None and at < len(labels) else str(at)


def summary_html(fit: Outcome) -> str:
    """The table of a fit for notebooks, with the line that says how it was found."""
    return f"{table_html(summary(fit))}<div><small>{escape(fit.how)}</small></div>"
