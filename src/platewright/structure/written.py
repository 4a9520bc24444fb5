"""A network as an ordinary model, with the priors that its scores had: learning it gives the same evidence.

[a][b|a]      becomes      p_a ~ Dirichlet;  a ~ Categorical(p_a);  p_b[a] ~ Dirichlet;  b ~ Categorical(p_b[a])
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression, Reference
from platewright.language.constructors import Categorical, Dirichlet, Gamma, Normal
from platewright.language.distribution import Distribution, array
from platewright.language.model import Model
from platewright.language.plate import Plate
from platewright.structure.columns import MISSING, Column, Rows
from platewright.structure.evidence_prior import EvidencePrior
from platewright.structure.network import Network
from platewright.structure.one_group import OneGroup


def write_model(empty: Model, network: Network, rows: Rows, prior: EvidencePrior) -> Model:
    """The model of a network, written into an empty one."""
    m: Any = empty
    safe = safe_names(rows.columns, empty)
    taken = set(safe.values())
    columns = {column.name: column for column in rows.columns}
    means = {column.name: float(np.nanmean(rows.values[place])) for place, column in enumerate(rows.columns)}
    count = sum(column.kind == "number" for column in rows.columns)
    row = m.plate(_fresh("row", taken))
    levels = {
        name: m.plate(_fresh(f"level_{safe[name]}", taken), labels=list(column.levels))
        for name, column in columns.items()
        if column.kind == "category"
    }
    for name in network.order:
        column, own = columns[name], safe[name]
        above = sorted(network.parents(name), key=network.nodes.index)
        tables = [parent for parent in above if columns[parent].kind == "category"]
        plates = tuple(levels[parent] for parent in tables)
        at = tuple(getattr(m, safe[parent]) for parent in tables)
        if column.kind == "category":
            states = int(np.prod([len(columns[parent].levels) for parent in tables], dtype=float))
            table = _fresh(f"p_{own}", taken)
            alpha: Any = prior.alpha(len(column.levels), states)
            if prior.network is not None:
                nodes = [network.nodes.index(parent) for parent in (*above, name)]
                alpha = array(prior.cells(nodes, ()), over=(*plates, levels[name]))
            setattr(m, table, Dirichlet(alpha, over=levels[name], plates=plates))
            setattr(m, own, Categorical(_at(m, table, at), plates=row))
        elif column.group is not None:
            write_group(m, column.group, own, plates, at, row, taken)
        else:
            slopes = [parent for parent in above if parent not in tables]
            shape, rate, centre, slope = prior.normal(count, len(slopes))
            precision, intercept = _fresh(f"tau_{own}", taken), _fresh(f"a_{own}", taken)
            setattr(m, precision, Gamma(shape, rate=rate, plates=plates))
            tau = getattr(m, precision)
            setattr(m, intercept, Normal(means[name], precision=centre * tau, plates=plates))
            mean = _at(m, intercept, at)
            for parent in slopes:
                weight = _fresh(f"b_{own}_{safe[parent]}", taken)
                setattr(m, weight, Normal(0, precision=slope * tau, plates=plates))
                mean = mean + _at(m, weight, at) * (getattr(m, safe[parent]) - means[parent])
            setattr(m, own, Normal(mean, precision=_at(m, precision, at), plates=row))
    return empty


def write_group(
    m: Any, group: OneGroup, own: str, plates: tuple[Plate, ...], at: tuple[Any, ...], row: Plate, taken: set[str]
) -> None:
    """The model of one group for each state of the parents: its unknowns on their plates, looked up by the rows."""
    beside: dict[Expression, Expression] = {}
    looked_up: dict[Expression, Expression] = {}
    for variable in group.model.variables.values():
        is_target = variable is group.target
        name = own if is_target else _fresh(f"{variable.name}_{own}", taken)
        known = looked_up if is_target else beside
        given = {word: substitute(value, known) for word, value in variable.parameters}
        assert variable.family is not None
        setattr(m, name, Distribution(variable.family, given, (row,) if is_target else plates))
        if not is_target:
            beside[Reference(variable.name)] = getattr(m, name)
            looked_up[Reference(variable.name)] = _at(m, name, at)


def safe_names(columns: Sequence[Column], empty: Model) -> dict[str, str]:
    """For each column a name that a model may have for it: its own where that is one."""
    taken: set[str] = set()
    found = {}
    for column in columns:
        plain = re.sub(r"\W", "_", column.name, flags=re.ASCII).strip("_") or "column"
        plain = plain if plain[0].isalpha() and not keyword.iskeyword(plain) else f"x_{plain}"
        while hasattr(type(empty), plain):
            plain += "_"
        found[column.name] = _fresh(plain, taken)
    return found


def _fresh(name: str, taken: set[str]) -> str:
    """A name that is not taken, which it is now."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _at(m: Any, name: str, at: tuple[Any, ...]) -> Any:
    return getattr(m, name)[at] if at else getattr(m, name)


def written_data(rows: Rows, empty: Model) -> Mapping[str, Any]:
    """The cells under the names that the model has for them, hidden nodes left out."""
    found: dict[str, Any] = {}
    safe = safe_names(rows.columns, empty)
    for place, column in enumerate(rows.columns):
        if not column.hidden:
            found[safe[column.name]] = _labelled(column, rows.codes[place]) if column.levels else rows.values[place]
    return found


def _labelled(column: Column, codes: Any) -> Any:
    labels = np.empty(len(column.levels) + 1, dtype=object)
    labels[:-1] = column.levels
    labels[MISSING] = None
    found = labels[codes]
    return found if (codes == MISSING).any() else np.array(found.tolist())
