"""A table of posteriors: mean, standard deviation and quantiles of every unknown, one element a row.

    coin: exact, log evidence -35.824

    name   family    mean     sd     5%    50%    95%
    theta  Beta     0.443  0.067  0.333  0.443  0.556

Numbers are exact where the family has them in closed form; a note names those that come from draws. Long arrays are
shown by their first and last elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from html import escape

import numpy as np

from platewright.derive.cautions import cautions
from platewright.errors import PlatewrightError, UnknownName
from platewright.family import Array
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.run.exact.fit import DRAWS_FOR_MARGINALS, Fit
from platewright.run.exact.marginal import Marginal
from platewright.run.hidden.em_fit import EstimatedFit, Point
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.results.shown import Shown
from platewright.run.results.table import GAP, Row, Summary, table_html
from platewright.run.samplers.effective_size import frozen_elements, split_r_hat
from platewright.run.samplers.sampled import Sampled
from platewright.run.samplers.sampling import SampledFit

PROBABILITIES = (0.05, 0.5, 0.95)
MOST_ROWS = 20
MOST_R_HAT = 1.2
"""Beyond this, chains have plainly not found each other."""
FIRST, LAST = 8, 3


def summary(fit: Shown, most: int | None = MOST_ROWS) -> Summary:
    """The table of all unknowns; of arrays with more than `most` elements only the first and last are shown."""
    if most is not None:
        check_counts(most=most)
    rows: list[Row] = []
    notes: list[str] = []
    for name in unknown_names(fit):
        found = fit[name]
        if isinstance(found, Point):
            rows += _point_rows(fit, name, found, most, notes)
        else:
            rows += _rows(fit, name, found, most, notes)
    notes = [*_grouped(notes), *_about_labels(fit), *_about_chains(fit)]
    notes += [f"take care: {caution}" for caution in cautions(fit.derivation)]
    return Summary(f"{fit.derivation.graph.title}: {fit.derivation.schema}{_score(fit)}", tuple(rows), tuple(notes))


def _grouped(notes: Iterable[str]) -> list[str]:
    """Notes that say the same of several unknowns say it once."""
    names: dict[str, list[str]] = {}
    for note in notes:
        name, _, said = note.partition(": ")
        names.setdefault(said, []).append(name)
    return [f"{', '.join(several)}: {said}" for said, several in names.items()]


def _about_labels(fit: Shown) -> list[str]:
    """Labels that could be swapped, and what was done about it."""
    match fit:
        case SampledFit():
            done = "draws were relabelled to agree" if fit.matching.switched else "all draws agree"
        case EstimatedFit() | MeanFieldFit():
            done = "one of them is shown"
        case _:
            return []
    return [f"{symmetry.sentence}; {done}" for symmetry in fit.symmetries]


def _about_chains(fit: Shown) -> list[str]:
    """Unknowns about which the chains disagree: their numbers are not yet those of the posterior."""
    if not isinstance(fit, SampledFit):
        return []
    worst = {name: split_r_hat(fit.matched[name]) for name in fit.matched if _is_real(fit, name)}
    apart = [f"{name} (R-hat {value:.2f})" for name, value in worst.items() if value > MOST_R_HAT]
    notes = [f"the chains disagree about {', '.join(apart)}: run longer, with more warm-up"] if apart else []
    for name in (name for name in fit.matched if not _is_real(fit, name)):
        if held := frozen_elements(fit.matched[name]):
            shown = name if np.ndim(fit.matched[name]) == 2 else f"{held} elements of {name}"
            notes.append(
                f"the chains are frozen: {shown} never changed in any of them, and they differ; all that depends on it "
                "is held too, and a longer run will not mend it"
            )
    return notes


def _is_real(fit: Shown, name: str) -> bool:
    return not fit.derivation.graph.nodes[name].domain.is_discrete


def unknown_names(fit: Shown) -> list[str]:
    """The unknowns that were learned, in the order of writing."""
    if isinstance(fit, EvidenceFit):
        return list(fit.learned)
    found = []
    for name in fit.derivation.graph.unknown:
        if name in fit.derivation.barren:
            continue
        with suppress(UnknownName):
            fit[name]
            found.append(name)
    return found


def _score(fit: Shown) -> str:
    """The evidence where it is known, else the objective at the estimate."""
    match fit:
        case Fit() if fit.derivation.goal == "map":
            return f", log joint {fit.log_joint:.6g}"
        case Fit():
            return f", log evidence {fit.log_evidence:.6g}" + ("" if fit.derivation.proper else " (up to a constant)")
        case EstimatedFit():
            return f", log joint {fit.log_joint:.6g}"
        case EvidenceFit():
            return f", {fit.evidence}"
        case MeanFieldFit():
            return ", no bound" if fit.plain else f", log evidence at least {fit.lower_bound:.6g}"
    return ""


def _point_rows(fit: Shown, name: str, found: Point, most: int | None, notes: list[str]) -> list[Row]:
    """An estimate has a value and no spread."""
    value = np.asarray(found.value, dtype=float)
    return _listed(fit, name, "estimate", [value], most, notes)


def _rows(fit: Shown, name: str, found: Marginal | Sampled, most: int | None, notes: list[str]) -> list[Row]:
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
    return _listed(
        fit, name, family, [np.broadcast_to(part, np.shape(mean)) for part in (mean, sd, *quantiles)], most, notes
    )


def _listed(fit: Shown, name: str, family: str, table: list[Array], most: int | None, notes: list[str]) -> list[Row]:
    """One row for each element, or for the first and last of many."""
    axes = tuple(axis.plate for axis in fit.derivation.graph.nodes[name].axes)
    rows: list[Row] = []
    wanted = _wanted(fit, name, table[0].shape)
    for place in _places(table[0].shape, most, wanted):
        if place is None:
            rows.append(GAP)
            notes.append(f"{name}: {FIRST + LAST} of {np.count_nonzero(wanted):,} elements shown")
            continue
        rows.append(Row(element_name(fit, name, axes, place), family, *(float(part[place]) for part in table)))
    return rows


def _wanted(fit: Shown, name: str, shape: tuple[int, ...]) -> Array:
    """The elements to show: of missing cells, those that are missing; the others say nothing of the data."""
    columns: Mapping[str, Array] = getattr(fit, "columns", {})
    seen = columns.get(observed_name(name.removesuffix(missing_name("")))) if name.endswith(missing_name("")) else None
    return np.ones(shape, dtype=bool) if seen is None or seen.shape != shape else seen == 0


def _level_rows(fit: Shown, name: str, family: str, chances: Array, most: int | None, notes: list[str]) -> list[Row]:
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


def _family(found: Marginal | Sampled) -> str:
    if isinstance(found, Sampled):
        return "draws"
    name = found.family.name
    power = found.transform.exponent
    if name == "Gamma" and power == -1:
        return "InverseGamma"
    return name if found.transform.name == "identity" else f"{name} ({found.transform.name})"


def _asked(found: Marginal | Sampled, what: str) -> Array | None:
    try:
        return np.asarray(getattr(found, what), dtype=float)
    except PlatewrightError:
        return None


def _quantiles(found: Marginal | Sampled) -> Array | None:
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


def element_name(fit: Shown, name: str, axes: tuple[str, ...], place: tuple[int, ...]) -> str:
    """`w[height]`: the name with the labels of its position."""
    if not place:
        return name
    return f"{name}[{', '.join(label_of(fit, plate, at) for plate, at in zip(axes, place))}]"


def label_of(fit: Shown, plate: str, at: int) -> str:
    """What a position on a plate is called: its label in the data or the model, else its number."""
    labels = fit.labels.get(plate)
    if labels is None and plate in fit.derivation.graph.plates:
        declared = fit.derivation.graph.plates[plate]
        labels = declared.labels
        if labels is None and declared.like is not None:
            labels = fit.labels.get(declared.like)
    return str(labels[at]) if labels is not None and at < len(labels) else str(at)


def summary_html(fit: Shown) -> str:
    """The table of a fit for notebooks, with the line that says how it was found."""
    return f"{table_html(summary(fit))}<div><small>{escape(fit.how)}</small></div>"
